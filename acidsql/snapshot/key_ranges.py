"""The keys of a small source as a few ranges, by which the scan of a target leaves out what matches none of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from acidsql.acid.table import Column, Table
from acidsql.planner.plan import Scan
from acidsql.planner.queries.key_conditions import KeyRange, has_keys, with_keys
from acidsql.snapshot.statement_snapshots import StatementSnapshots

_MOST_VALUES: Final = 10_000
"""How many values a partition is compared with. Texts of partitions are compared for equality only."""
_MOST_RANGES: Final = 32
"""How many ranges the statistics of a file, a stripe or a row group are compared with."""
_MANY_PARTITIONS: Final = 32
"""The number of partitions from which on listing them all takes longer than finding the keys of a small source."""


def narrowed(scan: Scan, keys: Mapping[str, Any]) -> Scan:
    """The scan of the target, which needs only rows whose columns have one of the keys. `keys` has Arrow arrays by the
    names of the target's columns; arrays of a type that cannot be used are ignored."""
    of_partitions = {column.name for column in scan.table.partition_columns}
    ranges = {}
    for column in scan.table.all_columns:
        if column.name in keys and _is_key_of(column, keys[column.name].type):
            most = _MOST_VALUES if column.name in of_partitions else _MOST_RANGES
            with suppress(ValueError, OverflowError):  # Python has no such date, or the text is not UTF-8
                ranges[column.name] = key_ranges(keys[column.name], most)
    return with_keys(scan, ranges)


def come_first(scan: Scan, columns: Collection[str], snapshots: StatementSnapshots) -> bool:
    """Whether a statement should find the keys for these columns of its target before it lists the target's
    directories: they can rule out partitions, of which there are many."""
    can_prune = any(column.name in columns and has_keys(column) for column in scan.table.partition_columns)
    return can_prune and snapshots.count_of_partitions(scan) >= _MANY_PARTITIONS


def are_keys(schema: pa.Schema, table: Table) -> bool:
    """Whether one of the fields, which have names of the table's columns, has keys that can be used."""
    columns = {column.name: column for column in table.all_columns}
    return any(_is_key_of(columns[field.name], field.type) for field in schema)


def _is_key_of(column: Column, kind: pa.DataType) -> bool:
    """Whether a value of the Arrow type equals a value of the column exactly if both are the same number, text or
    day."""
    if not has_keys(column):
        return False
    match column.type:
        case "string":
            return _is_text(kind)
        case "date":
            return bool(pa.types.is_date32(kind))
        case _:
            return bool(pa.types.is_signed_integer(kind))


def key_ranges(keys: Any, most: int) -> list[KeyRange]:
    """Sorted ranges that contain all keys, without NULL: a range for each key, or _MOST_RANGES if there are more keys
    than `most`. Ranges of numbers and dates leave out the largest gaps between keys.

    >>> key_ranges(pa.array([5, None, 3, 5]), 2)
    [(3, 3), (5, 5)]
    """
    distinct = pc.unique(keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys).drop_null()
    distinct = distinct.take(pc.sort_indices(distinct))
    count = len(distinct)
    if count <= most:
        return [(key, key) for key in distinct.to_pylist()]
    parts = min(_MOST_RANGES, count)
    if _is_text(distinct.type):
        firsts = np.linspace(0, count, parts, endpoint=False).astype(np.int64)
    else:
        numbers = distinct.cast(pa.int32() if pa.types.is_date32(distinct.type) else distinct.type).cast(pa.int64())
        gaps = np.diff(numbers.to_numpy(zero_copy_only=False).astype(np.uint64))  # never negative, up to 2 ** 64 - 1
        firsts = np.sort(np.append(np.argsort(gaps)[count - parts :] + 1, 0))
    lasts = np.append(firsts[1:], count) - 1
    bounds = zip(distinct.take(pa.array(firsts)).to_pylist(), distinct.take(pa.array(lasts)).to_pylist(), strict=True)
    return list(bounds)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
