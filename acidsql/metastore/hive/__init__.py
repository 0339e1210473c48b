"""The Hive Metastore as acidsql's metastore, over Thrift."""
