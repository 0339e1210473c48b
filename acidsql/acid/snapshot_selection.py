"""Snapshot selection: which directories and files of a table or partition a reader must read, and which it must not.

The rules are those of org.apache.hadoop.hive.ql.io.AcidUtils.getAcidState (Hive 4), in this order:

1. A directory whose `_v` transaction the reader does not see as committed is not there.
2. The base is the one with the highest write ID that is valid: a compacted one where no write ID up to its own is
   open, one of INSERT OVERWRITE or TRUNCATE where its own write ID is committed.
3. Deltas and delete deltas go together, by lowest write ID, the wider range first. One that brings a valid write ID
   above those already covered is read; one that ends below is obsolete. Several statements of one range are all read.
4. Original files count only where there is no base.

Where Hive would pass over a file silently, this raises MALFORMED_LAYOUT; where Hive would meet an event in two
directories, this says which write IDs of a directory to skip.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby, islice
from typing import assert_never

from acidsql.acid.data_files import DataFile, File, FileKind, directory_files, is_visible, original_files
from acidsql.acid.directories import ORIGINALS_BASE, Base, Delta, parse_directory
from acidsql.acid.layout import ACID_VERSION_FILE
from acidsql.acid.write_ids import RangeResponse, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.errors import AcidSqlError, Condition

__all__ = [
    "DataFile",
    "File",
    "FileKind",
    "SelectedDirectory",
    "SkipReason",
    "Skipped",
    "Snapshot",
    "select_snapshot",
    "states",
]

_SHOWN_IDS = 5


class SkipReason(Enum):
    """Why a directory or an original file is not read."""

    COVERED = "a base or a wider delta has its events"
    ABORTED = "its write IDs are aborted"
    NOT_COMMITTED = "its write IDs are open, or later than this snapshot"
    INVISIBLE_TXN = "the transaction after its _v is not committed in this snapshot"
    TOO_NEW = "a compaction with write IDs in it that are open, or later than this snapshot"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A directory, or the path of an original file, that is not read."""

    name: str
    reason: SkipReason
    detail: str = ""
    """What covers it, or which ID is in what state."""

    @property
    def why(self) -> str:
        """The reason with its detail, in words."""
        match self.reason:
            case SkipReason.COVERED:
                return f"covered by {self.detail}"
            case SkipReason.ABORTED | SkipReason.NOT_COMMITTED:
                return self.detail
            case SkipReason.INVISIBLE_TXN:
                return f"not visible: {self.detail}"
            case SkipReason.TOO_NEW:
                return f"a compaction that is too new: {self.detail}"
            case _:
                assert_never(self.reason)


@dataclass(frozen=True, slots=True)
class SelectedDirectory:
    """A directory to read."""

    name: str
    parsed: Base | Delta
    files: tuple[DataFile, ...]
    """By path; none in the base of a TRUNCATE."""
    has_version_file: bool
    """Whether `_orc_acid_version` lies in it."""
    invalid_write_ids: frozenset[WriteId] = frozenset()
    """Write IDs of a delta's range whose events are to be skipped: open, aborted, above the high watermark, or
    already in the base or in a delta before this one. Always empty for a base."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a reader reads of one table or partition: a base or original files, then deltas; less delete deltas."""

    base: SelectedDirectory | None
    deltas: tuple[SelectedDirectory, ...]
    """By write ID, then statement ID."""
    delete_deltas: tuple[SelectedDirectory, ...]
    """By write ID, then statement ID."""
    original_files: tuple[DataFile, ...]
    """In the order in which their row IDs count on, within each bucket."""
    skipped: tuple[Skipped, ...]
    """By name."""

    @property
    def originals(self) -> tuple[File, ...]:
        """The files of `original_files`."""
        return tuple(data.file for data in self.original_files)

    @property
    def obsolete(self) -> tuple[str, ...]:
        """Directories and original files that a base or a wider delta covers."""
        return tuple(skipped.name for skipped in self.skipped if skipped.reason is SkipReason.COVERED)

    @property
    def aborted(self) -> tuple[str, ...]:
        """Directories of which the reader sees nothing. Not all may be removed: see their reasons in `skipped`."""
        return tuple(skipped.name for skipped in self.skipped if skipped.reason is not SkipReason.COVERED)


