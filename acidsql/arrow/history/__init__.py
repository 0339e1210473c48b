"""The life of single rows, from all files of a table. `stored_events` finds events, `row_pairs` the rows before and
after updates, and `row_histories` puts them together."""
