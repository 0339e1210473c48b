"""Queries: names of tables and columns are resolved and the tree becomes Spark SQL over views of scans.

Begin with `name_resolution`. `query_normalization`, `hive_syntax`, `view_expansion` and `macro_expansion` change the
tree before it; `simple_scans` finds the queries that are nothing but a scan.
"""
