"""The scan of a table: the files of its snapshot as one DataFrame of live rows.

Spark's vectorized ORC reader reads ACID files as long as all six ACID columns stay in the scan's schema. A filter that
names each of them keeps them there; naming one leaf of `row` keeps `row` without reading all of it (spark-findings.md
1, 2).

An ACID column that is not needed, such as the write ID where the footers of all files tell the same one
(deletes/known_rows.py), has a name in capitals. To ORC it is an ACID column all the same
(SchemaEvolution.checkAcidSchema). Spark, in a session that is case-sensitive, finds no column of that name in the file,
so ORC skips it and Spark takes it for NULL (OrcUtils.requestedColumnIds).

The search argument goes to ORC as an option of the reader, not through Spark's push-down (data_skipping.py).

Files written before a column was renamed or added are read under the names that they have (file_columns.py). Files that
need another schema, or from which other write IDs are skipped, form another scan in a union. A table that was never
altered is one scan and one stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as t

from acidsql.acid import layout
from acidsql.acid.hive_types import HiveType, Varchar, parse_type
from acidsql.acid.layout import (
    ACID_FIELDS,
    CURRENT_TRANSACTION,
    OPERATION_DELETE,
    OPERATION_INSERT,
    ORIGINAL_TRANSACTION,
    ROW_ID,
)
from acidsql.acid.write_ids import WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.quoting import name_sql, sql_string
from acidsql.planner.plan import Scan
from acidsql.planner.sql_errors import raise_sql
from acidsql.snapshot.delete_applicability import applicable_delete_files, visible_sql
from acidsql.snapshot.file_skipping import FileSkipping
from acidsql.snapshot.scan_binding import NO_WRITE_ID, BoundScan, SourceFile, data_files
from acidsql.spark.catalyst.char_columns import VARCHAR_LENGTH, with_char_lengths
from acidsql.spark.catalyst.gateway import jvm, select, where, with_columns
from acidsql.spark.catalyst.logical_plans import same_micros, with_literals
from acidsql.spark.catalyst.sessions import empty_frame
from acidsql.spark.running_spark import ANY_CASE, FILE_PER_TASK, copy_with
from acidsql.spark.scan.data_skipping import search_options
from acidsql.spark.scan.deletes.delete_events import (
    BUCKET,
    DELETER,
    ROW,
    WRITE_ID,
    deleted_keys,
    filtered,
    with_deleter,
    without_deleted,
)
from acidsql.spark.scan.deletes.known_rows import KnownRows, constant_columns, known_rows
from acidsql.spark.scan.exact_paths import load_exactly, load_orc_exactly
from acidsql.spark.scan.file_columns import (
    Narrower,
    TableColumns,
    acid_schema,
    cheapest_column,
    file_name,
    file_schema,
    table_columns,
    types_in_file,
)
from acidsql.spark.scan.file_partitions import (
    PART,
    ROW_NUMBER,
    FileFacts,
    file_facts,
    metadata_column,
    partition_values,
)
from acidsql.spark.scan.metadata_count import counted_rows
from acidsql.spark.scan.scan_caches import ScanCaches
from acidsql.spark.scan.small_files import joined, runs_in_one_process
from acidsql.spark.scan.text_files import load_text
from acidsql.spark.spark_types import query_type
from acidsql.storage.orc.copies import ReadableFiles
from acidsql.storage.parquet_footer import WrittenTimes

_FILE_NAME: Final = ":file_name"
_ROW_ID_FIELDS: Final = (ORIGINAL_TRANSACTION, layout.BUCKET, ROW_ID)
_IDS: Final = (WRITE_ID, BUCKET, ROW, PART)
_PLACES_IN_EVENTS: Final = {
    name: ACID_FIELDS.index(field) for name, field in zip(_IDS[:-1], _ROW_ID_FIELDS, strict=True)
}
"""The positions of the row ID's columns in the events of a file."""
_KEEPS_IDS: Final = "coalesce(originalTransaction, 0) >= 0 AND coalesce(bucket, 0) >= 0 AND coalesce(rowId, 0) >= 0"
_KEEPS_ROW: Final = "(CAST({leaf} IS NULL AS INT) | 0) >= 0"
"""Always true. One predicate per ACID column, so that column pruning keeps all six."""


