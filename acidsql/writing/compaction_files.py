"""The files of a compaction: what it is to merge, the files that its tasks have staged, finished and moved to the
directories that readers see when the transaction commits.

    staging/<job>/%3Aslot=<code>/part-<task>    -> base_WRITEID_vTXN/bucket_NNNNN, or a delta and a delete_delta

The files of the job BY_ORIGIN lie in no directory of a slot, and have columns that tell it: a task needs a fifth less
time to write these than to choose a directory for each row (benchmarks/README.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from acidsql.acid.compaction_scope import CompactionType, Scope
from acidsql.acid.data_files import File
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
from acidsql.acid.row_id import decode_bucket
from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId
from acidsql.acid.written_directories import WrittenDirectory
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.history_retention import keeps_history
from acidsql.planner.plan import Scan
from acidsql.snapshot.replaced_files import leave_list
from acidsql.snapshot.scan_binding import BoundPart, BoundScan
from acidsql.storage.file_systems import FileSystem, Piece, length_of, place_new, remove_all
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
from acidsql.writing.merge_order import Extremes, extremes
from acidsql.writing.task_files import task_of

ROWS, DELETES = 0, 1
"""The branches of a slot."""
BY_ORIGIN, IN_ORDER, SORTED, AS_THEY_COME = "by_origin", "in_order", "sorted", "rows"
"""The jobs of a compaction, each with a directory of its own in the staging directory. The first two copy files in
their order, BY_ORIGIN with no other ACID columns than those of the row ID; SORTED sorts rows; AS_THEY_COME is the only
job of a rebalance, or of an insert-only table."""
ROW_ID: Final = ":row_id"
"""The scan's column of row__id."""
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
    made: tuple[WrittenDirectory, ...] = ()


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
    def leaves_list(self) -> bool:
        """Whether it leaves the list of the files that it has merged. Readers of earlier versions need them beside a
        base, and beside a delta of an insert-only table, whose rows do not tell their write."""
        is_needed = self.scope.rewrite is not CompactionType.MINOR or self.table.is_insert_only
        return is_needed and keeps_history(self.table)

    @property
    def directories(self) -> list[str]:
        """The directories that it may make: first that of rows, then that of delete events."""
        names = [self.scope.data_name(self.txn)]
        if self.scope.rewrite is CompactionType.MINOR:
            names.append(self.scope.delete_name(self.txn))
        return [f"{self.part.directory}/{name}" for name in names]


def undo(job: Job) -> bool:
    """Removes everything that the compaction staged or published; whether all is gone."""
    return remove_all(job.files, (job.staging, *job.directories))


@dataclass(frozen=True, slots=True)
class Staged:
    """A finished file. Where files cannot change, the file that takes its final place is made of the `pieces`."""

    path: str
    slot: Slot
    rows: int
    pieces: Sequence[Piece] = ()


@dataclass(frozen=True, slots=True)
class _Piece:
    """The rows of a slot, or a part of them, in a file as a task wrote it."""

    slot: Slot
    rows: RowsOfOrigin | FlatEvents
    extremes: Extremes | None


def finish(job: Job, found: Sequence[File], slots: Slots | None) -> list[Staged]:
    """Finishes the footers of the files that were `found` in the staging directory, and gives those that hold rows.
    `slots` name the files; without them, they are numbered by task or by bucket.

    Raises MALFORMED_LAYOUT.
    """
    by_code = slots.by_code() if slots is not None else None
    with ThreadPoolExecutor(_THREADS) as pool:
        if not job.table.is_full_acid:
            staged = pool.map(lambda f: _finished_plain(job, f.path, f.length, by_code), found)
            return [s for s in staged if s.rows]
        tails = pool.map(lambda f: read_file_tail(job.files, f"{job.staging}/{f.path}", f.length), found)
        by_slot: dict[Slot, list[_Piece]] = {}
        for file, tail in zip(found, tails, strict=True):
            if tail.rows:
                piece = _piece(job, file.path, tail, by_code)
                by_slot.setdefault(piece.slot, []).append(piece)
        return list(pool.map(lambda pieces: _finished(job, pieces), by_slot.values()))


def _finished_plain(job: Job, path: str, length: int, by_code: Mapping[int, Slot] | None) -> Staged:
    slot, whole = _slot(path, by_code), f"{job.staging}/{path}"
    if job.table.file_format != "orc":
        return Staged(whole, slot, count_rows(job.files, whole, job.table.file_format))
    tail = read_file_tail(job.files, whole, length)
    return Staged(whole, slot, tail.rows, finish_plain(job.files, tail, job.table) if tail.rows else ())


