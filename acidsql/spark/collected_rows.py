"""The rows of a query that is a part of a statement in this process, as Arrow data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_type

from acidsql.acid.hive_types import parse_type
from acidsql.grammar.quoting import name_sql
from acidsql.spark.catalyst.size_estimates import leaf_bytes, leaf_sizes
from acidsql.spark.spark_types import hive_type_name, in_wall_clock_time
from acidsql.spark.write.driver_write import collected


def small_rows(rows: DataFrame, takes: Callable[[Any], bool], most_bytes: int) -> Any | None:
    """The rows as an Arrow table, in which all times are wall-clock times of the session's zone.

    None if `takes` says no to their Arrow schema, if Arrow or Hive has no such types, if the query reads more than
    `most_bytes` or an amount that Spark does not know, or if it gives more rows than the driver takes.
    """
    rows = in_wall_clock_time(rows)
    fields = rows.schema.fields
    try:
        schema = pa.schema([(f.name, to_arrow_type(f.dataType)) for f in fields])
    except PySparkTypeError:
        return None
    names = [(name_sql(f.name), hive_type_name(f.dataType)) for f in fields]
    columns = [(name, parse_type(kind)) for name, kind in names if kind is not None]
    sizes = leaf_sizes(rows)
    if not takes(schema) or None in sizes or leaf_bytes(sizes) > most_bytes:
        return None
    return collected(rows, columns, leaf_bytes(sizes))
