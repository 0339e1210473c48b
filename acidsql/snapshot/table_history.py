"""The history of a table: its committed writes and its compactions.

The embedded metastore records commits (commit_history.py). Of all other writes the directories tell: a Hive Metastore
keeps no times, and a table may have come with its directories.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from acidsql.acid.directories import ORIGINALS_BASE, Base, BucketFile, Delta, parse_bucket_file, parse_directory
from acidsql.acid.layout import METADATA_FILE
from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.errors import AcidSqlError
from acidsql.metastore.client import Metastore
from acidsql.metastore.commit_history import UNKNOWN, RecordedCommit
from acidsql.metastore.compactions import Compaction, CompactionState
from acidsql.snapshot.base_metadata import data_format
from acidsql.snapshot.readable_versions import ReadableVersions
from acidsql.snapshot.replaced_files import keeping_directories
from acidsql.storage.file_systems import FilesOf, FileSystem
from acidsql.storage.footer_cache import read_file_tail
from acidsql.storage.hadoop_files import FILE_ERRORS
from acidsql.storage.orc.commit_notes import CommitNote, note_of
from acidsql.storage.orc.tail import Tail

_THREADS: Final = 16
_LARGEST_BATCH: Final = 10_000
"""More write IDs in one directory are those of a compaction, and no batch of a stream."""
_EMPTY_BASES: Final[Mapping[str | None, str]] = {"truncated": "TRUNCATE", "dropped": "DROP PARTITION"}
"""The operations of bases without rows, by the data format in METADATA_FILE."""
_MERGED: Final = (CompactionState.READY_FOR_CLEANING, CompactionState.SUCCEEDED)


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A committed write of a table, or a compaction, whose version is the highest write ID that it has merged.

    `time` is milliseconds since 1970. `source` says who tells the rest: the `metastore`, a `file` that acidsql wrote
    (commit_notes.py), or the names and times in a `directory`.
    """

    version: WriteId
    time: int | None
    operation: str
    is_readable: bool
    source: str
    txn: TxnId | None = None
    inserted: int | None = None
    updated: int | None = None
    deleted: int | None = None
    user: str | None = None
    is_compaction: bool = False


@dataclass(frozen=True, slots=True)
class FoundDirectory:
    """A directory of a table, with the time of its newest file in milliseconds since 1970, or None without a file.
    `data_format` is that of METADATA_FILE, which a TRUNCATE writes, and the compactor of Hive 3. `sample` is one of its
    files with events, by path and size. `is_keeping` tells that all files are there that it replaces."""

    name: Base | Delta
    time: int | None
    data_format: str | None
    sample: tuple[str, int] | None
    is_keeping: bool = False


@dataclass(slots=True)
class Traces:
    """What the directories of one write ID tell. `samples` are files by the names of their directories, which are the
    same in each partition."""

    time: int | None = None
    kinds: set[str] = field(default_factory=set)
    samples: dict[Base | Delta, tuple[str, int]] = field(default_factory=dict)

    def add(self, kind: str, directory: FoundDirectory) -> None:
        """Adds one of the directories."""
        self.kinds.add(kind)
        self.time = _later(self.time, directory.time)
        if directory.sample is not None:
            self.samples[directory.name] = directory.sample

    @property
    def operation(self) -> str:
        """An overwrite may also truncate partitions. Events of both kinds are those of an UPDATE or a MERGE."""
        for kind in ("OVERWRITE", *_EMPTY_BASES.values(), UNKNOWN):
            if kind in self.kinds:
                return kind
        return "WRITE" if len(self.kinds) > 1 else next(iter(self.kinds))


