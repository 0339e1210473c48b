"""Runs plans on Spark: `executor` and `compaction` above, `write`, `scan`, the engine, and `catalyst` below."""
