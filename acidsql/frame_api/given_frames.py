"""The frames of the statements that are methods of a session: their columns, and lists of dicts as Arrow tables.

The types of the target's columns guide a list of dicts: a column that the target also has gets the target's type if
all its values have that type. Other columns get the type of their values, and the statement converts them as it
converts every frame.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from acidsql.acid.hive_types import Array, Char, HiveType, Map, Primitive, Struct, Varchar, parse_type
from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.values.arrow_tables import check_integers
from acidsql.values.arrow_types import arrow_type
from acidsql.values.column_arrays import UnfitValue, array_of_values
from acidsql.values.record_shapes import MISSING, NamedColumns, columns_of, invalid_record

SOURCE: Final = "source"
"""The name of the frame in a statement: `{source}`."""
_NUMBERS: Final = ({int, float}, {int, Decimal})
"""The types of Python's numbers that one column may hold together."""


@dataclass(frozen=True, slots=True)
class FrameRows:
    """A frame that a statement names as `{source}`, and its columns."""

    value: object
    columns: tuple[str, ...]

    @property
    def hint(self) -> str:
        """The columns of the frame, for an error about one that it does not have."""
        return f"The frame's columns are {', '.join(self.columns)}."

    def row_with(self, column: str, text: str) -> tuple[int, Mapping[str, object]] | None:
        """The number, from 1, and the values of the first row in whose column a value has this text; None for a frame
        of Spark, whose rows have no numbers, and if there is no such row."""
        names = [name for name in self.columns if name.lower() == column.lower()]
        if not names or not isinstance(self.value, pa.Table):
            return None
        found = (n for n, value in enumerate(self.value.column(names[0]).to_pylist()) if _has_text(value, text))
        number = next(found, None)
        return None if number is None else (number + 1, self.value.slice(number, 1).to_pylist()[0])


def _has_text(value: object, text: str) -> bool:
    """Whether SQL shows a value as this text: also a float, whose text has an exponent in Java sooner."""
    try:
        return value is not None and (str(value) == text or (isinstance(value, float) and value == float(text)))
    except ValueError:
        return False


def check_fields(frame: FrameRows, table: Table) -> None:
    """Checks that the structs of the frame have the fields of the table's column in its order, if they have as many.

    As in SQL, the fields of a struct are stored by their places, so that a value would go to another field. A struct of
    another length cannot be stored at all. Raises INCOMPATIBLE_TYPE.
    """
    from acidsql.spark.frames.caller_frames import column_types

    found = column_types(frame.value)
    for column in table.all_columns:
        given = found.get(column.name)
        wanted = _guide(column.type)
        if given is not None and wanted is not None and _has_other_fields(parse_type(given), wanted):
            hint = "Give the fields of a struct the names, and the order, that they have in the table's column."
            raise AcidSqlError(
                Condition.INCOMPATIBLE_TYPE,
                table=table.qualified,
                column=column.name,
                source=given,
                target=column.type,
                hint=hint,
            )


def _has_other_fields(given: HiveType, wanted: HiveType) -> bool:
    match given, wanted:
        case Struct(fields), Struct(others):
            names, known = [name.lower() for name, _ in fields], [name.lower() for name, _ in others]
            if names != known and len(names) == len(known):
                return True
            pairs = zip(fields, others, strict=False)
            return any(_has_other_fields(one, other) for (_, one), (_, other) in pairs)
        case Array(element), Array(other):
            return _has_other_fields(element, other)
        case Map(key, value), Map(other_key, other_value):
            return _has_other_fields(key, other_key) or _has_other_fields(value, other_value)
        case _:
            return False


def given_frame(frame: Any, table: Table | None, static: Collection[str] = ()) -> FrameRows:
    """The frame with its columns. `table` is the target, whose types guide a list of dicts. A list without records has
    the columns of the target but for those in `static`.

    Raises UNRESOLVED_QUERY for a value that is not a frame, INVALID_RECORD for a list that holds something other than
    dicts, DUPLICATE_COLUMN, and INVALID_PARAMETER for a frame without columns.
    """
    from acidsql.spark.frames.caller_frames import frame_columns, readable_frame

    named = getattr(frame, "column_names", getattr(frame, "columns", ()))  # `columns` of an Arrow table are its arrays
    twice = _repeated(named) if not isinstance(frame, list) else None
    if twice is not None:  # Arrow would refuse a frame of pandas with other words
        raise AcidSqlError(Condition.DUPLICATE_COLUMN, column=twice)
    value = _table_of_dicts(frame, table, static) if isinstance(frame, list) else readable_frame(frame, "The frame")
    columns = tuple(frame_columns(value))
    twice = _repeated(columns)
    if twice is not None:
        raise AcidSqlError(Condition.DUPLICATE_COLUMN, column=twice)
    if not columns:
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="frame", reason="it has no columns")
    return FrameRows(value, columns)


