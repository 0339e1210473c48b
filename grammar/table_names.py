"""The tables that a statement names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from sqlglot import exp

from acidsql.grammar.dialect import frame_of, span_of
from acidsql.grammar.statements import (
    AbortCompactions,
    AbortTransactions,
    AlterDatabase,
    AlterTable,
    AlterView,
    AnalyzeTable,
    Assignment,
    Commit,
    CreateDatabase,
    CreateFunction,
    CreateMacro,
    CreateTable,
    CreateView,
    Default,
    Delete,
    Describe,
    DescribeHistory,
    DropDatabase,
    DropFunction,
    DropMacro,
    DropTable,
    DropView,
    Explain,
    Insert,
    InsertDirectory,
    LoadData,
    Merge,
    MergeClause,
    MergeDelete,
    MergeInsert,
    MergeUpdate,
    MultiInsert,
    NoEffect,
    Query,
    RepairTable,
    ResetSettings,
    RestoreTable,
    Rollback,
    SetAutocommit,
    SetSetting,
    Show,
    StartTransaction,
    Statement,
    TableName,
    TruncateTable,
    Update,
    UseDatabase,
    Value,
    Values,
    ViewQuery,
)


def table_names(statement: Statement) -> tuple[TableName, ...]:
    """Every table that a statement reads or writes once, the target first.

    Names of CTEs in scope and frames are not tables.
    """
    return tuple(dict.fromkeys(_named(statement)))


def _named(statement: Statement) -> Iterator[TableName]:
    match statement:
        case Explain():
            yield from _named(statement.statement)
        case Query():
            yield from _read(statement.tree, frozenset())
        case Insert():
            yield statement.target
            yield from _inserted(statement, frozenset())
        case InsertDirectory():
            yield from _read(statement.query, frozenset())
        case MultiInsert():
            yield from (branch.target for branch in statement.branches)
            yield from _multi_insert(statement)
        case Update() | Delete() | Merge():
            yield statement.target
            yield from _changed(statement)
        case CreateTable():
            yield statement.table
            yield from (statement.like,) if statement.like else ()
            yield from _read(statement.query, frozenset())
        case CreateView():
            yield statement.view
            yield from _read(statement.query, frozenset())
        case AlterView():
            yield statement.view
            if isinstance(statement.action, ViewQuery):
                yield from _read(statement.action.query, frozenset())
        case DropView():
            yield statement.view
        case RestoreTable() | DropTable() | TruncateTable() | AlterTable() | RepairTable() | AnalyzeTable():
            yield statement.table
        case LoadData():
            yield statement.target
        case Show() | Describe() | DescribeHistory():
            yield from (statement.table,) if statement.table else ()
        case CreateMacro():
            yield from _read(statement.body, frozenset())
        case DropMacro() | CreateFunction() | DropFunction():
            return
        case CreateDatabase() | AlterDatabase() | DropDatabase() | UseDatabase():
            return
        case SetSetting() | SetAutocommit() | ResetSettings() | NoEffect():
            return
        case StartTransaction() | Commit() | Rollback() | AbortTransactions() | AbortCompactions():
            return
        case _:
            assert_never(statement)


def _inserted(insert: Insert, scope: frozenset[str]) -> Iterator[TableName]:
    if isinstance(insert.rows, Values):
        for row in insert.rows.rows:
            yield from _values(row, scope)
    else:
        yield from _read(insert.rows, scope)


def _multi_insert(statement: MultiInsert) -> Iterator[TableName]:
    names, scope = _ctes(statement.ctes, frozenset())
    yield from names
    yield from _read(statement.scanned, scope)
    for branch in statement.branches:
        yield from _inserted(branch, scope)


def _changed(statement: Update | Delete | Merge) -> Iterator[TableName]:
    names, scope = _ctes(statement.ctes, frozenset())
    yield from names
    match statement:
        case Merge():
            yield from _read(statement.using, scope)
            yield from _read(statement.on, scope)
            for clause in statement.clauses:
                yield from _clause(clause, scope)
        case Update():
            yield from _assigned(statement.assignments, scope)
            yield from _read(statement.where, scope)
        case Delete():
            yield from _read(statement.where, scope)


def _clause(clause: MergeClause, scope: frozenset[str]) -> Iterator[TableName]:
    yield from _read(clause.condition, scope)
    match clause.action:
        case MergeUpdate(assignments):
            yield from _assigned(assignments or (), scope)
        case MergeInsert(_, values):
            yield from _values(values or (), scope)
        case MergeDelete():
            return


def _assigned(assignments: tuple[Assignment, ...], scope: frozenset[str]) -> Iterator[TableName]:
    yield from _values(tuple(assignment.value for assignment in assignments), scope)


def _values(values: tuple[Value, ...], scope: frozenset[str]) -> Iterator[TableName]:
    for value in values:
        if not isinstance(value, Default | exp.Literal):
            yield from _read(value, scope)


# ------------------------------------------------------------------------------------------------ trees


def table_nodes(tree: exp.Expr) -> Iterator[exp.Table]:
    """The nodes of a tree that name tables, in the order of the text: names of CTEs in scope and frames do not."""
    return _nodes(tree, frozenset())


def _read(node: exp.Expr | None, scope: frozenset[str]) -> Iterator[TableName]:
    """The tables below a node in the order of the text; `scope` holds the CTEs that are visible there."""
    return filter(None, map(table_name, _nodes(node, scope)))


def _nodes(node: exp.Expr | None, scope: frozenset[str]) -> Iterator[exp.Table]:
    """A loop and not a recursion: a chain of a thousand ORs is a thousand levels deep."""
    waiting: list[tuple[exp.Expr, frozenset[str]]] = [(node, scope)] if node is not None else []
    while waiting:
        part, seen = waiting.pop()
        with_ = part.args.get("with_")
        if isinstance(with_, exp.With):
            nodes, seen = _cte_nodes(with_, seen)
            yield from nodes
        if isinstance(part, exp.Table):
            name = table_name(part)
            if name is not None and not (name.database is None and name.name in seen):
                yield part
        children = [child for child in part.iter_expressions() if not isinstance(child, exp.With)]
        waiting.extend((child, seen) for child in reversed(children))


def _ctes(with_: exp.With | None, scope: frozenset[str]) -> tuple[list[TableName], frozenset[str]]:
    nodes, scope = _cte_nodes(with_, scope)
    return list(filter(None, map(table_name, nodes))), scope


def _cte_nodes(with_: exp.With | None, scope: frozenset[str]) -> tuple[list[exp.Table], frozenset[str]]:
    """The tables that the CTEs read, and the scope after them. A CTE sees the CTEs before it, and not itself."""
    nodes: list[exp.Table] = []
    for cte in with_.expressions if with_ else ():
        own = cte.alias.lower()
        seen = scope | {own} if with_ and with_.args.get("recursive") else scope
        nodes.extend(_nodes(cte.this, seen))
        scope |= {own}
    return nodes, scope


def table_name(table: exp.Table) -> TableName | None:
    """The table that a tree's node names; None for a frame, a table function or a wrapper around a relation."""
    if frame_of(table) is not None or not isinstance(table.this, exp.Identifier):
        return None
    database = table.args.get("db")
    place = span_of(table.this)
    if place is not None and isinstance(database, exp.Identifier):
        before = span_of(database)
        place = replace(place, start=before.start) if before else place
    return TableName(
        database.name.lower() if isinstance(database, exp.Identifier) else None,
        table.name.lower(),
        place,
    )
