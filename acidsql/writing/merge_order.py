"""Which files of a bucket a compaction copies in the order that they have, and which files it sorts together.

The rows of a bucket are to lie in the order of their row IDs: write ID, bucket property, row ID. Each file of the
bucket is in this order. Because a write adds rows under its own write ID, mostly all rows of a file come before or
behind all rows of any other file, so that a copy of one file without its deleted rows can follow a copy of the other,
as stripes of one new file. But a stripe of a few rows costs a reader as much as one of many, so the rows of small files
are sorted together.

    large file | large file | small file, small file, large file, small file | large file
      copied       copied                  sorted together                       copied
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from acidsql.acid.write_ids import WriteId
from acidsql.storage.orc.tail import BUCKET_COLUMN, ORIGINAL_TRANSACTION_COLUMN, Tail

Place: TypeAlias = "tuple[float, float]"
"""A place in the order of a bucket's rows: a write ID, and a bucket property or an infinite number in place of it."""

_LARGE: Final = 1024 * 1024
"""Bytes of the smallest file that is copied where its bucket has others."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The write ID and the bucket property that all rows of a file have."""

    write_id: WriteId
    bucket_property: int


@dataclass(frozen=True, slots=True)
class Extremes:
    """Bounds of the places of a file's rows, from its statistics."""

    first: Place
    last: Place

    @property
    def origin(self) -> Origin | None:
        """The write ID and the bucket property that all rows of the file have; None if they have different ones."""
        if self.first != self.last:
            return None
        return Origin(WriteId(int(self.first[0])), int(self.first[1]))


@dataclass(frozen=True, slots=True)
class Merging:
    """The paths of the files of a compaction, by what is done with them."""

    by_origin: frozenset[str] = frozenset()
    """Files that are copied, and whose rows have one Origin each."""
    in_order: frozenset[str] = frozenset()
    """Other files that are copied."""
    sorted: frozenset[str] = frozenset()


def extremes(
    tail: Tail, write_id_column: int = ORIGINAL_TRANSACTION_COLUMN, bucket_column: int = BUCKET_COLUMN
) -> Extremes | None:
    """The extremes of an ORC file of events; None where its statistics do not tell. The columns are ORC's numbers of
    the two columns of the row ID, which files without some ACID columns have elsewhere."""
    write_ids, properties = (tail.integer_range(column) for column in (write_id_column, bucket_column))
    if write_ids is None or properties is None:
        return None
    if write_ids[0] == write_ids[1]:
        return Extremes((write_ids[0], properties[0]), (write_ids[1], properties[1]))
    return Extremes((write_ids[0], -math.inf), (write_ids[1], math.inf))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A data file of a compaction. Files without ACID columns are always sorted: the places of their rows are their row
    IDs, and a copy would have to compute them."""

    path: str
    bucket: int
    size: int
    is_acid: bool
    extremes: Extremes | None


def merging(files: Iterable[Candidate], *, joins: bool) -> Merging:
    """What is done with the files. `joins` tells whether the stripes of several files can become one file, and the ACID
    columns can be added to a file that was written without them."""
    buckets: dict[int, list[Candidate]] = {}
    for file in files:
        buckets.setdefault(file.bucket, []).append(file)
    shares = [_shares(of_bucket, joins=joins) for of_bucket in buckets.values()]
    copied = [file for of_bucket, _ in shares for file in of_bucket]
    by_origin = [f for f in copied if joins and f.extremes is not None and f.extremes.origin is not None]
    return Merging(
        _paths(by_origin),
        _paths(copied) - _paths(by_origin),
        _paths(file for _, together in shares for file in together),
    )


def _paths(files: Iterable[Candidate]) -> frozenset[str]:
    return frozenset(file.path for file in files)


def _shares(files: Sequence[Candidate], *, joins: bool) -> tuple[Sequence[Candidate], Sequence[Candidate]]:
    """The files of a bucket that are copied, and those that are sorted together."""
    if len(files) == 1:
        return (files, ()) if files[0].is_acid else ((), files)
    groups = _groups(files) if joins else None
    if groups is None:
        return (), files
    small = [number for number, group in enumerate(groups) if len(group) > 1 or group[0].size < _LARGE]
    between = range(small[0], small[-1] + 1) if small else range(0)
    copied = [file for number, group in enumerate(groups) if number not in between for file in group]
    return copied, [file for number in between for file in groups[number]]


def _groups(files: Sequence[Candidate]) -> list[list[Candidate]] | None:
    """The files in the order of their rows, in groups. Rows of files of one group may lie among each other. None where
    the places of a file's rows are unknown."""
    known = [(f.extremes, f) for f in files if f.extremes is not None and f.is_acid]
    if len(known) < len(files):
        return None
    groups: list[list[Candidate]] = []
    last: Place = (-math.inf, -math.inf)
    for bounds, file in sorted(known, key=lambda pair: pair[0].first):
        if groups and bounds.first <= last:
            groups[-1].append(file)
        else:
            groups.append([file])
        last = max(last, bounds.last)
    return groups
