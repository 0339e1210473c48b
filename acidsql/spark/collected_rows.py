"""Rows of a small query in this process, as Arrow data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_type

from acidsql.spark.catalyst.size_estimates import leaf_bytes, leaf_sizes
from acidsql.spark.engine import for_little
from acidsql.spark.spark_types import in_wall_clock_time
from acidsql.spark.write.driver_write import LITTLE


def collected(rows: DataFrame, takes: Callable[[Any], bool], most_bytes: int) -> Any | None:
    """The rows as an Arrow table, in which all times are wall-clock times of the session's zone.

    None if `takes` says no to their Arrow schema, if Arrow has no such types, or if the query reads more than
    `most_bytes` or an amount that Spark does not know.
    """
    rows = in_wall_clock_time(rows)
    try:
        schema = pa.schema([(f.name, to_arrow_type(f.dataType)) for f in rows.schema.fields])
    except PySparkTypeError:
        return None
    sizes = leaf_sizes(rows)
    if not takes(schema) or None in sizes or leaf_bytes(sizes) > most_bytes:
        return None
    return (for_little(rows) if leaf_bytes(sizes) <= LITTLE else rows).toArrow()
