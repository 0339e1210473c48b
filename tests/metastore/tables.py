"""Tables that the contract's tests create."""

from __future__ import annotations

from dataclasses import replace

from acidsql.acid.table import Column, Table
from acidsql.metastore.catalog import Database, Partition

WAREHOUSE = "/warehouse"
"""The location of the database `default`, set for each test: Hive's metastore makes the directories of tables."""

ACID = {"transactional": "true", "transactional_properties": "default", "bucketing_version": "2"}


def plain_table(name: str = "t", *, database: str = "default") -> Table:
    directory = name if database == "default" else f"{database}.db/{name}"
    return Table(
        database,
        name,
        (Column("id", "int"),),
        f"{WAREHOUSE}/{directory}",
        properties=ACID,
        owner="me",
        created=1_700_000_000,
    )


def partitioned_table(name: str = "tab1") -> Table:
    return replace(plain_table(name), partition_columns=(Column("p", "string"), Column("q", "int")))


def partition(table: Table, *values: str | None, at: str | None = None) -> Partition:
    """A partition below the table's directory."""
    return Partition(values, f"{table.location}/{at or '-'.join(map(str, values))}")


def database(name: str) -> Database:
    return Database(name, f"{WAREHOUSE}/{name}.db")
