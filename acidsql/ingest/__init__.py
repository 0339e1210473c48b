"""Streams: a client that writes rows all the time, in small transactions, without Spark and Java.

Begin with `stream`; `stream_writer` commits, `records` converts, `delta_files` writes, `text_sources` and
`file_sources` say how far a text was read.
"""
