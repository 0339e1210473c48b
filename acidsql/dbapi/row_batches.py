"""INSERT .. VALUES with many rows of parameters as one INSERT .. SELECT from an Arrow table.

The statement then runs once, in one transaction, and writes one delta directory. The rewriting is exact: it applies
where every parameter is a whole value of the VALUES row, and all values of a parameter have one Python type, so that a
value in a column of the Arrow table is stored as the same value in the text of a statement would be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from acidsql.acid.hive_types import MOST_DIGITS
from acidsql.acid.object_names import table_of
from acidsql.errors import AcidSqlError, Span
from acidsql.grammar.parser import parse
from acidsql.grammar.statements import Default, Insert, Values
from acidsql.metastore.catalog import Catalog

if TYPE_CHECKING:
    import pyarrow as pa

Parameters = Mapping[str, object]

FRAME: Final = "acidsql_rows"
_VALUES: Final = re.compile(r"\bVALUES\s*$", re.IGNORECASE)
_SIMPLE: Final = (int, float, bool, str, bytes, date, datetime, Decimal)
_IN_LISTS: Final = (int, float, bool, str, bytes)
_TEXTS: Final = ("string", "char", "varchar")
_INT32: Final = range(-(1 << 31), 1 << 31)


@dataclass(frozen=True, slots=True)
class RowBatch:
    """A statement that inserts all rows of a frame, which its text names in braces."""

    text: str
    frame: str
    """The name of the frame in the text."""
    rows: pa.Table
    select: int
    """Where the text differs from the statement of the user: the place of SELECT instead of VALUES."""
    values: Span
    """The row of values in the user's statement."""

    def original_error(self, error: AcidSqlError) -> AcidSqlError:
        """The error with its place in the user's statement."""
        place = error.span
        if place is None or place.source != self.text:
            return error
        return error.placed(replace(place, source=self.values.source) if place.end <= self.select else self.values)


def row_batch(text: str, rows: Sequence[Parameters], catalog: Catalog, database: str) -> RowBatch | None:
    """The statement `text` for all rows of parameters; None where each row needs a statement of its own."""
    if "${" in text or len(rows) < 2:
        return None
    try:
        statement = parse(text)
        if not isinstance(statement, Insert):
            return None
        names = _parameters_of_row(statement)
        if not names or any(not names.keys() <= row.keys() for row in rows):
            return None
        columns = _target_types(statement, catalog, database)
    except AcidSqlError:  # the statement itself raises the error, with its place
        return None
    assert isinstance(statement.rows, Values)
    if len(columns) != len(statement.rows.rows[0]):
        return None
    arrays = {}
    for name, positions in names.items():
        array = _array([row[name] for row in rows], {columns[position] for position in positions})
        if array is None:
            return None
        arrays[name] = array
    return _batch(statement, arrays)


def _parameters_of_row(statement: Insert) -> dict[str, list[int]] | None:
    """The parameters of the one VALUES row with their positions in it; None if the statement has others."""
    rows = statement.rows
    if not isinstance(rows, Values) or len(rows.rows) != 1 or rows.row_spans[0] is None:
        return None
    found: dict[str, list[int]] = {}
    for position, value in enumerate(rows.rows[0]):
        if isinstance(value, Default):
            return None
        if isinstance(value, exp.Placeholder) and value.this:
            found.setdefault(value.name, []).append(position)
        elif value.find(exp.Placeholder, exp.Query) is not None:
            return None
    outside = (getattr(statement, field.name) for field in fields(statement) if field.name != "rows")
    return None if any(map(_has_placeholder, outside)) else found


def _has_placeholder(part: object) -> bool:
    if isinstance(part, exp.Expr):
        return part.find(exp.Placeholder) is not None
    if isinstance(part, tuple):
        return any(map(_has_placeholder, part))
    return is_dataclass(part) and any(_has_placeholder(getattr(part, field.name)) for field in fields(part))


def _target_types(statement: Insert, catalog: Catalog, database: str) -> list[str]:
    """The types of the columns that the values go to, by position."""
    table = catalog.table(*table_of(str(statement.target), database))
    types = {column.name: column.type for column in table.all_columns}
    static = {item.column.value for item in statement.partition if item.value is not None}
    if statement.columns is None:
        return [kind for name, kind in types.items() if name not in static]
    named = [name.value for name in statement.columns]
    dynamic = [item.column.value for item in statement.partition if item.value is None]
    return [types.get(name, "string") for name in (*named, *(name for name in dynamic if name not in named))]


