"""The files of a compaction: what it is to merge, the files that its tasks have staged, finished and moved to the
directories that readers see when the transaction commits.

    staging/<job>/%3Aslot=<code>/part-<task>    -> base_WRITEID_vTXN/bucket_NNNNN, or a delta and a delete_delta
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final

from acidsql.acid.compaction_scope import Rewrite, Scope
from acidsql.acid.layout import (
    ACID_VERSION_CONTENT,
    ACID_VERSION_FILE,
    STAGING_DIRECTORY,
    bucket_name,
    original_name,
)
from acidsql.acid.partition_names import escape
from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.plan import Scan
from acidsql.snapshot.scan_binding import BoundPart, BoundScan
from acidsql.storage.file_systems import FileSystem, remove_all
from acidsql.storage.footer_cache import read_file_tail
from acidsql.storage.orc.orc_footers import count_rows, finish_events, finish_plain, finish_rows
from acidsql.writing.file_slots import SLOT, Slot, Slots

ROWS, DELETES = 0, 1
"""The branches of a slot."""
IN_ORDER, SORTED, AS_THEY_COME = "in_order", "sorted", "rows"
"""The jobs of a compaction, each with a directory of its own in the staging directory: that of the buckets of one file,
that of the buckets whose rows are sorted, and that of rows that may lie in any file."""
ROW_ID: Final = ":row_id"
"""The scan's column of row__id."""
_PART: Final = re.compile(r"part-(\d{5,})-")
_THREADS: Final = 8


@dataclass(frozen=True, slots=True)
class Amount:
    """The content of directories: their names, and the number and bytes of their files."""

    directories: tuple[str, ...]
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of a compaction: what it read and what it wrote."""

    before: Amount
    after: Amount
    rows: int
    """Rows and delete events written."""


@dataclass(frozen=True, slots=True)
class Job:
    """One compaction of the directory of a table or partition. Only a rebalance has `order_by` and `buckets`."""

    table: Table
    part: BoundPart
    scope: Scope
    files: FileSystem
    txn: TxnId
    properties: Mapping[str, str] = field(default_factory=dict)
    """Properties that override the table's, such as those of ORC."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of Spark for this job. Keys that are not Spark's are ignored."""
    order_by: str | None = None
    """The items of ORDER BY, as Spark SQL."""
    buckets: int | None = None

    @property
    def staging(self) -> str:
        return f"{self.part.directory}/{STAGING_DIRECTORY}_{self.txn}_compaction"

    @property
    def target(self) -> Table:
        return replace(self.table, properties={**self.table.properties, **self.properties})

    @property
    def source(self) -> BoundScan:
        scan = Scan("compacted", self.table, row_id=ROW_ID if self.table.is_full_acid else None)
        return BoundScan(scan, self.files, (BoundPart(self.part.values, self.part.directory, self.scope.source),))

    @property
    def directories(self) -> list[str]:
        """The directories that it may make: first that of rows, then that of delete events."""
        names = [self.scope.data_name(self.txn)]
        if self.scope.rewrite is Rewrite.MINOR:
            names.append(self.scope.delete_name(self.txn))
        return [f"{self.part.directory}/{name}" for name in names]


@dataclass(frozen=True, slots=True)
class Origin:
    """What all rows of a file have in common."""

    write_id: WriteId
    bucket_property: int


@dataclass(frozen=True, slots=True)
class Written:
    """The slots that name the staged files, or None if they are numbered by task or by bucket. If there are `origins`,
    the files of the job IN_ORDER lack the ACID columns other than the row IDs."""

    slots: Slots | None
    origins: Mapping[int, Origin] = field(default_factory=dict)


def undo(job: Job) -> bool:
    """Removes everything that the compaction staged or published; whether all is gone."""
    return remove_all(job.files, (job.staging, *job.directories))


@dataclass(frozen=True, slots=True)
class _Staged:
    path: str
    slot: Slot
    rows: int


def finish(job: Job, written: Written) -> list[_Staged]:
    """Finishes the footers of the staged files, and gives those that hold rows."""
    by_code = written.slots.by_code() if written.slots is not None else None
    found = [f for f in job.files.list_below(job.staging).files if _PART.match(f.path.rpartition("/")[2])]

    def finished(path: str, length: int) -> _Staged:
        slot = _slot(path, by_code)
        origins = written.origins if path.startswith(f"{IN_ORDER}/") else {}
        whole = f"{job.staging}/{path}"
        if job.table.file_format != "orc":
            return _Staged(whole, slot, count_rows(job.files, whole, job.table.file_format))
        tail = read_file_tail(job.files, whole, length)
        if tail.rows and job.table.is_insert_only:
            finish_plain(job.files, whole, tail, job.table)
        elif tail.rows and origins:
            of = origins[slot.bucket]
            whole = finish_rows(job.files, tail, job.table, of.write_id, of.bucket_property, has_row_ids=True)
        elif tail.rows:
            finish_events(job.files, whole, tail, job.table, is_delete=slot.branch == DELETES)
        return _Staged(whole, slot, tail.rows)

    with ThreadPoolExecutor(_THREADS) as pool:
        return [s for s in pool.map(lambda f: finished(f.path, f.length), found) if s.rows]


def _slot(path: str, by_code: Mapping[int, Slot] | None) -> Slot:
    directory, _, name = path.rpartition("/")
    directory = directory.partition("/")[2]  # the name of the job stands before it
    if by_code is None and not directory:
        task = _PART.match(name)
        assert task is not None
        return Slot(ROWS, int(task.group(1)))
    code = directory.removeprefix(f"{escape(SLOT)}=")
    if by_code is None:
        return Slot(ROWS, int(code))
    if not code.isdigit() or int(code) not in by_code:
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason="an event names a bucket without a file")
    return by_code[int(code)]


def publish(job: Job, staged: Sequence[_Staged]) -> Merged:
    """Moves the files to the directories that the scope names. A base is made even if it has no rows."""
    made: dict[int, str] = {}
    if job.scope.rewrite is not Rewrite.MINOR:
        made[ROWS] = _make_directory(job, ROWS)
    written = 0
    if len({file.slot for file in staged}) < len(staged):
        reason = "rows of one bucket lie in files of several buckets"
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=job.part.directory, reason=reason)
    for file in staged:
        if file.slot.branch not in made:
            made[file.slot.branch] = _make_directory(job, file.slot.branch)
        name = original_name if job.table.is_insert_only else bucket_name
        target = f"{made[file.slot.branch]}/{name(file.slot.bucket)}"
        job.files.rename(file.path, target)
        written += job.files.file_size(target) or 0
    job.files.delete(job.staging)
    names = tuple(made[branch].rpartition("/")[2] for branch in sorted(made))
    return Merged(amount(job), Amount(names, len(staged), written), sum(s.rows for s in staged))


def _make_directory(job: Job, branch: int) -> str:
    path = job.directories[branch]
    job.files.make_directories(path)
    if not job.table.is_insert_only:
        job.files.write(f"{path}/{ACID_VERSION_FILE}", ACID_VERSION_CONTENT)
    return path


def amount(job: Job) -> Amount:
    source = job.scope.source
    files = [*source.originals, *(f.file for d in job.scope.directories for f in d.files)]
    names = tuple(d.name for d in job.scope.directories)
    return Amount(names, len(files), sum(f.length for f in files))
