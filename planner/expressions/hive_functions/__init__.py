"""Functions and operators that Hive and Spark share by name but compute differently, and those that only Hive has.

Each module holds the rules of one family. `rule_table` finds the rule of a node, and `template` fills in its SQL.
"""
