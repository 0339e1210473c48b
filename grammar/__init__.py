"""The grammar: `split_script` splits scripts, `parse` makes typed statements. No tables, no Spark, no files."""
