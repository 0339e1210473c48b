"""The types that Hive's functions return, as far as rules about types need them (Hive 4.0.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from acidsql.acid.hive_types import MOST_DIGITS, Array, Decimal, HiveType, Map, Primitive
from acidsql.values.common_types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    common_type,
    is_approximate,
    is_integer,
    is_number,
    is_text,
)

Kinds: TypeAlias = Sequence[HiveType | None]

_STRINGS: Final = (
    "concat concat_ws lower upper lcase ucase initcap trim ltrim rtrim btrim lpad rpad substr substring mid left right"
    " repeat reverse replace translate regexp_extract regexp_replace split_part substring_index format_number printf"
    " format_string date_format from_unixtime get_json_object parse_url hex base64 md5 sha sha1 sha2 space soundex"
    " elt current_database current_user version bin conv chr quote dayname monthname decode url_encode url_decode"
)
_INTS: Final = (
    "length char_length character_length octet_length instr locate position ascii year quarter month day dayofmonth"
    " dayofweek weekofyear hour minute second datediff size find_in_set levenshtein field row_number rank"
    " dense_rank ntile hash murmur_hash bit_length"
)
_DOUBLES: Final = (
    "sqrt exp ln log log2 log10 sin cos tan asin acos atan atan2 sinh cosh tanh pow power cbrt degrees radians pi e"
    " rand months_between cume_dist percent_rank stddev std stddev_pop stddev_samp variance var_pop var_samp corr"
    " covar_pop covar_samp percentile_approx"
)
_BOOLEANS: Final = (
    "isnull isnotnull isnan array_contains rlike regexp regexp_like between isfalse istrue"
    " isnottrue isnotfalse xpath_boolean startswith endswith contains any every some bool_and bool_or"
)
_CONSTANT: Final[dict[str, HiveType]] = {
    **dict.fromkeys(_STRINGS.split(), STRING),
    **dict.fromkeys(_INTS.split(), INT),
    **dict.fromkeys(_DOUBLES.split(), DOUBLE),
    **dict.fromkeys(_BOOLEANS.split(), BOOLEAN),
    **dict.fromkeys(["count", "unix_timestamp", "to_unix_timestamp", "factorial", "crc32"], BIGINT),
    **dict.fromkeys(["to_date", "current_date", "date", "date_add", "date_sub"], DATE),
    **dict.fromkeys(["current_timestamp", "now", "from_utc_timestamp", "to_utc_timestamp", "timestamp"], TIMESTAMP),
    **dict.fromkeys(["unhex", "unbase64", "binary", "encode"], BINARY),
    **dict.fromkeys(["split"], Array(STRING)),
}
_OF_THE_FIRST: Final = (
    "min max first_value last_value first last any_value lag lead positive negative sort_array array_distinct"
)
_OF_ALL: Final = "coalesce nvl"
_CASTS: Final[dict[str, HiveType]] = {
    **{name: Primitive(name) for name in ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean")},
    "string": STRING,
}


def function_type(name: str, kinds: Kinds) -> HiveType | None:
    """The type of a call with arguments of these types; None if it is not known."""
    if name in _CONSTANT:
        return _CONSTANT[name]
    if name in _CASTS:
        return _CASTS[name]
    rule = _RULES.get(name)
    return rule(kinds) if rule is not None and kinds else None


def _first(kinds: Kinds) -> HiveType | None:
    return kinds[0]


def _common(kinds: Kinds) -> HiveType | None:
    return common_type(kinds)


def _extreme(kinds: Kinds) -> HiveType | None:
    """greatest and least compare text with numbers as DOUBLE, and text with dates and times as such."""
    if not any(map(is_text, kinds)):
        return common_type(kinds)
    others = [kind for kind in kinds if not is_text(kind)]
    return DOUBLE if any(map(is_number, others)) else common_type(others) if others else STRING


def _if(kinds: Kinds) -> HiveType | None:
    return common_type(kinds[1:])


def _sum(kinds: Kinds) -> HiveType | None:
    match kinds[0]:
        case Decimal(precision, scale):
            return Decimal(min(precision + 10, MOST_DIGITS), scale)
        case kind if is_integer(kind):
            return BIGINT
        case kind if is_approximate(kind) or is_text(kind):
            return DOUBLE
        case _:
            return None


def _avg(kinds: Kinds) -> HiveType | None:
    match kinds[0]:
        case Decimal(precision, scale):
            return Decimal(min(precision + 4, MOST_DIGITS), min(scale + 4, MOST_DIGITS))
        case kind if is_number(kind) or is_text(kind):
            return DOUBLE
        case _:
            return None


def _abs(kinds: Kinds) -> HiveType | None:
    match kinds[0]:
        case Primitive("tinyint" | "smallint" | "int"):
            return INT
        case Primitive("bigint") | Decimal():
            return kinds[0]
        case kind if is_approximate(kind) or is_text(kind):
            return DOUBLE
        case _:
            return None


def _rounded(kinds: Kinds) -> HiveType | None:
    """round() keeps FLOAT; of a DECIMAL the result depends on the number of digits."""
    kind = kinds[0]
    return kind if is_approximate(kind) or is_integer(kind) else None


def _array(kinds: Kinds) -> HiveType | None:
    element = common_type(kinds)
    return Array(element) if element is not None else None


def _map(kinds: Kinds) -> HiveType | None:
    key, value = common_type(kinds[::2]), common_type(kinds[1::2])
    return Map(key, value) if key is not None and value is not None and len(kinds) % 2 == 0 else None


def _element(kinds: Kinds) -> HiveType | None:
    match kinds[0]:
        case Array(element):
            return element
        case Map(_, value):
            return value
        case _:
            return None


_RULES: Final[dict[str, Callable[[Kinds], HiveType | None]]] = {
    **dict.fromkeys(
        ["min", "max", "first_value", "last_value", "first", "last", "any_value", "lag", "lead", "nvl2_value"], _first
    ),
    **dict.fromkeys(["positive", "negative", "sort_array", "array_distinct"], _first),
    **dict.fromkeys(["mask", "mask_hash", "mask_first_n", "mask_last_n"], _first),
    **dict.fromkeys(["mask_show_first_n", "mask_show_last_n"], _first),
    **dict.fromkeys(["coalesce", "nvl", "greatest", "least"], _common),
    "nullif": _first,
    "greatest": _extreme,
    "least": _extreme,
    "if": _if,
    "sum": _sum,
    "avg": _avg,
    "mean": _avg,
    "abs": _abs,
    "round": _rounded,
    "bround": _rounded,
    "array": _array,
    "map": _map,
    "collect_list": _array,
    "collect_set": _array,
    "element_at": _element,
    "array_max": _element,
    "array_min": _element,
}
