"""Databases and tables: created, adopted, dropped. Needs the catalog and the file system, never a Spark job."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from acidsql.acid.hive_types import parse_type
from acidsql.acid.layout import adopted_write_ids
from acidsql.acid.object_names import check_column_name, check_database_name, check_table_name, without_case
from acidsql.acid.partition_names import parse_partition_name
from acidsql.acid.table import TRANSACTIONAL, TRANSACTIONAL_PROPERTIES, Check, Column, Constraints, Table
from acidsql.acid.text_format import SERDES, text_format
from acidsql.acid.write_ids import parse_adopted_write_ids
from acidsql.ddl.create_like import spelled_out
from acidsql.ddl.exclusive_access import exclusively, exclusively_database, keeping_database
from acidsql.ddl.ownership import Ownership, absolute
from acidsql.ddl.relocation import MOVING, settled
from acidsql.errors import AcidSqlError, Condition, suggestion
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.statements import (
    ColumnDefinition,
    CreateDatabase,
    CreateTable,
    DropDatabase,
    DropTable,
    Name,
    TableName,
)
from acidsql.metastore.client import DEFAULT_DATABASE, AdoptedWriteIds, Database, Metastore, Partition
from acidsql.metastore.transactions import Transactions
from acidsql.storage.file_systems import FileSystem, Listing

ADOPT_WRITE_IDS: Final = "acidsql.adopt.writeids"


@dataclass(frozen=True, slots=True)
class Ddl:
    """Runs DDL statements. `files` gives the file system of a location."""

    transactions: Transactions
    warehouse: str
    files: Callable[[str], FileSystem]

    @property
    def metastore(self) -> Metastore:
        return self.transactions.metastore

    def ownership(self) -> Ownership:
        return Ownership(self.metastore, self.files)

    def create_database(self, statement: CreateDatabase) -> None:
        """Raises DATABASE_ALREADY_EXISTS, INVALID_DATABASE_NAME, LOCATION_TAKEN."""
        name = statement.database.value
        if statement.if_not_exists and any(d.name == name for d in self.metastore.databases()):
            return
        check_database_name(name, statement.database.span)
        location = absolute(statement.location or f"{self.warehouse}/{name}.db")
        self.ownership().require_for_database(name, location, statement.database.span)
        properties = dict(statement.properties)
        self.metastore.create_database(Database(name, location, statement.comment, properties))
        files = self.files(location)
        files.make_directories(files.resolve(location))

    def drop_database(self, statement: DropDatabase) -> None:
        """Once nobody uses the database any more. Raises DATABASE_NOT_FOUND, DATABASE_NOT_EMPTY."""
        name = statement.database.value

        def gone() -> bool:
            return statement.if_exists and all(d.name != name for d in self.metastore.databases())

        if gone():
            return
        self.metastore.database(name)
        with exclusively_database(self.transactions, name) as require_lock:
            if not gone():
                self._drop_database(self.metastore.database(name), require_lock, cascade=statement.cascade)

    def _drop_database(self, database: Database, require_lock: Callable[[], None], *, cascade: bool) -> None:
        """Under the EXCLUSIVE lock, which is one on all its tables too. Its directory stays if it holds files: they are
        of no table."""
        if cascade and database.name != DEFAULT_DATABASE:
            ownership = self.ownership()
            for table in self.metastore.tables(database.name):
                self._forget(self.metastore.table(database.name, table), ownership, require_lock)
        require_lock()
        self.metastore.drop_database(database.name)
        for location in filter(None, (database.location, database.managed_location)):
            if self.ownership().is_empty(location):
                self._delete(location)

    def create_table(self, statement: CreateTable, database: str) -> None:
        """Creates the table, or adopts what lies at its LOCATION (interface.md).

        Raises TABLE_ALREADY_EXISTS, DATABASE_NOT_FOUND, INVALID_TABLE_NAME, INVALID_COLUMN_NAME, DUPLICATE_COLUMN,
        COLUMN_NOT_FOUND, INVALID_TABLE_PROPERTIES, LOCATION_TAKEN.
        """
        _check_supported(statement)
        owner = statement.table.database or database
        if self.exists(statement, database):
            return
        if statement.like is not None:
            statement = spelled_out(statement, self.lookup(statement.like, database))
        self.metastore.database(owner)
        with keeping_database(self.transactions, owner):
            self._create_table(statement, self.metastore.database(owner))

    def _create_table(self, statement: CreateTable, database: Database) -> None:
        table = self._definition(statement, database)
        listing = self._listing(statement, table)
        self.metastore.create_table(
            table, adopted=self._adopted(statement, table, listing), partitions=_found_partitions(table, listing)
        )
        files = self.files(table.location)
        files.make_directories(files.resolve(table.location))

    def exists(self, statement: CreateTable, database: str) -> bool:
        """Whether IF NOT EXISTS leaves nothing to be done."""
        owner = statement.table.database or database
        return statement.if_not_exists and self.metastore.find_table(owner, statement.table.name) is not None

    def declare(self, statement: CreateTable, database: str, columns: Sequence[tuple[str, str]]) -> Table:
        """The table that CREATE TABLE .. AS is to make: `columns` are its query's, names and Hive's types. The catalog
        gets it with its rows.

        Raises what CREATE TABLE raises, COLUMN_NOT_FOUND where the query lacks a partition column, LOCATION_NOT_EMPTY.
        """
        _check_supported(statement)
        owner = statement.table.database or database
        if self.metastore.find_table(owner, statement.table.name) is not None:
            raise AcidSqlError(
                Condition.TABLE_ALREADY_EXISTS, span=statement.table.span, table=f"{owner}.{statement.table.name}"
            )
        table = self._definition(_with_columns(statement, columns), self.metastore.database(owner))
        self._require_own(statement, table)
        self._require_empty(statement, table)
        return table

    def drop_table(self, statement: DropTable, database: str) -> None:
        """Drops the table; a managed table's files go with it. Raises TABLE_NOT_FOUND."""
        owner = statement.table.database or database
        if statement.if_exists and self.metastore.find_table(owner, statement.table.name) is None:
            return
        self._drop(self.lookup(statement.table, database))

    def database(self, name: Name) -> Database:
        """The database, or DATABASE_NOT_FOUND at its place."""
        try:
            return self.metastore.database(name.value)
        except AcidSqlError as error:
            raise (error.with_span(name.span) if name.span else error) from None

    def database_of(self, name: TableName, database: str) -> Database:
        """The database of a table that is to be, or DATABASE_NOT_FOUND at its place."""
        return self.database(Name(name.database or database, name.span))

    def find(self, name: TableName, database: str) -> Table | None:
        """The table, or None."""
        table = self.metastore.find_table(name.database or database, name.name)
        return None if table is None else settled(self.transactions, self.files, table)

    def lookup(self, name: TableName, database: str) -> Table:
        """The table, or TABLE_NOT_FOUND at its place."""
        try:
            return settled(self.transactions, self.files, self.metastore.table(name.database or database, name.name))
        except AcidSqlError as error:
            raise (error.with_span(name.span) if name.span else error) from None

    def _drop(self, table: Table) -> None:
        """Once no transaction writes the table any more."""
        if not table.is_transactional:
            self._forget(table, self.ownership(), lambda: None)
        else:
            with exclusively(self.transactions, table) as held:
                self._forget(held.table, self.ownership(), held.require_open)

    def _forget(self, table: Table, ownership: Ownership, require_lock: Callable[[], None]) -> None:
        """The table, and its files if they are its own; those of an external table may go with it in Hive's metastore
        (external.table.purge). Without the lock, both may be those of another table by now."""
        is_own = ownership.is_own(table, table.location)
        require_lock()
        self.metastore.drop_table(table.database, table.name, with_files=is_own)
        if is_own and not table.external:
            require_lock()
            self._delete(table.location)

    def _delete(self, location: str) -> None:
        files = self.files(location)
        files.delete(files.resolve(location))

    # -- CREATE TABLE

    def _definition(self, statement: CreateTable, database: Database) -> Table:
        check_table_name(statement.table.name, statement.table.span)
        columns = tuple(_column(c) for c in statement.columns)
        partition_columns = tuple(_column(c) for c in statement.partition_columns)
        _check_columns(statement)
        properties = _properties(statement)
        transactional = properties.get(TRANSACTIONAL, "").lower() == "true"
        default_location = f"{database.location_of(transactional=transactional)}/{statement.table.name}"
        table = Table(
            database=database.name,
            name=statement.table.name,
            columns=columns,
            partition_columns=partition_columns,
            location=absolute(statement.location or default_location),
            bucket_columns=tuple(c.value for c in statement.bucket_columns),
            bucket_count=statement.bucket_count,
            sort_columns=tuple(c.value for c in statement.sort_columns),
            file_format=statement.file_format or "orc",
            row_format=dict(statement.row_format) if statement.file_format == "textfile" else {},
            properties=properties,
            constraints=_constraints(statement),
            external=statement.external,
            comment=statement.comment,
            created=int(time.time()),
        )
        _check_transactional(table, statement)
        return table

    def _listing(self, statement: CreateTable, table: Table) -> Listing:
        """What lies where the table is to be. Raises LOCATION_TAKEN, and LOCATION_NOT_EMPTY where no LOCATION names
        it."""
        self._require_own(statement, table)
        if statement.location is None:
            return self._require_empty(statement, table)
        files = self.files(table.location)
        return files.list_below(files.resolve(table.location))

    def _require_own(self, statement: CreateTable, table: Table) -> None:
        """Raises LOCATION_TAKEN. A default place where nothing lies is nobody's: every table has a directory."""
        files = self.files(table.location)
        if statement.location is not None or files.exists(files.resolve(table.location)):
            self.ownership().require_for_table(table, statement.table.span)

    def _require_empty(self, statement: CreateTable, table: Table) -> Listing:
        files = self.files(table.location)
        listing = files.list_below(files.resolve(table.location))
        if listing.files:
            reason = "a new table would take over the files that lie there"
            hint = "Name the directory with LOCATION to adopt its files, or remove them."
            raise AcidSqlError(
                Condition.LOCATION_NOT_EMPTY, span=statement.table.span, path=table.location, reason=reason, hint=hint
            )
        return listing

    def _adopted(self, statement: CreateTable, table: Table, listing: Listing) -> AdoptedWriteIds | None:
        """What is known of the write IDs of a directory that another program wrote."""
        if not table.is_transactional:
            return None
        return _found_write_ids(listing, table, dict(statement.properties).get(ADOPT_WRITE_IDS))


