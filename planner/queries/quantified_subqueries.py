"""Comparisons with ANY, SOME and ALL of a subquery, and IN where its NULL counts: with SQL's three truth values.

Spark has no ANY and ALL of subqueries, and its IN gives FALSE for NULL outside of conditions: in a SELECT list, under
IS NULL, in an argument. Both are rewritten to a comparison with a summary of the subquery: its smallest and its largest
value, and how many values there are, and how many that are not NULL. Hive plans them likewise (HiveSubQueryRemoveRule).

`x > ALL (q)` is TRUE of no rows, FALSE if x is not larger than the largest value, NULL if x or a value is NULL.
`x > ANY (q)` is TRUE if x is larger than the smallest value, FALSE of no rows, NULL if x or a value is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Final

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition

_Operand = Callable[[], exp.Expr]

_COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_MOST_NESTED: Final = 6
_QUERY: Final = "@quantified"
_VALUE: Final = "@value"
_LEAST, _MOST, _ROWS, _KNOWN = "least", "most", "rows", "known"


def rewrite_quantifiers(tree: exp.Query) -> None:
    """Rewrites the comparisons in a query in place, the inner ones first.

    Raises LIMIT_EXCEEDED where too many stand in the left sides of one another: each rewrite repeats its left side.
    """
    numbers = count(1)
    found = [node for node in tree.find_all(*_COMPARISONS, exp.In) if _is_quantified(node) or _is_three_valued(node)]
    inner_first = sorted(found, key=lambda one: -one.depth)
    _check_nesting(inner_first)
    for node in inner_first:
        node.replace(_membership(node, numbers) if isinstance(node, exp.In) else _comparison(node, numbers))


def _check_nesting(inner_first: Sequence[exp.Expr]) -> None:
    levels: dict[int, int] = {}
    for node in inner_first:
        inside = (levels[id(other)] for other in node.this.find_all(*_COMPARISONS, exp.In) if id(other) in levels)
        levels[id(node)] = level = 1 + max(inside, default=0)
        if level > _MOST_NESTED:
            what = "Comparisons with subqueries, each the left side of the next"
            raise AcidSqlError(Condition.LIMIT_EXCEEDED, what=what, value=level, limit=_MOST_NESTED)


def _is_quantified(node: exp.Expr) -> bool:
    quantifier = node.expression
    return isinstance(node, _COMPARISONS) and isinstance(quantifier, exp.Any | exp.All) and _is_query(quantifier.this)


def _is_query(node: exp.Expr) -> bool:
    return isinstance(node.unnest(), exp.Query)


def _is_three_valued(node: exp.Expr) -> bool:
    """Whether a node is `x IN (SELECT ..)` at a place where NULL and FALSE differ."""
    if not isinstance(node, exp.In) or node.args.get("query") is None or isinstance(node.this.unnest(), exp.Tuple):
        return False
    query = node.args["query"].unnest()
    return len(query.selects) == 1 and not query.is_star and not _is_condition(node)


def _is_condition(node: exp.Expr) -> bool:
    """Whether the value decides only whether a row or a branch is taken, so that NULL and FALSE have the same effect.
    Spark implements NOT IN correctly, so one NOT may enclose the node."""
    above = _outside(node)
    above = _outside(above) if isinstance(above, exp.Not) else above
    while isinstance(above, exp.And | exp.Or):
        above = _outside(above)
    return isinstance(above, exp.Where | exp.Having | exp.Qualify | exp.Join | exp.If)


def _outside(node: exp.Expr) -> exp.Expr | None:
    """The parent without parentheses; None where the node is the value of a branch of CASE."""
    while isinstance(node.parent, exp.Paren):
        node = node.parent
    return None if isinstance(node.parent, exp.If) and node.arg_key != "this" else node.parent


# ------------------------------------------------------------------------------------------------ the rewrites


def _comparison(node: exp.Expr, numbers: count[int]) -> exp.Expr:
    quantifier = node.expression
    query, is_any = quantifier.this, isinstance(quantifier, exp.Any)
    if isinstance(node, exp.EQ if is_any else exp.NEQ):
        member = exp.In(this=node.this.copy(), query=_subquery(query))
        whole = member if is_any else exp.Not(this=member)
        node.replace(whole)
        if not _is_condition(member):
            member.replace(_membership(member, numbers))
        return whole
    decided = _decided(type(node), is_any=is_any)
    return _with_summary(node.this, query, numbers, decided, decides=is_any)


def _membership(member: exp.In, numbers: count[int]) -> exp.Expr:
    """IN as CASE: Spark's own IN decides TRUE, and the summary whether the rest is NULL."""
    rest = _with_summary(member.this, member.args["query"], numbers, None, decides=True)
    return exp.Paren(this=exp.Case().when(member.copy(), exp.true()).else_(rest))


