"""The Spark session behind the engine: its start, settings, time zone, jobs, and the loss of its JVM.

Begin with `session_start`; `acidsql.spark.engine` uses all of it.
"""
