"""Values of acidsql and of Hive in one form, so that they can be compared.

Decimals without trailing zeros, dates and timestamps as text, binary as hexadecimal digits, NaN and infinities as
text; a struct is an object, a map {"@map": its pairs, sorted}.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal

from pyspark.sql import Row

from acidsql.session import Session
from tests.interop.hive_client import HiveRow, Json


def rows_of_spark(rows: Iterable[Row]) -> list[HiveRow]:
    """Rows that Spark collected, sorted."""
    return in_order([plain(value) for value in row] for row in rows)


def rows_of_acidsql(session: Session, query: str) -> list[HiveRow]:
    """Rows of a query, sorted. Its locks are given back at once: Hive's INSERT OVERWRITE would wait for them."""
    result = session.execute(query)
    try:
        return in_order([plain(value) for value in row] for row in result.rows())
    finally:
        result.close()


def rows_of_hive(rows: Iterable[HiveRow]) -> list[HiveRow]:
    """Rows that Hive answered, sorted."""
    return in_order(row_of_hive(row) for row in rows)


def row_of_hive(row: HiveRow) -> HiveRow:
    """A row that HiveProcess.java or OrcRows.java wrote."""
    return [_with_sorted_maps(value) for value in row]


def in_order(rows: Iterable[HiveRow]) -> list[HiveRow]:
    """The rows, sorted by their text: NULLs and objects have no order of their own."""
    return sorted(rows, key=repr)


def assert_same_rows(found: Sequence[HiveRow], expected: Sequence[HiveRow], what: str) -> None:
    """Fails with the first place at which sorted rows differ, instead of with all rows."""
    for row, (left, right) in enumerate(zip(found, expected, strict=False)):
        for column, (one, other) in enumerate(zip(left, right, strict=True)):
            assert one == other, f"{what}: row {row}, column {column} of {left}, expected {right}"
    assert len(found) == len(expected), what


def plain(value: object) -> Json:
    """A Python value as HiveProcess.java writes Hive's."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else _not_finite(value)
        case Decimal():
            text = format(value, "f")
            return text.rstrip("0").rstrip(".") if "." in text else text
        case datetime():
            return value.strftime(f"{value.year:04d}-%m-%d %H:%M:%S.%f").rstrip("0").removesuffix(".")
        case date():
            return value.isoformat()
        case bytes() | bytearray():
            return value.hex()
        case Row():
            return {name: plain(value[name]) for name in value.__fields__}
        case dict():
            return sorted_map([plain(k), plain(v)] for k, v in value.items())
        case list():
            return [plain(element) for element in value]
        case _:
            raise TypeError(type(value).__name__)


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _with_sorted_maps(value: Json) -> Json:
    match value:
        case {"@map": list(pairs)}:
            return sorted_map(
                [_with_sorted_maps(element) for element in pair] for pair in pairs if isinstance(pair, list)
            )
        case dict():
            return {name: _with_sorted_maps(field) for name, field in value.items()}
        case list():
            return [_with_sorted_maps(element) for element in value]
        case _:
            return value


def sorted_map(pairs: Iterable[HiveRow]) -> Json:
    """A map of its pairs: readers give them in any order."""
    return {"@map": [list(pair) for pair in in_order(pairs)]}
