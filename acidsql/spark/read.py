"""The scan of an ACID table: a snapshot's files as one DataFrame of live rows.

Spark's own vectorized ORC reader reads ACID files as long as all six ACID columns stay in the scan's schema: a filter
that names each of them keeps them there, and a leaf of `row` in it keeps `row` without pulling all of it in
(spark-findings.md 1, 2). Deleted rows go by a left anti join with the delete events, on one packed 64-bit key where
the bits suffice (spark-findings.md 4); rows that no delete event can name have a NULL key and pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as t

from acidsql.acid.layout import OPERATION_DELETE, OPERATION_INSERT
from acidsql.acid.snapshot import DataFile, FileKind, SelectedDirectory, Snapshot
from acidsql.acid.table import Table
from acidsql.acid.types import Char, HiveType, parse_type
from acidsql.acid.writeids import ValidWriteIdList, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.plan import Scan
from acidsql.planner.raised import raise_sql, sql_string
from acidsql.spark.files import FileSystem
from acidsql.spark.orc import Tail
from acidsql.spark.tails import SizedFile, TailCache
from acidsql.spark.types import CHAR_LENGTH, file_type, has_timestamp, query_type

_STATEMENT_AND_BUCKET_BITS: Final = 24
_BROADCAST_EVENTS: Final = 8_000_000
"""Delete events up to which they are broadcast: a long and its slot are some 20 bytes each."""
_ORIGINAL_TRANSACTION_COLUMN: Final = 2
_BUCKET_COLUMN: Final = 3
_ROW_ID_COLUMN: Final = 4


@dataclass(frozen=True, slots=True)
class BoundScan:
    """A scan with what it reads: the snapshot of its table's directory."""

    scan: Scan
    directory: str
    files: FileSystem
    snapshot: Snapshot
    write_ids: ValidWriteIdList

    @property
    def table(self) -> Table:
        return self.scan.table

    @property
    def data_directories(self) -> tuple[SelectedDirectory, ...]:
        base = (self.snapshot.base,) if self.snapshot.base is not None else ()
        return (*base, *self.snapshot.deltas)

    @property
    def data_files(self) -> tuple[DataFile, ...]:
        return tuple(f for d in self.data_directories for f in d.files)

    @property
    def size(self) -> int:
        """Bytes of the data files."""
        return sum(f.file.length for f in self.data_files)

    @property
    def buckets(self) -> frozenset[int]:
        """The numbers of the files that hold live rows."""
        return frozenset(f.bucket for f in self.data_files)

    def path(self, file: DataFile) -> str:
        return f"{self.directory}/{file.file.path}"


@dataclass(frozen=True, slots=True)
class DeletedKeys:
    """What the footers of the delete files say: how many events there are, and which rows they can name."""

    events: int
    write_ids: tuple[int, int]
    row_ids: tuple[int, int]
    bucket_properties: tuple[int, int]

    @property
    def packs(self) -> bool:
        """Whether write ID, bucket and statement, and row ID fit into one long side by side."""
        bits = self.write_ids[1].bit_length() + _STATEMENT_AND_BUCKET_BITS + self.row_ids[1].bit_length()
        one_codec = all(p >> 29 == 1 for p in self.bucket_properties)
        return bits <= 63 and one_codec and self.row_ids[0] >= 0


def scan_frame(spark: SparkSession, bound: BoundScan, tails: TailCache) -> DataFrame:
    """The live rows of a snapshot: the table's columns, and the row__id and file name columns that the scan asks for.

    Raises NOT_YET_SUPPORTED for original and plain files, MALFORMED_LAYOUT, ACID_V1_FILE (when it runs).
    """
    _check_supported(bound)
    if not bound.data_files:
        return _empty(spark, bound)
    _check_instants(bound, tails)
    data = _live_events(spark, bound)
    deleted = _deleted_keys(bound, tails)
    if deleted is not None:
        data = _without_deleted(spark, data, bound, deleted)
    return data.select(*_columns(bound))


# ------------------------------------------------------------------------------------------------ the parts of a scan


def _check_supported(bound: BoundScan) -> None:
    table = bound.table.qualified
    if bound.snapshot.original_files:
        feature = f"Reading original (pre-ACID) files, of which {table} has some,"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)
    for file in bound.data_files:
        if file.kind is FileKind.PLAIN:
            feature = f"Reading a plain file in an ACID directory ({bound.path(file)})"
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)
        if file.flush_length_file is not None:
            feature = f"Reading a streaming file with a flush length ({bound.path(file)})"
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)


