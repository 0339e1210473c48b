"""Streaming ingest: writes records into transactional tables with Python and pyarrow, without Spark and Java."""
