"""Tables read by pyarrow, without Spark and Java: `live_rows.live_rows` is the core, `table_reader` the reader for
users."""
