"""Runs plans: one snapshot, one Spark write command, files published before the commit.

    open a transaction -> register what is locked -> one ValidTxnList, one ValidWriteIdList a table -> list the
    directories -> the plan's query -> staged files -> published files -> commit

On any failure the transaction is aborted and its files are removed.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructField

from acidsql.acid.rowid import MAX_BUCKET
from acidsql.acid.table import Table
from acidsql.acid.types import parse_type
from acidsql.acid.writeids import TxnId, ValidTxnList, WriteId
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.statements import PartitionItem, TableName
from acidsql.metastore.client import Metastore, Partition
from acidsql.metastore.heartbeat import Heartbeat
from acidsql.planner.events import stored
from acidsql.planner.insert import wrong_count
from acidsql.planner.locks import overwrite_locks
from acidsql.planner.plan import ROWS, Effect, FrameScan, Overwrite, Plan, QueryPlan, WritePlan
from acidsql.planner.prune import has_values
from acidsql.spark import plain
from acidsql.spark.bound import BoundScan
from acidsql.spark.engine import Engine, StatementSpark, adopt
from acidsql.spark.events import (
    arranged_events,
    assign_slots,
    nested_rows,
    numbered_inserts,
    plain_rows,
    staging_columns,
)
from acidsql.spark.failures import translate
from acidsql.spark.frames import to_frame
from acidsql.spark.publish import (
    SPARK_FORMATS,
    StagedFile,
    WriteTarget,
    check_writable,
    finish_staged,
    publish,
    publish_empty_base,
    remove,
    writer_options,
)
from acidsql.spark.read import scan_frame
from acidsql.spark.snapshots import StatementSnapshots
from acidsql.spark.tails import TailCache
from acidsql.spark.types import CHAR_LENGTH, has_instant, has_timestamp, is_storable

_SMALL: Final = 8 * 1024 * 1024
"""Bytes that one task writes without help."""
_TASK: Final = 64 * 1024 * 1024
"""Compressed bytes that a task should get, where there are many."""

_UNKNOWN: Final = 1 << 60
"""What Spark answers for an RDD is more than this."""


_END_SECONDS: Final = 30.0
"""How long a statement that failed waits for its tasks to notice."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows that a DML statement touched. An updated row counts once."""

    updated: int = 0
    deleted: int = 0
    inserted: int = 0

    @property
    def affected(self) -> int:
        return self.updated + self.deleted + self.inserted


@dataclass(frozen=True, slots=True)
class Written:
    """What a DML statement did; `write_ids` by qualified table name."""

    counts: Counts
    txn_id: TxnId
    write_ids: Mapping[str, WriteId]


@dataclass(frozen=True, slots=True)
class Request:
    """A statement's text, and what came with the call: named parameters and frames."""

    text: str
    args: Mapping[str, object]
    frames: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _TableWrite:
    """What a transaction has written to one table so far; `emptied` are directories with an empty base."""

    target: WriteTarget
    staged: list[StagedFile]
    emptied: list[str] = field(default_factory=list)


