"""The Hive Metastore, called over Thrift."""
