"""What the statements of a transaction have written to tables, for the commit and the history of the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from acidsql.acid.layout import base_name
from acidsql.acid.partition_names import partition_name
from acidsql.acid.written_directories import WrittenDirectory
from acidsql.metastore.catalog import Partition, PartitionValues
from acidsql.metastore.commit_history import CommittedWrite
from acidsql.metastore.history_retention import keeps_history
from acidsql.metastore.lock_components import LockType, Operation
from acidsql.planner.plan import Effect, WritePlan
from acidsql.snapshot.replaced_files import leave_list
from acidsql.snapshot.scan_binding import BoundPart
from acidsql.snapshot.statement_snapshots import StatementSnapshots
from acidsql.writing.publishing import StagedFile, WriteTarget

_OPERATIONS: Final = {
    Effect.INSERTED: Operation.INSERT,
    Effect.UPDATED: Operation.UPDATE,
    Effect.HALF: Operation.UPDATE,
    Effect.DELETED: Operation.DELETE,
}


@dataclass(frozen=True, slots=True)
class TableWrite:
    """What a statement has written to one table so far.

    `emptied` are the partitions that get an empty base. `made` are the directories that it has published; of a plain
    table they are files, which readers see before the commit.
    """

    target: WriteTarget
    staged: list[StagedFile] = field(default_factory=list)
    emptied: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)

    @property
    def partition_directories(self) -> set[str]:
        """The partitions, by directory, that get files or an empty base."""
        return {f.partition_directory for f in self.staged}.union(self.emptied)

    @property
    def new_partitions(self) -> list[Partition]:
        found = {f.new_partition: f.partition_directory for f in self.staged if f.new_partition is not None}
        return [Partition(values, directory) for values, directory in found.items()]

    @property
    def written_partitions(self) -> list[PartitionValues]:
        """The same partitions by their values: those of the catalog, then new ones."""
        written = self.partition_directories
        there = [values for values, place in self.target.partitions.located.items() if place in written]
        return [*there, *(p.values for p in self.new_partitions)]

    def made_directories(self) -> list[WrittenDirectory]:
        """The directories of a transactional table that it has published, for its readers."""
        target = self.target
        if not target.table.is_transactional:
            return []
        places = {directory: values for values, directory in target.partitions.located.items()}
        places |= {p.location: p.values for p in self.new_partitions}
        found = Counter((f.partition_directory, target.directory_name(f.slot.branch)) for f in self.staged)
        for place in self.emptied:
            found[place, base_name(target.write_id)] += 0
        return [WrittenDirectory(places.get(place, ()), name, count) for (place, name), count in found.items()]

    def touched(self) -> Mapping[Operation, set[str]]:
        """The names (`p=a/q=b`) of the partitions that it wrote to, by operation."""
        target = self.target
        columns = [c.name for c in target.table.partition_columns]
        values_of = {directory: values for values, directory in target.partitions.located.items()}
        values_of |= {p.location: p.values for p in self.new_partitions}
        found: dict[Operation, set[str]] = {}
        for directory, operation in self._written():
            found.setdefault(operation, set()).add(partition_name(columns, values_of[directory]))
        return found

    def _written(self) -> Iterator[tuple[str, Operation]]:
        for file in self.staged:
            branch, _ = self.target.branches[file.slot.branch]
            is_update = self.target.overwrites or (self.target.inserts_are_updates and branch.effect is Effect.INSERTED)
            yield file.partition_directory, Operation.UPDATE if is_update else _OPERATIONS[branch.effect]
        yield from ((directory, Operation.UPDATE) for directory in self.emptied)


def committed_writes(writes: Sequence[TableWrite]) -> list[CommittedWrite]:
    """What the writes of a transaction did, by table. The operations of several statements are joined. How many rows
    an overwrite has hidden, nobody has counted."""
    of_table: dict[tuple[str, str], list[TableWrite]] = {}
    for write in writes:
        table = write.target.table
        if table.is_transactional:
            of_table.setdefault((table.database, table.name), []).append(write)
    return [_joined(*name, found) for name, found in of_table.items()]


def _joined(database: str, table: str, writes: Sequence[TableWrite]) -> CommittedWrite:
    rows = dict.fromkeys(Effect, 0)
    for write in writes:
        for file in write.staged:
            branch, _ = write.target.branches[file.slot.branch]
            rows[branch.effect] += file.rows
    operations = dict.fromkeys(write.target.operation for write in writes)
    hides = any(write.target.overwrites for write in writes)
    deleted = None if hides else rows[Effect.DELETED]
    operation, inserted, updated = ", ".join(operations), rows[Effect.INSERTED], rows[Effect.UPDATED]
    return CommittedWrite(database, table, operation, inserted, updated, deleted)


def replaced_parts(
    plan: WritePlan, write: TableWrite, snapshots: Callable[[], StatementSnapshots]
) -> Sequence[BoundPart] | None:
    """What an overwrite replaces that keeps a list of it; None for other writes, and where another writer could add
    something that is not in the list. `snapshots` is called for such an overwrite only."""
    is_kept = plan.overwrite is not None and (plan.overwrite.whole or keeps_history(plan.target))
    is_alone = any(lock.lock_type is LockType.EXCLUSIVE for lock in plan.locks)
    if not (is_kept and is_alone and plan.target.is_transactional):
        return None
    return snapshots().parts_of(plan.target, write.written_partitions if plan.target.partition_columns else [()])


def note_replaced(write: TableWrite, parts: Sequence[BoundPart]) -> None:
    """Leaves in each base that the write has published the list of the files that it replaces. `parts` are the
    partitions as readers read them before."""
    of_directory = {part.directory: part.snapshot for part in parts}
    for base in write.made:
        leave_list(write.target.files, base, of_directory.get(base.rpartition("/")[0]))
