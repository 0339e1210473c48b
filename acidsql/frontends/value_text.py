"""One value as text and as JSON, as Hive's Beeline shows it."""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import chain
from typing import TypeAlias

from acidsql.errors import visible_json

Row: TypeAlias = Sequence[object]
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def text(value: object) -> str | None:
    """A value as text; None is NULL.

    Timestamps are `2024-02-29 12:34:56.123456` without trailing zeros (Hive 4's Timestamp.toString), day-time
    intervals `1 02:03:04.000000000` (HiveIntervalDayTime.toString), NaN and the infinities as Java writes them,
    binary is base64 and nested values are JSON.
    """
    match value:
        case None | str():
            return value
        case dict() | list() | tuple():
            return json_text(json_value(value))
        case float():
            return _float_text(value)
        case bool():
            return "true" if value else "false"
        case _:
            return _scalar_text(value)


def json_value(value: object) -> Json:
    """A value for JSON. Numbers stay numbers, except that decimals become strings, so that no digit is lost.

    JSON has no NaN and no infinities: they are the strings "NaN", "Infinity", "-Infinity". The keys of a map become
    text, "null" for NULL.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else _float_text(value)
        case dict():
            return {_key(key): json_value(item) for key, item in value.items()}
        case list() | tuple():
            names = getattr(value, "__fields__", None)
            items = [json_value(item) for item in value]
            return items if names is None else dict(zip(unique_names(names), items, strict=True))
        case _:
            return _scalar_text(value)


def _key(value: object) -> str:
    shown = text(value)
    return "null" if shown is None else shown


def _scalar_text(value: object) -> str:
    match value:
        case Decimal():
            return format(value, "f")
        case datetime():
            shown = value.isoformat(sep=" ")
            return shown.rstrip("0") if value.microsecond and value.tzinfo is None else shown
        case date():
            return value.isoformat()
        case timedelta():
            return _interval(value)
        case bytes() | bytearray():
            return base64.b64encode(value).decode("ascii")
        case _:
            return str(value)


def _interval(value: timedelta) -> str:
    sign = "-" if value < timedelta(0) else ""
    size = abs(value)
    minutes, seconds = divmod(size.seconds, 60)
    return f"{sign}{size.days} {minutes // 60:02}:{minutes % 60:02}:{seconds:02}.{size.microseconds * 1000:09}"


def _float_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def json_text(value: Json) -> str:
    return visible_json(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def unique_names(names: Sequence[str]) -> list[str]:
    """Names as unique keys: a repeated name gets a number.

    >>> unique_names(["id", "id", "name"])
    ['id', 'id_2', 'name']
    """
    taken: set[str] = set()
    keys: list[str] = []
    for name in names:
        tries = chain([name], (f"{name}_{number}" for number in range(2, len(names) + 2)))
        key = next(key for key in tries if key not in taken and (key == name or key not in names))
        taken.add(key)
        keys.append(key)
    return keys


# ------------------------------------------------------------------------------------------------ 32-bit floats


def shortest_floats(types: Sequence[str]) -> Callable[[Row], Row]:
    """A function that shortens the FLOATs of a row: PySpark returns 0.1 as the double 0.10000000149011612."""
    places = [place for place, type_ in enumerate(types) if "float" in type_]
    if not places:
        return lambda row: row

    def shorten(row: Row) -> Row:
        cells = list(row)
        for place in places:
            cells[place] = _shortened(cells[place], types[place])
        return cells

    return shorten


def _shortened(value: object, type_: str) -> object:
    """`value` of the Spark type `type_` (simpleString) with every FLOAT in it as the shortest double for it."""
    match value:
        case float() if type_ == "float":
            return _shortest(value)
        case list() if type_.startswith("array<"):
            return [_shortened(item, type_[6:-1]) for item in value]
        case dict() if type_.startswith("map<"):
            _, of_values = _split_types(type_[4:-1])
            return {key: _shortened(item, of_values) for key, item in value.items()}
        case tuple() if type_.startswith("struct<"):
            fields = [field.partition(":") for field in _split_types(type_[7:-1])]
            if len(fields) != len(value):  # a name contains a comma: Spark does not quote names here
                return value
            names = unique_names([name for name, _, _ in fields])
            return {name: _shortened(item, of) for name, item, (_, _, of) in zip(names, value, fields, strict=True)}
        case _:
            return value


def _shortest(value: float) -> float:
    if not math.isfinite(value):
        return value
    packed = struct.pack("f", value)
    tries = (float(f"{value:.{digits}g}") for digits in range(6, 9))
    return next((near for near in tries if _as_single(near) == packed), float(f"{value:.9g}"))


def _as_single(value: float) -> bytes | None:
    try:
        return struct.pack("f", value)
    except OverflowError:  # the largest floats, rounded up
        return None


def _split_types(inner: str) -> list[str]:
    """
    >>> _split_types("a:map<int,float>,b:decimal(3,1)")
    ['a:map<int,float>', 'b:decimal(3,1)']
    """
    parts, depth, start = [], 0, 0
    for place, sign in enumerate(inner):
        depth += (sign in "<(") - (sign in ">)")
        if sign == "," and depth == 0:
            parts.append(inner[start:place])
            start = place + 1
    return [*parts, inner[start:]]
