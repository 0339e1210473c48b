"""Which files of a bucket a compaction takes as they are, one behind the other, and which files it sorts together.

The rows of a bucket's file are in the order of their row IDs: write ID, bucket property, row ID. Each file of a bucket
is in this order, and mostly all its rows come before or behind those of any other file, because a write adds rows under
its own write ID. Such files need no sort: the stripes of one follow those of the other. But a stripe of a few rows
costs a reader as much as one of many, so small files are sorted together.

    large file | large file | small file, small file, large file, small file | large file
     as it is     as it is                 sorted together                       as it is
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from acidsql.acid.row_id import MAX_BUCKET
from acidsql.acid.write_ids import WriteId
from acidsql.storage.orc.tail import BUCKET_COLUMN, ORIGINAL_TRANSACTION_COLUMN, Tail

Place: TypeAlias = "tuple[float, float]"
"""A place in the order of a bucket's rows: a write ID and a bucket property, or a number below or above all of them."""

_LARGE: Final = 1024 * 1024
"""Bytes of the smallest file that is taken as it is where others are in its bucket."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What all rows of a file have in common."""

    write_id: WriteId
    bucket_property: int

    @property
    def bucket(self) -> int:
        return self.bucket_property >> 16 & MAX_BUCKET


@dataclass(frozen=True, slots=True)
class Extremes:
    """Bounds of the places of a file's rows, from its statistics; both are of them where they are equal."""

    first: Place
    last: Place

    @property
    def origin(self) -> Origin | None:
        """What the rows have in common, if that is so."""
        if self.first != self.last:
            return None
        return Origin(WriteId(int(self.first[0])), int(self.first[1]))


@dataclass(frozen=True, slots=True)
class Merging:
    """The files of a compaction by what is done with them, as paths."""

    by_origin: frozenset[str] = frozenset()
    """Files taken as they are, each of which has rows of one Origin."""
    in_order: frozenset[str] = frozenset()
    """Other files taken as they are."""
    sorted: frozenset[str] = frozenset()


def extremes(tail: Tail) -> Extremes | None:
    """The extremes of a file of events, as Hive's or flat; None where its statistics do not tell."""
    write_ids, properties = (tail.integer_range(c) for c in (ORIGINAL_TRANSACTION_COLUMN, BUCKET_COLUMN))
    if write_ids is None or properties is None:
        return None
    if write_ids[0] == write_ids[1]:
        return Extremes((write_ids[0], properties[0]), (write_ids[1], properties[1]))
    return Extremes((write_ids[0], -math.inf), (write_ids[1], math.inf))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A data file of a compaction. Original files have no order that could be kept, because their row IDs are the
    places of their rows."""

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
    alone = [file for as_they_are, _ in shares for file in as_they_are]
    by_origin = [f for f in alone if joins and f.extremes is not None and f.extremes.origin is not None]
    return Merging(
        _paths(by_origin),
        _paths(alone) - _paths(by_origin),
        _paths(file for _, together in shares for file in together),
    )


def _paths(files: Iterable[Candidate]) -> frozenset[str]:
    return frozenset(file.path for file in files)


def _shares(files: Sequence[Candidate], *, joins: bool) -> tuple[Sequence[Candidate], Sequence[Candidate]]:
    """The files of a bucket that are taken as they are, and those that are sorted together."""
    if len(files) == 1:
        return (files, ()) if files[0].is_acid else ((), files)
    groups = _groups(files) if joins else None
    if groups is None:
        return (), files
    small = [number for number, group in enumerate(groups) if len(group) > 1 or group[0].size < _LARGE]
    between = range(small[0], small[-1] + 1) if small else range(0)
    alone = [file for number, group in enumerate(groups) if number not in between for file in group]
    return alone, [file for number in between for file in groups[number]]


def _groups(files: Sequence[Candidate]) -> list[list[Candidate]] | None:
    """The files in order, those together whose rows may lie among each other; None where that is unknown."""
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
