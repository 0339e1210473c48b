"""The events of DML statements as Arrow arrays.

`inserted_columns` converts the rows of an INSERT, `changed_rows` finds those of UPDATE and DELETE, `merged_rows` those
of MERGE; `row_events` gives each event its file. `acidsql.writing.event_files` writes them. The package imports
`acidsql.arrow.scan` and what lies below both engines.
"""