@dataclass(frozen=True, slots=True)
class _NamedBase:
    name: str
    parsed: Base
    compacted: bool


@dataclass(frozen=True, slots=True)
class _NamedDelta:
    name: str
    parsed: Delta
    invalid: frozenset[WriteId] = frozenset()

    @property
    def range(self) -> tuple[WriteId, WriteId]:
        return self.parsed.min_write_id, self.parsed.max_write_id


def select_snapshot(
    files: Iterable[File],
    writeids: ValidWriteIdList,
    txns: ValidTxnList,
    directories: Iterable[str] = (),
    *,
    compacted_bases: frozenset[str] = frozenset(),
    insert_only: bool = False,
) -> Snapshot:
    """What a reader with these lists reads of the table or partition whose files these are.

    `files` are all files below its directory, hidden ones too; `directories` the directories seen there, for those
    without any file. `compacted_bases` names the bases without `_v` whose `_metadata_acid` says that a compactor of
    Hive before 4 made them. In an `insert_only` table any file name will do.

    Raises MALFORMED_LAYOUT, and NOT_ENOUGH_HISTORY where there is only a compacted base that is too new.
    """
    listing = _listing(files, directories)
    skipped = [_unseen(name, d, txns) for name, d in listing.acid.items() if not _is_seen(d, txns)]
    seen = {name: directory for name, directory in listing.acid.items() if _is_seen(directory, txns)}

    bases = [_NamedBase(n, d, _is_compacted(n, d, compacted_bases)) for n, d in seen.items() if isinstance(d, Base)]
    base = _highest_valid(bases, writeids)
    skipped += _skipped_bases(bases, base, writeids)

    chosen, passed_over = _choose_deltas(
        [_NamedDelta(n, d) for n, d in seen.items() if isinstance(d, Delta)], base, writeids
    )
    skipped += passed_over
    if base:
        skipped += [Skipped(file.path, SkipReason.COVERED, base.name) for file in listing.outside]

    def selected(name: str, parsed: Base | Delta, invalid: frozenset[WriteId] = frozenset()) -> SelectedDirectory:
        if parsed.visibility_txn is not None:
            invalid -= writeids.aborted  # the compactor left them out
        return _selected(name, parsed, invalid, listing.inside.get(name, []), insert_only=insert_only)

    return Snapshot(
        base=selected(base.name, base.parsed) if base else None,
        deltas=tuple(selected(d.name, d.parsed, d.invalid) for d in chosen if not d.parsed.is_delete),
        delete_deltas=tuple(selected(d.name, d.parsed, d.invalid) for d in chosen if d.parsed.is_delete),
        original_files=() if base else original_files(listing.outside, insert_only=insert_only),
        skipped=tuple(sorted(skipped, key=lambda s: s.name)),
    )


@dataclass(frozen=True, slots=True)
class _Listing:
    acid: Mapping[str, Base | Delta]
    """The ACID directories, by name."""
    inside: Mapping[str, list[File]]
    """Their files, hidden ones too."""
    outside: list[File]
    """Visible files that are in none."""


def _listing(files: Iterable[File], directories: Iterable[str]) -> _Listing:
    acid: dict[str, Base | Delta] = {}
    inside: dict[str, list[File]] = {}
    outside: list[File] = []
    for file in {file.path: file for file in files}.values():
        top, slash, _ = file.path.partition("/")
        if slash and (parsed := parse_directory(top)):
            acid[top] = parsed
            inside.setdefault(top, []).append(file)
        elif is_visible(file.path):
            outside.append(file)
    for directory in directories:
        top = directory.partition("/")[0]
        if parsed := parse_directory(top):
            acid[top] = parsed
    _refuse_buried(file.path for file in outside)
    return _Listing(acid, inside, outside)


def _refuse_buried(paths: Iterable[str]) -> None:
    for path in paths:
        if any(parse_directory(part) for part in path.split("/")[1:-1]):
            raise _malformed(path, "a base or delta directory lies directly in the table's or partition's directory")


