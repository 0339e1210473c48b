"""DDL: runs the plans of statements that change the catalog and directories without a Spark job."""
