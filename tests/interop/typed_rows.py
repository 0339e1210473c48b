"""Random rows with a column of every type, NULLs at every depth, and nested columns between flat ones."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final, TypeAlias

Scalar: TypeAlias = bool | int | float | Decimal | str | bytes | date | datetime | None
Value: TypeAlias = "Scalar | list[Value] | dict[Value, Value] | tuple[Value, ...]"

COLUMNS: Final = {
    "k": "int",
    "nest": "struct<l:array<struct<k:string,v:array<int>>>,m:map<string,array<double>>>",
    "ti": "tinyint",
    "si": "smallint",
    "a": "array<int>",
    "bi": "bigint",
    "f": "float",
    "d": "double",
    "m": "map<string,int>",
    "dec1": "decimal(10,2)",
    "dec2": "decimal(38,18)",
    "s": "string",
    "st": "struct<x:int,y:struct<z:string,w:decimal(5,1)>>",
    "vc": "varchar(10)",
    "c": "char(5)",
    "b": "boolean",
    "bin": "binary",
    "dt": "date",
    "ts": "timestamp",
    "ast": "array<struct<d:date,t:timestamp,b:boolean>>",
    "mm": "map<int,map<string,bigint>>",
    "last": "int",
}
"""Hive's type of each column, in order."""

DDL: Final = ", ".join(f"{name} {hive_type}" for name, hive_type in COLUMNS.items())
SPARK_SCHEMA: Final = (
    DDL.replace("timestamp", "timestamp_ntz").replace("varchar(10)", "string").replace("char(5)", "string")
)

_WORDS: Final = ("", "a", "żółw", "it's", 'q"', "back\\slash", "tab\tin", "x" * 40, "\U0001f40d", " lead")


def random_rows(seed: int, count: int) -> list[tuple[Value, ...]]:
    """`count` rows by COLUMNS; `k` counts from 0, `last` is -k, every other value is NULL now and then."""
    r = random.Random(seed)
    return [(k, *(_maybe(r, _value(r, name)) for name in list(COLUMNS)[1:-1]), -k) for k in range(count)]


def _maybe(r: random.Random, value: Value) -> Value:
    return None if r.random() < 0.25 else value


def _value(r: random.Random, column: str) -> Value:
    match column:
        case "ti":
            return r.randint(-128, 127)
        case "si":
            return r.randint(-32768, 32767)
        case "bi":
            return r.choice([r.randint(-9, 9), -(2**63), 2**63 - 1, r.randint(-(2**63), 2**63 - 1)])
        case "f":
            return r.choice([1.5, -0.25, float("nan"), float("inf"), 3.0e38, r.randint(-999, 999) / 8])
        case "d":
            return r.choice([r.uniform(-1e9, 1e9), float("nan"), float("-inf"), 1.7976931348623157e308, 5e-324])
        case "dec1":
            return _decimal(r, 10, 2)
        case "dec2":
            return _decimal(r, 38, 18)
        case "s":
            return r.choice(_WORDS)
        case "vc":
            return r.choice(_WORDS)[:10]
        case "c":
            return r.choice(["abcde", "ab   ", "     ", "żó   "])
        case "b":
            return r.random() < 0.5
        case "bin":
            return r.randbytes(r.randint(0, 6))
        case "dt":
            return _date(r)
        case "ts":
            return _timestamp(r)
        case _:
            return _nested(r, column)


def _nested(r: random.Random, column: str) -> Value:
    match column:
        case "a":
            # Hive's results, as text between tasks, cannot tell an array of one NULL from NULL.
            return [_maybe(r, r.randint(-5, 5)) for _ in range(r.randint(2, 4))]
        case "m":
            return {f"k{i}": _maybe(r, r.randint(0, 99)) for i in range(r.randint(1, 3))}
        case "st":
            inner = _maybe(r, (_maybe(r, r.choice(_WORDS[1:])), _maybe(r, _decimal(r, 5, 1))))
            return (r.randint(0, 9), inner)
        case "nest":
            elements: list[Value] = [
                (f"e{i}", _maybe(r, [r.randint(0, 9) for _ in range(r.randint(1, 3))])) for i in range(r.randint(1, 3))
            ]
            return (_maybe(r, elements), {"p": [_maybe(r, 0.5), 1.0]})
        case "ast":
            return [(_date(r), _maybe(r, _timestamp(r)), _maybe(r, True)) for _ in range(r.randint(1, 2))]
        case "mm":
            return {i: _maybe(r, {"x": r.randint(0, 2**40), "y": None}) for i in range(r.randint(1, 3))}
        case _:
            raise KeyError(column)


def _decimal(r: random.Random, precision: int, scale: int) -> Decimal:
    digits = r.randint(1, precision)
    return Decimal(f"{r.randint(-(10**digits) + 1, 10**digits - 1)}e-{scale}")


def _date(r: random.Random) -> date:
    return date(1583, 1, 1) + timedelta(days=r.randint(0, 3_000_000))


def _timestamp(r: random.Random) -> datetime:
    return datetime(1900, 1, 1) + timedelta(seconds=r.randint(0, 10**10), microseconds=r.choice([0, 500000, 123456, 1]))
