"""The rows of a seed as an Arrow table whose columns have the types of the table that they go to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

if TYPE_CHECKING:
    import agate

_DECIMAL: Final = re.compile(r"decimal(?:\((\d+)(?:,\s*(\d+))?\))?")
_WHOLE: Final[Mapping[str, Any]] = {
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
}
_FRACTIONS: Final[Mapping[str, Any]] = {"float": pa.float32(), "double": pa.float64()}


def arrow_table(rows: agate.Table, types: Mapping[str, str]) -> pa.Table:
    """The rows. `types` are the Hive types of the table's columns by their names in lower case.

    A column that the table lacks is text; INSERT refuses it. Raises pyarrow.ArrowException and ValueError for a value
    that its type does not have.
    """
    arrays = [_array(rows.columns[name].values(), types.get(name.lower(), "string")) for name in rows.column_names]
    return pa.table(arrays, names=[name.lower() for name in rows.column_names])


def _array(values: tuple[Any, ...], hive_type: str) -> Any:
    kind, convert = _target(hive_type)
    return pa.array([None if value is None else convert(value) for value in values], kind)


def _target(hive_type: str) -> tuple[Any, Callable[[Any], object]]:
    if hive_type in _WHOLE:
        return _WHOLE[hive_type], _whole
    if hive_type in _FRACTIONS:
        return _FRACTIONS[hive_type], float
    decimal = _DECIMAL.fullmatch(hive_type)
    if decimal is not None:
        return pa.decimal128(int(decimal[1] or 10), int(decimal[2] or 0)), lambda value: Decimal(str(value))
    match hive_type:
        case "boolean":
            return pa.bool_(), _truth
        case "date":
            return pa.date32(), _day
        case "timestamp":
            return pa.timestamp("us"), _time
        case _:
            return pa.string(), _text


def _whole(value: Any) -> int:
    number = Decimal(str(value))
    if number != number.to_integral_value():
        raise ValueError(f"{value} is not a whole number")
    return int(number)


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).lower() not in ("true", "false"):
        raise ValueError(f"{value} is neither true nor false")
    return str(value).lower() == "true"


def _day(value: Any) -> date:
    if isinstance(value, datetime):
        return value.date()
    return value if isinstance(value, date) else date.fromisoformat(str(value))


def _time(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    return datetime.combine(value, datetime.min.time()) if isinstance(value, date) else datetime.fromisoformat(value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat(sep=" ") if isinstance(value, datetime) else str(value)
