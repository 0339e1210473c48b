"""The scan of a table: its snapshots' files as one DataFrame of live rows.

Spark's own vectorized ORC reader reads ACID files as long as all six ACID columns stay in the scan's schema: a filter
that names each of them keeps them there, and a leaf of `row` in it keeps `row` without pulling all of it in
(spark-findings.md 1, 2). Columns are taken by position, as Hive takes them: files written before a column was renamed
or added are read under the names they have. Files that need another schema, or from which other write IDs are to be
skipped, are another scan in a union; a table that was not altered is one scan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import chain, repeat
from typing import Any, Final, TypeAlias

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as t

from acidsql.acid.layout import OPERATION_DELETE, OPERATION_INSERT
from acidsql.acid.table import Table
from acidsql.acid.types import Char, HiveType, Primitive, parse_type
from acidsql.acid.writeids import WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.raised import raise_sql, sql_string
from acidsql.spark import textfile, textread
from acidsql.spark.bound import BoundScan, SourceFile, data_files, delete_files
from acidsql.spark.deletes import BUCKET, DELETER, ROW, WRITE_ID, deleted_keys, without_deleted
from acidsql.spark.exact_paths import load_exactly
from acidsql.spark.parquet import UTC, WrittenTimes, in_zone
from acidsql.spark.partitions import (
    FILE_BUCKET,
    FILE_WRITE_ID,
    FIRST_ROW,
    PART,
    FileFacts,
    file_uri,
    with_partition_values,
)
from acidsql.spark.tails import TailCache
from acidsql.spark.types import CHAR_LENGTH, file_type, has_timestamp, padded_inside, query_type

_FILE_NAME: Final = "@file_name"
_ROW_NUMBER: Final = "@row_number"
_ROW_NUMBER_MASK: Final = (1 << 33) - 1
_WHOLE_FILE: Final = str(1 << 42)
Narrower: TypeAlias = "tuple[HiveType | None, ...]"
_CHEAP: Final = ("boolean", "tinyint", "smallint", "int", "bigint", "date", "float", "double")


def scan_frame(spark: SparkSession, bound: BoundScan, tails: TailCache) -> DataFrame:
    """The live rows of a scan: the table's columns, and the row__id and file name columns that it asks for.

    Raises MALFORMED_LAYOUT, ACID_V1_FILE, NOT_YET_SUPPORTED.
    """
    files = data_files(bound, tails)
    if not files:
        return _empty(spark, bound)
    rows = _rows(spark, bound, files)
    if bound.table.is_full_acid:
        deletes = delete_files(bound, tails)
        if deletes:
            events = delete_events(spark, bound, deletes)
            rows = without_deleted(rows, events, deleted_keys(deletes, len(bound.parts)))
    rows = with_partition_values(spark, rows, bound.table, bound.parts)
    return rows.select(*_columns(bound))


# ------------------------------------------------------------------------------------------------ data files


def _rows(spark: SparkSession, bound: BoundScan, files: Sequence[SourceFile]) -> DataFrame:
    """Row ID, partition, file name and the table's own columns of every row in the files."""
    groups: dict[tuple[bool, tuple[str, ...], Narrower, frozenset[WriteId], WrittenTimes], list[SourceFile]] = {}
    for file in files:
        groups.setdefault((file.is_acid, file.names, file.narrower, file.hidden, file.times), []).append(file)
    frames = [_group(spark, bound, group) for group in groups.values()]
    return reduce(DataFrame.unionAll, frames)


def _group(spark: SparkSession, bound: BoundScan, files: Sequence[SourceFile]) -> DataFrame:
    if files[0].is_acid:
        return _acid_rows(spark, bound, files)
    if bound.table.is_full_acid:
        return _plain_rows_with_ids(spark, bound, files)
    return _plain_rows(spark, bound, files)


