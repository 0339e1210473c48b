"""Which partition a row is in: read off its file, without partition columns in the scan.

Partition columns would be appended to the scan's schema, and an ACID file can only be read with its six columns
(spark-findings.md 3). So files are read by path, and a small broadcast relation gives each file's partition: by its
size where sizes tell the files apart, a long join key, else by its path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from acidsql.acid.partitions import value_as_read
from acidsql.acid.table import Table
from acidsql.acid.types import parse_type
from acidsql.errors import Condition
from acidsql.planner.raised import raise_sql, sql_string
from acidsql.spark.bound import BoundPart, SourceFile
from acidsql.spark.types import query_type

PART = "@part"
"""Column: the number of a row's partition among those that the scan reads."""
FIRST_ROW = "@first_row"
FILE_WRITE_ID = "@file_write_id"
FILE_BUCKET = "@file_bucket"
_KEY = "@file_key"
_KNOWN_KEY = "@known_file_key"
_URI_PUNCTUATION = "/_-!.~'()*:@&=+$,;"
"""What java.net.URI leaves alone in a path."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Facts of each file that rows are given by the file they come from."""

    files: Sequence[SourceFile]
    with_rows: bool
    """Also the first row ID, write ID and bucket property: plain files."""

    @property
    def by_size(self) -> bool:
        return len({f.size for f in self.files}) == len(self.files)

    @property
    def is_constant(self) -> bool:
        return not self.with_rows and len({f.part for f in self.files}) == 1

    def key(self) -> Column:
        """What a scan must select, to be joined by `attach`."""
        if self.is_constant:
            return F.lit(self.files[0].part).alias(_KEY)
        return F.col("_metadata.file_size" if self.by_size else "_metadata.file_path").alias(_KEY)

    def attach(self, spark: SparkSession, rows: DataFrame) -> DataFrame:
        """The rows with PART (and the facts of plain files); a row of a file that is not known fails the job."""
        if self.is_constant:
            return rows.withColumnRenamed(_KEY, PART)
        known = F.broadcast(spark.createDataFrame(self._relation()))
        joined = rows.join(known, F.col(_KEY) == F.col(_KNOWN_KEY), "left_outer")
        failure = raise_sql(
            Condition.MALFORMED_LAYOUT, path=f"CAST(`{_KEY}` AS STRING)", reason=sql_string("this file was not listed")
        )
        found = F.expr(f"CASE WHEN `{_KNOWN_KEY}` IS NULL THEN CAST({failure} AS INT) ELSE `{PART}` END")
        return joined.withColumn(PART, found).drop(_KEY, _KNOWN_KEY)

    def _relation(self) -> Any:
        keys: Any = [f.size for f in self.files] if self.by_size else [file_uri(f.path) for f in self.files]
        columns = {
            _KNOWN_KEY: pa.array(keys, pa.int64() if self.by_size else pa.string()),
            PART: pa.array([f.part for f in self.files], pa.int32()),
        }
        if self.with_rows:
            columns[FIRST_ROW] = pa.array([f.first_row for f in self.files], pa.int64())
            columns[FILE_WRITE_ID] = pa.array([f.write_id for f in self.files], pa.int64())
            columns[FILE_BUCKET] = pa.array([f.bucket_property for f in self.files], pa.int32())
        return pa.table(columns)


def file_uri(path: str) -> str:
    """The path as `_metadata.file_path` has it."""
    encoded = "".join(c if ord(c) > 127 else quote(c, safe=_URI_PUNCTUATION) for c in path)
    return f"file:{encoded}" if path.startswith("/") else encoded


def with_partition_values(spark: SparkSession, rows: DataFrame, table: Table, parts: Sequence[BoundPart]) -> DataFrame:
    """The rows with the table's partition columns, by PART."""
    columns = [(c.name, query_type(parse_type(c.type))) for c in table.partition_columns]
    if not columns:
        return rows
    values = [[value_as_read(part.values[i], c.type) for part in parts] for i, c in enumerate(table.partition_columns)]
    if len(parts) == 1:
        literals = [F.lit(v[0]).cast(kind).alias(name) for (name, kind), v in zip(columns, values, strict=True)]
        return rows.select("*", *literals)
    relation = {"@number": pa.array(range(len(parts)), pa.int32())}
    for (name, _), of_parts in zip(columns, values, strict=True):
        relation[name] = pa.array(of_parts, pa.string())
    known = spark.createDataFrame(pa.table(relation)).select(
        "@number", *(F.col(f"`{name}`").cast(kind).alias(name) for name, kind in columns)
    )
    return rows.join(F.broadcast(known), F.col(PART) == F.col("@number"), "left_outer").drop("@number")
