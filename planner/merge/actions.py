"""The WHEN clauses of a MERGE as values: which clause acts on a row, and what it writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, assert_never

from sqlglot import exp

from acidsql.acid.table import Column, Table
from acidsql.grammar.dialect import frame_of
from acidsql.grammar.statements import Default, Merge, MergeClause, MergeDelete, MergeInsert, MergeUpdate, When
from acidsql.planner.conditions.row_conditions import BARE, conjuncts, has_only
from acidsql.planner.dml.update import moves, set_clause
from acidsql.planner.merge.rules import insert_columns, only_from, without_databases
from acidsql.planner.plan import Facts
from acidsql.planner.queries.name_resolution import column, default_of

_STORED_ALIKE: Final = ("tinyint", "smallint", "int", "bigint", "string", "date")
_ORDER: Final = (When.NOT_MATCHED, When.MATCHED, When.NOT_MATCHED_BY_SOURCE)


@dataclass(frozen=True, slots=True)
class Clause:
    """A WHEN clause. `statement_id` is also the number of its action; `values` are the values that it writes."""

    statement_id: int
    written: MergeClause
    condition: exp.Expr | None
    values: tuple[tuple[Column, exp.Expr], ...]

    @property
    def when(self) -> When:
        return self.written.when

    @property
    def deletes(self) -> bool:
        return not isinstance(self.written.action, MergeInsert)

    @property
    def inserts(self) -> bool:
        return not isinstance(self.written.action, MergeDelete)

    def moves(self, table: Table) -> bool:
        """Whether the new rows go to the partition that their own partition columns name."""
        return not self.deletes or moves(table, (target for target, _ in self.values))

    @property
    def label(self) -> str:
        verb = {MergeInsert: "INSERT", MergeUpdate: "UPDATE", MergeDelete: "DELETE"}[type(self.written.action)]
        return f"WHEN {self.when.value} THEN {verb}"

    def value_name(self, target: Column) -> str:
        return f":{self.statement_id}.{target.name}"


@dataclass(frozen=True, slots=True)
class Sides:
    """The names of target and source in the statement. `databases` maps each name that is not an alias to its
    database."""

    target: str
    source: str
    databases: Mapping[str, str]
    source_types: Mapping[str, str | None] = field(default_factory=dict)
    """The types of the source's columns, if the source is a table or a frame by itself."""
    source_columns: frozenset[str] | None = None
    """WITH SCHEMA EVOLUTION: the columns of the source, for which a star stands; None without the clause."""

    def has(self, target: Column) -> bool:
        """Whether a star assigns a column of the target. Without the clause it assigns all of them."""
        return self.source_columns is None or target.name in self.source_columns


def sides_of(statement: Merge, table: Table, facts: Facts) -> Sides:
    using = statement.using
    databases = {} if statement.alias else {table.name: table.database}
    if isinstance(using, exp.Table) and not using.alias and frame_of(using) is None:
        databases[using.name.lower()] = using.db.lower() or facts.database
    target = statement.alias.value if statement.alias else table.name
    return Sides(target, str(using.alias_or_name).lower(), databases, _types(using, facts))


def _types(using: exp.Expr, facts: Facts) -> Mapping[str, str | None]:
    if not isinstance(using, exp.Table) or not has_only(using, BARE) or using.alias_column_names:
        return {}
    frame = frame_of(using)
    if frame is not None:
        return facts.relations.get(f"{{{frame}}}", {})
    table = facts.tables.get(f"{using.db.lower() or facts.database}.{using.name.lower()}")
    return {} if table is None else {column.name: column.type for column in table.all_columns}


def clauses_of(statement: Merge, table: Table, sides: Sides) -> tuple[Clause, ...]:
    """The clauses in the order of their statement IDs."""
    ordered = [c for when in _ORDER for c in statement.clauses if c.when is when]
    same = _same_partitions(statement.on, table, sides)
    return tuple(_clause(number, c, statement, table, sides, same) for number, c in enumerate(ordered))