def _unseen(name: str, directory: Base | Delta, txns: ValidTxnList) -> Skipped:
    txn = directory.visibility_txn
    assert txn is not None
    return Skipped(name, SkipReason.INVISIBLE_TXN, f"transaction {txn} is {txns.state(txn)}")


def _is_seen(directory: Base | Delta, txns: ValidTxnList) -> bool:
    return directory.visibility_txn is None or txns.is_valid(directory.visibility_txn)


# -- bases


def _is_compacted(name: str, base: Base, compacted_bases: frozenset[str]) -> bool:
    return base.visibility_txn is not None or name in compacted_bases or base.write_id == ORIGINALS_BASE


def _is_valid(base: _NamedBase, writeids: ValidWriteIdList) -> bool:
    """A compacted base has lost its history, so an open write ID in it spoils it; an aborted one is not in it.

    Hive 4's isValidBase also takes INSERT OVERWRITE's base_N where N itself is the lowest open write ID; that would
    show an uncommitted write, so not here.
    """
    write_id = base.parsed.write_id
    if base.compacted:
        return write_id < writeids.min_open and write_id <= writeids.high_watermark
    return writeids.is_valid(write_id)


def _highest_valid(bases: Iterable[_NamedBase], writeids: ValidWriteIdList) -> _NamedBase | None:
    """Of two with one write ID the compacted one, and of those the latest: the same rows in fewer files."""
    valid = (base for base in bases if _is_valid(base, writeids))
    return max(valid, key=lambda b: (b.parsed.write_id, b.compacted, b.parsed.visibility_txn or 0), default=None)


def _skipped_bases(
    bases: Iterable[_NamedBase], chosen: _NamedBase | None, writeids: ValidWriteIdList
) -> Iterator[Skipped]:
    for base in bases:
        if chosen is not None and base.parsed.write_id <= chosen.parsed.write_id:
            if base.name != chosen.name:
                yield Skipped(base.name, SkipReason.COVERED, chosen.name)
        elif not base.compacted:
            yield _invalid(base.name, base.parsed.write_id, base.parsed.write_id, writeids)
        elif chosen is not None:
            first = min(writeids.min_open, writeids.high_watermark + 1)
            yield Skipped(base.name, SkipReason.TOO_NEW, states(range(first, first + 1), writeids))
        else:
            # What it was made of may be gone: reading on would give fewer rows (AcidUtils.getAcidState).
            raise AcidSqlError(
                Condition.NOT_ENOUGH_HISTORY,
                high_watermark=writeids.high_watermark,
                min_open="x" if not writeids.open else writeids.min_open,
                base=base.name,
            )


# -- deltas


def _choose_deltas(
    deltas: Iterable[_NamedDelta], base: _NamedBase | None, writeids: ValidWriteIdList
) -> tuple[list[_NamedDelta], list[Skipped]]:
    """Which deltas and delete deltas are read, in order, besides the base."""
    covered = WriteId(max(base.parsed.write_id, 0)) if base else WriteId(0)
    chosen: list[_NamedDelta] = []
    skipped: list[Skipped] = []
    for (low, high), group in groupby(sorted(deltas, key=_delta_order), key=lambda delta: delta.range):
        same_range = list(group)
        if _is_invalid(low, high, covered, writeids):
            skipped += [_invalid(delta.name, low, high, writeids) for delta in same_range]
            continue
        _refuse_overlap(chosen, same_range)
        best = _best_of_range(same_range) if high > covered else []
        covered_ones = (delta for delta in same_range if delta not in best)
        skipped += [Skipped(d.name, SkipReason.COVERED, _coverer(d, best or chosen, base)) for d in covered_ones]
        invalid = writeids.invalid_in(low, high).union(map(WriteId, range(low, min(covered, high) + 1)))
        chosen += [_NamedDelta(delta.name, delta.parsed, invalid) for delta in best]
        covered = max(covered, high)
    return chosen, skipped


def _is_invalid(low: WriteId, high: WriteId, covered: WriteId, writeids: ValidWriteIdList) -> bool:
    """Whether the reader sees nothing of the range, or nothing of what it would bring to what is covered.

    The range alone is asked first: the directory of an open transaction is never obsolete.
    """
    if writeids.range_response(low, high) is RangeResponse.NONE:
        return True
    return high > covered and writeids.range_response(max(low, WriteId(covered + 1)), high) is RangeResponse.NONE


