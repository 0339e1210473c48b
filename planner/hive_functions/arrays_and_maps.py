"""Functions of arrays, maps and structs (GenericUDFArrayContains, GenericUDFArraySlice, GenericUDFSortArrayByField)."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from acidsql.planner.hive_functions.template import Rule, call, filled, template, text_of

_ORDERS: Final = ("ASC", "DESC")


def _struct(arguments: list[exp.Expr]) -> exp.Expr:
    """The fields of STRUCT are col1, col2 and so on; Spark names them after columns."""
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


RULES: Final[dict[tuple[str, int], Rule]] = {
    ("array_contains", 2): template("a v", "coalesce(array_contains(a, v), FALSE)"),
    ("array_slice", 3): template(
        "a s n",
        "CASE WHEN a IS NOT NULL THEN IF(s + n > size(a), slice(a, 1, 0), slice(a, IF(s < 0, 0, s + 1), n)) END",
    ),
}
VARIADIC: Final[dict[str, Rule]] = {"struct": _struct, "sort_array_by": _sort_by}