def _repeated(names: Any) -> str | None:
    """The first name that a name before it equals but for upper and lower case."""
    seen: set[str] = set()
    for name in map(str, names):
        if name.lower() in seen:
            return name
        seen.add(name.lower())
    return None


# ------------------------------------------------------------------------------------------------ lists of dicts


def _table_of_dicts(records: Sequence[object], table: Table | None, static: Collection[str]) -> pa.Table:
    """The records as an Arrow table."""
    guides = {} if table is None else {c.name: _guide(c.type) for c in table.all_columns}
    if not records:
        known = {name: kind for name, kind in guides.items() if kind is not None and name not in static}
        return pa.table({name: pa.array([], arrow_type(kind)) for name, kind in known.items()})
    for number, record in enumerate(records, 1):
        if not isinstance(record, Mapping):
            raise invalid_record(number, f"it is a {type(record).__name__}", "Give a list of dicts.")
    found = columns_of(records, 0)
    assert isinstance(found, NamedColumns)
    columns = [(name, values, guides.get(name.lower())) for name, values in found.columns]
    arrays = [_array(name, _listed(values, guide), guide) for name, values, guide in columns]
    return pa.Table.from_arrays(arrays, names=[name for name, _ in found.columns])


def _listed(values: Any, guide: HiveType | None) -> list[object]:
    """The values, with None in the place of those that are missing: also what pandas puts there, a NaN in a column that
    is known to hold no FLOAT or DOUBLE among them."""
    holds_nan = guide is None or guide in (Primitive("float"), Primitive("double"))
    return [None if _is_missing(value, holds_nan=holds_nan) else value for value in values]


def _is_missing(value: object, *, holds_nan: bool) -> bool:
    is_nan = isinstance(value, float) and value != value
    return value is MISSING or type(value).__name__ in ("NAType", "NaTType") or (is_nan and not holds_nan)


def _guide(text: str) -> HiveType | None:
    """The type of a column as a guide; None for one that acidsql does not know. CHAR and VARCHAR guide as STRING: a
    frame keeps its texts, and the statement cuts them where it stores them."""
    try:
        return _without_length(parse_type(text))
    except AcidSqlError:
        return None


def _without_length(kind: HiveType) -> HiveType:
    match kind:
        case Char() | Varchar():
            return Primitive("string")
        case Array(element):
            return Array(_without_length(element))
        case Map(key, value):
            return Map(_without_length(key), _without_length(value))
        case Struct(fields):
            return Struct(tuple((name, _without_length(of)) for name, of in fields))
        case _:
            return kind


def _array(name: str, values: Sequence[object], guide: HiveType | None) -> pa.Array:
    if guide is not None:
        try:
            return array_of_values(values, guide)
        except UnfitValue:
            pass  # the statement converts a column of another type, if Hive's store assignment does
    _check_one_type(name, values)
    check_integers(values, name)
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, UnicodeError, TypeError, ValueError) as error:
        said = next(iter(str(error).splitlines()), type(error).__name__)
        raise AcidSqlError(
            Condition.UNRESOLVED_QUERY, message=f"The column {name} of the frame cannot be read: {said}"
        ) from error


def _check_one_type(name: str, values: Collection[object]) -> None:
    """Raises INVALID_RECORD where the values have types that no column can hold together."""
    kinds: dict[type, int] = {}
    for number, value in enumerate(values, 1):
        if value is not None and type(value) not in kinds:
            kinds[type(value)] = number
    if len(kinds) > 1 and set(kinds) not in _NUMBERS:
        (first, _), (other, number), *_ = kinds.items()
        reason = f"its {name} is a value of type {other.__name__}, and the type before it is {first.__name__}"
        raise invalid_record(number, reason)
