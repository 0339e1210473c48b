"""UPDATE and DELETE with `IN (SELECT ..)`: the queries for the values that columns of the target must have."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from acidsql.acid.table import Table
from acidsql.grammar.dialect import to_spark
from acidsql.planner.conditions.row_conditions import conjuncts, resolved_column
from acidsql.planner.plan import KEYS, KeyQuery
from acidsql.planner.queries.key_conditions import has_keys
from acidsql.planner.queries.name_resolution import quoted


def subquery_keys(rows: exp.Query, table: Table) -> tuple[KeyQuery, ...]:
    """The subqueries that WHERE of the bound rows query compares columns of `table`, its only FROM item, with. One that
    names a column of the target cannot run alone, and fails when it is analyzed."""
    where = rows.args.get("where")
    return () if where is None else tuple(_queries(rows, where.this, table))


def _queries(rows: exp.Query, where: exp.Expr, table: Table) -> Iterator[KeyQuery]:
    item = rows.args["from_"].this
    for conjunct in conjuncts(where):
        query = conjunct.args.get("query") if isinstance(conjunct, exp.In) else None
        if query is None:
            continue
        compared = conjunct.this.expressions if isinstance(conjunct.this, exp.Tuple) else [conjunct.this.unnest()]
        names = [f"{KEYS}{number}" for number in range(len(compared))]
        columns = {}
        for name, node in zip(names, compared, strict=True):
            column = resolved_column(node, rows, item, table) if isinstance(node, exp.Column) else None
            if column is not None and has_keys(column):
                columns[column.name] = name
        if columns:
            alias = exp.TableAlias(this=quoted(KEYS), columns=[quoted(name) for name in names])
            keys = exp.select("*").from_(exp.Subquery(this=query.unnest().copy(), alias=alias))
            if rows.args.get("with_") is not None:
                keys.set("with_", rows.args["with_"].copy())
            yield KeyQuery(to_spark(keys), columns)
