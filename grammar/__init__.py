"""The grammar: text becomes typed statements, without tables, Spark or files.

Begin with `parser.parse`; `admin.lark` is the grammar of every statement's frame, `dialect` reads queries and
expressions by sqlglot, `script_splitter` splits scripts, `statements` are the results.
"""
