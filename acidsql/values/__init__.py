"""Values: which Hive type a value has, and what a column stores of it, as Python scalars and as Arrow arrays.

| way of a value into a table | rule | where |
|---|---|---|
| SQL, by Spark | Hive's: what does not fit becomes NULL, wraps or is cut | `acidsql.planner.stored_values` |
| SQL, by the Arrow engine | the same, or Spark decides | `literal_columns`, `inserted_columns` of the engine |
| methods with frames | what does not fit is an error, a number may be rounded | `does_not_fit` of the planner |
| `Session.stream` | a value is stored as it is, or is an error | `stored_values`, `column_arrays`, `value_texts` |
| Structured Streaming | as SQL, by Spark | `acidsql.streaming` |

`literals` reads an SQL literal, `record_shapes` and `arrow_tables` read what callers give, `arrow_types` and
`file_schema` name Arrow's types, `file_values` are what files take. How a value becomes a literal of a statement is in
`acidsql.grammar.parameter_literals`. The package imports `acidsql.acid` and `acidsql.errors` only.
"""
