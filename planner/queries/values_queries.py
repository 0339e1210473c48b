"""VALUES as queries. Spark's VALUES takes only rows that Spark can compute while it plans a query; SELECT takes all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from sqlglot import exp

from acidsql.planner.expressions.function_names import SPARK_FUNCTIONS
from acidsql.planner.expressions.hive_functions.function_list import HIVE_FUNCTIONS

_KNOWN: Final = SPARK_FUNCTIONS.union(HIVE_FUNCTIONS)
_NONDETERMINISTIC: Final = frozenset(
    {"rand", "random", "randn", "randstr", "uniform", "uuid", "shuffle", "monotonically_increasing_id"}
    | {"spark_partition_id", "input_file_name", "input_file_block_start", "input_file_block_length"}
    | {"reflect", "java_method", "try_reflect", "raise_error", "assert_true"}
)


def rows_query(rows: Sequence[exp.Tuple]) -> exp.Query:
    """The rows as a query with the columns col1, col2, .. in their order: VALUES for those that Spark can compute
    early, and a SELECT for each other row."""
    parts: list[exp.Query] = []
    for is_early, group in groupby(rows, key=is_computed_early):
        some = list(group)
        parts += [_values_query(some)] if is_early else map(_select_query, some)
    return exp.union(*parts, distinct=False, copy=False) if len(parts) > 1 else parts[0]


def select_late_rows(tree: exp.Query) -> exp.Query:
    """The tree, changed in place, with a query in the place of each VALUES that Spark cannot compute early.

    >>> from acidsql.grammar.dialect import AcidSql
    >>> import sqlglot
    >>> select_late_rows(sqlglot.parse_one("SELECT x FROM VALUES (uuid()) v(x)", dialect=AcidSql)).sql("spark")
    'SELECT x FROM (SELECT UUID() AS `col1`) AS v(x)'
    """
    for values in list(_late(tree)):
        query = rows_query([row.copy() for row in values.expressions])
        alias = values.args.get("alias")
        if isinstance(values.parent, exp.From | exp.Join) or alias is not None:
            new: exp.Query = exp.Subquery(this=query, alias=alias)
        else:
            new = query
        if values.parent is None:
            return new
        values.replace(new)
    return tree


def is_computed_early(row: exp.Tuple) -> bool:
    """Whether Spark's VALUES takes the row: it has neither subqueries nor nondeterministic functions, nor functions
    that are registered in the session, which may be Python's."""
    for value in row.expressions:
        if not isinstance(value, exp.Literal | exp.Null):
            calls = value.find_all(exp.Query, exp.Anonymous)
            if any(isinstance(call, exp.Query) or not _is_early(call.name.lower()) for call in calls):
                return False
    return True


def _is_early(function: str) -> bool:
    return function in _KNOWN and function not in _NONDETERMINISTIC


def is_deterministic(tree: exp.Expr) -> bool:
    """Whether an expression gives the same value each time: it calls no function such as rand(), and none that is
    registered in the session."""
    return all(_is_early(call.name.lower()) for call in tree.find_all(exp.Anonymous))


def _late(tree: exp.Query) -> Iterator[exp.Values]:
    for values in tree.find_all(exp.Values):
        rows = values.expressions
        is_plain = not any(held for key, held in values.args.items() if key not in ("expressions", "alias"))
        if is_plain and all(isinstance(row, exp.Tuple) for row in rows) and not all(map(is_computed_early, rows)):
            yield values


def _values_query(rows: list[exp.Tuple]) -> exp.Query:
    alias = exp.TableAlias(this=exp.to_identifier("rows", quoted=True))
    return exp.select("*").from_(exp.Values(expressions=rows, alias=alias))


def _select_query(row: exp.Tuple) -> exp.Query:
    items = (exp.alias_(value, f"col{n}", quoted=True, copy=False) for n, value in enumerate(row.expressions, start=1))
    return exp.select(*items, copy=False)