class Executor:
    """Binds plans to snapshots and runs them on Spark."""

    def __init__(self, engine: Engine, metastore: Metastore) -> None:
        self._engine = engine
        self._metastore = metastore
        self._tails = TailCache()

    def query(self, plan: QueryPlan, request: Request) -> DataFrame:
        """The rows of a query, lazily, on the snapshot of now; a frame of the user's session."""
        with self._translated(request):
            spark = self._engine.statement()
            self._define_views(spark, plan, request, self._metastore.valid_txns())
            return adopt(_padded(spark.sql(plan.sql, request.args)), spark.user)

    def write(self, plan: WritePlan, request: Request) -> Written:
        """Runs a DML statement in a transaction of its own.

        Raises what the statement breaks, WRITE_CONFLICT where another transaction came first.
        """
        with self._translated(request), self._job(plan.operation, plan.target) as group:
            if not plan.target.is_transactional:
                return self._append(plan, request)
            txn = self._metastore.open_txn()
            written: list[_TableWrite] = []
            try:
                with Heartbeat(self._metastore, txn) as heartbeat:
                    self._metastore.lock(txn, plan.locks)
                    self._check_unchanged(plan.target)
                    txns = self._metastore.valid_txns(txn)
                    write_id = self._metastore.allocate_write_id(txn, plan.target)
                    self._write_table(plan, request, txns, (txn, write_id), written)
                    heartbeat.check()
                self._register(written)
                self._metastore.commit(txn)
            except BaseException:
                self._end_jobs(group)
                self._undo(txn, written)
                raise
            counts = _counts(plan, [f for w in written for f in w.staged])
            return Written(counts, txn, {plan.target.qualified: write_id})

    def truncate(self, table: Table, items: Sequence[PartitionItem], name: TableName) -> tuple[TxnId, WriteId]:
        """TRUNCATE TABLE: an empty base in the table's directory, or in every partition that the clause names.

        Raises NOT_TRANSACTIONAL, NOT_PARTITIONED, PARTITION_NOT_FOUND.
        """
        if not table.is_transactional:
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=name.span, feature="TRUNCATE of a plain table")
        if items and not table.partition_columns:
            raise AcidSqlError(Condition.NOT_PARTITIONED, span=name.span, table=table.qualified)
        txn = self._metastore.open_txn()
        written: list[_TableWrite] = []
        try:
            self._metastore.lock(txn, overwrite_locks(table, ()))
            self._check_unchanged(table)
            write_id = self._metastore.allocate_write_id(txn, table)
            files = self._engine.files(table.location)
            target = WriteTarget(table, files.resolve(table.location), files, txn, write_id, (), overwrites=True)
            directories = self._truncated(table, items, target)
            written.append(_TableWrite(target, [], directories))
            for directory in directories:
                publish_empty_base(target, directory)
            self._metastore.commit(txn)
        except BaseException:
            self._undo(txn, written)
            raise
        return txn, write_id

    def _truncated(self, table: Table, items: Sequence[PartitionItem], target: WriteTarget) -> list[str]:
        if not table.partition_columns:
            return [target.directory]
        found = [p for p in self._metastore.partitions(table) if has_values(items, table, p.values)]
        if items and not found:
            shown = ", ".join(f"{i.column.value}={to_spark(i.value)}" for i in items if i.value is not None)
            raise AcidSqlError(Condition.PARTITION_NOT_FOUND, span=items[0].column.span, partition=shown)
        return [target.files.resolve(p.location) for p in found]

    # -- snapshots

    def _define_views(self, spark: StatementSpark, plan: Plan, request: Request, txns: ValidTxnList) -> list[BoundScan]:
        snapshots = StatementSnapshots(self._engine, self._metastore, txns)
        bound_scans = []
        for scan in plan.scans:
            self._check_time(scan.table)
            bound = snapshots.bind(scan)
            bound_scans.append(bound)
            spark.define_view(scan.view, scan_frame(spark.storage, bound, self._tails))
        for frame in plan.frames:
            spark.define_view(frame.view, _given_frame(frame, request, spark.user))
        return bound_scans

    def _check_unchanged(self, table: Table) -> None:
        """The statement was planned before it had its locks."""
        if self._metastore.find_table(table.database, table.name) != table:
            raise AcidSqlError(Condition.TABLE_CHANGED, table=table.qualified)

    def _check_time(self, table: Table) -> None:
        types = [parse_type(c.type) for c in table.columns]
        if any(has_timestamp(kind) or has_instant(kind) for kind in types):
            self._engine.require_exact_time(table.qualified)

    # -- writing

    def _write_table(
        self,
        plan: WritePlan,
        request: Request,
        txns: ValidTxnList,
        ids: tuple[TxnId, WriteId],
        written: list[_TableWrite],
    ) -> None:
        """Stages and publishes; `written` tells what there is to undo, whenever this is left."""
        spark = self._engine.statement()
        bound = self._define_views(spark, plan, request, txns)
        self._check_time(plan.target)
        target = self._target(plan, bound, *ids)
        write = _TableWrite(target, [])
        written.append(write)
        write.staged.extend(self._stage(spark, plan, request, target, bound))
        publish(target, write.staged)
        if plan.overwrite is not None and not write.staged:
            self._replace_with_nothing(spark, plan, plan.overwrite, write)

    def _target(self, plan: WritePlan, bound: Sequence[BoundScan], txn: TxnId, write_id: WriteId) -> WriteTarget:
        table = plan.target
        files = self._engine.files(table.location)
        known = self._metastore.partitions(table) if table.partition_columns else ()
        return WriteTarget(
            table,
            files.resolve(table.location),
            files,
            txn,
            write_id,
            tuple((b, b.statement_id) for b in plan.branches),
            overwrites=plan.overwrite is not None,
            places=tuple(part.directory for b in bound if b.scan.is_target for part in b.parts),
            partitions={p.values: files.resolve(p.location) for p in known},
        )

    def _stage(
        self,
        spark: StatementSpark,
        plan: WritePlan,
        request: Request,
        target: WriteTarget,
        bound: Sequence[BoundScan],
    ) -> list[StagedFile]:
        """Writes the plan's events into the staging directory: the statement's one Spark write."""
        events = adopt(_events(spark, plan, request), spark.storage)
        statement_ids = [s for _, s in target.branches]
        if plan.inserts_only:
            rows = numbered_inserts(_few_tasks(events, plan), plan, statement_ids[0], target.write_id)
            self._save(rows, plan, target, ())
            return finish_staged(target, None)
        tasks = 1 if plan.few_rows else _task_count(spark.storage, events)
        slots = assign_slots(plan.branches, _target_buckets(bound), tasks, plan.target.bucket_count)
        rows = arranged_events(events, plan, slots, statement_ids, target.write_id)
        self._save(rows, plan, target, staging_columns(plan))
        return finish_staged(target, slots.by_code())

    def _replace_with_nothing(
        self, spark: StatementSpark, plan: WritePlan, overwrite: Overwrite, write: _TableWrite
    ) -> None:
        """INSERT OVERWRITE of no rows: an empty base, unless the partitions to replace are those that get rows."""
        target = write.target
        columns = plan.target.partition_columns
        if not columns:
            write.emptied.append(target.directory)
        elif len(overwrite.static) == len(columns):
            texts = (f"CAST({stored(overwrite.static[c.name], c, {})} AS STRING)" for c in columns)
            values = tuple(v or None for v in spark.sql(f"SELECT {', '.join(texts)}").collect()[0])
            directory = target.partitions.get(values)
            if directory is not None:
                write.emptied.append(directory)
        for directory in write.emptied:
            publish_empty_base(target, directory)

    def _register(self, written: Sequence[_TableWrite]) -> None:
        """New partitions come into the catalog; empty, should the commit fail."""
        for write in written:
            new = {f.new_partition: f.partition_directory for f in write.staged if f.new_partition is not None}
            if new:
                partitions = [Partition(values, directory) for values, directory in new.items()]
                self._metastore.add_partitions(write.target.table, partitions)

    def _save(self, rows: DataFrame, plan: WritePlan, target: WriteTarget, partition_by: Sequence[str]) -> None:
        check_writable(target)
        if plan.target.is_insert_only:
            rows = plain_rows(rows, plan)
        elif not target.files.can_rewrite:
            rows = nested_rows(rows, plan)
        writer = rows.write.mode("overwrite").options(**writer_options(plan.target))
        writer = writer.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
        writer = writer.partitionBy(*partition_by) if partition_by else writer
        writer.format(SPARK_FORMATS[plan.target.file_format]).save(target.staging)

    def _append(self, plan: WritePlan, request: Request) -> Written:
        """INSERT into a plain table: files appear as they are moved, without a transaction."""
        spark = self._engine.statement()
        self._define_views(spark, plan, request, self._metastore.valid_txns())
        events = adopt(_events(spark, plan, request), spark.storage)
        inserted = plain.append(spark.storage, _few_tasks(events, plan), plan, self._engine)
        return Written(Counts(inserted=inserted), TxnId(0), {})

    def _undo(self, txn: TxnId, written: Sequence[_TableWrite]) -> None:
        """Aborts; the files go only once the transaction is known not to be committed."""
        self._metastore.abort(txn)
        for write in written:
            directories = {f.partition_directory for f in write.staged}.union(write.emptied)
            remove(write.target, directories)

    # -- edges

    @contextmanager
    def _job(self, operation: str, table: Table) -> Iterator[str]:
        """Names the statement's Spark jobs, gives their group, and ends them when the statement is interrupted."""
        context = self._engine.spark.sparkContext
        group = f"acidsql-{uuid.uuid4()}"
        context.setJobGroup(group, f"{operation} {table.qualified}", interruptOnCancel=False)
        try:
            yield group
        except KeyboardInterrupt:
            self._end_jobs(group)
            raise
        finally:
            context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
            context.setLocalProperty("spark.job.description", None)  # type: ignore[arg-type]

    def _end_jobs(self, group: str) -> None:
        """Ends the jobs of a statement that failed or was interrupted, those too that it is about to start, and waits
        for their tasks: none may write behind the removal of the statement's files."""
        context = self._engine.spark.sparkContext
        scala_context: Any = context._jsc.sc()
        scala_context.cancelJobGroupAndFutureJobs(group)
        deadline = time.monotonic() + _END_SECONDS
        while _has_tasks(context, group) and time.monotonic() < deadline:
            time.sleep(0.02)

    @contextmanager
    def _translated(self, request: Request) -> Iterator[None]:
        try:
            yield
        except (PySparkException, Py4JError) as error:
            raise translate(error, request.text) from error