def _found_partitions(table: Table, listing: Listing) -> tuple[Partition, ...]:
    """The partitions whose directories lie below the table's (`p=a/q=b`), by name. Raises LOCATION_NOT_EMPTY where two
    directories go by one name (`p=a%2Fb`, `p=a%2fb`)."""
    depth = len(table.partition_columns)
    names = [c.name for c in table.partition_columns]
    found = {}
    for path in listing.directories:
        values = parse_partition_name(path, names) if depth and path.count("/") == depth - 1 else None
        if values in found:
            reason = f"{path} and another directory are the same partition"
            raise AcidSqlError(Condition.LOCATION_NOT_EMPTY, path=table.location, reason=reason)
        if values is not None:
            found[values] = Partition(values, f"{table.location}/{path}")
    return tuple(found.values())


def _found_write_ids(listing: Listing, table: Table, told: str | None) -> AdoptedWriteIds:
    paths = [f.path for f in listing.files]
    high_watermark, committed_txns = adopted_write_ids(paths, listing.directories)
    if told is None:
        return AdoptedWriteIds(high_watermark, committed_txns=committed_txns)
    given = parse_adopted_write_ids(table.qualified, told)
    return AdoptedWriteIds(given.high_watermark, given.open, given.aborted, committed_txns)


def _check_supported(statement: CreateTable) -> None:
    span = statement.table.span
    if statement.temporary:
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=span, feature="CREATE TEMPORARY TABLE")
    if statement.file_format == "textfile" and statement.serde in (None, SERDES["textfile"]):
        text_format(dict(statement.row_format))
    if statement.serde is not None and statement.serde != SERDES.get(statement.file_format or "orc"):
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=span, feature=f"ROW FORMAT SERDE '{statement.serde}'")


