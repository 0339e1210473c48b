"""Plans statements from facts about their tables, as pure functions: no Spark, files, clock or randomness.

Begin with `statement_planner` and `plan`, the union of plans. The rooms, importers first: `merge`, `dml`, `ddl`,
`queries`, `stored_values`, `conditions`, `expressions`. `write_strategy` says how events become files.
"""
