"""Text as a value of a column: fields of delimited text, values of a PARTITION clause, and DEFAULTs."""

from __future__ import annotations

import base64
import json
import re
from decimal import Decimal
from typing import Final

from acidsql.acid import hive_types as t
from acidsql.acid.partition_values import NUMBER
from acidsql.values.stored_values import Unfit

_INTEGER: Final = re.compile(r"[+-]?\d+", re.ASCII)
_NAMED: Final = {
    "nan": "NaN",
    **dict.fromkeys(("inf", "+inf", "infinity", "+infinity"), "Infinity"),
    **dict.fromkeys(("-inf", "-infinity"), "-Infinity"),
}
_LONGEST_INTEGER: Final = 40


def value_of_text(text: str, hive_type: t.HiveType) -> object:
    """The value that a text means as the type, for acidsql.values.stored_values to check.

    Blanks around a number, a date or a time mean nothing. BINARY is the text in UTF-8, as in a CAST; ARRAY, MAP and
    STRUCT are JSON. Raises Unfit.

    >>> value_of_text(" 12", t.Primitive("int")), value_of_text("1.50", t.Decimal(5, 2))
    (12, Decimal('1.50'))
    """
    match hive_type:
        case t.Primitive("string") | t.Char() | t.Varchar():
            return text
        case t.Primitive("tinyint" | "smallint" | "int" | "bigint"):
            return _integer(text.strip())
        case t.Primitive("float" | "double"):
            return _double(text.strip())
        case t.Decimal():
            return _number(text.strip())
        case t.Primitive("boolean"):
            return _boolean(text.strip().lower())
        case t.Primitive("binary"):
            return text.encode(errors="surrogatepass")
        case t.Array() | t.Map() | t.Struct():
            return _json(text, hive_type)
        case t.Primitive():
            return text.strip()


def value_of_field(text: str, hive_type: t.HiveType) -> object:
    """As `value_of_text`, for a field of delimited text, in which BINARY is base64 as in Hive's JsonSerDe."""
    return _bytes(text) if hive_type == t.Primitive("binary") else value_of_text(text, hive_type)


def json_value(text: str) -> object:
    """The value of a JSON text with exact numbers. Raises ValueError, also where an object has a name twice."""
    return _DECODER.decode(text)


def value_of_json(value: object, hive_type: t.HiveType) -> object:
    """The value that a value of JSON means as the type.

    JSON has no exact numbers in some of its readers, no NaN, no bytes, and no keys but text. So a DECIMAL may be a
    string, the numbers that JSON lacks are "NaN", "Infinity" and "-Infinity", BINARY is base64, and the key of a MAP is
    the text of its value. acidsql's output in JSON is the same. Raises Unfit.
    """
    match hive_type, value:
        case t.Decimal(), str():
            return _number(value)
        case t.Primitive("float" | "double"), str() if value.lower() in _NAMED:
            return float(_NAMED[value.lower()])
        case t.Primitive("binary"), str():
            return _bytes(value)
        case t.Array(element), list() if has_json_form(element):
            return [value_of_json(item, element) for item in value]
        case t.Map(key, of), dict():
            return {value_of_text(str(k), key): value_of_json(item, of) for k, item in value.items()}
        case t.Struct(fields), dict():
            kinds = dict(fields)
            return {n: value_of_json(v, kinds[n.lower()]) if n.lower() in kinds else v for n, v in value.items()}
        case _:
            return value


def has_json_form(hive_type: t.HiveType) -> bool:
    """Whether `value_of_json` changes values of the type."""
    match hive_type:
        case t.Decimal() | t.Map() | t.Struct() | t.Primitive("float" | "double" | "binary"):
            return True
        case t.Array(element):
            return has_json_form(element)
        case _:
            return False


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise Unfit("it is not base64, which is the text of a BINARY") from None


def _without_repetition(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} is there twice")
    return found


def _json_integer(text: str) -> object:
    """An integer, or a Decimal of it where Python takes long for its many digits."""
    return int(text) if len(text) <= _LONGEST_INTEGER else Decimal(text)


_DECODER: Final = json.JSONDecoder(parse_float=Decimal, parse_int=_json_integer, object_pairs_hook=_without_repetition)


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text) or len(text) > _LONGEST_INTEGER:
        raise Unfit("it is not an integer of the type")
    return int(text)


def _double(text: str) -> float | Decimal:
    name = _NAMED.get(text.lower())
    return float(name) if name is not None else _number(text)


def _number(text: str) -> Decimal:
    if not NUMBER.fullmatch(text) or not (number := Decimal(text)).is_finite():
        raise Unfit("it is not a number")
    return number


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise Unfit("it is neither true nor false")
    return text == "true"


def _json(text: str, hive_type: t.HiveType) -> object:
    try:
        return value_of_json(json_value(text), hive_type)
    except (ValueError, RecursionError) as error:
        raise Unfit(f"it is not JSON: {error}") from None
