"""The databases of a Hive Metastore, and the names of the tables and views in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NoReturn

from pymetastore.hive_metastore import ttypes as t

from acidsql.errors import AcidSqlError, Condition, suggestion
from acidsql.metastore.catalog import DEFAULT_DATABASE, Database
from acidsql.metastore.hive import thrift_idl as idl
from acidsql.metastore.hive import thrift_tables as mapped
from acidsql.metastore.hive.thrift_connection import HiveConnections
from acidsql.metastore.hive.thrift_lookups import stored_table

_WAREHOUSE: Final = "hive.metastore.warehouse.dir"
_EXTERNAL_WAREHOUSE: Final = "hive.metastore.warehouse.external.dir"


class HiveDatabases:
    """Methods of `Catalog` (metastore/catalog.py)."""

    def __init__(self, hive: HiveConnections) -> None:
        self._hive = hive

    def databases(self) -> Sequence[Database]:
        return [self.database(name) for name in sorted(self._hive.ask(lambda c: c.get_all_databases()))]

    def database(self, name: str) -> Database:
        try:
            found = self._hive.ask(lambda c: idl.get_database(c, name), t.NoSuchObjectException)
        except t.NoSuchObjectException as error:
            known = self._hive.ask(lambda c: c.get_all_databases())
            raise AcidSqlError(
                Condition.DATABASE_NOT_FOUND, database=name, suggestion=suggestion(name, list(known))
            ) from error
        return mapped.database_from_hive(found, self._managed_location(found))

    def _managed_location(self, database: Any) -> str | None:
        """The directory for ACID tables, if it is not the database's (Warehouse.getDatabaseManagedPath)."""
        managed = database.managedLocationUri
        if not managed:
            external = mapped.location_from_hive(self._setting(_EXTERNAL_WAREHOUSE))
            location = mapped.location_from_hive(database.locationUri)
            if database.name == DEFAULT_DATABASE:
                managed = self._setting(_WAREHOUSE)
            elif external and location.startswith(f"{external}/"):
                managed = f"{self._setting(_WAREHOUSE)}/{database.name}.db"
        found = mapped.location_from_hive(managed or database.locationUri)
        return None if found == mapped.location_from_hive(database.locationUri) else found

    def _setting(self, name: str) -> str:
        return str(self._hive.ask(lambda c: c.get_config_value(name, "")) or "").rstrip("/")

    def create_database(self, database: Database) -> None:
        new = mapped.database_to_hive(replace(database, owner=database.owner or self._hive.user))
        try:
            self._hive.tell(lambda c: c.create_database(new), t.AlreadyExistsException)
        except t.AlreadyExistsException as error:
            raise AcidSqlError(Condition.DATABASE_ALREADY_EXISTS, database=database.name) from error

    def alter_database(self, database: Database) -> None:
        """Two calls. What acidsql does not know of the database stays."""
        try:
            found = self._hive.ask(lambda c: idl.get_database(c, database.name), t.NoSuchObjectException)
        except t.NoSuchObjectException as error:
            raise AcidSqlError(Condition.DATABASE_NOT_FOUND, database=database.name, suggestion="") from error
        mapped.change_database(found, database, self._managed_location(found))
        self._hive.tell(lambda c: idl.alter_database(c, database.name, found))

    def drop_database(self, name: str) -> None:
        """Keeps the directory."""
        if name == DEFAULT_DATABASE:
            raise AcidSqlError(Condition.CANNOT_DROP_DEFAULT_DATABASE)
        if self.tables(name):
            raise AcidSqlError(Condition.DATABASE_NOT_EMPTY, database=name)
        self._hive.tell(lambda c: c.drop_database(name, False, False))

    # -- what is in them

    def tables(self, database: str) -> Sequence[str]:
        self.database(database)
        return sorted(self._hive.ask(lambda c: c.get_all_tables(database)))

    def views(self, database: str) -> Sequence[str]:
        self.database(database)
        return sorted(self._hive.ask(lambda c: c.get_tables_by_type(database, "*", mapped.VIEW)))

    def _find(self, database: str, name: str) -> Any:
        return stored_table(self._hive, database, name)

    def _no_table(self, database: str, name: str) -> NoReturn:
        near = suggestion(name, list(self.tables(database)))
        raise AcidSqlError(Condition.TABLE_NOT_FOUND, table=f"{database}.{name}", suggestion=near)