def history(metastore: Metastore, files_of: FilesOf, table: Table, limit: int | None = None) -> Sequence[HistoryEntry]:
    """The entries by falling versions, or the first `limit` of them. A compaction stands before the write that was the
    last one that it merged. Raises what a reader of the table's directories raises."""
    txns = metastore.valid_txns()
    now = metastore.valid_write_ids(table, txns)
    recorded = [commit for commit in metastore.commits(table, limit) if now.is_valid(commit.write_id)]
    found = directories(metastore, files_of, table)
    changes = metastore.partition_changes(table) or ()
    readable = ReadableVersions.of((d.name for d in found if not d.is_keeping), table, now, txns, changes)
    traces = traces_of(found, now)
    known = {commit.write_id for commit in recorded}
    entries = [
        *(_recorded(commit, readable) for commit in recorded),
        *(
            HistoryEntry(write_id, left.time, left.operation, write_id in readable, "directory")
            for write_id, left in traces.items()
            if write_id not in known
        ),
        *_compactions(metastore.compactions(), found, table, txns, readable),
    ]
    entries.sort(key=lambda e: (e.version, e.is_compaction, e.time or 0), reverse=True)
    entries = entries[:limit]
    unrecorded = {e.version: traces[e.version] for e in entries if e.source == "directory" and not e.is_compaction}
    notes = notes_in(files_of, table, unrecorded)
    return [entry if entry.is_compaction else _noted(entry, notes.get(entry.version, ())) for entry in entries]


def directories(metastore: Metastore, files_of: FilesOf, table: Table) -> Sequence[FoundDirectory]:
    """The directories of events in all partitions of a table, also those that were dropped and whose files are kept."""
    partitions = metastore.partitions(table) if table.partition_columns else ()
    places = [p.location for p in partitions] if table.partition_columns else [table.location]
    dropped = metastore.dropped_partitions(table) if table.partition_columns else ()
    places = list(dict.fromkeys((*places, *(d.location for d in dropped))))
    if not places:
        return ()
    files = files_of(table.location)
    with ThreadPoolExecutor(min(_THREADS, len(places))) as pool:
        return [d for found in pool.map(lambda place: _found_in(files, files.resolve(place)), places) for d in found]


def traces_of(found: Iterable[FoundDirectory], now: ValidWriteIdList) -> Mapping[WriteId, Traces]:
    """What the directories tell of each committed write ID, without those of compactions."""
    traces: dict[WriteId, Traces] = {}
    for directory in found:
        for write_id, kind in _kinds(directory):
            if now.is_valid(write_id):
                traces.setdefault(write_id, Traces()).add(kind, directory)
    return traces


def notes_in(
    files_of: FilesOf, table: Table, traces: Mapping[WriteId, Traces]
) -> Mapping[WriteId, Sequence[CommitNote]]:
    """The notes of acidsql in the files of writes. One file of each statement is read, whatever the number of
    partitions."""
    if not table.is_full_acid or table.file_format != "orc":
        return {}
    files = files_of(table.location)
    wanted = [(write_id, *sample) for write_id, left in traces.items() for sample in left.samples.values()]
    found: dict[WriteId, list[CommitNote]] = {}
    with ThreadPoolExecutor(_THREADS) as pool:
        tails = pool.map(lambda one: _tail(files, *one[1:]), wanted)
        for (write_id, *_), tail in zip(wanted, tails, strict=True):
            if tail is not None and (note := note_of(tail)) is not None:
                found.setdefault(write_id, []).append(note)
    return found


def _tail(files: FileSystem, path: str, size: int) -> Tail | None:
    """The tail of a file; None where the cleaner has removed it since, and of an unfinished file."""
    with suppress(AcidSqlError, *FILE_ERRORS):
        return read_file_tail(files, path, size)
    return None


def _noted(entry: HistoryEntry, notes: Sequence[CommitNote]) -> HistoryEntry:
    """The entry with what the notes in its files tell."""
    if not notes:
        return entry
    ordered = sorted(notes, key=lambda note: note.time)
    return replace(
        entry,
        time=ordered[-1].time,
        operation=", ".join(dict.fromkeys(note.operation for note in ordered)),
        source="file",
        txn=ordered[-1].txn,
        user=ordered[-1].user,
    )


