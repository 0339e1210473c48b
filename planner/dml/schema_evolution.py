"""WITH SCHEMA EVOLUTION: the columns that INSERT and MERGE add to their target, and the types that they widen.

    1. `source_query` is the query for the columns of the statement's source; whoever plans finds their types.
    2. `evolution` takes from them what the statement stores without a change: in an INSERT each column of the query, in
       a MERGE the columns of UPDATE SET * and INSERT *, and those of `SET c = source.c`.
    3. The target gets the columns that it lacks, behind its own, and the types of `is_widening_unattended`.

The rules for names and types are those of ALTER TABLE (column_changes.py). As in Spark, a star means the columns of the
source: an UPDATE leaves other columns of the target as they are, and an INSERT gives them their DEFAULT.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import Array, HiveType, Map, Struct, parse_type
from acidsql.acid.schema_evolution import is_widening_in_parquet, is_widening_unattended
from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.statements import (
    AddColumns,
    Assignment,
    ChangeColumn,
    ColumnDefinition,
    Default,
    Insert,
    Merge,
    MergeClause,
    MergeDelete,
    MergeInsert,
    MergeUpdate,
    MultiInsert,
    Name,
    Query,
    Value,
    Values,
)
from acidsql.planner.ddl.column_changes import redefined
from acidsql.planner.dml.arrow_insert import frame_columns
from acidsql.planner.plan import Evolution, Facts
from acidsql.planner.queries.name_resolution import find_table
from acidsql.planner.queries.values_queries import rows_query

VOID: Final = "void"
"""The type of a column that has only NULLs (the literal NULL)."""


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """A column of the source: its name in lower case, and its Hive type; None for a type that Hive does not have."""

    name: str
    type: str | None


def source_query(statement: Insert | Merge) -> Query:
    """The query whose columns are those of the statement's source."""
    match statement:
        case Merge():
            query = exp.select("*").from_(statement.using.copy())
            if statement.ctes is not None:
                query.set("with_", statement.ctes.copy())
            return Query(statement.source, query)
        case Insert(rows=Values(rows=rows)):
            literals = [[exp.null() if isinstance(v, Default) else v.copy() for v in row] for row in rows]
            return Query(statement.source, rows_query([exp.Tuple(expressions=row) for row in literals]))
        case Insert():
            assert isinstance(statement.rows, exp.Query)
            return Query(statement.source, statement.rows)


def columns_of_frame(statement: Insert | Merge, facts: Facts) -> Sequence[SourceColumn] | None:
    """The columns of an INSERT that only takes columns of a frame; None of other sources, and where only Spark can find
    the types of the frame's columns."""
    match statement:
        case Insert(rows=exp.Select() as query):
            given = frame_columns(query)
        case _:
            return None
    known = None if given is None else facts.relations.get(f"{{{given.frame}}}")
    if given is None or not known:
        return None
    names = [name.lower() for name in given.columns] if given.columns is not None else list(known)
    return [SourceColumn(name, known[name]) for name in names] if known.keys() >= set(names) else None


def evolution(statement: Insert | Merge, facts: Facts, source: Sequence[SourceColumn]) -> Evolution:
    """What the statement changes in the definition of its target. `source` are the columns of `source_query`.

    Raises what `find_table` raises, INVALID_COLUMN_NAME and DUPLICATE_COLUMN for the names of new columns, and
    ALTER_REFUSED for a column that cannot be added, or for a struct that would need further fields.
    """
    span = statement.target.span
    if isinstance(statement, Insert):
        table = find_table(statement.target, facts, Condition.INSERT_INTO_VIEW)
        stored = _of_insert(statement, table, source)
    else:
        table = find_table(statement.target, facts)
        stored = _of_merge(statement, source)
    changed = table
    for name, column in stored:
        known = next((c for c in changed.columns if c.name == name.value), None)
        if known is not None:
            changed = _widened(changed, known, column, span)
        elif name.value not in changed.column_names:
            added = ColumnDefinition(name, _type_to_add(column, name, table))
            changed = redefined(changed, AddColumns((added,)), span)
    return Evolution(table, changed, tuple(column.name for column in source))


def check_no_evolution(statement: MultiInsert) -> None:
    """Raises NOT_YET_SUPPORTED for WITH SCHEMA EVOLUTION in a statement with FROM before INSERT."""
    for branch in statement.branches:
        if branch.evolves:
            feature = "WITH SCHEMA EVOLUTION in a statement with FROM before INSERT"
            hint = "Write one INSERT WITH SCHEMA EVOLUTION for each target."
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=branch.target.span, feature=feature, hint=hint)


# ------------------------------------------------------------------------------------------------ what is stored


