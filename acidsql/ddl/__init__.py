"""DDL statements: changes of the catalog and of directories that need no Spark job."""
