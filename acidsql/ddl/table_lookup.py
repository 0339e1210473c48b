"""The tables, views and databases that a statement names, from the catalog, with errors at their place in the text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from acidsql.acid.table import Relation, Table, View
from acidsql.ddl.relocation import settled
from acidsql.ddl.system_views import system_view
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.statements import Name, TableName
from acidsql.metastore.catalog import Database
from acidsql.metastore.client import Metastore
from acidsql.metastore.transactions import Transactions
from acidsql.storage.file_systems import FilesOf


@dataclass(frozen=True, slots=True)
class TableLookup:
    """Looks up tables, views and databases. `settle` ends the move that a table may be in the middle of
    (relocation.py)."""

    metastore: Metastore
    settle: Callable[[Table], Table]

    @staticmethod
    def waiting(transactions: Transactions, files: FilesOf) -> TableLookup:
        """A lookup that waits for a move under way. A holder of the table's lock must not use it."""
        return TableLookup(transactions.metastore, lambda table: settled(transactions, files, table))

    def find(self, name: TableName, database: str) -> Relation | None:
        """The table or the view, or None. The views of `sys` stand for those of Hive, which read the database of a Hive
        Metastore."""
        found = self.metastore.find(name.database or database, name.name)
        if isinstance(found, Table):
            return self.settle(found)
        return system_view(name.database or database, name.name, self.metastore) or found

    def exists(self, name: TableName, database: str) -> bool:
        """Whether there is a table or a view of this name."""
        return self.metastore.find(name.database or database, name.name) is not None

    def relation(self, name: TableName, database: str) -> Relation:
        """The table or the view. Raises TABLE_NOT_FOUND and DATABASE_NOT_FOUND at the place of the name."""
        found = self.find(name, database)
        return self.table(name, database) if found is None else found

    def table(self, name: TableName, database: str) -> Table:
        """Raises TABLE_NOT_FOUND, NOT_A_TABLE and DATABASE_NOT_FOUND at the place of the name."""
        try:
            return self.settle(self.metastore.table(name.database or database, name.name))
        except AcidSqlError as error:
            raise (error.with_span(name.span) if name.span else error) from None

    def target(self, name: TableName, database: str, of_view: Condition) -> Table:
        """The table that a statement changes. Raises what `table` raises, and the condition `of_view` for a view."""
        try:
            return self.table(name, database)
        except AcidSqlError as error:
            if error.condition != Condition.NOT_A_TABLE.name:
                raise
            raise AcidSqlError(of_view, span=name.span, table=f"{name.database or database}.{name.name}") from None

    def view(self, name: TableName, database: str, of_table: Condition) -> View:
        """The view that a statement changes. Raises what `relation` raises, and the condition `of_table` for a
        table."""
        found = self.relation(name, database)
        if isinstance(found, Table):
            raise AcidSqlError(of_table, span=name.span, table=found.qualified)
        return found

    def database(self, name: Name) -> Database:
        """Raises DATABASE_NOT_FOUND at the place of the name."""
        try:
            return self.metastore.database(name.value)
        except AcidSqlError as error:
            raise (error.with_span(name.span) if name.span else error) from None

    def database_of(self, name: TableName, database: str) -> Database:
        """The database of a table that is to be created. Raises DATABASE_NOT_FOUND at the place of the name."""
        return self.database(Name(name.database or database, name.span))
