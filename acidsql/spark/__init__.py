"""The Spark engine: runs plans as Spark jobs.

`executor` runs queries and DML, `compaction` merges directories. `scan` reads tables, `write` makes files; `engine` is
the Spark session, which `running_spark` holds once it runs, `frames` are DataFrames that come in and go out,
`text_formats` the rows of text files, and `catalyst` holds every private name of Spark. Begin with `executor`. The
package does not know the Arrow engine.
"""
