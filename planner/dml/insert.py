"""INSERT: each row of VALUES or of a query, converted to the types of its columns, is one insert event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sqlglot import exp

from acidsql.acid.regex_format import REGEX_SERDE
from acidsql.acid.table import Column, Table
from acidsql.acid.write_ids import StatementId
from acidsql.errors import AcidSqlError, Condition, Span, suggestion
from acidsql.grammar.dialect import span_of, to_spark
from acidsql.grammar.quoting import name_sql
from acidsql.grammar.statements import Default, Insert, Values
from acidsql.metastore.catalog import PartitionValues
from acidsql.planner.ddl.partition_spec import check_assignments, check_static_value, partition_values
from acidsql.planner.dml.arrow_insert import arrow_insert
from acidsql.planner.dml.event_queries import checked_branch, no_identity, rows_view, select_list
from acidsql.planner.lock_requests import LockRules, evolving_locks, insert_locks, overwrite_locks
from acidsql.planner.plan import (
    BRANCH,
    Append,
    Branch,
    Effect,
    EventKind,
    Evolution,
    Facts,
    Overwrite,
    RowSource,
    StoredValue,
    WritePlan,
    changing,
)
from acidsql.planner.queries.name_resolution import Binder, default_of, find_column, find_table
from acidsql.planner.queries.values_queries import rows_query
from acidsql.planner.stored_values.integer_casts import assigned
from acidsql.planner.stored_values.stored_sql import stored

FIRST: Final = StatementId(0)
DYNAMIC_PARTITION_MODE: Final = "hive.exec.dynamic.partition.mode"


def plan_insert(
    statement: Insert, facts: Facts, statement_id: StatementId = FIRST, evolution: Evolution | None = None
) -> WritePlan:
    """INSERT INTO and INSERT OVERWRITE, with static and dynamic partitions.

    Raises TABLE_NOT_FOUND, INSERT_COLUMN_NOT_FOUND, DUPLICATE_COLUMN, INSERT_COLUMN_COUNT (for VALUES),
    PARTITION_COLUMN_UNKNOWN, INVALID_PARTITION_SPEC, DYNAMIC_PARTITION_ORDER, DYNAMIC_PARTITION_STRICT, SORTED_TABLE,
    IF_NOT_EXISTS_DYNAMIC, SERDE_READS_ONLY.
    """
    table = find_table(statement.target, facts, Condition.INSERT_INTO_VIEW)
    if table.sort_columns and table.is_transactional:
        raise AcidSqlError(Condition.SORTED_TABLE, span=statement.target.span, table=table.qualified)
    check_serializes(table, statement.target.span)
    table = table if evolution is None else evolution.after
    static = static_values(statement, table, facts)
    if statement.if_not_exists and len(static) < max(1, len(table.partition_columns)):
        raise AcidSqlError(Condition.IF_NOT_EXISTS_DYNAMIC, span=statement.target.span)
    columns = _target_columns(statement, table, static)
    binder = Binder(facts, statement.source)
    rows = binder.bind(_rows(statement, table, columns))
    given = {c.name: name_sql(f":{c.name}") for c in columns} | static
    locks = (overwrite_locks if statement.overwrite else insert_locks)(table, binder.scans, LockRules.of(facts))
    return WritePlan(
        operation="INSERT OVERWRITE" if statement.overwrite else "INSERT",
        target=table,
        rows=to_spark(rows),
        events=insert_events(table, given, facts),
        branches=(Branch(statement_id, EventKind.INSERT, Effect.INSERTED, "INSERT", by_columns=True),),
        values=_stored_values(statement, columns),
        scans=binder.scans,
        frames=binder.frames,
        views=binder.views,
        locks=evolving_locks(locks, evolution),
        positional=tuple(f":{c.name}" for c in columns),
        row_source=RowSource.TEXT if isinstance(statement.rows, Values) else RowSource.QUERY,
        mode=Overwrite(statement.if_not_exists) if statement.overwrite else Append(),
        static=static,
        partition=_literal_partition(statement, table) if len(static) == len(table.partition_columns) else None,
        source_span=statement.target.span,
        arrow=arrow_insert(statement, table, columns),
        evolution=changing(evolution),
    )


def check_serializes(table: Table, span: Span | None) -> None:
    """Raises SERDE_READS_ONLY for a table whose SerDe has no writer."""
    if table.serde == REGEX_SERDE:
        raise AcidSqlError(Condition.SERDE_READS_ONLY, span=span, table=table.qualified)


def static_values(statement: Insert, table: Table, facts: Facts) -> dict[str, str]:
    """Checks the PARTITION clause, and returns the values of its static columns as SQL."""
    items = {item.column.value: item for item in statement.partition}
    names = [c.name for c in table.partition_columns]
    for item in statement.partition:
        if item.column.value not in names:
            raise AcidSqlError(Condition.PARTITION_COLUMN_UNKNOWN, span=item.column.span, column=item.column.value)
    check_assignments(statement.partition)
    if items and (missing := [n for n in names if n not in items]):
        detail = f"the PARTITION clause does not name {', '.join(missing)}."
        span = statement.partition[0].column.span
        raise AcidSqlError(Condition.INSERT_COLUMN_COUNT, span=span, table=table.qualified, detail=detail)
    for column in table.partition_columns:
        if column.name in items:
            check_static_value(items[column.name], column)
    static = {
        c.name: to_spark(assigned(value, c, facts.settings))
        for c in table.partition_columns
        if c.name in items and (value := items[c.name].value) is not None
    }
    _check_order(statement, names, static)
    if names and not static and facts.settings.get(DYNAMIC_PARTITION_MODE, "nonstrict") == "strict":
        raise AcidSqlError(Condition.DYNAMIC_PARTITION_STRICT, span=statement.target.span)
    return static


def _literal_partition(statement: Insert, table: Table) -> PartitionValues | None:
    """The values of a PARTITION clause that has a value for every column. None if a value is not a literal of its
    column's type: Spark then converts it."""
    types = {c.name: c.type for c in table.partition_columns}
    given = ((item.value, types[item.column.value]) for item in statement.partition)
    if any(not _is_string(value) and kind.startswith(("string", "varchar", "char")) for value, kind in given):
        return None
    try:
        return partition_values(statement.partition, table, statement.target.span) if types else None
    except AcidSqlError as error:
        if error.condition == Condition.INVALID_PARTITION_VALUE.name:
            raise
        return None