def scan_frame(spark: SparkSession, bound: BoundScan, caches: ScanCaches) -> DataFrame:
    """The live rows of a scan: the table's columns, and row__id and file name columns if the scan asks for them.

    Raises MALFORMED_LAYOUT, ACID_V1_FILE, NOT_YET_SUPPORTED.
    """
    files = FileSkipping(bound.scan).files(data_files(bound, caches.footers))
    if not files:
        return _empty(spark, bound)
    deletes = applicable_delete_files(bound, caches.footers) if bound.table.is_full_acid else []
    if bound.scan.counted:
        counted = counted_rows(spark, bound.files, files, deletes, caches.deletes)
        if counted is not None:
            return counted
    # A copy belongs to acidsql: nobody puts another file in its place.
    caches.read.extend((bound.files, file.sized) for file in (*files, *deletes) if file.copy_of is None)
    reads = _reads(spark, bound, files, caches.footers.copies, names_rows=bool(deletes or bound.scan.row_id))
    values = partition_values(spark, bound.table, bound.parts)
    if bound.scan.with_deleted:
        rows = _with_deleted(spark, bound, reads, deletes)
        return _named(with_literals(rows, values.literals), bound, values.columns)
    if len(reads) == 1 and not values.literals:
        living = reads[0].living(spark, bound, deletes, caches)
        if living is not None:
            return living.named(bound, values.columns)
    rows = reduce(DataFrame.unionAll, (read.frame() for read in reads))
    if deletes:
        rows = _without_deleted(spark, bound, rows, deletes, caches, known_rows(files))
    return _named(with_literals(rows, values.literals), bound, values.columns)


def _with_deleted(
    spark: SparkSession, bound: BoundScan, reads: Sequence[_Read], deletes: Sequence[SourceFile]
) -> DataFrame:
    """All rows of the files, with the column DELETER. A deleted row has the write ID of its delete, as in Hive."""
    rows = reduce(DataFrame.unionAll, (read.frame() for read in reads))
    if not deletes:
        return with_columns(rows, {DELETER: F.lit(None).cast("long")})
    marked = with_deleter(rows, delete_events(spark, bound, deletes))
    return with_columns(marked, {WRITE_ID: F.coalesce(F.col(DELETER), F.col(WRITE_ID))})


def _without_deleted(
    spark: SparkSession,
    bound: BoundScan,
    rows: DataFrame,
    deletes: Sequence[SourceFile],
    caches: ScanCaches,
    known: KnownRows,
) -> DataFrame:
    """`rows` are those of `_Read.frame`."""
    places = {name: place for place, name in enumerate(_IDS)}
    by_bits = filtered(spark, rows, bound.files, deletes, caches.deletes, known, places)
    if by_bits is not None:
        return by_bits
    return without_deleted(rows, delete_events(spark, bound, deletes), deleted_keys(deletes, len(bound.parts)))


# ------------------------------------------------------------------------------------------------ data files


@dataclass(frozen=True, slots=True)
class _Read:
    """The rows of some files as Spark reads them, and SQL over them for what the scan gives.

    `values` has the SQL of the row ID, the partition, the file name and the table's columns, by name. `times` are the
    names of columns that are still instants in UTC.
    """

    rows: DataFrame
    values: Mapping[str, str]
    times: Sequence[str]
    known: KnownRows
    has_row_ids: bool
    """Whether the files contain row IDs. A row ID that counts the rows of a file can be computed only once."""

    def without_row_ids(self) -> _Read:
        values = {name: value for name, value in self.values.items() if name not in _IDS[:-1]}
        return replace(self, values=values)

    def frame(self) -> DataFrame:
        """The values as columns, in the same order for every group of files, for a union."""
        columns = [f"{value} AS {name_sql(name)}" for name, value in self.values.items()]
        times = {place: name for place, name in enumerate(self.values) if name in self.times}
        return same_micros(select(self.rows, columns), times, wall_clock=True)

    def living(
        self, spark: SparkSession, bound: BoundScan, deletes: Sequence[SourceFile], caches: ScanCaches
    ) -> _Read | None:
        """The same without the deleted rows, in the same stage; None if that is not possible."""
        if not deletes:
            return self
        if not self.has_row_ids or len(bound.parts) > 1:
            return None
        rows = filtered(spark, self.rows, bound.files, deletes, caches.deletes, self.known, _PLACES_IN_EVENTS)
        return None if rows is None else replace(self, rows=rows)

    def named(self, bound: BoundScan, partition_columns: Sequence[str]) -> DataFrame:
        """The columns of the scan, when this is its only group of files: one projection, which is analyzed once."""
        times = {place: c.name for place, c in enumerate(bound.table.columns) if c.name in self.times}
        return same_micros(_named(self.rows, bound, partition_columns, self.values), times, wall_clock=True)


