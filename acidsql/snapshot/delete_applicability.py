"""Which delete events apply to which rows. Scans, COUNT(*), `acidsql inspect` and compactions all ask this module.

A delete event deletes a row if all of these hold:

1. **Directory.** The snapshot reads the delete_delta of the event: the transaction of its `_v` is committed, its range
   holds a write ID that is valid and that no base covers, and no delete_delta of a compaction stands in for it
   (acid/snapshot_selection.py selects directories).
2. **Partition.** The delete_delta lies in the directory of the row's partition.
3. **Bucket.** The partition has a data file with the bucket number of the event's file. Hive 4.0.1 is stricter, and
   ignores every event in the file of another bucket than that of its row; no known writer makes such files.
4. **Event.** The event's own write ID, its currentTransaction, is not hidden. Hidden are the write IDs of a wide
   directory that are open, aborted or above the high watermark, and those that another directory already brings.
5. **Row.** Write ID (originalTransaction), bucket property and row ID of the event are those of the row. A bucket
   property holds bucket number and statement ID. A row of a plain file has the write ID of its directory (0 for an
   original file), the bucket property of its file, and its number in the bucket as row ID.

Rule 5 compares many rows at once, so each engine has a body of its own for it: for Spark as bits
(`acidsql.spark.scan.deletes.bitmap`) or as a join (`acidsql.spark.scan.deletes.delete_events`), for Arrow by binary
search in sorted row IDs (`acidsql.arrow.scan.deleted_row_ids`), and for `acidsql inspect` row by row (`RowKey`).

Rule 4 holds for insert events too. A minor compaction merges no rows with events, so it keeps the visible events of
every bucket: the rows that they delete may lie in a base or in files outside of what it merges.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from acidsql.acid.layout import OPERATION_INSERT
from acidsql.acid.snapshot_selection import DataFile, SelectedDirectory, Snapshot
from acidsql.acid.write_ids import WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.snapshot.scan_binding import BoundPart, BoundScan, SourceFile, opened_files
from acidsql.storage.footer_cache import FooterCache
from acidsql.storage.orc.tail import BUCKET_COLUMN, ORIGINAL_TRANSACTION_COLUMN, ROW_ID_COLUMN

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# ------------------------------------------------------------------------------------------------ files


def applicable_delete_files(bound: BoundScan, footers: FooterCache) -> list[SourceFile]:
    """The delete files whose events apply to rows of the scan, without empty ones. Raises MALFORMED_LAYOUT."""
    return [f for number, part in enumerate(bound.parts) for f in _opened(bound, number, part, part.buckets, footers)]


def every_delete_file(bound: BoundScan, footers: FooterCache) -> list[SourceFile]:
    """The delete files that a minor compaction keeps: those of every bucket. Raises MALFORMED_LAYOUT."""
    return [f for number, part in enumerate(bound.parts) for f in _opened(bound, number, part, None, footers)]


def without_deletes(bound: BoundScan) -> BoundScan:
    """The scan with its deleted rows, for a minor compaction: it keeps them beside their delete events."""
    parts = (replace(part, snapshot=replace(part.snapshot, delete_deltas=())) for part in bound.parts)
    return replace(bound, parts=tuple(parts))


def delete_buckets(snapshot: Snapshot) -> list[int]:
    """The bucket numbers of all delete files, in order."""
    return sorted({f.bucket for _, files in _delete_files(snapshot, None) for f in files})


def applies_to_bucket(bucket: int, data_buckets: Collection[int]) -> bool:
    """Rule 3: whether the events of a file with the bucket number `bucket` apply, beside data files of these."""
    return bucket in data_buckets


def _delete_files(
    snapshot: Snapshot, data_buckets: Collection[int] | None
) -> Iterator[tuple[SelectedDirectory, list[DataFile]]]:
    """The files of each delete_delta, those that apply to some buckets or all."""
    for directory in snapshot.delete_deltas:
        yield (
            directory,
            [f for f in directory.files if data_buckets is None or applies_to_bucket(f.bucket, data_buckets)],
        )


def _opened(
    bound: BoundScan, number: int, part: BoundPart, data_buckets: Collection[int] | None, footers: FooterCache
) -> Iterator[SourceFile]:
    for directory, files in _delete_files(part.snapshot, data_buckets):
        for opened in opened_files(bound, part, files, footers):
            file, tail, hidden = opened.file, opened.tail, directory.invalid_write_ids
            if not tail.is_acid:
                reason = "a file of delete events has the six ACID columns, and it has not"
                raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=file.path, reason=reason)
            if opened.has_events(hidden):
                read = opened.readable(bound.files, footers)
                yield SourceFile(
                    read.path,
                    read.size,
                    number,
                    is_acid=True,
                    names=tail.row_names,
                    hidden=opened.hidden_of(hidden),
                    tail=tail,
                    modified=read.modified,
                    identity=read.identity,
                    changed=read.changed,
                    may_grow=read.may_grow,
                )


# ------------------------------------------------------------------------------------------------ events


def is_visible(write_id: object, hidden: Collection[WriteId]) -> bool:
    """Rule 4, for one event and its write ID."""
    return write_id not in hidden


def visible_sql(write_id: str, hidden: Collection[WriteId]) -> str:
    """Rule 4 as SQL of an event's write ID. It names the column in any case, and is true where nothing is hidden."""
    return f"coalesce({write_id}, 0) " + (f"NOT IN ({', '.join(map(str, sorted(hidden)))})" if hidden else ">= 0")


def visible_mask(write_ids: NDArray[np.int64], hidden: Collection[WriteId]) -> NDArray[np.bool_]:
    """Rule 4 for the write IDs of many events."""
    import numpy as np

    return ~np.isin(write_ids, sorted(hidden)) if hidden else np.ones(len(write_ids), np.bool_)


# ------------------------------------------------------------------------------------------------ rows


class RowKey(NamedTuple):
    """Rule 5: what an event and its row have in common, within a partition."""

    write_id: int | None
    bucket_property: int | None
    row_id: int | None


@dataclass(frozen=True, slots=True)
class RowRange:
    """The keys of all rows of a file that one write of one statement made: row IDs without a gap."""

    write_id: int
    bucket_property: int
    row_ids: range


def shows_all_rows(file: SourceFile) -> bool:
    """Whether the footer of a data file tells how many rows it has before deletes: all events are visible inserts."""
    return file.tail is not None and not file.hidden and (not file.is_acid or file.is_all(OPERATION_INSERT))


def row_range(file: SourceFile) -> RowRange | None:
    """The keys of a data file's rows by its footer; None where it does not tell, as for a compacted file."""
    assert file.tail is not None
    if not file.is_acid:
        return RowRange(file.write_id, file.bucket_property, range(file.first_row, file.first_row + file.tail.rows))
    ranges = [file.tail.integer_range(c) for c in (ORIGINAL_TRANSACTION_COLUMN, BUCKET_COLUMN, ROW_ID_COLUMN)]
    if None in ranges:
        return None
    (write_id, last_write_id), (bucket, last_bucket), (first, last) = (r for r in ranges if r is not None)
    if (write_id, bucket, last - first + 1) != (last_write_id, last_bucket, file.tail.rows):
        return None
    return RowRange(write_id, bucket, range(first, last + 1))