def _piece(job: Job, path: str, tail: Tail, by_code: Mapping[int, Slot] | None) -> _Piece:
    """A staged file with rows. Those of the job BY_ORIGIN tell their bucket themselves."""
    if not path.startswith(f"{BY_ORIGIN}/"):
        return _Piece(_slot(path, by_code), FlatEvents(tail), extremes(tail))
    bounds = extremes(tail, *(tail.top_level_names.index(name) + 1 for name in (ORIGINAL_TRANSACTION, BUCKET)))
    origin = bounds.origin if bounds is not None else None
    if origin is None:
        reason = "the rows of a file have other write IDs or bucket properties than its statistics say"
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=job.part.directory, reason=reason)
    slot = Slot(ROWS, decode_bucket(origin.bucket_property).bucket)
    return _Piece(slot, RowsOfOrigin(tail, origin.write_id, origin.bucket_property), bounds)


def _finished(job: Job, pieces: Sequence[_Piece]) -> Staged:
    """The file of a slot."""
    slot, only = pieces[0].slot, pieces[0].rows
    rows = sum(piece.rows.tail.rows for piece in pieces)
    if len(pieces) == 1 and isinstance(only, FlatEvents):
        pieces_of_it = finish_events(job.files, only.tail, job.table, is_delete=slot.branch == DELETES)
        return Staged(only.tail.path, slot, rows, pieces_of_it)
    ordered = _ordered(pieces)
    if ordered is None or not adds_acid_columns(job.files, job.target):
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=job.part.directory, reason=_IN_SEVERAL)
    return Staged(finish_joined(job.files, [p.rows for p in ordered], job.table), slot, rows)


def _ordered(pieces: Sequence[_Piece]) -> list[_Piece] | None:
    """The pieces in the order of their rows; None if there is no such order."""
    known = [(bounds, piece) for piece in pieces if (bounds := piece.extremes) is not None]
    known.sort(key=lambda pair: pair[0].first)
    follows = all(one.last < other.first for (one, _), (other, _) in pairwise(known))
    return [piece for _, piece in known] if follows and len(known) == len(pieces) else None


def _slot(path: str, by_code: Mapping[int, Slot] | None) -> Slot:
    directory = path.rpartition("/")[0].partition("/")[2]  # the name of the job stands before it
    task = task_of(path)
    if by_code is None and not directory and task is not None:
        return Slot(ROWS, task)
    code = directory.removeprefix(f"{escape(SLOT)}=")
    if by_code is None:
        return Slot(ROWS, int(code))
    if not code.isdigit() or int(code) not in by_code:
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason="an event names a bucket without a file")
    return by_code[int(code)]


def publish(job: Job, staged: Sequence[Staged]) -> Merged:
    """Moves the files to the directories that the scope names. A base is made even if it has no rows."""
    made: dict[int, str] = {}
    if job.scope.rewrite is not CompactionType.MINOR:
        made[ROWS] = _make_directory(job, ROWS)
    if len({file.slot for file in staged}) < len(staged):
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=job.part.directory, reason=_IN_SEVERAL)
    for branch in sorted({file.slot.branch for file in staged} - made.keys()):
        made[branch] = _make_directory(job, branch)
    with ThreadPoolExecutor(_THREADS) as pool:
        written = sum(pool.map(lambda file: _place(job, file, made[file.slot.branch]), staged))
    if ROWS in made and job.leaves_list:
        renumbers = job.scope.rewrite is CompactionType.REBALANCE
        leave_list(job.files, made[ROWS], job.scope.source, renumbers=renumbers)
    job.files.delete(job.staging)
    names = tuple(made[branch].rpartition("/")[2] for branch in sorted(made))
    counts = Counter(file.slot.branch for file in staged)
    known = tuple(
        WrittenDirectory(job.part.values, path.rpartition("/")[2], counts[branch] if branch in made else None)
        for branch, path in enumerate(job.directories)
    )
    return Merged(amount(job), Amount(names, len(staged), written), sum(s.rows for s in staged), known)


def _place(job: Job, file: Staged, directory: str) -> int:
    """Moves a file to its final place. Returns its number of bytes."""
    name = original_name if job.table.is_insert_only else bucket_name
    target = f"{directory}/{name(file.slot.bucket)}"
    place_new(job.files, file.path, target, file.pieces)
    return sum(map(length_of, file.pieces)) if file.pieces else job.files.file_size(target) or 0


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
