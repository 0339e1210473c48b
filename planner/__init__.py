"""Plans statements from facts about their tables, as pure functions: no Spark, files, clock or randomness."""
