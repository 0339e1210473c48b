"""Functions of arrays, maps and structs (GenericUDFArrayContains, GenericUDFArraySlice, GenericUDFSortArrayByField)."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from acidsql.planner.expressions.hive_functions.template import Rule, call, filled, template, text_of

_ORDERS: Final = ("ASC", "DESC")


def _struct(arguments: list[exp.Expr]) -> exp.Expr:
    """The fields of STRUCT are col1, col2 and so on; Spark names them after columns. STRUCT(a AS name) is Spark's."""
    if any(isinstance(argument, exp.Alias) for argument in arguments):
        return call("struct", *arguments)
    named = [
        part for place, value in enumerate(arguments, start=1) for part in (exp.Literal.string(f"col{place}"), value)
    ]
    return call("named_struct", *named)


def _sort_by(arguments: list[exp.Expr]) -> exp.Expr:
    """SORT_ARRAY_BY(structs, 'field', .., 'ASC' or 'DESC'): a stable sort; NULL comes before all values."""
    array, *names = arguments
    fields = [text_of(name) for name in names]
    order = (fields[-1] or "").strip().upper() if len(fields) > 1 else ""
    if order in _ORDERS:
        del fields[-1]
    if not all(field is not None and field.replace("_", "a").isalnum() for field in fields):
        return call("sort_array_by", *arguments)
    whens = " ".join(_compared(f"x.`{field}`", f"y.`{field}`", order == "DESC") for field in fields)
    return filled(f"array_sort(a, (x, y) -> CASE {whens} ELSE 0 END)", {"a": array})


def _compared(one: str, other: str, descending: bool) -> str:
    less, more = (1, -1) if descending else (-1, 1)
    return (
        f"WHEN {one} IS NULL AND {other} IS NOT NULL THEN {less} WHEN {one} IS NOT NULL AND {other} IS NULL THEN {more}"
        f" WHEN {one} < {other} THEN {less} WHEN {one} > {other} THEN {more}"
    )


def repeats_key(arguments: list[exp.Expr]) -> bool:
    """Whether the arguments of MAP hold a literal key twice. Spark refuses other keys that occur twice."""
    keys = arguments[::2]
    literals = all(isinstance(key, exp.Literal) for key in keys)
    return len(arguments) % 2 == 0 and literals and len({_key(key) for key in keys}) < len(keys)


def _key(literal: exp.Expr) -> tuple[bool, str]:
    return literal.is_string, literal.name


def _map(arguments: list[exp.Expr]) -> exp.Expr:
    """The last value of a key counts."""
    last = {_key(key): (key, value) for key, value in zip(arguments[::2], arguments[1::2], strict=True)}
    return call("map", *(part for pair in last.values() for part in pair))


# Java's split drops empty pieces at the end, unless it finds no delimiter at all.
_PIECES: Final = "filter(s, (x, i) -> size(s) = 1 OR exists(slice(s, i + 1, size(s)), y -> y <> ''))"
_ENTRIES: Final = f"transform({_PIECES}, x -> named_struct('k', split(x, d, 2)[0], 'v', split(x, d, 2)[1]))"
# The last value of a key counts.
_LAST: Final = "map_from_entries(filter(e, (x, i) -> NOT exists(slice(e, i + 2, size(e)), y -> y.k = x.k)))"
_STR_TO_MAP: Final = (
    f"element_at(transform(array(split(a, p)), s -> element_at(transform(array({_ENTRIES}), e -> {_LAST}), 1)), 1)"
)


def _str_to_map(arguments: list[exp.Expr]) -> exp.Expr:
    text, *delimiters = arguments
    given = [*delimiters, *(exp.Literal.string(default) for default in (",", ":")[len(delimiters) :])]
    return filled(_STR_TO_MAP, {"a": text, "p": given[0], "d": given[1]})


RULES: Final[dict[tuple[str, int], Rule]] = {
    ("index", 2): template("a i", "a[i]"),
    ("array_contains", 2): template("a v", "coalesce(array_contains(a, v), FALSE)"),
    ("array_slice", 3): template(
        "a s n",
        "CASE WHEN a IS NOT NULL THEN IF(s + n > size(a), slice(a, 1, 0), slice(a, IF(s < 0, 0, s + 1), n)) END",
    ),
}
VARIADIC: Final[dict[str, Rule]] = {
    "map": _map,
    "str_to_map": _str_to_map,
    "struct": _struct,
    "sort_array_by": _sort_by,
}