def _of_insert(statement: Insert, table: Table, source: Sequence[SourceColumn]) -> Iterator[tuple[Name, SourceColumn]]:
    """The target column of each source column. Without a list of columns they are in the order of the target's, new
    ones between its regular columns and the dynamic partition columns, where they stand in the next statement too."""
    if statement.columns is not None:
        yield from zip(statement.columns, source, strict=False)
        return
    static = {item.column.value for item in statement.partition if item.value is not None}
    own = len(table.columns)
    dynamic = sum(1 for column in table.partition_columns if column.name not in static)
    if len(source) < own + dynamic:
        return  # the planner reports the number of columns
    span = statement.target.span
    yield from ((Name(c.name, span), column) for c, column in zip(table.columns, source, strict=False))
    if not isinstance(statement.rows, Values):  # literals have no names
        further = source[own : len(source) - dynamic]
        names = [*table.column_names, *(column.name for column in further)]
        for column in further:
            if names.count(column.name) > 1:
                raise AcidSqlError(Condition.DUPLICATE_COLUMN, span=span, column=column.name)
        yield from ((Name(column.name, span), column) for column in further)


def _of_merge(statement: Merge, source: Sequence[SourceColumn]) -> Iterator[tuple[Name, SourceColumn]]:
    """The columns of the source that a clause stores in the columns of their names."""
    by_name = {column.name: column for column in source}
    span = statement.target.span
    for clause in statement.clauses:
        if clause.action in (MergeUpdate(None), MergeInsert(None, None)):
            yield from ((Name(column.name, span), column) for column in source)
    side = str(statement.using.alias_or_name).lower()
    for clause in statement.clauses:
        for name, value in _assigned(clause):
            if name.value in by_name and _is_column_of_source(value, name.value, side):
                yield name, by_name[name.value]


def _assigned(clause: MergeClause) -> Iterator[tuple[Name, Value]]:
    match clause.action:
        case MergeUpdate(assignments):
            yield from ((a.column, a.value) for a in assignments or () if isinstance(a, Assignment))
        case MergeInsert(columns, values):
            yield from zip(columns or (), values or (), strict=False)
        case MergeDelete():
            return


def _is_column_of_source(value: Value, name: str, side: str) -> bool:
    return (
        isinstance(value, exp.Column)
        and len(value.parts) == 2
        and value.name.lower() == name
        and value.table.lower() == side
    )


# ------------------------------------------------------------------------------------------------ types


def _widened(table: Table, known: Column, given: SourceColumn, span: Span | None) -> Table:
    """The table, in which the column has the type of the source if all its values keep their meaning under it. Buckets
    depend on the type, so a column of CLUSTERED BY keeps its own."""
    if given.type in (None, VOID, known.type) or known.name in table.bucket_columns:
        return table
    before, after = parse_type(known.type), parse_type(given.type or VOID)
    _check_fields(before, after, known, table, span)
    fits = is_widening_in_parquet(before, after) if table.file_format == "parquet" else True
    if before == after or not fits or not is_widening_unattended(before, after):
        return table
    name = Name(known.name, span)
    return redefined(table, ChangeColumn(name, ColumnDefinition(name, str(after))), span)


def _type_to_add(given: SourceColumn, name: Name, table: Table) -> str:
    if given.type is None or given.type == VOID:
        kind = "no type: all its values are NULL" if given.type == VOID else "a type that Hive does not have"
        message = f"Column {name.value} cannot be added to {table.qualified}: in the source it has {kind}"
        raise AcidSqlError(Condition.ALTER_REFUSED, span=name.span, message=message, hint="CAST it to a type of Hive.")
    return given.type


def _check_fields(before: HiveType, after: HiveType, column: Column, table: Table, span: Span | None) -> None:
    """Raises ALTER_REFUSED for a struct of the source with fields that the target's does not have: ALTER TABLE cannot
    change a complex type, and the statement would lose their values."""
    match before, after:
        case Struct(fields), Struct(given):
            known: Mapping[str, HiveType] = dict(fields)
            for name, kind in given:
                if name not in known:
                    message = (
                        f"Field {name} of the source's {column.name} cannot be added to {table.qualified}: no statement"
                        " changes the fields of a struct"
                    )
                    hint = (
                        f"The type of {column.name} is {column.type}. Add a column for the values, or leave them out."
                    )
                    raise AcidSqlError(Condition.ALTER_REFUSED, span=span, message=message, hint=hint)
                _check_fields(known[name], kind, column, table, span)
        case Array(element), Array(other):
            _check_fields(element, other, column, table, span)
        case Map(_, value), Map(_, other):
            _check_fields(value, other, column, table, span)
        case _:
            return
