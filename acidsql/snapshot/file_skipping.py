"""Which files can contain a row that a query asks for, by the smallest and the largest value of each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

from acidsql.acid.hive_types import Decimal, HiveType, Primitive, Varchar, parse_type
from acidsql.acid.table import Column, Table
from acidsql.acid.value_range import Range
from acidsql.planner.conditions.value_ranges import BoundsCheck, bounds_check
from acidsql.planner.plan import Scan
from acidsql.snapshot.scan_binding import SourceFile
from acidsql.storage.orc.column_types import orders_as

_COMPARED: Final = tuple(Primitive(name) for name in ("tinyint", "smallint", "int", "bigint", "string", "date"))
"""Types whose values ORC's statistics order as Spark does; DECIMAL and VARCHAR are too. Types with NaN and types with
padding are not."""


@dataclass(frozen=True)
class FileSkipping:
    """What the conditions of a scan tell about its files."""

    scan: Scan

    @cached_property
    def _can_hold(self) -> BoundsCheck:
        return bounds_check(self.scan.row_filter)

    @cached_property
    def _compared(self) -> Mapping[str, tuple[int, HiveType]]:
        """The position and the type of each column whose bounds can be compared."""
        return {c.name: (i, parse_type(c.type)) for i, c in enumerate(self.scan.table.columns) if is_compared(c)}

    def files(self, files: Sequence[SourceFile]) -> list[SourceFile]:
        """The files that can contain a row that the query asks for."""
        return [f for f in files if self._can_hold(partial(self._range_of, f))] if self.scan.row_filter else list(files)

    def _range_of(self, file: SourceFile, name: str) -> Range | None:
        if file.tail is None or name not in self._compared:
            return None
        position, kind = self._compared[name]
        return file.tail.value_range(position, kind) if has_column(self.scan.table, file, position, name) else None

    def stripes(self, file: SourceFile) -> list[int]:
        """The numbers of the stripes that can contain a row that the query asks for, of one of these ORC files. A
        single stripe has the bounds of its file."""
        assert file.tail is not None
        everything = list(range(len(file.tail.stripe_rows)))
        if len(everything) < 2 or not self.scan.row_filter:
            return everything
        ranges: dict[str, tuple[Range | None, ...]] = {}

        def range_of(stripe: int, name: str) -> Range | None:
            if name not in ranges:
                ranges[name] = self._stripe_ranges(file, name)
            known = ranges[name]
            return known[stripe] if len(known) == len(everything) else None

        return [s for s in everything if self._can_hold(partial(range_of, s))]

    def _stripe_ranges(self, file: SourceFile, name: str) -> tuple[Range | None, ...]:
        if file.tail is None or name not in self._compared:
            return ()
        position, kind = self._compared[name]
        has = has_column(self.scan.table, file, position, name)
        return file.tail.stripe_value_ranges(position, kind) if has else ()


def is_compared(column: Column) -> bool:
    """Whether ORC's statistics order the values of the column as Spark does."""
    kind = parse_type(column.type)
    return kind in _COMPARED or isinstance(kind, Decimal | Varchar)


def has_column(table: Table, file: SourceFile, position: int, name: str) -> bool:
    """Whether the file has the column under its name, with values in the order of the table's type."""
    has_type = file.tail is not None and orders_as(file.tail, table)[position : position + 1] == (True,)
    return has_type and file.names[position : position + 1] == (name,)
