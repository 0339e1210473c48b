"""Scans: the files of a table as a DataFrame of its live rows."""
