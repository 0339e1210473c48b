"""Text to typed statements: `split_script` and `parse`. Knows no table, no Spark and no file."""
