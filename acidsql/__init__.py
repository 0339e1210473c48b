"""SQL for Hive ACID tables on Spark."""
