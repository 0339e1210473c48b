"""SHOW and DESCRIBE: answers from the metastore, without a Spark job. Begin with `show`."""