def _with_columns(statement: CreateTable, columns: Sequence[tuple[str, str]]) -> CreateTable:
    """CREATE TABLE .. AS with the columns of its query; PARTITIONED BY (p) says which of them are partition columns."""
    partitions = {c.name.value: c for c in statement.partition_columns}
    types = dict(columns)
    for name, definition in partitions.items():
        if name not in types:
            near = suggestion(name, list(types))
            raise AcidSqlError(Condition.COLUMN_NOT_FOUND, span=definition.name.span, column=name, suggestion=near)
    span = statement.table.span
    regular = (ColumnDefinition(Name(n, span), kind) for n, kind in columns if n not in partitions)
    keys = (replace(definition, type=types[name]) for name, definition in partitions.items())
    return replace(statement, columns=tuple(regular), partition_columns=tuple(keys), query=None)


def _column(definition: ColumnDefinition) -> Column:
    parse_type(definition.type)
    return Column(definition.name.value, definition.type, definition.comment)


def _check_columns(statement: CreateTable) -> None:
    """Every name once, and the columns that buckets, sorting and constraints name must be there."""
    seen: set[str] = set()
    for definition in (*statement.columns, *statement.partition_columns):
        name = definition.name
        check_column_name(name.value, name.span)
        if without_case(name.value) in seen:
            raise AcidSqlError(Condition.DUPLICATE_COLUMN, span=name.span, column=name.value)
        seen.add(without_case(name.value))
    regular = [c.name.value for c in statement.columns]
    if not regular:
        message = "A table needs at least one column that is no partition column"
        raise AcidSqlError(Condition.INVALID_TABLE_PROPERTIES, span=statement.table.span, message=message)
    for name in (*statement.bucket_columns, *statement.sort_columns):
        if name.value not in regular:
            near = suggestion(name.value, regular)
            raise AcidSqlError(Condition.COLUMN_NOT_FOUND, span=name.span, column=name.value, suggestion=near)


