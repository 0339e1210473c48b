"""The live rows of a table as Arrow arrays. Begin with `live_rows`; `deleted_row_ids` says which rows are deleted,
and `table_changes` reads the rows that writes have changed.

The rules of which delete event meets which row stand in `acidsql.snapshot.delete_applicability`. The package imports
snapshots, storage and values, and nothing of the rest of the engine.
"""