def _same_partitions(on: exp.Expr, table: Table, sides: Sides) -> frozenset[tuple[str, str]]:
    """Partition columns, each with the column of the source that ON compares with it, of the same type. An UPDATE that
    assigns this column moves no row: the values are equal, and of these types equal values are stored alike."""
    kinds = {c.name: c.type for c in table.partition_columns if c.type in _STORED_ALIKE}
    found = set()
    for conjunct in conjuncts(on):
        if isinstance(conjunct, exp.EQ):
            left, right = conjunct.this.unnest(), conjunct.expression.unnest()
            for mine, other in ((left, right), (right, left)):
                name, given = _name(mine, sides.target), _name(other, sides.source)
                if name in kinds and given is not None and sides.source_types.get(given) == kinds[name]:
                    found.add((name, given))
    return frozenset(found)


def _name(tree: exp.Expr, side: str) -> str | None:
    """The name of a column of this side, in lower case."""
    is_column = isinstance(tree, exp.Column) and has_only(tree, ("this", "table")) and tree.table.lower() == side
    return str(tree.name).lower() if is_column else None


def _clause(
    number: int,
    written: MergeClause,
    statement: Merge,
    table: Table,
    sides: Sides,
    same: frozenset[tuple[str, str]],
) -> Clause:
    def visible(tree: exp.Expr) -> exp.Expr:
        return _visible(tree, written.when, statement, sides)

    condition = visible(written.condition) if written.condition is not None else None
    values = tuple((c, visible(v)) for c, v in _values(written, table, sides))
    if written.when is When.MATCHED:
        values = tuple((c, v) for c, v in values if (c.name, _name(v.unnest(), sides.source)) not in same)
    return Clause(number, written, condition, values)


def _visible(tree: exp.Expr, when: When, statement: Merge, sides: Sides) -> exp.Expr:
    """The expression, once its names are checked: a NOT MATCHED row has no target side, and a NOT MATCHED BY SOURCE row
    has no source side."""
    tree = without_databases(tree, sides.databases)
    match when:
        case When.MATCHED:
            return tree
        case When.NOT_MATCHED:
            return only_from(tree, sides.source, sides.target, when, statement.source)
        case When.NOT_MATCHED_BY_SOURCE:
            return only_from(tree, sides.target, sides.source, when, statement.source)
        case _:
            assert_never(when)


def _values(written: MergeClause, table: Table, sides: Sides) -> tuple[tuple[Column, exp.Expr], ...]:
    match written.action:
        case MergeDelete():
            return ()
        case MergeUpdate(None):
            return tuple((c, column(c.name, sides.source)) for c in table.all_columns if sides.has(c))
        case MergeInsert(_, None):
            given_by = {c: column(c.name, sides.source) for c in table.all_columns if sides.has(c)}
            return tuple((c, given_by.get(c) or default_of(c, table)) for c in table.all_columns)
        case MergeUpdate(assignments):
            return tuple(set_clause(assignments or (), table).items())
        case MergeInsert(_, values):
            columns = insert_columns(written, table)
            given = {
                c: default_of(c, table) if isinstance(v, Default) else v
                for c, v in zip(columns, values or (), strict=True)
            }
            return tuple((c, given.get(c) or default_of(c, table)) for c in table.all_columns)
        case _:
            assert_never(written.action)


def first_true(clauses: Sequence[Clause]) -> exp.Expr:
    """A CASE of the clauses' conditions. It ends at the first clause without a condition, which is always true."""
    case = exp.Case()
    for clause in clauses:
        number = exp.Literal.number(clause.statement_id)
        if clause.condition is None:
            return case.else_(number) if case.args.get("ifs") else number
        case = case.when(_boolean(clause.condition), number)
    return case if case.args.get("ifs") else exp.cast(exp.null(), "int")


def _boolean(condition: exp.Expr) -> exp.Expr:
    """The condition; a bare NULL is cast to BOOLEAN, because Spark's CASE requires a type."""
    return exp.cast(exp.null(), "boolean") if isinstance(condition.unnest(), exp.Null) else condition.copy()
