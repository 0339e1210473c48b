"""ANALYZE TABLE: counts the rows and files of a table or of partitions, and stores the numbers in the catalog.

The rows are counted by a query, while readers and writers go on. The table's EXCLUSIVE lock is taken only to store the
numbers. They are true if nothing was written between a look at the table before the query and one under the lock;
otherwise the query runs again. A wrong number would let Hive give a wrong answer to COUNT(*).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from acidsql.acid.hive_types import parse_type
from acidsql.acid.partition_values import normal_value
from acidsql.acid.table import Table
from acidsql.acid.write_ids import ValidWriteIdList
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.quoting import name_sql
from acidsql.metastore.catalog import Partition, PartitionValues
from acidsql.metastore.lock_components import LockType
from acidsql.metastore.transactions import Transactions
from acidsql.planner.ddl.ddl_plan import CollectStatistics, DdlPlan
from acidsql.planner.ddl.partition_spec import comparison_text, partitions_named
from acidsql.planner.plan import QueryPlan
from acidsql.planner.stored_values.partition_text import partition_text
from acidsql.request import Request
from acidsql.snapshot.statement_snapshots import snapshot_of
from acidsql.spark.catalyst.gateway import select
from acidsql.spark.executor import SparkExecutor
from acidsql.storage.file_systems import FilesOf, Listing

RowCountsOfParts: TypeAlias = "Mapping[PartitionValues, int]"
"""The number of rows of each partition that has some, or of the unpartitioned table under `()`."""

_ATTEMPTS: Final = 5
_ROWS: Final = "rows_of_partition"


def count_query(table: Table) -> str:
    """HiveQL that counts the rows of a table, for each partition."""
    names = [name_sql(column.name) for column in table.partition_columns]
    grouped = f" GROUP BY {', '.join(names)}" if names else ""
    columns = ", ".join([*names, f"count(*) AS {_ROWS}"])
    return f"SELECT {columns} FROM {name_sql(table.database)}.{name_sql(table.name)}{grouped}"


def counted_parts(executor: SparkExecutor, plan: QueryPlan, table: Table) -> RowCountsOfParts:
    """Runs the plan of `count_query`. The values of partitions are their texts in the names of directories."""
    rows, release = executor.query(plan, Request(count_query(table), {}, {}))
    texts = [partition_text(name_sql(c.name), c) for c in table.partition_columns]
    try:
        found = select(rows.private, (*texts, _ROWS)).collect()
    finally:
        release()
    return {tuple(row)[:-1]: int(tuple(row)[-1]) for row in found}


@dataclass(frozen=True, slots=True)
class _State:
    """What determines the rows of a table: its definition and partitions, and the write IDs of a transactional table or
    the files of a plain one."""

    table: Table
    partitions: tuple[Partition, ...]
    write_ids: ValidWriteIdList | None
    files: tuple[tuple[str, int, int], ...]


def _by_partition(counts: RowCountsOfParts, now: _State) -> Mapping[PartitionValues, int] | None:
    """The numbers of rows under the values that the catalog has, which may be spelled otherwise (`q=01`). None where a
    number belongs to no partition, or to two of them (`q=1`, `q=01`)."""
    columns = now.table.partition_columns
    if not columns:
        return counts
    types = [parse_type(column.type) for column in columns]
    known = {tuple(map(normal_value, p.values, types)): p.values for p in now.partitions}
    if len(known) < len(now.partitions) or not counts.keys() <= known.keys():
        return None
    return {known[values]: rows for values, rows in counts.items()}


@dataclass(frozen=True, slots=True)
class TableAnalysis:
    """`count` counts the rows of a table by a query."""

    transactions: Transactions
    files: FilesOf
    count: Callable[[Table], RowCountsOfParts]

    def run(self, plan: DdlPlan) -> None:
        """Runs the plan of ANALYZE TABLE. Raises PARTITION_NOT_FOUND, TABLE_NOT_FOUND, LOCK_TIMEOUT."""
        (step,) = plan.steps
        assert isinstance(step, CollectStatistics)
        # The query that counts takes the SHARED_READ lock in a transaction of its own.
        exclusive = [lock for lock in plan.locks if lock.lock_type is LockType.EXCLUSIVE]
        for attempt in range(1, _ATTEMPTS + 1):
            before = self._state(step.table)
            self._chosen(step, before.partitions)
            counts = self.count(before.table) if step.scans else None
            with self.transactions.run(lambda: exclusive) as txn:
                now = self._state(step.table)
                if now != before and attempt < _ATTEMPTS:
                    continue
                rows = None if counts is None else _by_partition(counts, now)
                accurate = None if counts is None else now == before and rows is not None
                statistics = self._statistics(step, now, rows)
                of = txn.id if now.table.is_transactional else None
                if statistics:
                    self.transactions.metastore.set_statistics(of, now.table, statistics, accurate=accurate)
                    self._recheck(now, list(statistics))
            return

    def _recheck(self, stored: _State, partitions: Sequence[PartitionValues]) -> None:
        """LOAD DATA into a plain table takes no lock: its file may have come since the look under the lock, and it may
        have marked the old statistics as out of date before the new ones were stored."""
        if not stored.table.is_transactional and self._state(stored.table) != stored:
            self.transactions.metastore.forget_statistics(None, stored.table, partitions)

    def _state(self, table: Table) -> _State:
        metastore = self.transactions.metastore
        now = metastore.table(table.database, table.name)
        partitions = tuple(metastore.partitions(now)) if now.partition_columns else (Partition((), now.location),)
        if now.is_transactional:
            return _State(now, partitions, metastore.valid_write_ids(now, metastore.valid_txns()), ())
        found = [
            (f"{partition.location}/{file.path}", file.length, file.modified)
            for partition in partitions
            for file in self._listing(partition).files
        ]
        return _State(now, partitions, None, tuple(sorted(found)))

    def _listing(self, partition: Partition) -> Listing:
        files = self.files(partition.location)
        return files.list_below(files.resolve(partition.location))

    def _chosen(self, step: CollectStatistics, partitions: Sequence[Partition]) -> list[Partition]:
        if not step.partition:
            return list(partitions)
        known = {p.values: p for p in partitions}
        named = partitions_named(step.partition, step.table, list(known), step.span)
        if not named:
            shown = ", ".join(map(comparison_text, step.partition))
            raise AcidSqlError(Condition.PARTITION_NOT_FOUND, span=step.partition[0].column.span, partition=shown)
        return [known[values] for values in named]

    def _statistics(
        self, step: CollectStatistics, now: _State, rows: Mapping[PartitionValues, int] | None
    ) -> dict[PartitionValues, dict[str, str]]:
        found = {p.values: self._file_statistics(p, now) for p in self._chosen(step, now.partitions)}
        for values, of in found.items():
            if rows is not None:
                of["numRows"] = str(rows.get(values, 0))
        return found

    def _file_statistics(self, partition: Partition, now: _State) -> dict[str, str]:
        """The files that a reader reads, delete deltas included."""
        files = self.files(partition.location)
        directory = files.resolve(partition.location)
        txns = self.transactions.metastore.valid_txns()
        snapshot = snapshot_of(now.table, files, directory, files.list_below(directory), now.write_ids, txns)
        read = (*snapshot.deltas, *snapshot.delete_deltas, *filter(None, [snapshot.base]))
        lengths = [data.file.length for d in read for data in d.files] + [f.length for f in snapshot.originals]
        return {"numFiles": str(len(lengths)), "totalSize": str(sum(lengths))}