def _check_instants(bound: BoundScan, tails: TailCache) -> None:
    """Spark's reader fails on ORC's TIMESTAMP_INSTANT, even where the column is not asked for."""
    if not any("timestamp with local time zone" in c.type for c in bound.table.columns):
        return
    files = [SizedFile(bound.path(f), f.file.length, f.file.modified) for f in bound.data_files]
    if any(tail.has_instants for tail in tails.tails(bound.files, files)):
        feature = f"Reading a timestamp with local time zone that Hive wrote ({bound.table.qualified})"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)


def _read(spark: SparkSession, paths: Sequence[str], schema: t.StructType) -> DataFrame:
    reader = spark.read.schema(schema).option("__globPaths__", "false").option("mergeSchema", "false")
    return reader.orc(list(paths))


def acid_schema(columns: Iterable[tuple[str, t.DataType]]) -> t.StructType:
    """The six ACID columns, exactly as Hive names and orders them."""
    return t.StructType(
        [
            t.StructField("operation", t.IntegerType()),
            t.StructField("originalTransaction", t.LongType()),
            t.StructField("bucket", t.IntegerType()),
            t.StructField("rowId", t.LongType()),
            t.StructField("currentTransaction", t.LongType()),
            t.StructField("row", t.StructType([t.StructField(name, kind) for name, kind in columns])),
        ]
    )


def _acid_schema(table: Table) -> t.StructType:
    return acid_schema((c.name, file_type(parse_type(c.type))) for c in table.columns)


def _live_events(spark: SparkSession, bound: BoundScan) -> DataFrame:
    """The insert events that the reader sees, with all six columns kept in the scan.

    Operation 1 or 2 in a data file is ACID v1: it fails the job instead of filtering rows away.
    """
    failure = raise_sql(
        Condition.ACID_V1_FILE, path=sql_string(bound.directory), table=sql_string(bound.table.qualified)
    )
    expected = _expected_operation(OPERATION_INSERT, failure)
    return _visible_events(spark, bound, bound.data_directories, _acid_schema(bound.table)).where(expected)


def _visible_events(
    spark: SparkSession, bound: BoundScan, directories: Sequence[SelectedDirectory], schema: t.StructType
) -> DataFrame:
    """The events of the directories less those of write IDs to skip: one scan, but where directories differ in what
    is to be skipped (a delta of several transactions of which some are open, aborted or already in the base)."""
    by_hidden: dict[frozenset[WriteId], list[str]] = {}
    for directory in directories:
        paths = [bound.path(f) for f in directory.files if f.bucket in bound.buckets]
        if paths:
            by_hidden.setdefault(directory.invalid_write_ids, []).extend(paths)
    frames = [_read(spark, paths, schema).where(_keeps_columns(bound, hidden)) for hidden, paths in by_hidden.items()]
    return reduce(DataFrame.unionAll, frames)


def _expected_operation(operation: int, failure: str) -> Column:
    return F.expr(f"CASE WHEN operation <=> {operation} THEN true ELSE CAST({failure} AS BOOLEAN) END")


def _keeps_columns(bound: BoundScan, hidden: frozenset[WriteId]) -> Column:
    """True for every event whose write ID is not hidden; names all six columns."""
    leaf = F.col("row").getField(_cheapest_column(bound.table))
    write_id = F.col("currentTransaction")
    return (
        (F.col("originalTransaction") >= 0)
        & (F.col("bucket") >= 0)
        & (~write_id.isin(sorted(hidden)) if hidden else write_id >= 0)
        & ((F.col("rowId") >= 0) | leaf.isNull())
    )


def _cheapest_column(table: Table) -> str:
    """A column to stand for `row`: one that is cheap to read."""
    cheap = ("boolean", "tinyint", "smallint", "int", "bigint", "date", "float", "double")
    ranked = sorted(table.columns, key=lambda c: cheap.index(c.type) if c.type in cheap else len(cheap) + len(c.type))
    first = table.columns[0]
    return first.name if first.type in cheap else ranked[0].name


def _columns(bound: BoundScan) -> list[Column]:
    scan = bound.scan
    columns = [_column(c.name, parse_type(c.type)) for c in bound.table.columns]
    if scan.row_id:
        row_id = F.struct(
            F.col("originalTransaction").alias("writeid"),
            F.col("bucket").alias("bucketid"),
            F.col("rowId").alias("rowid"),
        )
        columns.append(row_id.alias(scan.row_id))
    if scan.file_name:
        columns.append(F.col("_metadata.file_path").alias(scan.file_name))
    return columns


def _column(name: str, hive_type: HiveType) -> Column:
    value = F.col("row").getField(name)
    if has_timestamp(hive_type):
        value = value.cast(query_type(hive_type))
    if isinstance(hive_type, Char):
        return value.alias(name, metadata={CHAR_LENGTH: hive_type.length})
    return value.alias(name)