def _acid_rows(spark: SparkSession, bound: BoundScan, files: Sequence[SourceFile]) -> DataFrame:
    """Insert events. Operation 1 or 2 in a data file is ACID v1: it fails the job instead of being filtered away."""
    first = files[0]
    types = _types_by_position(bound.table, first.names, first.narrower)
    failure = raise_sql(Condition.ACID_V1_FILE, path=sql_string(first.origin), table=sql_string(bound.table.qualified))
    events = _read_orc(spark, files, acid_schema(types)).where(_keeps_columns(types, first.hidden))
    facts = FileFacts(files, with_rows=False)
    rows = events.where(_expected_operation(OPERATION_INSERT, failure)).select(
        F.col("originalTransaction").alias(WRITE_ID),
        F.col("bucket").alias(BUCKET),
        F.col("rowId").alias(ROW),
        facts.key(),
        *_file_name(bound, files),
        *_table_columns(bound.table, first.names, "row", first.narrower),
    )
    return facts.attach(spark, rows).select(*_common(bound))


def _plain_rows_with_ids(spark: SparkSession, bound: BoundScan, files: Sequence[SourceFile]) -> DataFrame:
    """Rows of original files and of plain files in a delta or base: their row IDs count through the file.

    Spark has no row index for ORC. A task that reads exactly one whole file counts its rows in order.
    """
    whole_files = _one_task_a_file(spark)
    names, narrower = files[0].names, files[0].narrower
    facts = FileFacts(files, with_rows=True)
    types = _types_by_position(bound.table, names, narrower)
    rows = _read_orc(whole_files, files, t.StructType(_fields(types))).select(
        F.monotonically_increasing_id().bitwiseAND(_ROW_NUMBER_MASK).alias(_ROW_NUMBER),
        facts.key(),
        *_file_name(bound, files),
        *_table_columns(bound.table, names, None, narrower),
    )
    numbered = facts.attach(spark, rows).select(
        "*",
        F.col(FILE_WRITE_ID).alias(WRITE_ID),
        F.col(FILE_BUCKET).alias(BUCKET),
        (F.col(FIRST_ROW) + F.col(_ROW_NUMBER)).alias(ROW),
    )
    return numbered.select(*_common(bound))


def _plain_rows(spark: SparkSession, bound: BoundScan, files: Sequence[SourceFile]) -> DataFrame:
    """Rows of insert-only and plain tables, which have no row IDs."""
    table = bound.table
    facts = FileFacts(files, with_rows=False)
    names = files[0].names or tuple(c.name for c in table.columns)
    schema = t.StructType(_fields(_types_by_position(table, names, files[0].narrower)))
    nothing = F.lit(None)
    rows = _read_format(spark, table, files, schema).select(
        nothing.cast("long").alias(WRITE_ID),
        nothing.cast("int").alias(BUCKET),
        nothing.cast("long").alias(ROW),
        facts.key(),
        *_file_name(bound, files),
        *_table_columns(table, names, None, files[0].narrower, files[0].times.zone),
    )
    return facts.attach(spark, rows).select(*_common(bound))


def _one_task_a_file(spark: SparkSession) -> SparkSession:
    """A copy of the session whose scans give every file, whole, to a task of its own."""
    jsession: Any = spark._jsparkSession
    copy = SparkSession(spark.sparkContext, jsession.cloneSession())
    copy.conf.set("spark.sql.files.maxPartitionBytes", _WHOLE_FILE)
    copy.conf.set("spark.sql.files.openCostInBytes", _WHOLE_FILE)
    return copy


def _read_orc(spark: SparkSession, files: Iterable[SourceFile], schema: t.StructType) -> DataFrame:
    return load_exactly(spark.read.schema(schema), "orc", [f.path for f in files])


def _read_format(spark: SparkSession, table: Table, files: Sequence[SourceFile], schema: t.StructType) -> DataFrame:
    reader = spark.read.schema(schema)
    paths = [f.path for f in files]
    match table.file_format:
        case "orc":
            return load_exactly(reader, "orc", paths)
        case "parquet":
            return load_exactly(reader.options(**files[0].times.reader_options), "parquet", paths)
        case "textfile":
            header = textfile.header_lines(table)
            lines = load_exactly((_one_task_a_file(spark) if header else spark).read, "text", paths)
            number = F.monotonically_increasing_id().bitwiseAND(_ROW_NUMBER_MASK)
            return (lines.where(number >= header) if header else lines).select(*textread.fields(table))
        case other:
            feature = f"Reading {table.qualified}, stored as {other}"
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)


# ------------------------------------------------------------------------------------------------ columns


