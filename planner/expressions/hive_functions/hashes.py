"""HASH (ObjectInspectorUtils.getBucketHashCodeOld): Java's hash codes, combined with the factor 31.

The type of an argument decides the rule. Spark folds typeof to a constant, so one branch of the CASE remains. All
branches take the argument's text, because Spark checks the types of every branch. The hash of an ARRAY, MAP or STRUCT
needs the hashes of its parts: the rule looks into ARRAY(..), MAP(..) and STRUCT(..), and takes the types of the parts
of other values from the note that `typed_rules` leaves at an argument. It refuses values without that note.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, reduce
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import Array, Char, HiveType, Map, Struct, Varchar
from acidsql.errors import Condition
from acidsql.planner.expressions.hive_functions.template import Rule, argument_type, filled, marked
from acidsql.planner.sql_errors import raise_sql

CUT: Final = "acidsql_cut"
"""Key in the `meta` of a node that a CAST to CHAR or VARCHAR became."""
_BYTE: Final = "((ascii(c) ^ 128) - 128)"


def _let(name: str, value: str, body: str) -> str:
    """SQL that computes `value` once, as the variable `name` of `body`."""
    return f"element_at(transform(array({value}), {name} -> {body}), 1)"


def _folded(number: str) -> str:
    """Long.hashCode of a BIGINT variable."""
    return f"int({number} ^ shiftrightunsigned({number}, 32))"


def _of_bytes(start: int) -> str:
    characters = "split(decode(CAST(t AS BINARY), 'ISO-8859-1'), '')"
    whole = f"aggregate({characters}, {start}, (h, c) -> h * 31 + {_BYTE})"
    return f"IF(t = '', {start}, {whole})"


def _double_bits(value: str) -> str:
    """Double.doubleToLongBits, from `xxhash64` with all its steps undone. `xxhash64` takes -0.0 for 0.0."""
    first = _let("h", f"xxhash64({value})", f"(h ^ shiftrightunsigned(h, 32)) * {_inverse(_XX3)}")
    second = _let("h", first, f"(h ^ shiftrightunsigned(h, 29) ^ shiftrightunsigned(h, 58)) * {_inverse(_XX2)}")
    third = _let("h", second, f"((h ^ shiftrightunsigned(h, 33)) - {_long(_XX4)}) * {_inverse(_XX1)}")
    fourth = _let("h", third, f"({_rotated('h', 37)} ^ {_long(42 + _XX5 + 8)}) * {_inverse(_XX1)}")
    bits = _let("h", fourth, f"{_rotated('h', 33)} * {_inverse(_XX2)}")
    return f"IF({value} = 0 AND left(string({value}), 1) = '-', {_long(2**63)}, {bits})"


_XX1: Final = 0x9E3779B185EBCA87
_XX2: Final = 0xC2B2AE3D27D4EB4F
_XX3: Final = 0x165667B19E3779F9
_XX4: Final = 0x85EBCA77C2B2AE63
_XX5: Final = 0x27D4EB2F165667C5


def _rotated(word: str, bits: int) -> str:
    return f"(shiftleft({word}, {bits}) | shiftrightunsigned({word}, {64 - bits}))"


def _long(unsigned: int) -> str:
    return f"bigint('{(unsigned % 2**64 ^ 2**63) - 2**63}')"


def _inverse(factor: int) -> str:
    """The factor that undoes a multiplication of a BIGINT by an odd number."""
    return _long(pow(factor, -1, 2**64))


def _float_bits() -> str:
    """Float.floatToIntBits from the bits of the same number as a DOUBLE: a shorter exponent and fewer digits."""
    exponent = "int(shiftrightunsigned(b, 52) & 2047)"
    digits = "b & 4503599627370495"
    small = f"int(shiftrightunsigned(({digits}) | 4503599627370496, 926 - {exponent}))"
    whole = f"shiftleft({exponent} - 896, 23) | int(shiftrightunsigned({digits}, 29))"
    endless = f"2139095040 | int(shiftrightunsigned({digits}, 29))"
    magnitude = (
        f"CASE WHEN {exponent} = 0 THEN 0 WHEN {exponent} = 2047 THEN {endless} WHEN {exponent} <= 896 THEN {small}"
        f" ELSE {whole} END"
    )
    return _let("b", _double_bits("double(float(t))"), f"({magnitude}) | shiftleft(int(shiftrightunsigned(b, 63)), 31)")


def _of_decimal() -> str:
    """BigDecimal.hashCode without zeros at the end of the fraction."""
    small = "translate(format_number(CAST(t AS DECIMAL(38, 37)), 37), ',', '')"
    plain = f"IF(t LIKE '%E%', {small}, t)"
    trimmed = _let("d", plain, "IF(d LIKE '%.%', rtrim('.', rtrim('0', d)), d)")
    scale = "length(substring_index(concat(d, '.'), '.', 2)) - length(substring_index(d, '.', 1)) - 1"
    scale = f"greatest({scale}, 0)"
    sign = "IF(d LIKE '-%', -31, 31)"
    power = f"CAST('{2**64}' AS DECIMAL(20, 0))"
    words = _let(
        "m",
        "CAST(translate(d, '-.', '') AS DECIMAL(38, 0))",
        _let(
            "w",
            f"named_struct('hi', bigint((m - m % {power}) / {power}), 'lo', bigint(m % {power}))",
            "((int(shiftright(w.hi, 32)) * 31 + int(w.hi)) * 31 + int(shiftright(w.lo, 32))) * 31 + int(w.lo)",
        ),
    )
    return _let("d", trimmed, f"{words} * {sign} + {scale}")


def _of_timestamp() -> str:
    """The seconds, shifted by 30 bits, with the nanoseconds in the lower bits (TimestampWritableV2.hashCode)."""
    seconds = "((bigint(unix_date(date(x))) * 24 + hour(x)) * 60 + minute(x)) * 60 + second(x)"
    nanos = "bigint(rpad(substr(date_format(x, 'SSSSSS'), 1, 6), 6, '0')) * 1000"
    return _let("x", "CAST(t AS TIMESTAMP_NTZ)", _let("l", f"shiftleft({seconds}, 30) | {nanos}", _folded("l")))


TypedHash = Callable[[HiveType, str], str]


def typed_hash(kind: HiveType, value: str) -> str:
    """SQL for the hash of a value of a known type. `value` is SQL that can be repeated, such as a variable."""
    nested = nested_hash(kind, value, typed_hash, typed_hash)
    trimmed = f"rtrim({value})" if isinstance(kind, Char) else value  # a CHAR inside another value is padded
    return (
        nested or hash_of_text(_branches(is_cut=isinstance(kind, Char | Varchar)), kind, trimmed) or _sql(False, value)
    )


def hash_of_text(branches: Mapping[str, str], kind: HiveType, value: str) -> str | None:
    """SQL for the hash of a value of a primitive type, with the branch for it; None if there is none."""
    name = "string" if isinstance(kind, Char | Varchar) else str(kind).partition("(")[0]
    branch = branches.get("timestamp_ntz" if name == "timestamp" else name)
    return None if branch is None else f"IF({value} IS NULL, 0, {_of_text(branch, value)})"


def typed_hash_of_argument(kind: HiveType, hash_of: TypedHash = typed_hash) -> str:
    """SQL for the hash of the argument `a`, which is computed once."""
    return _let("v", "a", hash_of(kind, "v")) if isinstance(kind, Array | Map | Struct) else hash_of(kind, "a")


def nested_hash(kind: HiveType, value: str, hash_of: TypedHash, of_map_value: TypedHash) -> str | None:
    """SQL for the hash of an ARRAY, MAP or STRUCT from the hashes of its parts; None for another type."""
    depth = value.count(".") + value.count("_")
    seen, part = f"seen_{depth}", f"{value.split('.')[0]}_{depth}"
    match kind:
        case Array(element):
            total = f"aggregate({value}, 0, ({seen}, {part}) -> {seen} * 31 + {hash_of(element, part)})"
        case Map(key, of):
            pair = f"({hash_of(key, f'{part}.key')} ^ {of_map_value(of, f'{part}.value')})"
            total = f"aggregate(map_entries({value}), 0, ({seen}, {part}) -> {seen} + {pair})"
        case Struct(fields):
            hashes = [hash_of(of, f"{value}.`{name}`") for name, of in fields]
            total = f"IF({value} IS NULL, 0, {reduce(lambda whole, one: f'({whole}) * 31 + {one}', hashes)})"
        case _:
            return None
    return f"coalesce({total}, 0)"


@cache
def _sql(is_cut: bool, a: str = "a") -> str:
    message = raise_sql(Condition.NOT_YET_SUPPORTED, feature=f"concat('HASH of a column of type ', typeof({a}))")
    cases = " ".join(
        f"WHEN typeof({a}) LIKE '{kind}%' THEN {_of_text(sql, a)}"
        if kind == "decimal"
        else f"WHEN typeof({a}) = '{kind}' THEN {_of_text(sql, a)}"
        for kind, sql in _branches(is_cut=is_cut).items()
    )
    return f"CASE WHEN {a} IS NULL THEN 0 {cases} ELSE {message} END"


@cache
def _branches(*, is_cut: bool) -> dict[str, str]:
    """SQL for the hash of a value from its text `t`, by the name of its type in Spark."""
    return {
        "boolean": "IF(t = 'true', 1, 0)",
        **dict.fromkeys(("tinyint", "smallint", "int"), "int(t)"),
        "bigint": _let("l", "bigint(t)", _folded("l")),
        "string": _of_bytes(1 if is_cut else 0),
        "binary": _of_bytes(1),
        "date": "unix_date(date(t))",
        "timestamp_ntz": _of_timestamp(),
        "double": _let("l", _double_bits("double(t)"), _folded("l")),
        "float": _float_bits(),
        "decimal": _of_decimal(),
    }


def _of_text(sql: str, a: str) -> str:
    return _let("t", f"CAST({a} AS STRING)", sql)


def _hash(value: exp.Expr) -> exp.Expr:
    """The hash of one argument."""
    kind = argument_type(value)
    if kind is not None:
        return marked(exp.Paren(this=filled(typed_hash_of_argument(kind), {"a": value})))
    name = value.name.lower() if isinstance(value, exp.Anonymous) else ""
    parts = value.expressions
    match name:
        case "struct":
            return _combined([_hash(part) for part in parts])
        case "named_struct":
            return _combined([_hash(part) for part in parts[1::2]])
        case "array":
            return _combined([_hash(part) for part in parts])
        case "map":
            pairs = zip(parts[::2], parts[1::2], strict=True)
            hashes = [filled("(a ^ b)", {"a": _hash(key), "b": _hash(value)}) for key, value in pairs]
            return reduce(lambda seen, one: filled("s + h", {"s": seen, "h": one}), hashes)
        case _:
            return marked(exp.Paren(this=filled(_sql(bool(value.meta.get(CUT))), {"a": value})))


def _combined(hashes: list[exp.Expr]) -> exp.Expr:
    return reduce(lambda seen, one: filled("s * 31 + h", {"s": seen, "h": one}), hashes)


def _of_all(arguments: list[exp.Expr]) -> exp.Expr:
    return marked(_combined([_hash(argument) for argument in arguments]))


VARIADIC: Final[dict[str, Rule]] = {"hash": _of_all}
RULES: Final[dict[tuple[str, int], Rule]] = {("hash", 0): lambda _: exp.Literal.number(0)}