_Decision = Callable[[_Operand, Callable[[str], exp.Expr]], exp.Expr]


def _decided(comparison: type[exp.Expr], *, is_any: bool) -> _Decision:
    """The condition on the summary that decides: for ANY that some value compares as TRUE, for ALL that some value
    compares as FALSE."""
    some = comparison if is_any else _NEGATED[comparison]
    bounds: dict[type[exp.Expr], tuple[str, ...]] = {
        exp.LT: (_MOST,),
        exp.LTE: (_MOST,),
        exp.GT: (_LEAST,),
        exp.GTE: (_LEAST,),
        exp.NEQ: (_LEAST, _MOST),
    }

    def condition(value: _Operand, bound: Callable[[str], exp.Expr]) -> exp.Expr:
        tests = [some(this=value(), expression=bound(name)) for name in bounds[some]]
        return exp.or_(*tests)

    return condition


_NEGATED: Final[dict[type[exp.Expr], type[exp.Expr]]] = {
    exp.LT: exp.GTE,
    exp.LTE: exp.GT,
    exp.GT: exp.LTE,
    exp.GTE: exp.LT,
    exp.EQ: exp.NEQ,
}


def _with_summary(
    value: exp.Expr, query: exp.Expr, numbers: count[int], decided: _Decision | None, *, decides: bool
) -> exp.Expr:
    """CASE over the value and the query's summary. Spark runs equal subqueries of a statement once."""
    name = f"{_QUERY}{next(numbers)}"

    def of_value() -> exp.Expr:
        return exp.Paren(this=value.copy())

    def bound(part: str) -> exp.Expr:
        return exp.Dot(this=_summary(query, name), expression=exp.to_identifier(part, quoted=True))

    case = exp.Case()
    if decided is not None:
        case = case.when(decided(of_value, bound), _boolean(decides))
    case = case.when(exp.EQ(this=bound(_ROWS), expression=exp.Literal.number(0)), _boolean(not decides))
    unknown = exp.LT(this=bound(_KNOWN), expression=bound(_ROWS))
    missing = exp.or_(exp.Is(this=of_value(), expression=exp.null()), unknown)
    return exp.Paren(this=case.when(missing, exp.cast(exp.null(), "boolean")).else_(_boolean(not decides)))


def _summary(query: exp.Expr, name: str) -> exp.Subquery:
    column = exp.column(exp.to_identifier(_VALUE, quoted=True), table=exp.to_identifier(name, quoted=True))
    parts = {
        _LEAST: _call("min", column),
        _MOST: _call("max", column.copy()),
        _ROWS: _call("count", exp.Literal.number(1)),
        _KNOWN: _call("count", column.copy()),
    }
    struct = _call("named_struct", *(part for key, made in parts.items() for part in (_text(key), made)))
    named = _subquery(query)
    named.set(
        "alias",
        exp.TableAlias(this=exp.to_identifier(name, quoted=True), columns=[exp.to_identifier(_VALUE, quoted=True)]),
    )
    return exp.Subquery(this=exp.select(struct).from_(named))


def _subquery(query: exp.Expr) -> exp.Subquery:
    return exp.Subquery(this=query.unnest().copy())


def _call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _text(text: str) -> exp.Literal:
    return exp.Literal.string(text)


def _boolean(value: bool) -> exp.Expr:
    return exp.true() if value else exp.false()