def acid_schema(columns: Iterable[tuple[str, t.DataType]]) -> t.StructType:
    """The six ACID columns, exactly as Hive names and orders them."""
    return t.StructType(
        [
            t.StructField("operation", t.IntegerType()),
            t.StructField("originalTransaction", t.LongType()),
            t.StructField("bucket", t.IntegerType()),
            t.StructField("rowId", t.LongType()),
            t.StructField("currentTransaction", t.LongType()),
            t.StructField("row", t.StructType(_fields(columns))),
        ]
    )


def _fields(columns: Iterable[tuple[str, t.DataType]]) -> list[t.StructField]:
    return [t.StructField(name, kind) for name, kind in columns]


def _types_by_position(table: Table, names: Sequence[str], narrower: Narrower = ()) -> list[tuple[str, t.DataType]]:
    """The file's columns under its own names, as the table's types of today or, for `widened`, as the file's own."""
    types = (parse_type(c.type) for c in table.columns)
    return [
        (name, file_type(own if own is not None and not _is_text(kind) else kind))
        for name, kind, own in zip(names, types, chain(narrower, repeat(None)), strict=False)
    ]


def _is_text(hive_type: HiveType) -> bool:
    return hive_type == Primitive("string")


def _widened(value: Column, hive_type: HiveType) -> Column:
    """A value of the file's type as one of the table's. Spark pushes a comparison down to a file with its literal made
    one of the file's type, 5.5 becoming 5, or fails in that (OrcFilters.castLiteralValue): so none may be pushed but
    through Spark's own cast. Numbers become text as ORC, and so Hive, writes them: 2.50 is 2.5."""
    return F.concat(value, F.lit("")) if _is_text(hive_type) else value.cast(query_type(hive_type))


def _expected_operation(operation: int, failure: str) -> Column:
    return F.expr(f"CASE WHEN operation <=> {operation} THEN true ELSE CAST({failure} AS BOOLEAN) END")


def _keeps_columns(columns: Sequence[tuple[str, t.DataType]], hidden: frozenset[WriteId]) -> Column:
    """True for every event whose write ID is not hidden; names all six columns."""
    leaf = F.col("row").getField(_cheapest(columns))
    write_id = F.col("currentTransaction")
    return (
        (F.col("originalTransaction") >= 0)
        & (F.col("bucket") >= 0)
        & (~write_id.isin(sorted(hidden)) if hidden else write_id >= 0)
        & ((F.col("rowId") >= 0) | leaf.isNull())
    )


def _cheapest(columns: Sequence[tuple[str, t.DataType]]) -> str:
    """A column to stand for `row`: the first one if it is cheap to read, else the cheapest."""

    def cost(column: tuple[str, t.DataType]) -> int:
        name = column[1].simpleString()
        return _CHEAP.index(name) if name in _CHEAP else len(_CHEAP) + len(name)

    return columns[0][0] if cost(columns[0]) < len(_CHEAP) else min(columns, key=cost)[0]


def _table_columns(
    table: Table, names: Sequence[str], owner: str | None, narrower: Narrower = (), zone: str = UTC
) -> list[Column]:
    """The table's columns from the file's, by position; a column that the file is too old for is NULL."""
    columns = []
    for position, column in enumerate(table.columns):
        hive_type = parse_type(column.type)
        if position >= len(names):
            value = F.lit(None).cast(query_type(hive_type))
        else:
            value = F.col(owner).getField(names[position]) if owner else F.col(f"`{names[position]}`")
            value = F.rtrim(value) if isinstance(hive_type, Char) and table.file_format != "orc" else value
            value = _widened(value, hive_type) if any(narrower[position : position + 1]) else value
            value = in_zone(value, hive_type, zone)
            value = padded_inside(value.cast(query_type(hive_type)) if has_timestamp(hive_type) else value, hive_type)
        columns.append(value.alias(column.name))
    return columns


def _common(bound: BoundScan) -> list[Column]:
    """What every group of files gives, in the order of the union."""
    names = [WRITE_ID, BUCKET, ROW, PART, *([_FILE_NAME] if bound.scan.file_name else [])]
    return [F.col(f"`{name}`") for name in (*names, *(c.name for c in bound.table.columns))]


