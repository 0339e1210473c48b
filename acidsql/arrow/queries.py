"""The query that `Session.read_arrow` stands for, and the errors of what it cannot read."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition, Span, suggestion
from acidsql.grammar import statements as s
from acidsql.grammar.dialect import span_of
from acidsql.grammar.parser import parse
from acidsql.grammar.quoting import sql_string
from acidsql.planner.conditions.row_predicates import undecided
from acidsql.planner.plan import QueryPlan

_HINT = 'session.sql("SELECT ..").toArrow() answers any query, with Spark.'
_VIRTUAL = ("row__id", "input__file__name")


def table_item(name: str, version: int | None = None, timestamp: str | None = None) -> str:
    """A FROM item: the table of this name, at a version or a time. Raises INVALID_PARAMETER."""
    if version is not None and timestamp is not None:
        reason = "a table is read at a version or at a time, not at both"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="version", reason=reason)
    table = named_table(name)
    if timestamp is not None:
        return f"{table} TIMESTAMP AS OF {sql_string(str(timestamp))}"
    if version is None:
        return table
    return f"{table} VERSION AS OF {write_id_argument(version, 'version')}"


def named_table(name: str) -> str:
    """The name of a table, quoted. Raises INVALID_PARAMETER."""
    if not isinstance(name, str):
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="name", reason=f"{name!r} is not a table's name")
    return ".".join(_quoted(part) for part in name.replace("`", "").split("."))


def write_id_argument(version: int, argument: str) -> int:
    """The value of an argument that is a write ID. Raises INVALID_PARAMETER."""
    if not isinstance(version, int) or isinstance(version, bool):
        raise AcidSqlError(Condition.INVALID_PARAMETER, name=argument, reason=f"{version!r} is not a write ID")
    return version


def arrow_query(name: str, columns: Sequence[str] | None, where: str | None, version: int | None = None) -> s.Query:
    """SELECT columns FROM name WHERE where, at a version of the table. Raises INVALID_PARAMETER for columns that are no
    list of names, SYNTAX_ERROR, and NOT_YET_SUPPORTED for a text that is more than a condition."""
    table = table_item(name, version)
    is_list = (
        isinstance(columns, Sequence) and not isinstance(columns, str) and all(isinstance(c, str) for c in columns)
    )
    if columns is not None and not (is_list and columns):
        reason = "give a list of one name or more, or None for all columns"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="columns", reason=f"it is {columns!r}: {reason}")
    items = "*" if columns is None else ", ".join(map(_quoted, columns))
    text = f"SELECT {items} FROM {table}" + ("" if where is None else f" WHERE {where}")
    statement = parse(text)
    if not isinstance(statement, s.Query) or not _has_condition_only(statement.tree, where):
        raise _unsupported(f"More than a condition in `where`: {where}", None)
    return statement


def check_arrow_plan(plan: QueryPlan, statement: s.Query) -> None:
    """Raises NOT_YET_SUPPORTED for a view and for a condition that only Spark can evaluate, and COLUMN_NOT_FOUND."""
    if plan.views:
        raise _unsupported(f"Reading the view {plan.views[0].qualified} without Spark", None)
    if not plan.scans:
        raise _unsupported("Reading a temporary view without Spark", None)
    table = plan.scans[0].table
    check_names(statement, table)
    if plan.simple is None:
        raise _unsupported("This query without Spark", None)
    node = None if plan.simple.predicate is None else undecided(plan.simple.predicate)
    if node is not None:
        where = statement.tree.args["where"].this
        span = span_of(node, statement.source) or span_of(where, statement.source)
        raise _unsupported("This condition without Spark", span)


def check_names(statement: s.Query, table: Table) -> None:
    """Raises COLUMN_NOT_FOUND for a name that the table does not have."""
    known = (*table.column_names, *_VIRTUAL)
    for node in statement.tree.find_all(exp.Column):
        first = node.parts[0].name.lower()
        if not isinstance(node.this, exp.Star) and first not in (*known, table.name, table.database):
            near = suggestion(node.name, list(table.column_names))
            span = span_of(node, statement.source)
            raise AcidSqlError(Condition.COLUMN_NOT_FOUND, span=span, column=node.name, suggestion=near)


def _has_condition_only(tree: exp.Expr, where: str | None) -> bool:
    """Whether the text of the condition has not added clauses to the query."""
    clauses = {key for key, value in tree.args.items() if value}
    return isinstance(tree, exp.Select) and clauses <= {"expressions", "from_", "where"}


def _unsupported(feature: str, span: Span | None) -> AcidSqlError:
    return AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature, span=span, hint=_HINT)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
