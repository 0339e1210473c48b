"""Which files can contain a row that a query asks for, by the smallest and the largest value of each column."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from acidsql.acid.hive_types import Decimal, Primitive, Varchar, parse_type
from acidsql.acid.table import Column, Table
from acidsql.acid.value_range import Range
from acidsql.planner.conditions.value_ranges import can_hold
from acidsql.planner.plan import Scan
from acidsql.snapshot.scan_binding import SourceFile
from acidsql.storage.orc.column_types import orders_as

_COMPARED: Final = tuple(Primitive(name) for name in ("tinyint", "smallint", "int", "bigint", "string", "date"))
"""Types whose values ORC's statistics order as Spark does; DECIMAL and VARCHAR are too. Types with NaN and types with
padding are not."""


def needed_files(scan: Scan, files: Sequence[SourceFile]) -> list[SourceFile]:
    """The files that can contain a row that the query asks for."""
    if not scan.row_filter:
        return list(files)
    compared = {c.name: (i, parse_type(c.type)) for i, c in enumerate(scan.table.columns) if is_compared(c)}

    def range_of(file: SourceFile, name: str) -> Range | None:
        if file.tail is None or name not in compared:
            return None
        position, kind = compared[name]
        return file.tail.value_range(position, kind) if has_column(scan.table, file, position, name) else None

    return [f for f in files if can_hold(scan.row_filter, partial(range_of, f))]


def needed_stripes(scan: Scan, file: SourceFile) -> list[int]:
    """The numbers of the stripes of an ORC file that can contain a row that the query asks for."""
    assert file.tail is not None
    everything = list(range(len(file.tail.stripe_rows)))
    compared = {c.name: (i, parse_type(c.type)) for i, c in enumerate(scan.table.columns) if is_compared(c)}
    ranges: dict[str, tuple[Range | None, ...]] = {}

    def range_of(stripe: int, name: str) -> Range | None:
        assert file.tail is not None
        if name not in ranges:
            position, kind = compared.get(name, (0, None))
            has = kind is not None and has_column(scan.table, file, position, name)
            ranges[name] = file.tail.stripe_value_ranges(position, kind) if has and kind is not None else ()
        known = ranges[name]
        return known[stripe] if len(known) == len(everything) else None

    return [s for s in everything if can_hold(scan.row_filter, partial(range_of, s))] if scan.row_filter else everything


def is_compared(column: Column) -> bool:
    """Whether ORC's statistics order the values of the column as Spark does."""
    kind = parse_type(column.type)
    return kind in _COMPARED or isinstance(kind, Decimal | Varchar)


def has_column(table: Table, file: SourceFile, position: int, name: str) -> bool:
    """Whether the file has the column under its name, with values in the order of the table's type."""
    has_type = file.tail is not None and orders_as(file.tail, table)[position : position + 1] == (True,)
    return has_type and file.names[position : position + 1] == (name,)