def _file_name(bound: BoundScan, files: Sequence[SourceFile]) -> list[Column]:
    """INPUT__FILE__NAME, which is never the name of a copy."""
    if not bound.scan.file_name:
        return []
    path = F.col("_metadata.file_path")
    copies = {file_uri(f.path): file_uri(f.copy_of) for f in files if f.copy_of is not None}
    if copies:
        known = F.create_map(*(F.lit(text) for pair in copies.items() for text in pair))
        path = F.coalesce(known[path], path)
    plus_kept = F.replace(path, F.lit("+"), F.lit("%2B"))
    return [F.url_decode(plus_kept).alias(_FILE_NAME)]  # Hive's is a path, no URI


def _columns(bound: BoundScan) -> list[Column]:
    """What the scan gives: the table's columns, then the virtual ones."""
    scan = bound.scan
    columns = []
    for column in (*bound.table.columns, *bound.table.partition_columns):
        value = F.col(f"`{column.name}`")
        hive_type = parse_type(column.type)
        if isinstance(hive_type, Char):
            value = value.alias(column.name, metadata={CHAR_LENGTH: hive_type.length})
        columns.append(value)
    if scan.row_id:
        row_id = F.struct(F.col(WRITE_ID).alias("writeid"), F.col(BUCKET).alias("bucketid"), F.col(ROW).alias("rowid"))
        columns.append(row_id.alias(scan.row_id))
    if scan.file_name:
        columns.append(F.col(_FILE_NAME).alias(scan.file_name))
    if scan.place:
        columns.append(F.col(PART).alias(scan.place))
    return columns


def _empty(spark: SparkSession, bound: BoundScan) -> DataFrame:
    columns = (*bound.table.columns, *bound.table.partition_columns)
    schema = t.StructType(_fields((c.name, query_type(parse_type(c.type))) for c in columns))
    internal = {WRITE_ID: "bigint", BUCKET: "int", ROW: "bigint", PART: "int", _FILE_NAME: "string"}
    rows = empty_frame(spark, schema)
    return rows.select("*", *(F.lit(None).cast(kind).alias(name) for name, kind in internal.items())).select(
        *_columns(bound)
    )


def empty_frame(spark: SparkSession, schema: t.StructType) -> DataFrame:
    """No rows, without a job."""
    jvm: Any = spark._jvm
    jschema = jvm.org.apache.spark.sql.types.DataType.fromJson(schema.json())
    return DataFrame(spark._jsparkSession.createDataFrame(jvm.java.util.ArrayList(), jschema), spark)


# ------------------------------------------------------------------------------------------------ delete files


def delete_events(spark: SparkSession, bound: BoundScan, files: Sequence[SourceFile]) -> DataFrame:
    """The delete events that the reader sees: the row ID of the row, its partition, and who deleted it (DELETER)."""
    groups: dict[tuple[str, t.DataType, frozenset[WriteId]], list[SourceFile]] = {}
    for file in files:
        leaf = _cheapest(_types_by_position(bound.table, file.names))
        kind = dict(_types_by_position(bound.table, file.names))[leaf]
        groups.setdefault((leaf, kind, file.hidden), []).append(file)
    frames = [_delete_group(spark, (leaf, kind), group) for (leaf, kind, _), group in groups.items()]
    return reduce(DataFrame.unionAll, frames)


def _delete_group(spark: SparkSession, leaf: tuple[str, t.DataType], files: Sequence[SourceFile]) -> DataFrame:
    failure = raise_sql(
        Condition.MALFORMED_LAYOUT,
        path=sql_string(files[0].origin),
        reason=sql_string("a delete_delta holds an event that is no delete"),
    )
    facts = FileFacts(files, with_rows=False)
    events = _read_orc(spark, files, acid_schema([leaf])).where(_keeps_columns([leaf], files[0].hidden))
    rows = events.where(_expected_operation(OPERATION_DELETE, failure)).select(
        F.col("originalTransaction").alias(WRITE_ID),
        F.col("bucket").alias(BUCKET),
        F.col("rowId").alias(ROW),
        F.col("currentTransaction").alias(DELETER),
        facts.key(),
    )
    return facts.attach(spark, rows).select(WRITE_ID, BUCKET, ROW, DELETER, PART)
