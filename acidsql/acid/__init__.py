"""The on-disk format of Hive ACID v2 as values and pure functions, standard library only.

Begin with `snapshot_selection`: which directories a reader sees. `directories` and `layout` parse and make names,
`row_id` and `write_ids` are the numbers in them, `hive_types` and `table` the definitions, `compaction_scope` what is
merged.
"""
