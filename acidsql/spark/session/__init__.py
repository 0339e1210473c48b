"""The Spark session behind the engine: its start, its settings, its time zone, its jobs, and the loss of its JVM."""