def _has_tasks(context: SparkContext, group: str) -> bool:
    tracker = context.statusTracker()
    jobs = (tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group))
    stages = (tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds)
    return any(stage.numActiveTasks > 0 for stage in stages if stage is not None)


def _padded(rows: DataFrame) -> DataFrame:
    """A query's rows with its CHAR columns padded to their length, as Hive gives them."""
    fields = rows.schema.fields
    if not any(CHAR_LENGTH in f.metadata for f in fields):
        return rows
    by_place = rows.toDF(*(str(i) for i in range(len(fields))))
    return by_place.select(*(_shown(F.col(str(i)), f).alias(f.name) for i, f in enumerate(fields)))


def _shown(value: Column, field: StructField) -> Column:
    length = field.metadata.get(CHAR_LENGTH)
    return value if length is None else F.rpad(value, length, " ")


def _given_frame(frame: FrameScan, request: Request, spark: SparkSession) -> DataFrame:
    if frame.frame not in request.frames:
        name = f"{{{frame.frame}}}"
        start = request.text.find(name)
        span = Span(request.text, start, start + len(name)) if start >= 0 else None
        raise AcidSqlError(Condition.UNBOUND_PARAMETER, span=span, name=name)
    return to_frame(request.frames[frame.frame], frame.frame, spark)