def _properties(statement: CreateTable) -> dict[str, str]:
    """Hive's own additions for a transactional table (TransactionalValidationListener)."""
    properties = {k: v for k, v in statement.properties if k != ADOPT_WRITE_IDS}
    if MOVING in properties:
        message = f"{MOVING} is acidsql's own: it tells which directory a rename is moving"
        raise AcidSqlError(Condition.INVALID_TABLE_PROPERTIES, span=statement.table.span, message=message)
    if statement.transactional:
        properties[TRANSACTIONAL] = "true"
    # Hive takes `transactional` in any case, and keeps it in lower case.
    for key in [k for k in properties if k.lower() in (TRANSACTIONAL, TRANSACTIONAL_PROPERTIES)]:
        properties[key.lower()] = properties.pop(key)
    if properties.get(TRANSACTIONAL, "").lower() == "true":
        properties.setdefault(TRANSACTIONAL_PROPERTIES, "default")
    properties.setdefault("bucketing_version", "2")
    return properties


def _check_transactional(table: Table, statement: CreateTable) -> None:
    if not table.is_transactional:
        return
    span = statement.table.span
    if table.external:
        message = f"{table.qualified} cannot be declared transactional because it's an external table"
        raise AcidSqlError(Condition.INVALID_TABLE_PROPERTIES, span=span, message=message)
    if table.is_full_acid and table.file_format != "orc":
        message = (
            f"The table must be stored using an ACID compliant format (such as ORC): {table.qualified}"
            f" is stored as {table.file_format}"
        )
        hint = "Store it as ORC, or set 'transactional_properties'='insert_only'."
        raise AcidSqlError(Condition.INVALID_TABLE_PROPERTIES, span=span, message=message, hint=hint)
    if table.is_full_acid and table.sort_columns:
        raise AcidSqlError(Condition.SORTED_TABLE, span=span, table=table.qualified)


def _constraints(statement: CreateTable) -> Constraints:
    checks = [Check(c.name, to_spark(c.condition)) for c in statement.checks]
    checks += [Check(None, to_spark(c.check)) for c in statement.columns if c.check is not None]
    return Constraints(
        not_null=frozenset(c.name.value for c in statement.columns if c.not_null),
        defaults={c.name.value: to_spark(c.default) for c in statement.columns if c.default is not None},
        checks=tuple(checks),
    )
