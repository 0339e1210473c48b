"""ORC files: parse the tail, rewrite it, and read types and statistics from it."""
