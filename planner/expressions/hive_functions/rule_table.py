"""Finds the expressions of a query that Hive computes in another way than Spark, and replaces them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.dialect import span_of, to_spark
from acidsql.planner.expressions.hive_functions import (
    aggregates,
    arrays_and_maps,
    ciphers,
    formats,
    grouping,
    hashes,
    intervals,
    json,
    masks,
    mathematics,
    murmur,
    other_names,
    table_functions,
    text,
    times,
    windows,
)
from acidsql.planner.expressions.hive_functions.function_list import REFUSED
from acidsql.planner.expressions.hive_functions.template import Rule, call, filled

_BY_COUNT: Final[dict[tuple[str, int], Rule]] = {
    **text.RULES,
    **masks.RULES,
    **mathematics.RULES,
    **times.RULES,
    **arrays_and_maps.RULES,
    **aggregates.RULES,
    **ciphers.RULES,
    **hashes.RULES,
    **json.RULES,
    **other_names.RULES,
}
"""The rules of functions, by name and number of arguments."""
_BY_NAME: Final[dict[str, Rule]] = {
    **text.VARIADIC,
    **masks.VARIADIC,
    **arrays_and_maps.VARIADIC,
    **grouping.VARIADIC,
    **hashes.VARIADIC,
    **murmur.VARIADIC,
    **table_functions.VARIADIC,
}
"""The rules of functions that take any number of arguments."""
_ALSO_DISTINCT: Final = ("stddev", "std", "variance")
"""Aggregate functions whose rules keep a DISTINCT of their argument."""
_STRICT: Final = ("greatest", "least")
REWRITTEN: Final = frozenset({name for name, _ in _BY_COUNT} | _BY_NAME.keys() | {*_STRICT}) - REFUSED.keys()
"""The functions that Spark lacks or computes in another way than Hive, at least for some arguments."""


@dataclass(frozen=True, slots=True)
class _Form:
    """The rule of an expression that is not written as a call of a function."""

    applies: Callable[..., bool]
    rewritten: Callable[..., exp.Expr]


_FORMS: Final[dict[type[exp.Expr], _Form]] = {
    exp.CurrentTimestamp: _Form(lambda _: True, lambda _: call("localtimestamp")),
    exp.Like: _Form(text.is_like, text.like),
    exp.RegexpLike: _Form(text.is_regexp_like, text.regexp_like),
    exp.Extract: _Form(times.is_extract, times.extract),
    exp.Floor: _Form(times.is_floor, times.floor),
    exp.Interval: _Form(intervals.is_of_expression, intervals.of_expression),
    exp.Add: _Form(intervals.is_moved, intervals.moved),
    exp.Sub: _Form(intervals.is_moved, intervals.moved),
    exp.Window: _Form(windows.is_window, windows.window),
    exp.WithinGroup: _Form(windows.is_hypothetical, windows.hypothetical),
    exp.Column: _Form(grouping.is_grouping_id, grouping.grouping_id),
    exp.Table: _Form(table_functions.is_values, table_functions.values),
    exp.GroupingSets: _Form(grouping.is_repeating, grouping.without_repeated),
}


def differing(tree: exp.Expr) -> list[exp.Expr]:
    """The expressions of a tree that `rewritten` replaces."""
    return [node for node in tree.walk() if _applies(node)]


def _applies(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return _rule(node) is not None
    if isinstance(node, exp.Cast):
        return formats.has_format(node) or intervals.is_text(node)
    form = _FORMS.get(type(node))
    return form is not None and form.applies(node)


def rewritten(node: exp.Expr) -> exp.Expr:
    """The expression that computes in Spark what a differing one means in Hive. Raises NOT_YET_SUPPORTED."""
    try:
        return _rewritten(node)
    except AcidSqlError as error:
        span = span_of(node)
        raise (error.with_span(span) if span is not None else error) from None


def _rewritten(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Cast):
        return formats.formatted(node) if formats.has_format(node) else intervals.text(node)
    if not isinstance(node, exp.Anonymous):
        return _FORMS[type(node)].rewritten(node)
    rule = _rule(node)
    assert rule is not None, to_spark(node)
    return rule([argument.copy() for argument in node.expressions])


def _rule(node: exp.Anonymous) -> Rule | None:
    """The rule of a call; None if Spark agrees with Hive. Most calls with a DISTINCT argument stay as they are."""
    name, arguments = node.name.lower(), node.expressions
    if any(argument.is_star for argument in arguments):
        return None
    if any(isinstance(argument, exp.Distinct) for argument in arguments):
        return _BY_COUNT[name, len(arguments)] if name in _ALSO_DISTINCT else None
    if name == "map" and not arrays_and_maps.repeats_key(arguments):
        return None
    if name in REFUSED:
        return _refusal(f"The function {name}", REFUSED[name])
    if name in _STRICT:
        return _strict(name) if len(arguments) > 1 and node.find(exp.Query) is None else None
    if isinstance(node.parent, exp.Window | exp.WithinGroup | exp.IgnoreNulls | exp.Filter):
        return _of_window(name, len(arguments))
    rule = _BY_COUNT.get((name, len(arguments)))
    return rule or (_BY_NAME.get(name) if arguments else None)


def _refusal(feature: str, hint: str) -> Rule:
    def rule(_: list[exp.Expr]) -> exp.Expr:
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature, hint=hint)

    return rule


def _of_window(name: str, count: int) -> Rule | None:
    """The rule of a function with OVER, FILTER or WITHIN GROUP, which must stay one call. Spark's percentile_approx
    gives another value than Hive's."""
    if name == "percentile_approx":
        return _refusal(f"{name} with OVER or FILTER", "percentile(value, share) OVER (..) gives the exact value.")
    return _BY_COUNT.get((name, count)) if name in ("stddev", "std", "variance", "approx_distinct") else None


def _strict(name: str) -> Rule:
    """GREATEST and LEAST are NULL if an argument is. The rule repeats the arguments, so it leaves subqueries alone,
    which Spark would read twice."""

    def rule(arguments: list[exp.Expr]) -> exp.Expr:
        values = {f"v{place}": value for place, value in enumerate(arguments)}
        missing = [f"{key} IS NULL" for key, value in values.items() if not isinstance(value, exp.Literal)]
        whole = f"{name}({', '.join(values)})"
        return filled(f"CASE WHEN {' OR '.join(missing)} THEN NULL ELSE {whole} END" if missing else whole, values)

    return rule
