"""The tables and databases that a statement names, as the catalog has them, with errors at their place in the text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from acidsql.acid.table import Table
from acidsql.ddl.relocation import Files, settled
from acidsql.errors import AcidSqlError
from acidsql.grammar.statements import Name, TableName
from acidsql.metastore.client import Database, Metastore
from acidsql.metastore.transactions import Transactions


@dataclass(frozen=True, slots=True)
class TableLookup:
    """Looks up tables and databases. `settle` ends the move that a table may be in the middle of (relocation.py)."""

    metastore: Metastore
    settle: Callable[[Table], Table]

    @staticmethod
    def waiting(transactions: Transactions, files: Files) -> TableLookup:
        """A lookup that waits for a move under way. A holder of the table's lock must not use it."""
        return TableLookup(transactions.metastore, lambda table: settled(transactions, files, table))

    def find(self, name: TableName, database: str) -> Table | None:
        """The table, or None."""
        table = self.metastore.find_table(name.database or database, name.name)
        return None if table is None else self.settle(table)

    def exists(self, name: TableName, database: str) -> bool:
        return self.metastore.find_table(name.database or database, name.name) is not None

    def table(self, name: TableName, database: str) -> Table:
        """Raises TABLE_NOT_FOUND and DATABASE_NOT_FOUND at the place of the name."""
        try:
            return self.settle(self.metastore.table(name.database or database, name.name))
        except AcidSqlError as error:
            raise (error.with_span(name.span) if name.span else error) from None

    def database(self, name: Name) -> Database:
        """Raises DATABASE_NOT_FOUND at the place of the name."""
        try:
            return self.metastore.database(name.value)
        except AcidSqlError as error:
            raise (error.with_span(name.span) if name.span else error) from None

    def database_of(self, name: TableName, database: str) -> Database:
        """The database of a table that is to be created. Raises DATABASE_NOT_FOUND at the place of the name."""
        return self.database(Name(name.database or database, name.span))
