"""DDL as locks and steps. Begin with `ddl_planner`; `ddl_plan` is the union of steps, `ddl_explain` prints them, and
`acidsql.ddl` runs them.

Each other module holds the rules of one kind of change: columns, constraints, partitions, properties, storage, views.
"""
