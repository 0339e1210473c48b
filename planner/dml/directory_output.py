"""INSERT OVERWRITE DIRECTORY: the plan that writes a query's rows as the files of a directory, which no table owns.

The files are those of a plain table that no catalog knows. As in Hive, its columns are `_col0`, `_col1` and so on, and
without a clause it is stored as text with Hive's default separators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from acidsql.acid.csv_format import CSV_SERDE
from acidsql.acid.table import Column, Table
from acidsql.acid.text_serdes import OTHER_SERDES, check_serde
from acidsql.acid.write_ids import StatementId
from acidsql.grammar.quoting import name_sql
from acidsql.grammar.statements import InsertDirectory
from acidsql.planner.ddl.create_defaults import with_file_format
from acidsql.planner.dml.insert import check_serializes, insert_events
from acidsql.planner.lock_requests import LockRules, read_locks
from acidsql.planner.plan import Branch, Effect, EventKind, Facts, Overwrite, QueryPlan, StoredValue, WritePlan

_VOID: Final = "void"


def directory_table(
    statement: InsertDirectory, location: str, types: Sequence[str], settings: Mapping[str, str]
) -> Table:
    """The table that stands for the files: its location is the directory, its columns have the query's Hive types.

    Raises NOT_YET_SUPPORTED for a format that acidsql does not write, SERDE_READS_ONLY.
    """
    output = with_file_format(statement.output, settings)
    is_text = output.file_format == "textfile"
    kinds = ["string" if kind == _VOID or output.serde == CSV_SERDE else kind for kind in types]
    table = Table(
        database="",
        name=location,
        columns=tuple(Column(f"_col{place}", kind) for place, kind in enumerate(kinds)),
        location=location,
        file_format=output.file_format or "textfile",
        row_format=dict(output.row_format) if is_text else {},
        serde=output.serde if output.serde in OTHER_SERDES else None,
        external=True,
    )
    check_serializes(table, statement.output.table.span)
    check_serde(table)
    return table


def plan_insert_directory(statement: InsertDirectory, table: Table, query: QueryPlan, facts: Facts) -> WritePlan:
    """Plans the write of the query's rows into `table`, which `directory_table` gives."""
    span = statement.output.table.span
    names = [f":{column.name}" for column in table.columns]
    given = {column.name: name_sql(name) for column, name in zip(table.columns, names, strict=True)}
    return WritePlan(
        operation="INSERT OVERWRITE DIRECTORY",
        target=table,
        rows=query.sql,
        events=insert_events(table, given, facts),
        branches=(Branch(StatementId(0), EventKind.INSERT, Effect.INSERTED, "INSERT", by_columns=True),),
        values=tuple(StoredValue(name, column, span) for name, column in zip(names, table.columns, strict=True)),
        scans=query.scans,
        frames=query.frames,
        views=query.views,
        locks=read_locks(query.scans, LockRules.of(facts)),
        positional=tuple(names),
        mode=Overwrite(),
        source_span=span,
    )
