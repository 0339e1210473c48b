"""Comparisons with ANY, SOME and ALL of a subquery, which Spark does not have.

A comparison with every row follows from one with the least or the greatest value. Without rows ANY is false and ALL is
true. A NULL among the rows makes the answer NULL unless another row decides it.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from acidsql.planner.hive_functions.template import enclosed, filled

_VALUE: Final = "@value"
_ROWS: Final = "@rows"
_ANY: Final[dict[type[exp.Expr], str]] = {
    exp.GT: "a > lo",
    exp.GTE: "a >= lo",
    exp.LT: "a < hi",
    exp.LTE: "a <= hi",
    exp.NEQ: "(a <> lo OR a <> hi)",
}
_ALL: Final[dict[type[exp.Expr], str]] = {
    exp.GT: "a > hi",
    exp.GTE: "a >= hi",
    exp.LT: "a < lo",
    exp.LTE: "a <= lo",
    exp.EQ: "(a = lo AND a = hi)",
}
COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)


def is_quantified(node: exp.Binary) -> bool:
    return isinstance(node.expression, exp.Any | exp.All) and _query(node.expression) is not None


def _query(quantifier: exp.Expr) -> exp.Query | None:
    inner = quantifier.this.unnest() if isinstance(quantifier.this, exp.Expr) else None
    return inner if isinstance(inner, exp.Query) else None


def quantified(node: exp.Binary) -> exp.Expr:
    """The comparison without a quantifier. `= ANY` is IN, `<> ALL` is NOT IN."""
    query = _query(node.expression)
    assert query is not None
    if isinstance(node, exp.EQ) and isinstance(node.expression, exp.Any):
        return _in(node.this, query)
    if isinstance(node, exp.NEQ) and isinstance(node.expression, exp.All):
        return enclosed(exp.Not(this=_in(node.this, query)))
    if isinstance(node.expression, exp.Any):
        empty, decided, test = "FALSE", "{0}", _ANY[type(node)]
    else:
        empty, decided, test = "TRUE", "NOT ({0})", _ALL[type(node)]
    sql = f"CASE WHEN n = 0 THEN {empty} WHEN {decided} THEN NOT {empty} WHEN n > k THEN NULL ELSE {{0}} END"
    aggregates = {"n": "count(*)", "k": f"count(`{_VALUE}`)", "lo": f"min(`{_VALUE}`)", "hi": f"max(`{_VALUE}`)"}
    values = {name: _aggregate(sql, query) for name, sql in aggregates.items()}
    return filled(sql.format(test), {"a": node.this.copy(), **values})


def _in(value: exp.Expr, query: exp.Query) -> exp.Expr:
    return exp.In(this=value.copy(), query=exp.Subquery(this=query.copy()))


def _aggregate(sql: str, query: exp.Query) -> exp.Expr:
    """The subquery of one aggregate of the query's column."""
    alias = exp.TableAlias(this=exp.to_identifier(_ROWS, quoted=True), columns=[exp.to_identifier(_VALUE, quoted=True)])
    rows = exp.Subquery(this=query.copy(), alias=alias)
    return exp.Subquery(this=exp.Select(expressions=[filled(sql, {})], from_=exp.From(this=rows)))
