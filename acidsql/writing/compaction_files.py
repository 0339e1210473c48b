"""The files of a compaction: what it is to merge, the files that its tasks have staged, finished and moved to the
directories that readers see when the transaction commits.

    staging/<job>/%3Aslot=<code>/part-<task>    -> base_WRITEID_vTXN/bucket_NNNNN, or a delta and a delete_delta

The files of the job BY_ORIGIN have no slots: to write to directories by a column costs a task a fifth of its time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from acidsql.acid.compaction_scope import Rewrite, Scope
from acidsql.acid.layout import (
    ACID_VERSION_CONTENT,
    ACID_VERSION_FILE,
    BUCKET,
    ORIGINAL_TRANSACTION,
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
from acidsql.storage.orc.orc_footers import (
    FlatEvents,
    RowsOfOrigin,
    adds_acid_columns,
    count_rows,
    finish_events,
    finish_joined,
    finish_plain,
)
from acidsql.storage.orc.tail import Tail
from acidsql.writing.file_slots import SLOT, Slot, Slots
from acidsql.writing.merge_order import Extremes, Origin, extremes

ROWS, DELETES = 0, 1
"""The branches of a slot."""
BY_ORIGIN, IN_ORDER, SORTED, AS_THEY_COME = "by_origin", "in_order", "sorted", "rows"
"""The jobs of a compaction, each with a directory of its own in the staging directory: the files that are taken as they
are, of which the first have the ACID columns of the row ID only; the rows that are sorted; and rows that may lie in any
file."""
ROW_ID: Final = ":row_id"
"""The scan's column of row__id."""
_PART: Final = re.compile(r"part-(\d{5,})-")
_THREADS: Final = 8
_IN_SEVERAL: Final = "rows of one bucket lie in files of several buckets"


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


def undo(job: Job) -> bool:
    """Removes everything that the compaction staged or published; whether all is gone."""
    return remove_all(job.files, (job.staging, *job.directories))


@dataclass(frozen=True, slots=True)
class _Staged:
    path: str
    slot: Slot
    rows: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """A file as a task wrote it, with all rows of its slot or a part of them. `origin` is that of the rows of the job
    BY_ORIGIN."""

    tail: Tail
    slot: Slot
    origin: Origin | None

    @property
    def rows(self) -> RowsOfOrigin | FlatEvents:
        if self.origin is None:
            return FlatEvents(self.tail)
        return RowsOfOrigin(self.tail, self.origin.write_id, self.origin.bucket_property)

    @property
    def extremes(self) -> Extremes | None:
        if self.origin is None:
            return extremes(self.tail)
        place = (self.origin.write_id, self.origin.bucket_property)
        return Extremes(place, place)


def finish(job: Job, slots: Slots | None) -> list[_Staged]:
    """Finishes the footers of the staged files, and gives those that hold rows. `slots` name the files; without them,
    they are numbered by task or by bucket.

    Raises MALFORMED_LAYOUT.
    """
    by_code = slots.by_code() if slots is not None else None
    found = [f for f in job.files.list_below(job.staging).files if _PART.match(f.path.rpartition("/")[2])]
    with ThreadPoolExecutor(_THREADS) as pool:
        if not job.table.is_full_acid:
            staged = pool.map(lambda f: _finished_plain(job, f.path, f.length, by_code), found)
            return [s for s in staged if s.rows]
        by_slot: dict[Slot, list[_Piece]] = {}
        for piece in pool.map(lambda f: _piece(job, f.path, f.length, by_code), found):
            if piece.tail.rows:
                by_slot.setdefault(piece.slot, []).append(piece)
        return list(pool.map(lambda pieces: _finished(job, pieces), by_slot.values()))


def _finished_plain(job: Job, path: str, length: int, by_code: Mapping[int, Slot] | None) -> _Staged:
    slot, whole = _slot(path, by_code), f"{job.staging}/{path}"
    if job.table.file_format != "orc":
        return _Staged(whole, slot, count_rows(job.files, whole, job.table.file_format))
    tail = read_file_tail(job.files, whole, length)
    if tail.rows:
        finish_plain(job.files, whole, tail, job.table)
    return _Staged(whole, slot, tail.rows)


def _piece(job: Job, path: str, length: int, by_code: Mapping[int, Slot] | None) -> _Piece:
    tail = read_file_tail(job.files, f"{job.staging}/{path}", length)
    if not path.startswith(f"{BY_ORIGIN}/"):
        return _Piece(tail, _slot(path, by_code), None)
    origin = _origin(job, tail) if tail.rows else None
    return _Piece(tail, Slot(ROWS, origin.bucket if origin else 0), origin)


def _origin(job: Job, tail: Tail) -> Origin:
    """What the rows of a file of the job BY_ORIGIN have in common."""
    columns = [tail.top_level_names.index(name) + 1 for name in (ORIGINAL_TRANSACTION, BUCKET)]
    write_ids, properties = (tail.integer_range(column) for column in columns)
    if not write_ids or not properties or write_ids[0] < write_ids[1] or properties[0] < properties[1]:
        reason = "the rows of a file have other write IDs or bucket properties than its statistics say"
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=job.part.directory, reason=reason)
    return Origin(WriteId(write_ids[0]), properties[0])


def _finished(job: Job, pieces: Sequence[_Piece]) -> _Staged:
    """The file of a slot."""
    first = pieces[0]
    rows = sum(piece.tail.rows for piece in pieces)
    if len(pieces) == 1 and first.origin is None:
        finish_events(job.files, first.tail.path, first.tail, job.table, is_delete=first.slot.branch == DELETES)
        return _Staged(first.tail.path, first.slot, rows)
    ordered = _ordered(pieces)
    if ordered is None or not adds_acid_columns(job.files, job.table):
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=job.part.directory, reason=_IN_SEVERAL)
    return _Staged(finish_joined(job.files, [p.rows for p in ordered], job.table), first.slot, rows)


def _ordered(pieces: Sequence[_Piece]) -> list[_Piece] | None:
    """The pieces in the order of their rows; None if there is no such order."""
    known = [(bounds, piece) for piece in pieces if (bounds := piece.extremes) is not None]
    known.sort(key=lambda pair: pair[0].first)
    follows = all(one.last < other.first for (one, _), (other, _) in pairwise(known))
    return [piece for _, piece in known] if follows and len(known) == len(pieces) else None


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
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=job.part.directory, reason=_IN_SEVERAL)
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
