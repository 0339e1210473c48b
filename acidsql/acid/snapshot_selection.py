"""Snapshot selection: which directories and files of a table or partition a reader must read, and which it must not.

The rules are those of org.apache.hadoop.hive.ql.io.AcidUtils.getAcidState (Hive 4), in this order:

1. The reader ignores a directory if it does not see the directory's `_v` transaction as committed.
2. The base is the valid base with the highest write ID. A compacted base is valid if no write ID up to its own is open.
   A base of INSERT OVERWRITE or TRUNCATE is valid if its own write ID is committed.
3. Deltas and delete deltas are taken together, in the order of their lowest write ID, the wider range first. A delta is
   read if it has a valid write ID above those that are already covered, and obsolete if it ends below them. All
   statements of one range are read.
4. Original files are read only if there is no base.

This module is stricter than Hive in two cases. Where Hive silently ignores a file, it raises MALFORMED_LAYOUT. Where
two directories have the same event, it returns the write IDs to skip in one of them.
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
    """A directory or an original file that the reader does not read; `name` is its name or path."""

    name: str
    reason: SkipReason
    detail: str = ""
    """The directory that covers it, or the states of its IDs."""

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
    """Sorted by path. The base of a TRUNCATE has none."""
    has_version_file: bool
    """Whether the directory has a file `_orc_acid_version`."""
    invalid_write_ids: frozenset[WriteId] = frozenset()
    """The write IDs of a delta whose events the reader skips: they are open, aborted, above the high watermark, or
    already in the base or in an earlier delta. Always empty for a base."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The directories and files that a reader reads of one table or partition.

    Its rows are those of the base, or of the original files, and of the deltas, without the rows that the delete deltas
    name.
    """

    base: SelectedDirectory | None
    deltas: tuple[SelectedDirectory, ...]
    """By write ID, then statement ID."""
    delete_deltas: tuple[SelectedDirectory, ...]
    """By write ID, then statement ID."""
    original_files: tuple[DataFile, ...]
    """In the order in which Hive numbers the rows of each bucket."""
    skipped: tuple[Skipped, ...]
    """By name."""

    @property
    def originals(self) -> tuple[File, ...]:
        """The original files as they are listed in the directory."""
        return tuple(data.file for data in self.original_files)

    @property
    def obsolete(self) -> tuple[str, ...]:
        """Directories and original files that a base or a wider delta replaces."""
        return tuple(skipped.name for skipped in self.skipped if skipped.reason is SkipReason.COVERED)

    @property
    def aborted(self) -> tuple[str, ...]:
        """Directories without visible events. Some of them must not be removed: `skipped` has the reasons."""
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
    """Selects what a reader with these lists reads of a table or partition.

    `files` are all files below its directory, including hidden ones. `directories` are the directories found there;
    they are needed for directories without files. `compacted_bases` names the bases without `_v` that a compactor of
    Hive 3 made, as their `_metadata_acid` says. Files of an `insert_only` table may have any name.

    Raises MALFORMED_LAYOUT, and NOT_ENOUGH_HISTORY if the only base is a compacted one that is too new.
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
    """The files in each ACID directory, including hidden ones."""
    outside: list[File]
    """Visible files outside the ACID directories."""


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
    """Whether the reader may read a base.

    A compacted base mixes the rows of all its write IDs, so none of them may be open. It has no rows of aborted ones.
    Hive 4's isValidBase also accepts a base_N of INSERT OVERWRITE if N is the lowest open write ID. That would show an
    uncommitted write, so this function does not.
    """
    write_id = base.parsed.write_id
    if base.compacted:
        return write_id < writeids.min_open and write_id <= writeids.high_watermark
    return writeids.is_valid(write_id)