def _reads(
    spark: SparkSession, bound: BoundScan, files: Sequence[SourceFile], copies: ReadableFiles, *, names_rows: bool
) -> list[_Read]:
    """All rows of the files, in groups that one schema fits, with their row IDs if `names_rows`."""
    groups: dict[tuple[bool, tuple[str, ...], Narrower, frozenset[WriteId], WrittenTimes], list[SourceFile]] = {}
    for file in files:
        groups.setdefault((file.is_acid, file.names, file.narrower, file.hidden, file.times), []).append(file)
    reads = [_group(spark, bound, group, copies, _ROW_ID_FIELDS if names_rows else ()) for group in groups.values()]
    return reads if names_rows else [read.without_row_ids() for read in reads]


def _group(
    spark: SparkSession, bound: BoundScan, files: Sequence[SourceFile], copies: ReadableFiles, wanted: Sequence[str]
) -> _Read:
    if files[0].is_acid:
        return _acid_rows(spark, bound, files, copies, wanted)
    if bound.table.is_full_acid:
        return _plain_rows_with_ids(spark, bound, files)
    return _plain_rows(spark, bound, files)


def _acid_rows(
    spark: SparkSession, bound: BoundScan, files: Sequence[SourceFile], copies: ReadableFiles, wanted: Sequence[str]
) -> _Read:
    """The rows of the insert events, with the ACID columns in `wanted`.

    Operation 1 or 2 in a data file means ACID version 1. It fails the job: filtering it away would lose rows.
    """
    first = files[0]
    failure = raise_sql(Condition.ACID_V1_FILE, path=sql_string(first.origin), table=sql_string(bound.table.qualified))
    types = types_in_file(bound.table, first.names, first.narrower)
    options = search_options(spark, bound.scan, files)
    read = joined(bound, files, copies) if runs_in_one_process(spark.sparkContext) else files
    shows_row_ids = bound.scan.row_id or bound.scan.with_deleted
    constants = {} if shows_row_ids else constant_columns(known_rows(files))
    wanted = [name for name in wanted if name not in constants]
    events = _events(spark, files, types, OPERATION_INSERT, failure, wanted, options, read)
    facts = file_facts([_part_only(f) for f in read])
    columns = table_columns(bound.table, first.names, "row", first.narrower)
    row_id = (constants.get(name, name) for name in _ROW_ID_FIELDS)
    return _with_facts(spark, bound, events, files, facts, row_id, columns)


def _plain_rows_with_ids(spark: SparkSession, bound: BoundScan, files: Sequence[SourceFile]) -> _Read:
    """Rows of original files, and of plain files in a delta or base: their row IDs are their positions in the file.

    Spark has no row index for ORC, so each file is read whole by a task of its own, which counts the rows in order.
    """
    names, narrower = files[0].names, files[0].narrower
    types = types_in_file(bound.table, names, narrower)
    schema = file_schema(types).json()
    rows = _orc(copy_with(spark, FILE_PER_TASK | ANY_CASE), files, schema)
    facts = file_facts(files, metadata_column(names))
    row_id = (facts.write_id, facts.bucket, f"{facts.first_row} + {ROW_NUMBER}")
    return _with_facts(spark, bound, rows, files, facts, row_id, table_columns(bound.table, names, None, narrower))


def _plain_rows(spark: SparkSession, bound: BoundScan, files: Sequence[SourceFile]) -> _Read:
    """Rows of insert-only tables and plain tables.

    As in Hive, all rows of an insert-only file have the same row__id, with the row ID 0.
    """
    table = bound.table
    names = files[0].names or tuple(c.name for c in table.columns)
    schema = file_schema(types_in_file(table, names, files[0].narrower))
    rows = _read_format(spark, bound.scan, files, schema)
    named = files if bound.scan.row_id else [_part_only(f) for f in files]
    facts = file_facts([replace(f, first_row=0) for f in named], metadata_column(names))
    row_id = (f"nullif({facts.write_id}, {NO_WRITE_ID}L)", facts.bucket, "0L")
    columns = table_columns(table, names, None, files[0].narrower, files[0].times.zone)
    return _with_facts(spark, bound, rows, files, facts, row_id, columns)