def _is_string(value: exp.Expr | None) -> bool:
    return isinstance(value, exp.Null) or (isinstance(value, exp.Literal) and value.is_string)


def _check_order(statement: Insert, names: Sequence[str], static: Mapping[str, str]) -> None:
    """Raises DYNAMIC_PARTITION_ORDER if a static partition column follows a dynamic one in the table (ErrorMsg
    10094)."""
    dynamic_before = False
    for name in names:
        if name in static and dynamic_before:
            span = next(i.column.span for i in statement.partition if i.column.value == name)
            raise AcidSqlError(Condition.DYNAMIC_PARTITION_ORDER, span=span, partition=name)
        dynamic_before = dynamic_before or name not in static


def _target_columns(statement: Insert, table: Table, static: Mapping[str, str]) -> tuple[Column, ...]:
    """The target columns of the values, by position. Dynamic partition columns come last, unless the column list names
    them."""
    dynamic = [c for c in table.partition_columns if c.name not in static]
    if statement.columns is None:
        return (*table.columns, *dynamic)
    found: list[Column] = []
    for name in statement.columns:
        column = find_column(name, table)
        if column is None or column.name in static:
            near = suggestion(name.value, [n for n in table.column_names if n not in static])
            raise AcidSqlError(
                Condition.INSERT_COLUMN_NOT_FOUND,
                span=name.span,
                column=name.value,
                table=table.qualified,
                suggestion=near,
            )
        if column in found:
            raise AcidSqlError(Condition.DUPLICATE_COLUMN, span=name.span, column=name.value)
        found.append(column)
    named = statement.partition or any(c in found for c in dynamic)
    return (*found, *(c for c in dynamic if named and c not in found))


