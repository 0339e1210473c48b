"""The embedded metastore: one SQLite file, used by several processes at once."""
