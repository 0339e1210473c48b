"""MURMUR_HASH (GenericUDFMurmurHash): the hash by which Hive distributes rows to buckets.

Spark's HASH is Murmur3 too, with another seed and another rule for the last `length % 4` bytes. The comments of
acidsql.spark.write.bucket_expression, which computes the same hash for columns of known types, explain the steps.
"""

from __future__ import annotations

from functools import cache, reduce
from typing import Final

from sqlglot import exp

from acidsql.acid.bucketing import MURMUR_SEED
from acidsql.acid.hive_types import HiveType
from acidsql.errors import Condition
from acidsql.planner.expressions.hive_functions.hashes import (
    hash_of_text,
    nested_hash,
    typed_hash,
    typed_hash_of_argument,
)
from acidsql.planner.expressions.hive_functions.template import Rule, argument_type, filled, marked
from acidsql.planner.sql_errors import raise_sql

_SEEDING: Final = 1867871456
"""The INT whose hash in Spark, with seed 42, is MURMUR_SEED."""


def _let(name: str, value: str, body: str) -> str:
    return f"element_at(transform(array({value}), {name} -> {body}), 1)"


def _int(unsigned: int) -> str:
    return f"({(unsigned % 2**32 ^ 2**31) - 2**31})"


def _inverse(factor: int) -> str:
    """The factor that undoes a multiplication of an INT by an odd number."""
    return _int(pow(factor, -1, 2**32))


def _rotated(word: str, bits: int) -> str:
    return f"int(shiftrightunsigned((bigint({word}) & 4294967295) * 4294967297, {32 - bits}))"


def _scrambled(block: str) -> str:
    return f"({_rotated(f'({block}) * {_int(0xCC9E2D51)}', 15)} * {_int(0x1B873593)})"


def _finished(word: str) -> str:
    """The last step of Murmur3: the hash of the INT that leads Spark to this word before that step."""
    before = f"((({word}) ^ 4) - {_int(0xE6546B64)}) * {_inverse(5)}"
    mixed = f"({_rotated(before, 32 - 13)} ^ {MURMUR_SEED})"
    block = f"{_rotated(f'{mixed} * {_inverse(0x1B873593)}', 32 - 15)} * {_inverse(0xCC9E2D51)}"
    return f"hash({_SEEDING}, {block})"


def _unfinished(hashed: str) -> str:
    first = _let("w", hashed, f"(w ^ shiftrightunsigned(w, 16)) * {_inverse(0xC2B2AE35)}")
    second = _let("w", first, f"(w ^ shiftrightunsigned(w, 13) ^ shiftrightunsigned(w, 26)) * {_inverse(0x85EBCA6B)}")
    return _let("w", second, "w ^ shiftrightunsigned(w, 16)")


def _byte(place: int) -> str:
    """The signed byte at a place behind the last whole word; 0 past the end."""
    byte = f"substring(d, octet_length(d) - octet_length(d) % 4 + {place}, 1)"
    return f"((ascii(decode({byte}, 'ISO-8859-1')) ^ 128) - 128)"


def _of_bytes() -> str:
    """Murmur3 of the bytes `d`."""
    whole = f"hash({_SEEDING}, substring(d, 1, octet_length(d) - octet_length(d) % 4))"
    tail = _scrambled(f"{_byte(1)} ^ shiftleft({_byte(2)}, 8) ^ shiftleft({_byte(3)}, 16)")
    return _finished(f"{_unfinished(whole)} ^ {tail} ^ (octet_length(d) % 4)")


def _typed(kind: HiveType, value: str) -> str:
    """SQL for the hash of a value of a known type. The values of a map are hashed as HASH does."""
    return nested_hash(kind, value, _typed, typed_hash) or hash_of_text(_branches(), kind, value) or _sql(value)


@cache
def _sql(a: str = "a") -> str:
    message = raise_sql(Condition.NOT_YET_SUPPORTED, feature=f"concat('MURMUR_HASH of a value of type ', typeof({a}))")
    cases = " ".join(
        f"WHEN typeof({a}) = '{kind}' THEN {_let('t', f'CAST({a} AS STRING)', sql)}"
        for kind, sql in _branches().items()
    )
    return f"CASE WHEN {a} IS NULL THEN 0 {cases} ELSE {message} END"


@cache
def _branches() -> dict[str, str]:
    """SQL for the hash of a value from its text `t`, by the name of its type in Spark."""
    return {
        "boolean": "IF(t = 'true', 1, 0)",
        "tinyint": "int(t)",
        "smallint": _let("d", "CAST(smallint(t) AS BINARY)", _of_bytes()),
        "int": f"hash({_SEEDING}, CAST(int(t) AS BINARY))",
        "bigint": f"hash({_SEEDING}, CAST(bigint(t) AS BINARY))",
        "date": f"hash({_SEEDING}, CAST(unix_date(date(t)) AS BINARY))",
        **dict.fromkeys(("string", "binary"), _let("d", "CAST(t AS BINARY)", _of_bytes())),
    }


def _of(kind: HiveType | None) -> str:
    return _sql() if kind is None else typed_hash_of_argument(kind, _typed)


def _of_all(arguments: list[exp.Expr]) -> exp.Expr:
    hashes = [marked(exp.Paren(this=filled(_of(argument_type(argument)), {"a": argument}))) for argument in arguments]
    return reduce(lambda seen, one: filled("s * 31 + h", {"s": seen, "h": one}), hashes)


VARIADIC: Final[dict[str, Rule]] = {"murmur_hash": _of_all}
