"""What is said where there is no warehouse yet. What reads makes none, so that a wrong name leaves no trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar import statements as s
from acidsql.metastore.client import Metastore
from acidsql.statements.results import Result, RowsResult

_NOT_FOUND = (Condition.TABLE_NOT_FOUND.name, Condition.DATABASE_NOT_FOUND.name)


def check_warehouse(metastore: Metastore, warehouse: str) -> None:
    """Raises WAREHOUSE_NOT_FOUND where the metastore has not been made yet."""
    if (absent := metastore.absent) is not None:
        hint = (
            "CREATE TABLE and CREATE DATABASE make it. Another one is named by --warehouse DIR or $ACIDSQL_WAREHOUSE,"
            " and by --metastore URI or $ACIDSQL_METASTORE."
        )
        raise AcidSqlError(Condition.WAREHOUSE_NOT_FOUND, warehouse=warehouse, metastore=absent, hint=hint)


@contextmanager
def telling_absence(metastore: Metastore, warehouse: str) -> Iterator[None]:
    """Adds to the error of a table or database that was not found that there is no warehouse at all."""
    try:
        yield
    except AcidSqlError as error:
        if error.condition not in _NOT_FOUND or metastore.absent is None:
            raise
        raise error.with_hint(_note(warehouse)) from error.__cause__


def with_note_on_absence(result: Result, statement: s.Statement, metastore: Metastore, warehouse: str) -> Result:
    """The result with a note, if it says what a warehouse holds and there is none: it is that of an empty one."""
    tells_contents = isinstance(statement, s.Show) and statement.what is not s.Shown.FUNCTIONS
    if tells_contents and isinstance(result, RowsResult) and metastore.absent is not None:
        return replace(result, note=_note(warehouse))
    return result


def _note(warehouse: str) -> str:
    return f"There is no warehouse at {warehouse} yet: CREATE TABLE and CREATE DATABASE make it."
