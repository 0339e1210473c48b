"""The Hive Metastore as acidsql's metastore, over Thrift.

Begin with `hive_metastore`. `thrift_connection` connects and repeats, the modules `thrift_*` hold one subject each.
"""
