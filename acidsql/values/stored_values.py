"""Which Python values a column of a Hive type takes. A stream stores a value as it is or raises an error.

INSERT makes NULL of a value that does not fit (acidsql.planner.stored_values.stored_sql.stored). A stream has no one
who looks at what became of a value, so it is strict. Only the lengths of CHAR and VARCHAR are kept as INSERT keeps
them.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Final, TypeAlias

import numpy as np

from acidsql.acid import hive_types as t
from acidsql.acid.hive_types import MOST_DIGITS

Store: TypeAlias = Callable[[object], object]
"""A function that gives a value as pyarrow takes it for the type of its column, and raises Unfit."""

_BITS: Final = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIMESTAMP: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?)? ?(Z|[+-]\d\d(?::?\d\d)?)?", re.ASCII
)
_OUT_OF_RANGE: Final = "it is out of the type's range"


class Unfit(Exception):  # noqa: N818 - it says what a value is
    """A value does not fit the type of its column. The text is the reason, a sentence without a period."""


def storing(hive_type: t.HiveType) -> Store:
    """The function for the values of a column. NULL is None, and what pandas has for missing values.

    >>> storing(t.Primitive("bigint"))(Decimal("12.0")), storing(t.Varchar(2))("abc")
    (12, 'ab')
    """
    check = _checking(hive_type)

    def store(value: object) -> object:
        value = _plain(value)
        return None if value is None else check(value)

    return store


def _checking(hive_type: t.HiveType) -> Store:
    match hive_type:
        case t.Primitive(name) if name in _BITS:
            return _integers(_BITS[name])
        case t.Primitive(name):
            return _SIMPLE[name]
        case t.Decimal(precision, scale):
            return _decimals(precision, scale)
        case t.Varchar(length):
            return lambda value: _text(value)[:length]
        case t.Char(length):
            return lambda value: _text(value)[:length].ljust(length)
        case t.Array(element):
            return _lists(storing(element))
        case t.Map(key, of):
            return _maps(storing(key), storing(of))
        case t.Struct(fields):
            return _structs({name: storing(of) for name, of in fields})


def _plain(value: object) -> object:
    """The value with Python's own types instead of numpy's, and None for the missing values of pandas."""
    match value:
        case np.bool_() | np.integer() | np.floating():
            return value.item()
        case np.datetime64():
            return _numpy_time(value)
        case np.ndarray():
            return list(value)
        case _:
            kind = type(value)
            is_missing = kind.__name__ in ("NaTType", "NAType") and kind.__module__.startswith("pandas.")
            return None if is_missing else value


def _numpy_time(value: np.datetime64) -> object:
    if np.isnat(value):
        return None
    micros = value.astype("datetime64[us]")
    if micros != value:
        raise Unfit("it has digits beyond microseconds")
    return micros.item()


# ------------------------------------------------------------------------------------------------ numbers


def _integers(bits: int) -> Store:
    low, high = -(1 << bits), (1 << bits) - 1

    def store(value: object) -> object:
        number = _whole(value)
        if not low <= number <= high:
            raise Unfit(_OUT_OF_RANGE)
        return number

    return store


def _whole(value: object) -> int:
    match value:
        case bool():
            raise _of_another_type(value)
        case int():
            return int(value)
        case float() if value.is_integer():
            return int(value)
        case Decimal() if value.is_finite():
            if value.adjusted() > MOST_DIGITS:
                raise Unfit(_OUT_OF_RANGE)
            if value == value.to_integral_value():
                return int(value)
            raise Unfit("it has a fraction")
        case float() | Decimal():
            raise Unfit("it is not a whole number")
        case _:
            raise _of_another_type(value)


def _decimals(precision: int, scale: int) -> Store:
    last = Decimal(1).scaleb(-scale)
    exact = Context(prec=precision, traps=[Inexact, InvalidOperation])

    def store(value: object) -> object:
        number = _decimal(value)
        try:
            return number.quantize(last, context=exact)
        except InvalidOperation:
            raise Unfit(_OUT_OF_RANGE) from None
        except Inexact:
            raise Unfit(f"it has more than {scale} digits after the point") from None

    return store


def _decimal(value: object) -> Decimal:
    match value:
        case bool():
            raise _of_another_type(value)
        case int():
            return Decimal(int(value))
        case float():
            number = Decimal(repr(float(value)))  # the shortest digits that mean the number
        case Decimal():
            number = value
        case _:
            raise _of_another_type(value)
    if not number.is_finite():
        raise Unfit("it is not a number")
    return number


def _double(value: object) -> float:
    match value:
        case bool():
            raise _of_another_type(value)
        case float():
            return float(value)
        case int():
            return _exactly(value, float)
        case Decimal() if not value.is_snan():
            return _in_range(value, float(value))
        case _:
            raise _of_another_type(value)


def _float(value: object) -> float:
    if isinstance(value, int) and not isinstance(value, bool):
        return _exactly(value, _as_single)
    number = _double(value)
    return _in_range(number, _as_single(number))


def _as_single(number: float) -> float:
    """The nearest FLOAT."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _exactly(number: int, convert: Callable[[int], float]) -> float:
    try:
        found = convert(number)
    except OverflowError:
        raise Unfit(_OUT_OF_RANGE) from None
    if abs(found) == float("inf") or int(found) != number:
        raise Unfit("the type has no such number")
    return found