def _array(values: list[object], stored_as: set[str]) -> pa.Array | None:
    """The values as an Arrow array whose values are stored as the single values would be, or None."""
    import pyarrow as pa

    if all(value is None or isinstance(value, list) for value in values) and any(values):
        return _array_of_lists(values)
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1 or not kinds <= set(_SIMPLE):
        return None
    kind = next(iter(kinds), None)
    given = [value for value in values if value is not None]
    if kind is Decimal and not _have_one_type(given):
        return None
    if kind is Decimal and any(stored.startswith(_TEXTS) for stored in stored_as):
        is_text = all(stored.startswith(_TEXTS) for stored in stored_as)
        return (
            pa.array([None if value is None else _decimal_text(value) for value in values], pa.string())
            if is_text
            else None
        )
    if kind is datetime and len({_is_instant(value) for value in given}) > 1:
        return None
    try:
        return pa.array(values, _arrow_type(kind, given))
    except (pa.ArrowException, ArithmeticError, ValueError):
        return None


def _array_of_lists(values: list[object]) -> pa.Array | None:
    import pyarrow as pa

    if len({type(leaf) for leaf in _leaves(values)}) > 1 or not all(isinstance(x, _IN_LISTS) for x in _leaves(values)):
        return None
    try:
        return pa.array(values)
    except (pa.ArrowException, ArithmeticError, ValueError):
        return None


def _leaves(values: list[object]) -> Iterator[object]:
    for value in values:
        if isinstance(value, list):
            yield from _leaves(value)
        elif value is not None:
            yield value


def _arrow_type(kind: type | None, given: list[object]) -> pa.DataType | None:
    """The Arrow type for values of one Python type; None leaves it to pyarrow."""
    import pyarrow as pa

    if kind is int:
        return pa.int32() if all(value in _INT32 for value in given) else pa.int64()
    if kind is datetime:
        return pa.timestamp("us", "UTC" if _is_instant(given[0]) else None)
    return None


def _is_instant(value: object) -> bool:
    return isinstance(value, datetime) and value.tzinfo is not None


def _decimal_text(value: object) -> str:
    """The text of a DECIMAL literal, which has no zeros at the end of its fraction (HiveDecimal)."""
    assert isinstance(value, Decimal)
    text = f"{value if value else abs(value):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _have_one_type(values: Sequence[object]) -> bool:
    """Whether a DECIMAL has the digits of all numbers."""
    if not all(isinstance(value, Decimal) and value.is_finite() for value in values):
        return False
    tuples = [value.as_tuple() for value in values if isinstance(value, Decimal)]
    scales = {max(0, -int(number.exponent)) for number in tuples}
    whole = max(len(number.digits) + int(number.exponent) for number in tuples)
    return max(whole, 0) + max(scales) <= MOST_DIGITS


def _batch(statement: Insert, arrays: Mapping[str, pa.Array]) -> RowBatch | None:
    import pyarrow as pa

    rows = statement.rows
    assert isinstance(rows, Values)
    place = rows.row_spans[0]
    assert place is not None
    source = place.source
    before = _VALUES.search(source, 0, place.start)
    if before is None or source[place.end :].strip(" \t\r\n;"):
        return None
    numbers = {name: number for number, name in enumerate(arrays)}
    row, end = "", place.end
    for value in reversed(rows.rows[0]):
        if isinstance(value, exp.Placeholder):
            start, stop = value.meta["start"], value.meta["end"] + 1
            row, end = f"`{FRAME}`.`c{numbers[value.name]}`{source[stop:end]}{row}", start
    row = (source[place.start : end] + row).strip()
    inside = row[1:-1] if row.startswith("(") else row
    text = f"{source[: before.start()]}SELECT {inside} FROM {{{FRAME}}} AS `{FRAME}`"
    table = pa.table(list(arrays.values()), [f"c{number}" for number in numbers.values()])
    return RowBatch(text, FRAME, table, before.start(), place)
