"""Scans: the files of a table as a DataFrame of its live rows.

Begin with `table_scan`. `deletes` takes deleted rows out, `file_columns` and `file_partitions` make the table's
columns, `data_skipping` leaves files out.
"""
