"""Values in lines of text files, as Spark SQL and Python functions: a module for each SerDe, for reading and writing.

The SerDes themselves, as values, are in `acidsql.acid` (`text_format`, `csv_format`, `json_format`, `regex_format`).
"""