def _stored_values(statement: Insert, columns: tuple[Column, ...]) -> tuple[StoredValue, ...]:
    """The stored values with their spans: in the first row of VALUES, or in a SELECT list without a star."""
    trees: list[exp.Expr | None]
    match statement.rows:
        case Values():
            trees = [None if isinstance(value, Default) else value for value in statement.rows.rows[0]]
        case query:
            trees = list(query.selects)
    placed = len(trees) == len(columns) and not any(isinstance(tree, exp.Star) for tree in trees)
    spans = [span_of(tree, statement.source) if tree is not None and placed else None for tree in trees]
    spans = spans if placed else [None] * len(columns)
    return tuple(
        StoredValue(f":{c.name}", c, span or statement.target.span) for c, span in zip(columns, spans, strict=True)
    )


def _rows(statement: Insert, table: Table, columns: tuple[Column, ...]) -> exp.Query:
    match statement.rows:
        case Values():
            return _values(statement.rows, table, columns, statement)
        case query:
            return query


def _values(values: Values, table: Table, columns: tuple[Column, ...], statement: Insert) -> exp.Query:
    """VALUES as a query, with the values of DEFAULT. Each row must have one value for each column (ErrorMsg 10044)."""
    tuples = []
    for number, row in enumerate(values.rows):
        if len(row) != len(columns):
            span = values.row_spans[number] if number < len(values.row_spans) else statement.target.span
            raise wrong_count(table, len(columns), len(row), span)
        items = [default_of(c, table) if isinstance(v, Default) else v for c, v in zip(columns, row, strict=True)]
        tuples.append(exp.Tuple(expressions=[i.copy() for i in items]))
    _unify(tuples)
    return rows_query(tuples)


def _unify(rows: Sequence[exp.Tuple]) -> None:
    """Casts a column with strings and other values to STRING, as Hive does. Spark's VALUES would reject it."""
    for place in range(len(rows[0].expressions)):
        values = [row.expressions[place] for row in rows if not isinstance(row.expressions[place], exp.Null)]
        strings = [value.is_string for value in values]
        if any(strings) and not all(strings):
            for value, is_string in zip(values, strings, strict=True):
                if not is_string:
                    value.replace(exp.cast(value.copy(), "string"))


def wrong_count(table: Table, expected: int, got: int, span: Span | None) -> AcidSqlError:
    """The error for rows with more or fewer values than the INSERT has columns."""
    detail = f"the target has {expected} columns but the statement gives {got} values."
    return AcidSqlError(
        Condition.INSERT_COLUMN_COUNT,
        span=span,
        table=table.qualified,
        detail=detail,
        hint=f"The columns are {', '.join(table.column_names)}; name those you give in a column list.",
    )


def insert_events(table: Table, given: Mapping[str, str], facts: Facts) -> str:
    """The event query of new rows. `given` maps columns to SQL values. Other columns get their DEFAULT, or NULL without
    one."""
    values = {
        c.name: stored(
            given.get(c.name) or to_spark(assigned(default_of(c, table), c, facts.settings)), c, facts.settings
        )
        for c in table.all_columns
    }
    branch = checked_branch("0", table)
    head = select_list({BRANCH: branch, **no_identity(table)}).replace("\n  ", " ")
    if branch == "0":
        return f"SELECT {head},\n  {select_list(values)}\nFROM {rows_view()}"
    # A constraint names columns of the new row, so a subquery computes them first.
    return f"SELECT {head}, *\nFROM (SELECT\n  {select_list(values)}\nFROM {rows_view()})"
