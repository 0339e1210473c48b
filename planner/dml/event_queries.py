"""Event queries: SQL that turns the rows a statement found into one row per event, with the target's column types."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import Char, parse_type
from acidsql.acid.table import Column, Table
from acidsql.errors import Condition
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.parser import parse
from acidsql.grammar.quoting import name_sql, sql_string
from acidsql.grammar.statements import Query
from acidsql.planner.expressions.expression_types import ExpressionTypes
from acidsql.planner.expressions.hive_expressions import rewrite
from acidsql.planner.expressions.typed_rules import apply_rules
from acidsql.planner.plan import BRANCH, PLACE, ROW_ID, ROWS
from acidsql.planner.sql_errors import raise_sql
from acidsql.planner.stored_values.stored_sql import spark_type

_NO_PLACE: Final = "CAST(NULL AS INT)"
ROW_ID_TYPE: Final = "STRUCT<writeid: BIGINT, bucketid: INT, rowid: BIGINT>"


def exploded(branches: str, identity: Mapping[str, str], values: Mapping[str, str], source: str) -> str:
    """A query that yields one event for each number in `branches`, an array of the row's branches. `identity` and
    `values` are SQL over the row and BRANCH.

    The query explodes numbers instead of structs: Spark would box each value of a struct for every event.
    """
    columns = select_list({BRANCH: name_sql(BRANCH), **identity, **values})
    return f"SELECT\n  {columns}\nFROM (SELECT *, explode({branches}) AS {name_sql(BRANCH)} FROM {source})"


def first_events(branch: str, identity: Mapping[str, str], values: Mapping[str, str], source: str) -> str:
    """A query that yields one event for each row, that of `branch`. The arguments are as those of `exploded`."""
    columns = select_list({BRANCH: name_sql(BRANCH), **identity, **values})
    return f"SELECT\n  {columns}\nFROM (SELECT *, {branch} AS {name_sql(BRANCH)} FROM {source})"


def in_inserts(inserts: int, values: Mapping[str, str]) -> dict[str, str]:
    """The values in the events of branches below `inserts`, and NULL in others: Hive stores no row in a delete
    event."""
    return {name: f"CASE WHEN {name_sql(BRANCH)} < {inserts} THEN {value} END" for name, value in values.items()}


def rows_view() -> str:
    return name_sql(ROWS)


def old_identity(table: Table) -> dict[str, str]:
    """The row ID and the partition of an old row, as columns of the rows query."""
    return {ROW_ID: name_sql(ROW_ID)} | ({PLACE: name_sql(PLACE)} if table.partition_columns else {})


def event_identity(table: Table, moved: Collection[int]) -> dict[str, str]:
    """The row ID and the partition of an event. Rows of the branches `moved` go to the partition that their partition
    columns name."""
    identity = old_identity(table)
    if table.partition_columns and moved:
        branches = ", ".join(map(str, sorted(moved)))
        identity[PLACE] = f"CASE WHEN {name_sql(BRANCH)} NOT IN ({branches}) THEN {name_sql(PLACE)} END"
    return identity


def no_identity(table: Table) -> dict[str, str]:
    """The identity of a new row: NULLs."""
    return {ROW_ID: f"CAST(NULL AS {ROW_ID_TYPE})"} | ({PLACE: _NO_PLACE} if table.partition_columns else {})


def select_list(values: Mapping[str, str], indent: str = "  ") -> str:
    return f",\n{indent}".join(
        name_sql(name) if value == name_sql(name) else f"{value} AS {name_sql(name)}" for name, value in values.items()
    )


def nulls(table: Table) -> dict[str, str]:
    """The column values of a delete event, in which Hive stores no row: NULLs."""
    return {c.name: null_of(c) for c in table.all_columns}


def null_of(target: Column) -> str:
    return f"CAST(NULL AS {spark_type(parse_type(target.type))})"


def checked_branch(branch: str, table: Table) -> str:
    """SQL for the branch of a new row. It raises CONSTRAINT_VIOLATED for NULL in a NOT NULL column, then for a CHECK
    that is false."""
    cases = [
        f"WHEN {name_sql(c.name)} IS NULL THEN {_violated(f'NOT NULL on column {c.name}')}"
        for c in table.all_columns
        if c.name in table.constraints.not_null
    ]
    cases += [
        f"WHEN NOT ({_in_spark(check.condition, table)}) THEN {_violated(f'CHECK {check.name or check.condition}')}"
        for check in table.constraints.checks
    ]
    return f"CASE {' '.join(cases)} ELSE {branch} END" if cases else branch


def _in_spark(condition: str, table: Table) -> str:
    """The condition of a CHECK as Spark must compute it: by Hive's rules, and with CHAR values stripped of their
    padding, as Hive's expressions see them."""
    query = parse(f"SELECT {condition} FROM new_row")
    assert isinstance(query, Query)
    fields = {c.name: parse_type(c.type) for c in table.all_columns}
    padded = {name for name, kind in fields.items() if isinstance(kind, Char)}

    def stripped(node: exp.Expr) -> exp.Expr:
        is_padded = isinstance(node, exp.Column) and node.name.lower() in padded
        return exp.Anonymous(this="RTRIM", expressions=[node.copy()]) if is_padded else node

    typed = query.tree.copy()
    apply_rules(typed, ExpressionTypes(typed, lambda _: fields), {})
    tree = typed.transform(stripped)
    assert isinstance(tree, exp.Query)
    rewrite(tree)
    value = tree.selects[0].unalias()
    return condition if value == query.tree.selects[0] else to_spark(value)


def _violated(detail: str) -> str:
    return raise_sql(Condition.CONSTRAINT_VIOLATED, detail=sql_string(detail))
