"""The locks that a statement requests, as Hive's AcidUtils.makeLockComponents, with Hive's settings (LockRules).

A plan has locks on tables, because the planner does not read partitions. `on_partitions` narrows them to the partitions
that the statement may read or write.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from acidsql.acid.partition_names import partition_name
from acidsql.acid.partition_values import as_known
from acidsql.acid.table import Table
from acidsql.metastore.catalog import PartitionValues
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.planner.conditions.partition_pruning import keeps
from acidsql.planner.plan import Effect, Evolution, Facts, MultiWritePlan, Plan, Scan, WritePlan, changing

XLOCK_OVERWRITE: Final = "hive.txn.xlock.iow"
XLOCK_WRITE: Final = "hive.txn.xlock.write"
XLOCK_MERGE_INSERT: Final = "hive.txn.xlock.mergeinsert"
NONACID_LOCKS: Final = "hive.txn.nonacid.locks"

CONFLICTS: Final = "acidsql.conflict.detection"

_MOST_PARTITIONS: Final = 200
"""A statement on more partitions than this locks the whole table, as Hive does by a setting."""


@dataclass(frozen=True, slots=True)
class LockRules:
    """Which statements exclude which: INSERT OVERWRITE all others, UPDATE, DELETE and MERGE each other, an inserting
    MERGE other MERGEs. `nonacid_reads` locks plain tables that a statement reads. The defaults are Hive's, except for
    MERGE."""

    exclusive_overwrite: bool = True
    exclusive_write: bool = True
    exclusive_merge_insert: bool = True
    nonacid_reads: bool = True
    by_row: bool = False
    """Whether concurrent writers conflict only if they changed the same row. An inserting MERGE then excludes
    others."""

    @staticmethod
    def of(facts: Facts) -> LockRules:
        def on(key: str) -> bool:
            return facts.settings.get(key, "true") == "true"

        by_row = facts.settings.get(CONFLICTS) == "row"
        return LockRules(on(XLOCK_OVERWRITE), on(XLOCK_WRITE), on(XLOCK_MERGE_INSERT), on(NONACID_LOCKS), by_row)


DEFAULT_RULES: Final = LockRules()


def read_locks(scans: Sequence[Scan], rules: LockRules = DEFAULT_RULES) -> tuple[LockComponent, ...]:
    """SHARED_READ once on each table that the statement reads, except the target of a write."""
    tables = {s.table.qualified: s.table for s in scans if not s.is_target}
    locked = (t for t in tables.values() if t.is_transactional or rules.nonacid_reads)
    return tuple(_lock(t, LockType.SHARED_READ, Operation.SELECT) for t in locked)


def insert_locks(table: Table, scans: Sequence[Scan], rules: LockRules = DEFAULT_RULES) -> tuple[LockComponent, ...]:
    """INSERT: a lock that excludes only statements which replace the table, or, if writers share, also those which
    update it alone."""
    lock_type = LockType.SHARED_READ if rules.exclusive_write else LockType.SHARED_WRITE
    return (_lock(table, lock_type, Operation.INSERT), *read_locks(scans, rules))


def overwrite_locks(table: Table, scans: Sequence[Scan], rules: LockRules = DEFAULT_RULES) -> tuple[LockComponent, ...]:
    """INSERT OVERWRITE: EXCLUSIVE, because its base would hide a concurrent insert. It counts as an update of all
    rows."""
    alone = rules.exclusive_overwrite and rules.exclusive_write
    lock_type = LockType.EXCLUSIVE if alone else LockType.EXCL_WRITE
    return (_lock(table, lock_type, Operation.UPDATE), *read_locks(scans, rules))


def create_locks(table: Table, scans: Sequence[Scan], rules: LockRules = DEFAULT_RULES) -> tuple[LockComponent, ...]:
    """CREATE TABLE .. AS: of two that create the same table, the second waits and then finds the table. Nobody else can
    create a temporary table of the session."""
    if table.temporary:
        return (database_lock(table.database), *read_locks(scans, rules))
    lock_type = LockType.EXCL_WRITE if table.is_transactional else LockType.EXCLUSIVE
    return (database_lock(table.database), _lock(table, lock_type, Operation.INSERT), *read_locks(scans, rules))


def analyze_locks(table: Table, settings: Mapping[str, str], *, reads: bool) -> tuple[LockComponent, ...]:
    """ANALYZE TABLE: EXCLUSIVE to store the numbers, and SHARED_READ for the query that counts rows before."""
    locks_read = reads and (table.is_transactional or settings.get(NONACID_LOCKS, "true") == "true")
    read = (_lock(table, LockType.SHARED_READ, Operation.SELECT),) if locks_read else ()
    return (exclusive_lock(table.database, table.name), *read)


def database_lock(name: str) -> LockComponent:
    """The lock of a statement that creates or drops a table: nobody drops the database meanwhile (DDL_SHARED)."""
    return LockComponent(name, None, LockType.SHARED_READ, Operation.NO_TXN)


def exclusive_lock(database: str, table: str | None) -> LockComponent:
    """The lock on a table, or on a database with all its tables, that waits for readers and writers and excludes both,
    as Hive's DDL does (DDL_EXCLUSIVE)."""
    return LockComponent(database, table, LockType.EXCLUSIVE, Operation.NO_TXN)