def is_compacted(directory: FoundDirectory) -> bool:
    """Whether a compaction made the directory, so that its time is none of a write."""
    name = directory.name
    if name.visibility_txn is not None or directory.data_format == "compacted":
        return True
    if isinstance(name, Base) or name.min_write_id == name.max_write_id:
        return False
    return not name.may_be_streamed or name.max_write_id - name.min_write_id >= _LARGEST_BATCH


def last_write_id(name: Base | Delta) -> WriteId:
    """The last write ID of which a directory may have events."""
    return name.write_id if isinstance(name, Base) else name.max_write_id


def _kinds(directory: FoundDirectory) -> Iterator[tuple[WriteId, str]]:
    if is_compacted(directory):
        return
    match directory.name:
        case Base(write_id):
            yield write_id, _EMPTY_BASES.get(directory.data_format, "OVERWRITE")
        case Delta(low, high, is_delete=is_delete):
            for number in range(low, high + 1):
                yield WriteId(number), "DELETE" if is_delete else "INSERT"


def _found_in(files: FileSystem, place: str) -> Sequence[FoundDirectory]:
    listing = files.list_below(place)
    times: dict[str, int | None] = {path: None for path in listing.directories if "/" not in path}
    marked, samples = set(), dict[str, tuple[str, int]]()
    for file in listing.files:
        name, _, rest = file.path.partition("/")
        if rest:
            times[name] = _later(times.get(name), file.modified)
        if isinstance(parse_bucket_file(rest), BucketFile):
            samples[name] = f"{place}/{file.path}", file.length
        if rest == METADATA_FILE:
            marked.add(name)
    found = []
    keeping = keeping_directories(files, place, listing)
    for name, time in times.items():
        if (parsed := parse_directory(name)) is not None:
            is_marked = name in marked and parsed.visibility_txn is None
            kind = data_format(files, f"{place}/{name}") if is_marked else None
            found.append(FoundDirectory(parsed, time, kind, samples.get(name), name in keeping))
    return found


def _recorded(commit: RecordedCommit, readable: ReadableVersions) -> HistoryEntry:
    return HistoryEntry(
        commit.write_id,
        commit.committed,
        commit.operation,
        commit.write_id in readable,
        "metastore",
        commit.txn,
        commit.inserted,
        commit.updated,
        commit.deleted,
        commit.user,
    )


def _compactions(
    queue: Sequence[Compaction],
    found: Iterable[FoundDirectory],
    table: Table,
    txns: ValidTxnList,
    readable: ReadableVersions,
) -> Iterator[HistoryEntry]:
    """The compactions that the queue remembers, and those of which a directory is left."""
    known: dict[TxnId, HistoryEntry] = {}
    for entry in queue:
        is_own = (entry.request.database, entry.request.table) == (table.database, table.name)
        if is_own and entry.txn is not None and entry.highest_write_id is not None and entry.state in _MERGED:
            kind, time = entry.request.type.value.upper(), entry.committed or entry.ended or None
            known[entry.txn] = _compaction(entry.highest_write_id, kind, time, entry.txn, "metastore", readable)
    yield from known.values()
    left: dict[TxnId, HistoryEntry] = {}
    for directory in found:
        name, txn = directory.name, directory.name.visibility_txn
        if txn is None or txn in known or not txns.is_valid(txn):
            continue
        kind, version = "MAJOR" if isinstance(name, Base) else "MINOR", last_write_id(name)
        if version != ORIGINALS_BASE:
            left[txn] = _compaction(version, kind, directory.time, txn, "directory", readable)
    yield from left.values()


def _compaction(
    version: WriteId, kind: str, time: int | None, txn: TxnId, source: str, readable: ReadableVersions
) -> HistoryEntry:
    return HistoryEntry(version, time, f"COMPACTION {kind}", version in readable, source, txn, is_compaction=True)


def _later(one: int | None, other: int | None) -> int | None:
    return max((time for time in (one, other) if time is not None), default=None)
