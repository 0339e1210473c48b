"""The only package that knows pyspark: binds a plan to snapshots, runs it, stages and publishes files."""
