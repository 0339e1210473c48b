"""INSERT: the rows of VALUES or of a query, each stored under its column's type as one insert event."""

from __future__ import annotations

from sqlglot import exp

from acidsql.acid.table import Column, Table
from acidsql.acid.writeids import StatementId
from acidsql.errors import AcidSqlError, Condition, Span, suggestion
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.statements import Default, Insert, Values
from acidsql.planner.events import checked_branch, name_sql, no_row_id, rows_view, stored
from acidsql.planner.locks import insert_locks
from acidsql.planner.plan import BRANCH, ROW_ID, Branch, Effect, EventKind, Facts, StoredValue, WritePlan
from acidsql.planner.resolve import Binder, check_layout, default_of, find_column, find_table


def plan_insert(statement: Insert, facts: Facts) -> WritePlan:
    """Raises TABLE_NOT_FOUND, INSERT_COLUMN_NOT_FOUND, DUPLICATE_COLUMN, INSERT_COLUMN_COUNT (for VALUES)."""
    table = find_table(statement.target, facts)
    _check_supported(statement, table)
    columns = _target_columns(statement, table)
    binder = Binder(facts, statement.source)
    rows = binder.bind(_rows(statement, table, columns))
    given = {c.name: name_sql(f"@{c.name}") for c in columns}
    return WritePlan(
        operation="INSERT",
        target=table,
        rows=to_spark(rows),
        events=_events(table, given, facts),
        branches=(Branch(StatementId(0), EventKind.INSERT, Effect.INSERTED, "INSERT"),),
        values=tuple(StoredValue(f"@{c.name}", c, statement.target.span) for c in columns),
        scans=binder.scans,
        frames=binder.frames,
        locks=insert_locks(table, binder.scans),
        positional=tuple(f"@{c.name}" for c in columns),
        few_rows=isinstance(statement.rows, Values),
        source_span=statement.target.span,
    )


def _check_supported(statement: Insert, table: Table) -> None:
    span = statement.target.span
    if table.sort_columns and table.is_transactional:
        raise AcidSqlError(Condition.SORTED_TABLE, span=span, table=table.qualified)
    check_layout(table, span)
    if statement.overwrite:
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=span, feature="INSERT OVERWRITE")
    if statement.partition:
        item = statement.partition[0].column
        raise AcidSqlError(Condition.PARTITION_COLUMN_UNKNOWN, span=item.span, column=item.value)


def _target_columns(statement: Insert, table: Table) -> tuple[Column, ...]:
    """The columns that get the values, by position."""
    if statement.columns is None:
        return table.columns
    found: list[Column] = []
    for name in statement.columns:
        column = find_column(name, table)
        if column is None:
            near = suggestion(name.value, table.column_names)
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
    return tuple(found)


def _rows(statement: Insert, table: Table, columns: tuple[Column, ...]) -> exp.Query:
    match statement.rows:
        case Values():
            return _values(statement.rows, table, columns, statement)
        case query:
            return query


def _values(values: Values, table: Table, columns: tuple[Column, ...], statement: Insert) -> exp.Query:
    """VALUES as a query, DEFAULT filled in. Every row must have one value for each column (ErrorMsg 10044)."""
    tuples = []
    for number, row in enumerate(values.rows):
        if len(row) != len(columns):
            span = values.row_spans[number] if number < len(values.row_spans) else statement.target.span
            raise wrong_count(table, len(columns), len(row), span)
        items = [default_of(c, table) if isinstance(v, Default) else v for c, v in zip(columns, row, strict=True)]
        tuples.append(exp.Tuple(expressions=[i.copy() for i in items]))
    rows = exp.Values(expressions=tuples, alias=exp.TableAlias(this=exp.to_identifier("rows", quoted=True)))
    return exp.select("*").from_(rows)


def wrong_count(table: Table, expected: int, got: int, span: Span | None) -> AcidSqlError:
    """The error of an INSERT whose rows have more or fewer values than it has columns."""
    detail = f"the target has {expected} columns but the statement gives {got} values."
    return AcidSqlError(
        Condition.INSERT_COLUMN_COUNT,
        span=span,
        table=table.qualified,
        detail=detail,
        hint=f"The columns are {', '.join(c.name for c in table.columns)}; name those you give in a column list.",
    )


def _events(table: Table, given: dict[str, str], facts: Facts) -> str:
    """Columns that are not given get their DEFAULT, else NULL."""
    values = {
        c.name: stored(given.get(c.name) or to_spark(default_of(c, table)), c, facts.settings) for c in table.columns
    }
    columns = ",\n  ".join(f"{value} AS {name_sql(name)}" for name, value in values.items())
    branch = checked_branch("0", table)
    head = f"SELECT {branch} AS {name_sql(BRANCH)}, {no_row_id()} AS {name_sql(ROW_ID)}"
    if branch == "0":
        return f"{head},\n  {columns}\nFROM {rows_view()}"
    # A constraint reads the new row by its column names: give it a row of them first.
    return f"{head}, *\nFROM (SELECT\n  {columns}\nFROM {rows_view()})"
