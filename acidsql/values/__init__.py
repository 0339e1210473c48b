"""Values: which Hive type a value has, and what a column stores of it, as Python scalars and as Arrow arrays.

`literals` reads an SQL literal, `literal_columns` converts literals for the Arrow engine, `stored_values` and
`column_arrays` hold the strict rules of streams and methods, `value_texts` reads text, `record_shapes` and
`arrow_tables` read what callers give, `arrow_types` and `file_schema` name Arrow's types, `file_values` are what files
take. "None" or "not certain" from here means that Spark decides. The same conversions as SQL for Spark are in
`acidsql.planner.stored_values`; how a value becomes a literal of a statement is in
`acidsql.grammar.parameter_literals`. The package imports `acidsql.acid` and `acidsql.errors` only."""