def _in_range(given: float | Decimal, found: float) -> float:
    """The number `found`, if it is infinite only where the given one is."""
    is_infinite = given.is_infinite() if isinstance(given, Decimal) else abs(given) == float("inf")
    if abs(found) == float("inf") and not is_infinite:
        raise Unfit(_OUT_OF_RANGE)
    return found


# ------------------------------------------------------------------------------------------------ text and times


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _of_another_type(value)
    text = str.__str__(value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Unfit("it holds half of a surrogate pair, which is no character") from None
    return text


def _binary(value: object) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise _of_another_type(value)
    return bytes(value)


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise _of_another_type(value)
    return value


def _date(value: object) -> date:
    match value:
        case datetime():
            wall_clock = _timestamp(value)
            if wall_clock.time() != time():
                raise Unfit("it has a time of day")
            return wall_clock.date()
        case date():
            return value
        case str() if _DATE.fullmatch(value):
            return _parsed(date.fromisoformat, value)
        case str():
            raise Unfit("it is not a date as YYYY-MM-DD")
        case _:
            raise _of_another_type(value)


def _timestamp(value: object) -> datetime:
    at = _moment(value)
    if at.tzinfo is not None:
        raise Unfit("it has a time zone, and a TIMESTAMP has none")
    return at


def _instant(value: object) -> datetime:
    at = _moment(value)
    if at.tzinfo is None:
        raise Unfit("it has no time zone, so it is not known which instant it means")
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise Unfit(_OUT_OF_RANGE) from None


def _moment(value: object) -> datetime:
    match value:
        case datetime():
            if getattr(value, "nanosecond", 0):  # pandas.Timestamp
                raise Unfit("it has digits beyond microseconds")
            return value
        case date():
            return datetime.combine(value, time())
        case str():
            return _parsed_moment(value)
        case _:
            raise _of_another_type(value)


def _parsed_moment(text: str) -> datetime:
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        raise Unfit("it is not a time as YYYY-MM-DD HH:MM:SS.ffffff")
    day, at, fraction, zone = found.groups()
    digits = (fraction or "").rstrip("0")
    if len(digits) > 6:
        raise Unfit("it has digits beyond microseconds")
    return _parsed(datetime.fromisoformat, f"{day}T{at or '00:00'}{f'.{digits:0<6}' if digits else ''}{zone or ''}")


def _parsed(parse: Callable[[str], datetime] | Callable[[str], date], text: str) -> datetime:
    try:
        return parse(text)  # type: ignore[return-value]  # a date for _date
    except ValueError:
        raise Unfit("there is no such day or time") from None


# ------------------------------------------------------------------------------------------------ nested types


def _lists(store: Store) -> Store:
    def check(value: object) -> object:
        if not isinstance(value, list | tuple):
            raise _of_another_type(value)
        return [store(item) for item in value]

    return check


def _maps(store_key: Store, store_value: Store) -> Store:
    def check(value: object) -> object:
        pairs = [(store_key(key), store_value(of)) for key, of in _pairs(value)]
        keys = [key for key, _ in pairs]
        if None in keys:
            raise Unfit("a key of it is NULL")
        if any(key in keys[:place] for place, key in enumerate(keys)) if len(keys) < 8 else _repeats(keys):
            raise Unfit("it has a key twice")
        return pairs

    return check


def _repeats(keys: Sequence[object]) -> bool:
    return len(set(map(repr, keys))) < len(keys)


def _pairs(value: object) -> Sequence[tuple[object, object]]:
    match value:
        case Mapping():
            return list(value.items())
        case list() if all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):  # a map of Arrow
            return value
        case _:
            raise _of_another_type(value)


def _structs(fields: Mapping[str, Store]) -> Store:
    def check(value: object) -> object:
        match value:
            case Mapping():
                given = _by_name(value, fields)
            case list() | tuple() if len(value) == len(fields):
                given = dict(zip(fields, value, strict=True))
            case list() | tuple():
                raise Unfit(f"it has {len(value)} values for the fields {', '.join(fields)}")
            case _:
                raise _of_another_type(value)
        return {name: store(given.get(name)) for name, store in fields.items()}

    return check


def _by_name(value: Mapping[object, object], fields: Mapping[str, Store]) -> dict[str, object]:
    given = {str(name).lower(): of for name, of in value.items()}
    if unknown := [name for name in given if name not in fields]:
        raise Unfit(f"the struct has no field {unknown[0]}: its fields are {', '.join(fields)}")
    if len(given) < len(value):
        raise Unfit("it has a field twice")
    return given


def _of_another_type(value: object) -> Unfit:
    return Unfit(f"it is of Python's type {type(value).__name__}")


_SIMPLE: Final[dict[str, Store]] = {
    "float": _float,
    "double": _double,
    "string": _text,
    "boolean": _boolean,
    "binary": _binary,
    "date": _date,
    "timestamp": _timestamp,
    "timestamp with local time zone": _instant,
}