def _delta_order(delta: _NamedDelta) -> tuple[int, int, int, str]:
    parsed = delta.parsed
    statement = -1 if parsed.statement_id is None else parsed.statement_id
    return parsed.min_write_id, -parsed.max_write_id, statement, delta.name


def _best_of_range(same_range: list[_NamedDelta]) -> list[_NamedDelta]:
    """All statements of the range, or what a compaction made of them: of two compactions the later one.

    Hive compacts rows and delete events of a range together, so one compacted directory covers both kinds.
    """
    whole = [delta for delta in same_range if delta.parsed.statement_id is None]
    if not whole:
        return same_range
    latest = {d.parsed.is_delete: d for d in sorted(whole, key=lambda d: (d.parsed.visibility_txn or 0, d.name))}
    return list(latest.values())


def _refuse_overlap(chosen: list[_NamedDelta], same_range: list[_NamedDelta]) -> None:
    """One statement of several write IDs need not have all their events, so no other range may overlap it.

    Hive gives a statement ID only to a delta of one write ID, none to a streaming client's batch.
    """
    if not chosen:
        return
    last, next_name, next_low = chosen[-1].parsed, same_range[0].name, same_range[0].parsed.min_write_id
    partial = last.statement_id is not None and last.min_write_id < last.max_write_id
    if partial and next_low <= last.max_write_id:
        raise _malformed(next_name, f"its write IDs overlap those of {chosen[-1].name}")


def _coverer(delta: _NamedDelta, chosen: Sequence[_NamedDelta], base: _NamedBase | None) -> str:
    """The name of what has the events of a delta: the base, or a delta as wide, best one of its kind; else the names of
    several that overlap it."""
    low, high = delta.range
    if base and base.parsed.write_id >= high:
        return base.name
    overlapping = [d for d in chosen if d.range[0] <= high and d.range[1] >= low]
    wide = [d for d in overlapping if d.range[0] <= low and d.range[1] >= high]
    alike = [d for d in wide if d.parsed.is_delete == delta.parsed.is_delete]
    names = [d.name for d in (alike or wide)[:1] or overlapping]
    return ", ".join(names if wide or not base else [base.name, *names])


def _invalid(name: str, low: WriteId, high: WriteId, writeids: ValidWriteIdList) -> Skipped:
    all_aborted = all(write_id in writeids.aborted for write_id in range(low, high + 1))
    reason = SkipReason.ABORTED if all_aborted else SkipReason.NOT_COMMITTED
    return Skipped(name, reason, states(range(low, high + 1), writeids))


def states(write_ids: Iterable[int], writeids: ValidWriteIdList) -> str:
    """The states of some write IDs, in words, at most a few of them.

    >>> states([2, 3], ValidWriteIdList("db.t", WriteId(3), aborted=frozenset({WriteId(2)})))
    'write ID 2 is aborted, write ID 3 is committed'
    """
    shown = list(islice(write_ids, _SHOWN_IDS + 1))
    words = [f"write ID {i} is {writeids.state(WriteId(i))}" for i in shown[:_SHOWN_IDS]]
    return ", ".join(words) + (", .." if len(shown) > _SHOWN_IDS else "")


# -- what is read


def _selected(
    name: str, parsed: Base | Delta, invalid: frozenset[WriteId], files: list[File], *, insert_only: bool
) -> SelectedDirectory:
    if insert_only and isinstance(parsed, Delta) and parsed.is_delete:
        raise _malformed(name, "an insert-only table has no delete events")
    return SelectedDirectory(
        name=name,
        parsed=parsed,
        files=directory_files(name, parsed, [f for f in files if is_visible(f.path)], insert_only=insert_only),
        has_version_file=any(file.path == f"{name}/{ACID_VERSION_FILE}" for file in files),
        invalid_write_ids=invalid,
    )


def _malformed(path: str, reason: str) -> AcidSqlError:
    return AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason=reason)
