"""Functions that return rows."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from acidsql.planner.expressions.hive_functions.template import Rule, call, text_of

_KEY: Final = "QUERY:"


def is_values(node: exp.Table) -> bool:
    """Whether an item is TABLE(VALUES ..), which Spark writes without TABLE."""
    call = node.this
    if not isinstance(call, exp.Anonymous) or call.name.upper() != "TABLE" or len(call.expressions) != 1:
        return False
    return isinstance(call.expressions[0], exp.Values)


def values(node: exp.Table) -> exp.Expr:
    rows = node.this.expressions[0].copy()
    for key in ("alias", "joins", "laterals"):
        if node.args.get(key):
            rows.set(key, node.args[key])
    assert isinstance(rows, exp.Values)
    return rows


def _parse_url_tuple(arguments: list[exp.Expr]) -> exp.Expr:
    """One row with several parts of a URL; QUERY:key is a value of its query."""
    url, *parts = arguments
    return call("stack", exp.Literal.number(1), *(_part(url, part) for part in parts))


def _part(url: exp.Expr, part: exp.Expr) -> exp.Expr:
    name = text_of(part) or ""
    if name.startswith(_KEY):
        key = exp.Literal.string(name.removeprefix(_KEY))
        return call("parse_url", url.copy(), exp.Literal.string("QUERY"), key)
    return call("parse_url", url.copy(), part)


VARIADIC: Final[dict[str, Rule]] = {"parse_url_tuple": _parse_url_tuple}
