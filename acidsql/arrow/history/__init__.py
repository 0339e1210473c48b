"""What happened to single rows, read without Spark.

`stored_events` finds events in all files of a table, `row_pairs` the rows before and after updates, and `row_histories`
puts them together. `changed_rows` reads the changes of some versions.
"""