def _highest_valid(bases: Iterable[_NamedBase], writeids: ValidWriteIdList) -> _NamedBase | None:
    """The valid base with the highest write ID.

    If several have this write ID, the latest compacted one: it has the same rows in fewer files.
    """
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
            # The directories that were compacted may be gone, so the rows would be incomplete (AcidUtils.getAcidState).
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
    """Chooses the deltas and delete deltas to read, in order, and those to skip."""
    covered = WriteId(max(base.parsed.write_id, 0)) if base else WriteId(0)
    chosen: list[_NamedDelta] = []
    skipped: list[Skipped] = []
    for (low, high), group in groupby(sorted(deltas, key=_delta_order), key=lambda delta: delta.range):
        same_range = list(group)
        left_out = low <= covered < high and _is_left_out(same_range, chosen, base)
        known = WriteId(low - 1) if left_out else covered
        if _is_invalid(low, high, known, writeids):
            skipped += [_invalid(delta.name, low, high, writeids) for delta in same_range]
            continue
        _refuse_overlap(chosen, same_range)
        best = _best_of_range(same_range) if high > known else []
        covered_ones = (delta for delta in same_range if delta not in best)
        skipped += [Skipped(d.name, SkipReason.COVERED, _coverer(d, best or chosen, base)) for d in covered_ones]
        invalid = writeids.invalid_in(low, high).union(map(WriteId, range(low, min(known, high) + 1)))
        chosen += [_NamedDelta(delta.name, delta.parsed, invalid) for delta in best]
        covered = max(covered, high)
    return chosen, skipped


def _is_left_out(same_range: Sequence[_NamedDelta], chosen: Sequence[_NamedDelta], base: _NamedBase | None) -> bool:
    """Whether only results of compactions seem to have events of a batch of transactions, the first of them.

    They have none. A compactor leaves a batch alone until all its transactions have ended, but Hive's query-based one
    names its result after the highest write ID below the lowest open one, and that may be in the middle of the batch
    (QueryCompactor.Util.getCompactionResultDir).
    """
    low = same_range[0].parsed.min_write_id
    overwritten = base is not None and not base.compacted and base.parsed.write_id >= low
    written = any(d.parsed.visibility_txn is None and d.parsed.max_write_id >= low for d in chosen)
    return all(d.parsed.may_be_streamed for d in same_range) and not (overwritten or written)


def _is_invalid(low: WriteId, high: WriteId, covered: WriteId, writeids: ValidWriteIdList) -> bool:
    """Whether the reader sees no write ID of the range, or none above those that are covered.

    The whole range is tested first, because the directory of an open transaction is never obsolete.
    """
    if writeids.range_response(low, high) is RangeResponse.NONE:
        return True
    return high > covered and writeids.range_response(max(low, WriteId(covered + 1)), high) is RangeResponse.NONE


def _delta_order(delta: _NamedDelta) -> tuple[int, int, int, str]:
    parsed = delta.parsed
    statement = -1 if parsed.statement_id is None else parsed.statement_id
    return parsed.min_write_id, -parsed.max_write_id, statement, delta.name


def _best_of_range(same_range: list[_NamedDelta]) -> list[_NamedDelta]:
    """All statements of the range, or the compacted directories that replace them, of the latest compaction.

    Hive compacts the rows and the delete events of a range together, so one compacted directory covers both kinds.
    """
    whole = [delta for delta in same_range if delta.parsed.statement_id is None]
    if not whole:
        return same_range
    latest = {d.parsed.is_delete: d for d in sorted(whole, key=lambda d: (d.parsed.visibility_txn or 0, d.name))}
    return list(latest.values())


def _refuse_overlap(chosen: list[_NamedDelta], same_range: list[_NamedDelta]) -> None:
    """Raises MALFORMED_LAYOUT if a range overlaps a delta that has a statement ID and several write IDs.

    Such a delta need not have all events of its write IDs, so it is unknown what it covers. Hive never writes one:
    deltas with a statement ID have one write ID, and the batches of streaming clients have no statement ID.
    """
    if not chosen:
        return
    last, next_name, next_low = chosen[-1].parsed, same_range[0].name, same_range[0].parsed.min_write_id
    partial = last.statement_id is not None and last.min_write_id < last.max_write_id
    if partial and next_low <= last.max_write_id:
        raise _malformed(next_name, f"its write IDs overlap those of {chosen[-1].name}")


def _coverer(delta: _NamedDelta, chosen: Sequence[_NamedDelta], base: _NamedBase | None) -> str:
    """The name of the directory that has the events of a skipped delta.

    That is the base, or a delta that is at least as wide, if possible one of the same kind. If there is none, it is the
    names of all deltas that overlap the skipped one.
    """
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
    """Describes the states of the first few write IDs.

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
