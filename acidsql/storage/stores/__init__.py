"""File systems that this process reads and writes by itself, without a JVM."""
