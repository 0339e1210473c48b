"""The Arrow engine: statements that this process runs itself, by pyarrow and pyorc, without Spark and Java.

`executor` runs INSERT of written rows, UPDATE, DELETE and MERGE; `scan_batches` answers queries that are the scan of
one table, and `queries` is `Session.read_arrow`; `compaction` merges directories. `scan` reads rows, `write` makes
events. Begin with `executor`. `acidsql.engines.engine_choice` decides what comes here. The package does not know Spark.
"""
