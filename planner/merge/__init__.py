"""MERGE: one join of target and source, one event query, and a statement ID for each WHEN clause.

Begin with `merge_planner`. `rules` checks the clauses, `actions` says which clause acts, `cardinality` is the whole
check that two rows of the source do not act on one row, `narrowing` and `literal_source` keep the scan of the target
small, and `arrow_merge` says what the Arrow engine can run.
"""
