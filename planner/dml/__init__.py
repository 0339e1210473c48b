"""INSERT, UPDATE and DELETE as events: a query whose rows are the rows that a statement writes or removes.

Begin with `update`; `event_queries` has the SQL that all of them share. `arrow_insert` and `arrow_change` say what the
Arrow engine can run. The package imports the planner's rooms below it, and not MERGE.
"""