def write_locks(
    table: Table, operations: Sequence[Operation], scans: Sequence[Scan], rules: LockRules = DEFAULT_RULES
) -> tuple[LockComponent, ...]:
    """UPDATE and DELETE: EXCL_WRITE, so that they take turns, while inserts and readers proceed. If writers share, the
    lock is SHARED_WRITE and the first committer wins."""
    lock_type = LockType.EXCL_WRITE if rules.exclusive_write else LockType.SHARED_WRITE
    return (*(_lock(table, lock_type, operation) for operation in operations), *read_locks(scans, rules))


def merge_locks(
    table: Table, effects: Collection[Effect], scans: Sequence[Scan], rules: LockRules = DEFAULT_RULES
) -> tuple[LockComponent, ...]:
    """MERGE: the locks of its clauses. An INSERT counts as an update of the table, so that of two MERGEs which insert
    the same new key one waits or conflicts (semantics.md, "Better" 6)."""
    inserts = Effect.INSERTED in effects
    operations = [
        operation
        for operation, needed in (
            (Operation.UPDATE, Effect.UPDATED in effects or (inserts and rules.exclusive_merge_insert)),
            (Operation.DELETE, Effect.DELETED in effects),
        )
        if needed
    ]
    if inserts and rules.by_row and rules.exclusive_merge_insert:
        rules = replace(rules, exclusive_write=True)
    locks = write_locks(table, operations, scans, rules)
    if not inserts or rules.exclusive_merge_insert:
        return locks
    insert = insert_locks(table, (), rules)
    return (*insert, *(lock for lock in locks if lock not in insert))


def inserts_are_updates(plan: WritePlan) -> bool:
    """Whether the rows that the plan inserts count as updates, because a MERGE makes them (`merge_locks`)."""
    target = (plan.target.database, plan.target.name)
    operations = {lock.operation for lock in plan.locks if (lock.database, lock.table) == target}
    inserts = any(branch.effect is Effect.INSERTED for branch in plan.branches)
    return inserts and Operation.UPDATE in operations and Operation.INSERT not in operations


def evolving_locks(locks: tuple[LockComponent, ...], evolution: Evolution | None) -> tuple[LockComponent, ...]:
    """The locks of a statement WITH SCHEMA EVOLUTION: its locks on the target become EXCLUSIVE, as that of ALTER TABLE,
    if it changes the target's definition."""
    changed = changing(evolution)
    if changed is None:
        return locks
    target = (changed.before.database, changed.before.name)
    return tuple(
        replace(lock, lock_type=LockType.EXCLUSIVE)
        if (lock.database, lock.table) == target and lock.operation is not Operation.SELECT
        else lock
        for lock in locks
    )


def _lock(table: Table, lock_type: LockType, operation: Operation) -> LockComponent:
    """A lock on a table. The metastore records no operation for writes of plain tables."""
    kept = table.is_transactional or operation is Operation.SELECT
    return LockComponent(table.database, table.name, lock_type, operation if kept else Operation.NO_TXN)


# ------------------------------------------------------------------------------------------------ partitions


def on_partitions(plan: Plan, values_of: Callable[[Table], Sequence[PartitionValues]]) -> tuple[LockComponent, ...]:
    """The plan's locks, narrowed to the partitions that its conditions or its PARTITION clause select. A lock on a
    whole partitioned table is marked as dynamic: the commit reports which partitions were written."""
    found = (lock for component in plan.locks for lock in _narrowed(component, plan, values_of))
    return tuple(dict.fromkeys(found))


def _narrowed(
    lock: LockComponent, plan: Plan, values_of: Callable[[Table], Sequence[PartitionValues]]
) -> Iterator[LockComponent]:
    scans = [s for s in plan.scans if (s.table.database, s.table.name) == (lock.database, lock.table)]
    writes = () if lock.operation is Operation.SELECT else _writes(lock, plan)
    table = writes[0].target if writes else scans[0].table if scans else None
    if table is None or not table.partition_columns:
        yield lock
        return
    names = _written_partitions(writes, values_of) if writes else _read_partitions(scans, values_of)
    if names is None or not 0 < len(names) <= _MOST_PARTITIONS:
        yield replace(lock, dynamic_partition_write=bool(writes))
        return
    yield from (replace(lock, partition=name) for name in names)


def _writes(lock: LockComponent, plan: Plan) -> Sequence[WritePlan]:
    match plan:
        case WritePlan() | MultiWritePlan():
            return [w for w in plan.writes if (w.target.database, w.target.name) == (lock.database, lock.table)]
        case _:
            return ()


def _written_partitions(
    writes: Sequence[WritePlan], values_of: Callable[[Table], Sequence[PartitionValues]]
) -> list[str] | None:
    if len(writes) != 1:
        return None
    (write,) = writes
    if write.evolution is not None:
        return None  # it changes the definition of the whole table
    if write.partition is not None:
        known = values_of(write.target)
        return [
            _name(write.target, as_known(write.partition, write.target.partition_columns, known) or write.partition)
        ]
    return None if write.moves_rows else _read_partitions([s for s in write.scans if s.is_target], values_of)


def _read_partitions(
    scans: Sequence[Scan], values_of: Callable[[Table], Sequence[PartitionValues]]
) -> list[str] | None:
    if not scans or not all(s.partition_filter for s in scans):
        return None
    tests = [keeps(s.partition_filter, s.table) for s in scans]
    kept = [values for values in values_of(scans[0].table) if any(test(values) for test in tests)]
    return [_name(scans[0].table, values) for values in kept]


def _name(table: Table, values: Sequence[str | None]) -> str:
    return partition_name([c.name for c in table.partition_columns], values)
