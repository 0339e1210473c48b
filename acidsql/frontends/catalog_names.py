"""The names of a session's catalog, for completion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError

if TYPE_CHECKING:  # the prompt is shown before the session is imported
    from acidsql.session import Session


class CatalogNames:
    """The names of a session for completion. Errors of the metastore count as no names."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def current_database(self) -> str:
        return self._session.database

    def databases(self) -> Sequence[str]:
        try:
            return [database.name for database in self._session.catalog.databases()]
        except AcidSqlError:
            return ()

    def tables(self, database: str) -> Sequence[str]:
        try:
            return self._session.catalog.tables(database)
        except AcidSqlError:
            return ()

    def columns(self, database: str, table: str) -> Sequence[str]:
        try:
            found = self._session.catalog.find(database, table)
        except AcidSqlError:
            return ()
        return () if found is None else found.column_names

    def partition_columns(self, database: str, table: str) -> Sequence[str]:
        try:
            found = self._session.catalog.find(database, table)
        except AcidSqlError:
            return ()
        return [column.name for column in found.partition_columns] if isinstance(found, Table) else ()
