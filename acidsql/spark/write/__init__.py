"""The events of a statement as files, staged by Spark.

Begin with `table_writer`, which runs the strategy that `acidsql.planner.write_strategy` chooses: `driver_write`,
`in_place_write`, `task_write`, `shuffled_write` or `plain_write`. `event_rows` has the SQL that they share.
"""
