"""The embedded metastore: one SQLite file, used by several processes at once.

Begin with `sqlite_metastore`. The modules `*_rows` hold the SQL of one subject each: transactions, locks, compactions
..
"""
