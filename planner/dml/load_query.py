"""LOAD DATA through a query: the plan of the INSERT that copies the rows of files into a table.

Hive takes it where the files cannot become files of the table as they are (LoadSemanticAnalyzer): they are in another
format, or they hold the values of partition columns, as their last columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from sqlglot import exp

from acidsql.acid.csv_format import CSV_SERDE
from acidsql.acid.table import Table
from acidsql.acid.text_serdes import OTHER_SERDES
from acidsql.grammar.statements import CreateTable, Insert, LoadData
from acidsql.planner.ddl.create_defaults import with_file_format
from acidsql.planner.dml.insert import plan_insert, static_values
from acidsql.planner.plan import Facts, WritePlan
from acidsql.planner.queries.name_resolution import quoted

_DATABASE: Final = ":load"
_NAME: Final = "files"


def needs_query(statement: LoadData, table: Table) -> bool:
    """Whether the rows are copied by a query: with INPUTFORMAT .. SERDE, and where the PARTITION clause leaves
    partition columns open."""
    given = sum(item.value is not None for item in statement.partition)
    return statement.input_format is not None or given < len(table.partition_columns)


def loaded_table(statement: LoadData, table: Table, facts: Facts) -> Table:
    """The table that stands for the files, with the path as its location. Hive makes a temporary external table.

    Its columns are those of `table`, then the partition columns that the PARTITION clause leaves open. Without
    INPUTFORMAT .. SERDE, its format is that of `table`.

    Raises NOT_YET_SUPPORTED for classes that acidsql cannot read, and what the PARTITION clause breaks.
    """
    insert = Insert(statement.source, statement.target, exp.Select(), partition=statement.partition)
    given = static_values(insert, table, facts)
    loaded = replace(
        table,
        database=_DATABASE,
        name=_NAME,
        columns=(*table.columns, *(c for c in table.partition_columns if c.name not in given)),
        location=statement.path,
        partition_columns=(),
        bucket_columns=(),
        bucket_count=None,
        sort_columns=(),
        properties={key: value for key, value in table.properties.items() if not key.startswith("transactional")},
        external=True,
    )
    if statement.input_format is None:
        return loaded
    named = CreateTable(statement.source, statement.target, storage_class=statement.input_format, serde=statement.serde)
    return _with_format(loaded, with_file_format(named, facts.settings))


def _with_format(loaded: Table, named: CreateTable) -> Table:
    """The table with the format of a statement, and with Hive's defaults for all its properties."""
    columns = loaded.columns
    if named.serde == CSV_SERDE:
        columns = tuple(replace(column, type="string") for column in columns)
    return replace(
        loaded,
        columns=columns,
        file_format=named.file_format or loaded.file_format,
        row_format={},
        serde=named.serde if named.serde in OTHER_SERDES else None,
        properties={},
    )


def plan_load_query(statement: LoadData, loaded: Table, facts: Facts) -> WritePlan:
    """The plan of INSERT .. SELECT * from the files. Raises what INSERT raises."""
    source = exp.Table(this=quoted(loaded.name), db=quoted(loaded.database))
    insert = Insert(
        statement.source,
        statement.target,
        exp.Select(expressions=[exp.Star()], from_=exp.From(this=source)),
        partition=statement.partition,
        overwrite=statement.overwrite,
    )
    tables: Mapping[str, Table] = {**facts.tables, loaded.qualified: loaded}
    plan = plan_insert(insert, replace(facts, tables=tables))
    locks = tuple(lock for lock in plan.locks if lock.database != loaded.database)
    return replace(plan, operation="LOAD DATA", locks=locks)
