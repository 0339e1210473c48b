"""Text as a value of a column: fields of delimited text, values of a PARTITION clause, and DEFAULTs."""

from __future__ import annotations

import base64
import binascii
import json
import re
from decimal import Decimal
from typing import Final

from acidsql.acid import hive_types as t
from acidsql.acid.partition_values import NUMBER
from acidsql.ingest.stored_values import Unfit

_INTEGER: Final = re.compile(r"[+-]?\d+", re.ASCII)
_NAMED: Final = {
    "nan": "NaN",
    **dict.fromkeys(("inf", "+inf", "infinity", "+infinity"), "Infinity"),
    **dict.fromkeys(("-inf", "-infinity"), "-Infinity"),
}
_LONGEST_INTEGER: Final = 40


def value_of_text(text: str, hive_type: t.HiveType) -> object:
    """The value that a text means as the type, for acidsql.ingest.stored_values to check.

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
            return _json(text)
        case t.Primitive():
            return text.strip()


def binary_of_text(text: str) -> bytes:
    """The bytes that base64 means. Raises Unfit."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Unfit("it is not base64, which is the text of a BINARY") from None


def json_value(text: str) -> object:
    """The value of a JSON text, with exact numbers. Raises ValueError."""
    return json.loads(text, parse_float=Decimal, parse_int=_json_integer)


def _json_integer(text: str) -> object:
    """An integer, or a Decimal of it where it has more digits than Python parses in little time."""
    return int(text) if len(text) <= _LONGEST_INTEGER else Decimal(text)


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


def _json(text: str) -> object:
    try:
        return json_value(text)
    except ValueError as error:
        raise Unfit(f"it is not JSON: {error}") from None
