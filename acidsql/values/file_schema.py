"""The Arrow schema of a table's files, as streams write them."""

from __future__ import annotations

import pyarrow as pa

from acidsql.acid.hive_types import HiveType, parse_type
from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.values.arrow_types import arrow_type


def file_schema(table: Table) -> pa.Schema:
    """The columns of the table's files, which hold no partition columns.

    Raises NOT_YET_SUPPORTED for a column whose type acidsql does not know.
    """
    return pa.schema([pa.field(c.name, arrow_type(known_type(c, table))) for c in table.columns])


def known_type(column: Column, table: Table) -> HiveType:
    """The column's type. Raises NOT_YET_SUPPORTED for those that acidsql does not know, such as UNIONTYPE."""
    try:
        return parse_type(column.type)
    except AcidSqlError as error:
        feature = f"Streaming into the column {column.name} of type {column.type} ({table.qualified})"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature) from error