def _events(spark: StatementSpark, plan: WritePlan, request: Request) -> DataFrame:
    """The plan's event query, over the view of its rows. Raises INSERT_COLUMN_COUNT, INCOMPATIBLE_TYPE."""
    rows = spark.sql(plan.rows, request.args)
    if plan.positional is not None:
        if len(rows.columns) != len(plan.positional):
            raise wrong_count(plan.target, len(plan.positional), len(rows.columns), plan.source_span)
        rows = rows.toDF(*plan.positional)
    _check_types(rows, plan)
    spark.define_view(ROWS, rows)
    return spark.sql(plan.events)


def _check_types(rows: DataFrame, plan: WritePlan) -> None:
    types = {f.name: f.dataType for f in rows.schema.fields}
    for value in plan.values:
        source = types[value.name]
        if not is_storable(source, parse_type(value.column.type)):
            raise AcidSqlError(
                Condition.INCOMPATIBLE_TYPE,
                span=value.span,
                table=plan.target.qualified,
                column=value.column.name,
                source=source.simpleString(),
                target=value.column.type,
                hint=f"Convert it to {value.column.type} in the statement.",
            )


def _few_tasks(events: DataFrame, plan: WritePlan) -> DataFrame:
    """Buckets are numbered by task in 12 bits; rows from the statement's own text need one task only."""
    return events.coalesce(1 if plan.few_rows else MAX_BUCKET + 1)


def _task_count(spark: SparkSession, events: DataFrame) -> int:
    """Writing tasks, by the bytes that the statement reads: one for little, all cores or more for much."""
    size = _leaf_bytes(events)
    if size <= _SMALL:
        return 1
    cores = spark.sparkContext.defaultParallelism
    most = max(cores, int(spark.conf.get("spark.sql.shuffle.partitions") or cores))
    return min(MAX_BUCKET + 1, most, max(cores, -(-size // _TASK)))


def _leaf_bytes(frame: DataFrame) -> int:
    """The bytes that Spark expects the query to read; a little more than _SMALL for a leaf that it knows nothing of."""
    leaves: Any = frame._jdf.queryExecution().analyzed().collectLeaves()
    sizes = (int(str(leaves.apply(i).stats().sizeInBytes())) for i in range(leaves.size()))
    return sum(size if size < _UNKNOWN else _SMALL + 1 for size in sizes)


def _target_buckets(bound: Sequence[BoundScan]) -> frozenset[int]:
    return frozenset().union(*(b.buckets for b in bound if b.scan.is_target))


def _counts(plan: WritePlan, staged: Sequence[StagedFile]) -> Counts:
    of = dict.fromkeys(Effect, 0)
    for file in staged:
        of[plan.branches[file.slot.branch].effect] += file.rows
    return Counts(of[Effect.UPDATED], of[Effect.DELETED], of[Effect.INSERTED])