def _part_only(file: SourceFile) -> SourceFile:
    """A file reduced to its partition, for files whose rows contain their row IDs or have none."""
    return replace(file, write_id=0, bucket_property=0, first_row=0)


def _with_facts(
    spark: SparkSession,
    bound: BoundScan,
    rows: DataFrame,
    files: Sequence[SourceFile],
    facts: FileFacts,
    row_id: Iterable[str],
    columns: TableColumns,
) -> _Read:
    """Combines rows and facts. `row_id` and `columns` are SQL over the rows, the facts and `_metadata`."""
    ids = dict(zip(_IDS, (*row_id, facts.part), strict=True))
    name = {_FILE_NAME: file_name(bound.table, files)} if bound.scan.file_name else {}
    values = ids | name | columns.values
    return _Read(_keyed(spark, rows, facts), values, columns.times, known_rows(files), files[0].is_acid)


def _keyed(spark: SparkSession, rows: DataFrame, facts: FileFacts) -> DataFrame:
    """The rows with the columns that the SQL of the facts reads."""
    if not facts.tables:
        return rows
    literals = {name: jvm(spark).long_array(table) for name, table in facts.tables.items()}
    return select(with_literals(rows, literals), ("*", *facts.steps))


def _events(
    spark: SparkSession,
    files: Sequence[SourceFile],
    types: Sequence[tuple[str, t.DataType]],
    operation: int,
    failure: str,
    wanted: Sequence[str],
    options: Mapping[str, str] | None = None,
    read: Sequence[SourceFile] | None = None,
) -> DataFrame:
    """The events of ACID files, without those of hidden write IDs. An event of another operation fails the job.

    The frame has at least the ACID columns in `wanted`. `read` are the files with the same events that Spark reads.
    """
    is_known = not files[0].hidden and all(f.is_all(operation) for f in files)
    by_case = _tells_by_case(files, types)
    unread = [name for name in ACID_FIELDS[:-1] if name not in wanted] if is_known and by_case else []
    if not by_case:
        # Set this on the session itself, not on a copy: settings that a write in place makes later (table_writer.py)
        # must reach this scan. Other scans of the session then read their columns in capitals, which is correct too.
        for key, value in ANY_CASE.items():
            spark.conf.set(key, value)
    schema = acid_schema(types, unread).json()
    cheapest = cheapest_column(types)
    if is_known:
        kept = [name for name, _ in types].index(cheapest)
        return _orc(spark, read or files, schema, options, kept)
    events = _orc(spark, read or files, schema, options)
    leaf = f"`row`.{name_sql(cheapest)}"
    return where(
        events,
        f"{_KEEPS_IDS} AND {_KEEPS_ROW.format(leaf=leaf)} AND {visible_sql(CURRENT_TRANSACTION, files[0].hidden)}"
        f" AND CASE WHEN operation <=> {operation} THEN true ELSE CAST({failure} AS BOOLEAN) END",
    )


def _tells_by_case(files: Sequence[SourceFile], columns: Sequence[tuple[str, t.DataType]]) -> bool:
    """Whether the files certainly have all names in this case. The names of a struct's fields are not known."""
    has_structs = any("struct<" in kind.simpleString() for _, kind in columns)
    return not has_structs and all(f.has_hives_names for f in files)


def _orc(
    spark: SparkSession,
    files: Sequence[SourceFile],
    schema: str,
    options: Mapping[str, str] | None = None,
    kept: int | None = None,
) -> DataFrame:
    return load_orc_exactly(spark, [f.path for f in files], schema, options, kept, [f.size for f in files])


def _read_format(spark: SparkSession, scan: Scan, files: Sequence[SourceFile], schema: t.StructType) -> DataFrame:
    table, paths = scan.table, [f.path for f in files]
    match table.file_format:
        case "orc":
            # Spark's own push-down is off: it fails on a scalar subquery that gives NULL (OrcFilters).
            options = search_options(spark, scan, files)
            return _orc(copy_with(spark, ANY_CASE), files, schema.json(), options)
        case "parquet":
            reader = copy_with(spark, ANY_CASE).read.schema(schema).options(**files[0].times.reader_options)
            return load_exactly(reader, "parquet", paths)
        case "textfile":
            return load_text(spark, table, paths)
        case other:
            feature = f"Reading {table.qualified}, stored as {other}"
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)


