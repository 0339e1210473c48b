"""The on-disk format of Hive ACID v2 as values and pure functions, standard library only."""