def _empty(spark: SparkSession, bound: BoundScan) -> DataFrame:
    schema = t.StructType([t.StructField(c.name, query_type(parse_type(c.type))) for c in bound.table.columns])
    if bound.scan.row_id:
        row_id = t.StructType(
            [
                t.StructField("writeid", t.LongType()),
                t.StructField("bucketid", t.IntegerType()),
                t.StructField("rowid", t.LongType()),
            ]
        )
        schema = schema.add(bound.scan.row_id, row_id)
    if bound.scan.file_name:
        schema = schema.add(bound.scan.file_name, t.StringType())
    return empty_frame(spark, schema)


def empty_frame(spark: SparkSession, schema: t.StructType) -> DataFrame:
    """No rows, without a job."""
    jvm: Any = spark._jvm
    jschema = jvm.org.apache.spark.sql.types.DataType.fromJson(schema.json())
    return DataFrame(spark._jsparkSession.createDataFrame(jvm.java.util.ArrayList(), jschema), spark)


# ------------------------------------------------------------------------------------------------ deletes


def _delete_files(bound: BoundScan) -> list[SizedFile]:
    return [
        SizedFile(bound.path(f), f.file.length, f.file.modified)
        for directory in bound.snapshot.delete_deltas
        for f in directory.files
        if f.bucket in bound.buckets
    ]


def _deleted_keys(bound: BoundScan, tails: TailCache) -> DeletedKeys | None:
    """What can be deleted; None where no delete file can name a row of this snapshot's data files."""
    found = [tail for tail in tails.tails(bound.files, _delete_files(bound)) if tail.rows]
    if not found:
        return None
    return DeletedKeys(
        events=sum(tail.rows for tail in found),
        write_ids=_range(found, _ORIGINAL_TRANSACTION_COLUMN),
        row_ids=_range(found, _ROW_ID_COLUMN),
        bucket_properties=_range(found, _BUCKET_COLUMN),
    )


def _range(tails: Sequence[Tail], column: int) -> tuple[int, int]:
    """Over all files; the whole range of a long where a file has no statistics."""
    ranges = [tail.integer_range(column) or (-1, 2**62) for tail in tails]
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _without_deleted(spark: SparkSession, data: DataFrame, bound: BoundScan, deleted: DeletedKeys) -> DataFrame:
    events = _delete_events(spark, bound)
    if deleted.packs:
        key = _packed_key(deleted)
        events = events.select(key.alias("@deleted"))
        if deleted.events <= _BROADCAST_EVENTS:
            events = F.broadcast(events)
        can_be_deleted = _in_range("originalTransaction", deleted.write_ids) & _in_range("rowId", deleted.row_ids)
        return data.join(events, F.when(can_be_deleted, key) == F.col("@deleted"), "left_anti")
    names = {"originalTransaction": "@o", "bucket": "@b", "rowId": "@r"}
    events = events.select(*(F.col(name).alias(alias) for name, alias in names.items()))
    condition = [F.col(name) == F.col(alias) for name, alias in names.items()]
    return data.join(events, condition, "left_anti")


def _delete_events(spark: SparkSession, bound: BoundScan) -> DataFrame:
    """The delete events that the reader sees."""
    leaf = _cheapest_column(bound.table)
    kind = next(file_type(parse_type(c.type)) for c in bound.table.columns if c.name == leaf)
    failure = raise_sql(
        Condition.MALFORMED_LAYOUT,
        path=sql_string(bound.directory),
        reason=sql_string("a delete_delta holds an event that is no delete"),
    )
    expected = _expected_operation(OPERATION_DELETE, failure)
    return _visible_events(spark, bound, bound.snapshot.delete_deltas, acid_schema([(leaf, kind)])).where(expected)


def _packed_key(deleted: DeletedKeys) -> Column:
    """Write ID, bucket and statement, row ID in one long (BucketCodec V1: 12 bits each for bucket and statement)."""
    row_bits = deleted.row_ids[1].bit_length()
    bucket = F.shiftright(F.col("bucket"), 16).bitwiseAND(0xFFF).cast("long")
    statement = F.col("bucket").bitwiseAND(0xFFF).cast("long")
    high = F.shiftleft(F.col("originalTransaction"), row_bits + _STATEMENT_AND_BUCKET_BITS)
    middle = F.shiftleft(bucket, row_bits + 12).bitwiseOR(F.shiftleft(statement, row_bits))
    return high.bitwiseOR(middle).bitwiseOR(F.col("rowId"))


def _in_range(name: str, bounds: tuple[int, int]) -> Column:
    return F.col(name).between(*bounds)
