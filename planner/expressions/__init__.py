"""Expressions: their Hive types, and Hive's meaning of them as Spark SQL.

Begin with `expression_types`. `typed_rules` are the rules that depend on types, `hive_functions` those of functions.
"""
