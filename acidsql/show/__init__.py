"""SHOW and DESCRIBE: rows that are read from the catalog, without a Spark job."""
