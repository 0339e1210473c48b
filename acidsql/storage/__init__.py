"""File systems and file formats: reading and rewriting files, without Spark SQL and without knowledge of statements."""
