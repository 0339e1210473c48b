"""SQL for what a column stores of a value: `stored_sql` is the conversion, `store_assignment` says where Spark's CAST
differs from Hive's, `integer_casts` holds the rule for integers, `misfits` counts the values that do not fit.

The same conversions as Python scalars and Arrow arrays are in `acidsql.values`.
"""
