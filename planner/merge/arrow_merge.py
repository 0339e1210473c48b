"""MERGE whose target rows a program without Spark can find: all but the old rows comes from one query of the source.

ON compares columns of the target with values of the source, and every condition and value of the clauses depends on the
source alone, as in most upserts. Then one query of the source gives, for each of its rows, the key, the clause that
acts on the target rows with this key, the clause that acts if there are none, and the values that these clauses write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from sqlglot import exp

from acidsql.acid.hive_types import Primitive, parse_type
from acidsql.acid.table import Column, Table
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.statements import Merge, When
from acidsql.planner.conditions.row_conditions import conjuncts
from acidsql.planner.merge.actions import Clause, Sides, first_true
from acidsql.planner.merge.arrow_source import source_rows
from acidsql.planner.plan import ArrowClause, ArrowMerge, QueryPlan
from acidsql.planner.queries.name_resolution import Binder, quoted
from acidsql.planner.queries.values_queries import is_deterministic

IF_MATCHED: Final = ":if_matched"
IF_NOT_MATCHED: Final = ":if_not_matched"
"""Columns of the source's query: the number of the clause that acts on a matching target row, and of the one that acts
if there is none; NULL if no clause does."""

_COMPARED: Final = ("tinyint", "smallint", "int", "bigint", "string", "date")
"""The types of target columns in ON whose values are equal only if they are stored alike."""


def arrow_merge(
    statement: Merge,
    table: Table,
    sides: Sides,
    clauses: Sequence[Clause],
    branches: Mapping[int, tuple[int | None, int | None]],
    binder: Binder,
    relations: Mapping[str, Mapping[str, str | None]],
) -> ArrowMerge | None:
    """The MERGE as values; None if the clauses or ON depend on the target in another way. `branches` are the numbers of
    the insert and the delete branch of each clause, by its statement ID. `binder` has bound nothing yet. `relations`
    are `Facts.relations`."""
    keys = _keys(statement.on, table, sides)
    if not keys or not all(_is_given(clause, table, sides) for clause in clauses):
        return None
    columns = {column.name: column for column in table.all_columns}
    stored: dict[str, Column] = {}
    names: dict[tuple[str, str], str] = {}
    values: list[exp.Expr] = []
    given = []
    for clause in clauses:
        of_clause = {}
        for column, tree in clause.values:
            meaning = (column.name, tree.sql())
            if meaning not in names:
                names[meaning] = f":value{len(names)}"
                stored[names[meaning]] = column
                values.append(exp.alias_(tree.copy(), quoted(names[meaning])))
            of_clause[column.name] = names[meaning]
        given.append(ArrowClause(of_clause, *branches[clause.statement_id]))
    actions = {
        name: exp.alias_(first_true([c for c in clauses if c.when is when]), quoted(name))
        for name, when in ((IF_MATCHED, When.MATCHED), (IF_NOT_MATCHED, When.NOT_MATCHED))
    }
    compared = {column: f":key{number}" for number, column in enumerate(keys)}
    stored |= {name: columns[column] for column, name in compared.items()}
    key_values = (exp.alias_(tree.copy(), quoted(compared[column])) for column, tree in keys.items())
    query = exp.select(*key_values, *actions.values(), *values).from_(statement.using.copy())
    if statement.ctes is not None:
        query.set("with_", statement.ctes.copy())
    bound = cast("exp.Select", binder.bind(query))
    source = QueryPlan(to_spark(bound), binder.scans, binder.frames, (), binder.views)
    acting, keys_of = (IF_MATCHED, IF_NOT_MATCHED), compared.values()
    rows = source_rows(bound, binder.scans, binder.frames, relations, acting, stored, keys_of)
    return ArrowMerge(source, compared, tuple(given), rows)


def _keys(on: exp.Expr, table: Table, sides: Sides) -> dict[str, exp.Expr] | None:
    """The value that ON compares with each column of the target that it names; None if it has other conditions."""
    kinds = {c.name: parse_type(c.type) for c in table.all_columns}
    keys: dict[str, exp.Expr] = {}
    for conjunct in conjuncts(on):
        if not isinstance(conjunct, exp.EQ):
            return None
        left, right = conjunct.this.unnest(), conjunct.expression.unnest()
        mine, other = (left, right) if _owner(left) == [sides.target] else (right, left)
        name = mine.name.lower()
        if not isinstance(mine, exp.Column) or _owner(mine) != [sides.target] or not _is_of(other, sides.source):
            return None
        kind = kinds.get(name)
        if name in keys or not isinstance(kind, Primitive) or kind.name not in _COMPARED:
            return None
        keys[name] = other
    return keys


def _is_given(clause: Clause, table: Table, sides: Sides) -> bool:
    """Whether the source alone decides what the clause does, and no row moves to another partition."""
    if clause.when is When.NOT_MATCHED_BY_SOURCE or (clause.deletes and clause.inserts and clause.moves(table)):
        return False
    trees = [tree for _, tree in clause.values] + ([] if clause.condition is None else [clause.condition])
    return all(_is_of(tree, sides.source) for tree in trees)


def _is_of(tree: exp.Expr, side: str) -> bool:
    """Whether all columns of the expression are certainly columns of one side, and it has one value for each row of
    it: rand() has another one for each row of the join."""
    if tree.find(exp.Query) is not None or not is_deterministic(tree):
        return False
    return all(_owner(node) == [side] for node in tree.find_all(exp.Column))


def _owner(node: exp.Expr) -> list[str]:
    return [part.name.lower() for part in node.parts[:-1]] if isinstance(node, exp.Column) else []
