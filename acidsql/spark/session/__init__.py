"""The Spark session behind the engine: its start, settings, time zone, jobs, and the loss of its JVM.

Begin with `session_start`; `acidsql.spark.running_spark` uses all of it.
"""
