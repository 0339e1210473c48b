"""Windows and ordered sets: the forms that only Hive has."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from acidsql.planner.expressions.hive_functions.template import call, filled, marked

_ORDERED: Final = ("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead")
"""The functions for which Spark requires an ORDER BY. Without one, Hive takes all rows of a partition as peers."""
_HYPOTHETICAL: Final = ("rank", "dense_rank", "percent_rank", "cume_dist")
_EXTREMES: Final = ("min", "max", "collect_set")
"""The functions for which DISTINCT makes no difference."""


def is_window(node: exp.Window) -> bool:
    return _lacks_order(node) or _distinct(node) is not None


def _lacks_order(node: exp.Window) -> bool:
    function = node.this.this if isinstance(node.this, exp.IgnoreNulls | exp.RespectNulls) else node.this
    plain = not any(node.args.get(key) for key in ("order", "alias", "first"))
    return plain and isinstance(function, exp.Anonymous) and function.name.lower() in _ORDERED


def _distinct(node: exp.Window) -> exp.Distinct | None:
    """The DISTINCT arguments of a function that can be computed from the set of its values."""
    function = node.this
    if not isinstance(function, exp.Anonymous) or len(function.expressions) != 1:
        return None
    argument = function.expressions[0]
    known = function.name.lower() in ("count", *_EXTREMES)
    return argument if known and isinstance(argument, exp.Distinct) else None


def window(node: exp.Window) -> exp.Expr:
    new = node.copy()
    distinct = _distinct(new)
    if distinct is None:
        order = exp.Order(expressions=[exp.Ordered(this=exp.null(), nulls_first=True)])
        new.set("order", order)
        return new
    name, values = new.this.name.lower(), distinct.expressions
    if name in _EXTREMES:
        new.set("this", call(name, values[0].copy()))
        return new
    new.set("this", call("collect_set", _if_all(values)))
    return marked(call("bigint", call("size", new)))


def _if_all(values: list[exp.Expr]) -> exp.Expr:
    """The value, or the struct of several values; NULL if one of them is. COUNT(DISTINCT a, b) leaves those out."""
    if len(values) == 1:
        return values[0].copy()
    missing = exp.or_(*(exp.Is(this=value.copy(), expression=exp.null()) for value in values))
    return exp.case().when(missing, exp.null()).else_(call("struct", *(value.copy() for value in values)))


def is_hypothetical(node: exp.WithinGroup) -> bool:
    function = node.this
    return isinstance(function, exp.Anonymous) and function.name.lower() in _HYPOTHETICAL


def hypothetical(node: exp.WithinGroup) -> exp.Expr:
    """RANK(value) WITHIN GROUP (ORDER BY key): the rank that a row with this value would have in the group."""
    keys = node.expression.expressions
    values = {f"v{place}": value.copy() for place, value in enumerate(node.this.expressions)}
    keyed = {f"k{place}": key.this.copy() for place, key in enumerate(keys)}
    before = _before(keys, 0)
    equal = " AND ".join(f"k{place} <=> v{place}" for place in range(len(keys)))
    fields = ", ".join(keyed)
    sql = {
        "rank": f"count_if({before}) + 1",
        "dense_rank": f"count(DISTINCT IF({before}, struct({fields}), NULL)) + 1",
        "percent_rank": f"IF(count(*) = 0, 0D, count_if({before}) / count(*))",
        "cume_dist": f"(count_if({before} OR ({equal})) + 1) / (count(*) + 1)",
    }[node.this.name.lower()]
    return filled(sql, {**values, **keyed})


def _before(keys: list[exp.Expr], place: int) -> str:
    """SQL for whether a row's keys come before the values. NULL is the last key, or the first one of DESC."""
    key, value = f"k{place}", f"v{place}"
    descending = keys[place].args.get("desc")
    first = f"({key} > {value} OR {key} IS NULL)" if descending else f"{key} < {value}"
    if place + 1 == len(keys):
        return first
    return f"({first} OR ({key} <=> {value} AND {_before(keys, place + 1)}))"
