"""Conditions on the rows of one table: what a query says of its rows (`row_conditions`), the same as values that a
program without Spark evaluates (`row_predicates`), and what they rule out (`partition_pruning`, `value_ranges`)."""