# ------------------------------------------------------------------------------------------------ columns


def _named(
    rows: DataFrame, bound: BoundScan, partition_columns: Sequence[str], values: Mapping[str, str] | None = None
) -> DataFrame:
    """The columns of the scan: the table's columns, then the virtual ones. `values` has their SQL by name; without it,
    the rows have columns of these names."""
    scan = bound.scan

    def value(name: str) -> str:
        return name_sql(name) if values is None else values[name]

    columns = [f"{value(c.name)} AS {name_sql(c.name)}" for c in bound.table.columns]
    of_partition = zip(bound.table.partition_columns, partition_columns, strict=True)
    columns += [f"{text} AS {name_sql(c.name)}" for c, text in of_partition]
    if scan.row_id:
        fields = (("writeid", WRITE_ID), ("bucketid", BUCKET), ("rowid", ROW))
        inside = ", ".join(f"'{field}', {value(name)}" for field, name in fields)
        row_id = f"named_struct({inside})"
        if not scan.table.is_full_acid:
            row_id = f"CASE WHEN {value(WRITE_ID)} IS NOT NULL THEN {row_id} END"
        columns.append(f"{row_id} AS {name_sql(scan.row_id)}")
    if scan.file_name:
        columns.append(f"{value(_FILE_NAME)} AS {name_sql(scan.file_name)}")
    if scan.is_deleted:
        is_deleted = f"{name_sql(DELETER)} IS NOT NULL" if scan.with_deleted else "false"
        columns.append(f"{is_deleted} AS {name_sql(scan.is_deleted)}")
    if scan.place:
        columns.append(f"{value(PART)} AS {name_sql(scan.place)}")
    return with_char_lengths(select(rows, columns), bound.table)


def _empty(spark: SparkSession, bound: BoundScan) -> DataFrame:
    internal = [
        t.StructField(WRITE_ID, t.LongType()),
        t.StructField(BUCKET, t.IntegerType()),
        t.StructField(ROW, t.LongType()),
        t.StructField(PART, t.IntegerType()),
        t.StructField(DELETER, t.LongType()),
        t.StructField(_FILE_NAME, t.StringType()),
    ]
    columns = [_sized(c.name, parse_type(c.type)) for c in bound.table.all_columns]
    schema = t.StructType([*internal, *columns])
    return _named(empty_frame(spark, schema), bound, [name_sql(c.name) for c in bound.table.partition_columns])


def _sized(name: str, hive_type: HiveType) -> t.StructField:
    """A column of a scan without rows. It carries a VARCHAR's length, for queries that are only asked for their
    types."""
    metadata = {VARCHAR_LENGTH: hive_type.length} if isinstance(hive_type, Varchar) else {}
    return t.StructField(name, query_type(hive_type), metadata=metadata)


# ------------------------------------------------------------------------------------------------ delete files


def delete_events(spark: SparkSession, bound: BoundScan, files: Sequence[SourceFile]) -> DataFrame:
    """The delete events that the reader sees: the row ID, the partition, and the write ID of the delete (DELETER)."""
    groups: dict[tuple[str, t.DataType, frozenset[WriteId]], list[SourceFile]] = {}
    for file in files:
        leaf = cheapest_column(types_in_file(bound.table, file.names))
        kind = dict(types_in_file(bound.table, file.names))[leaf]
        groups.setdefault((leaf, kind, file.hidden), []).append(file)
    frames = [_delete_group(spark, (leaf, kind), group) for (leaf, kind, _), group in groups.items()]
    return reduce(DataFrame.unionAll, frames)


def _delete_group(spark: SparkSession, leaf: tuple[str, t.DataType], files: Sequence[SourceFile]) -> DataFrame:
    failure = raise_sql(
        Condition.MALFORMED_LAYOUT,
        path=sql_string(files[0].origin),
        reason=sql_string("a delete_delta holds an event that is not a delete"),
    )
    wanted = (*_ROW_ID_FIELDS, CURRENT_TRANSACTION)
    events = _events(spark, files, [leaf], OPERATION_DELETE, failure, wanted)
    facts = file_facts([_part_only(f) for f in files])
    named = zip((*wanted, facts.part), (WRITE_ID, BUCKET, ROW, DELETER, PART), strict=True)
    return select(_keyed(spark, events, facts), (f"{value} AS {name_sql(name)}" for value, name in named))
