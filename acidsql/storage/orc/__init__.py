"""ORC files: their footers are read, rewritten and appended to, without reading their rows.

Begin with `tail`, which reads a footer; `rewrite` changes one, `column_statistics` reads bounds, `copies` makes files
that Spark can read.
"""
