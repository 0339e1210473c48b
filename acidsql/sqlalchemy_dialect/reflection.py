"""Reflection: what SQLAlchemy's inspector asks of the catalog. No statement is run, and no Spark starts."""

from __future__ import annotations

from typing import Any

from sqlalchemy import exc
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.engine.reflection import ReflectionDefaults, cache

from acidsql.acid.hive_types import parse_type
from acidsql.acid.table import Column, ConstraintKind, ConstraintName, Table, View
from acidsql.errors import AcidSqlError, Condition
from acidsql.session import Session
from acidsql.sqlalchemy_dialect.type_mapping import reflected_type


class CatalogDialect(DefaultDialect):
    """The part of the dialect that reads the catalog."""

    def has_schema(self, connection: Any, schema_name: str, **kw: Any) -> bool:
        return schema_name.lower() in self.get_schema_names(connection, **kw)

    @cache
    def has_table(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> bool:
        self._ensure_has_table_connection(connection)
        return _found(connection, table_name, schema) is not None

    def has_index(self, connection: Any, *args: Any, **kw: Any) -> bool:
        return False

    @cache
    def get_schema_names(self, connection: Any, **kw: Any) -> list[str]:
        return [database.name for database in _session(connection).catalog.databases()]

    @cache
    def get_table_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return [name for name, temporary in _tables(connection, schema) if not temporary]

    @cache
    def get_view_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        session, database = _database(connection, schema)
        return list(session.catalog.views(database)) if self.has_schema(connection, database) else []

    def get_temp_table_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return [name for name, temporary in _tables(connection, schema) if temporary]

    @cache
    def get_view_definition(self, connection: Any, view_name: str, schema: str | None = None, **kw: Any) -> str:
        found = _existing(connection, view_name, schema)
        if not isinstance(found, View):
            raise exc.NoSuchTableError(view_name)
        return found.original

    @cache
    def get_columns(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> list[Any]:
        found = _existing(connection, table_name, schema)
        if isinstance(found, View):
            return [_reflected(column) for column in found.columns]
        not_null, defaults = found.constraints.not_null, found.constraints.defaults
        return [
            _reflected(column, nullable=column.name not in not_null, default=defaults.get(column.name))
            for column in found.all_columns
        ]

    @cache
    def get_pk_constraint(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        for key in _keys(connection, table_name, schema, ConstraintKind.PRIMARY_KEY):
            return {"constrained_columns": list(key.columns), "name": key.name}
        return ReflectionDefaults.pk_constraint()

    @cache
    def get_foreign_keys(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> list[Any]:
        own = (schema or _session(connection).database).lower()
        keys: list[Any] = []
        for key in _keys(connection, table_name, schema, ConstraintKind.FOREIGN_KEY):
            database, _, name = (key.parent or "").rpartition(".")
            keys.append(
                {
                    "name": key.name,
                    "constrained_columns": list(key.columns),
                    "referred_schema": None if schema is None and database in ("", own) else database or own,
                    "referred_table": name,
                    "referred_columns": list(key.parent_columns),
                    "options": {},
                }
            )
        return keys

    @cache
    def get_unique_constraints(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        keys = _keys(connection, table_name, schema, ConstraintKind.UNIQUE)
        return [{"name": key.name, "column_names": list(key.columns)} for key in keys]

    @cache
    def get_check_constraints(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        found = _existing(connection, table_name, schema)
        checks = () if isinstance(found, View) else found.constraints.checks
        return [{"name": check.name, "sqltext": check.condition, "comment": None} for check in checks]

    @cache
    def get_indexes(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> list[Any]:
        _existing(connection, table_name, schema)
        return []

    @cache
    def get_table_comment(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        return {"text": _existing(connection, table_name, schema).comment or None}

    @cache
    def get_table_options(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> dict[str, Any]:
        """The options with which CREATE TABLE makes a table of this kind."""
        found = _existing(connection, table_name, schema)
        if isinstance(found, View):
            return {}
        options: dict[str, Any] = {
            "acidsql_stored_as": found.file_format.upper(),
            "acidsql_transactional": found.is_transactional,
        }
        if found.partition_columns:
            options["acidsql_partitioned_by"] = tuple(column.name for column in found.partition_columns)
        if found.bucket_count is not None and found.bucket_columns:
            options["acidsql_clustered_by"] = found.bucket_columns
            options["acidsql_buckets"] = found.bucket_count
        return options


def _session(connection: Any) -> Session:
    session = connection.connection.dbapi_connection.session
    assert isinstance(session, Session)
    return session


def _database(connection: Any, schema: str | None) -> tuple[Session, str]:
    session = _session(connection)
    return session, (schema or session.database).lower()


def _found(connection: Any, name: str, schema: str | None) -> Table | View | None:
    session, database = _database(connection, schema)
    try:
        return session.catalog.find(database, name.lower())
    except AcidSqlError as error:
        if error.condition == Condition.DATABASE_NOT_FOUND.name:
            return None
        raise


def _tables(connection: Any, schema: str | None) -> list[tuple[str, bool]]:
    """The tables of a database, and whether they are temporary. A database that does not exist has none."""
    session, database = _database(connection, schema)
    catalog = session.catalog
    if database not in {each.name for each in catalog.databases()}:
        return []
    names = set(catalog.tables(database)) - set(catalog.views(database))
    found = ((name, catalog.find(database, name)) for name in sorted(names))
    return [(name, relation.temporary) for name, relation in found if relation is not None]


def _existing(connection: Any, name: str, schema: str | None) -> Table | View:
    found = _found(connection, name, schema)
    if found is None:
        raise exc.NoSuchTableError(f"{schema}.{name}" if schema else name)
    return found


def _keys(connection: Any, name: str, schema: str | None, kind: ConstraintKind) -> list[ConstraintName]:
    found = _existing(connection, name, schema)
    if isinstance(found, View):
        return []
    return sorted((key for key in found.constraints.names if key.kind is kind), key=lambda key: key.name)


def _reflected(column: Column, *, nullable: bool = True, default: str | None = None) -> dict[str, Any]:
    return {
        "name": column.name,
        "type": reflected_type(parse_type(column.type)),
        "nullable": nullable,
        "default": default,
        "comment": column.comment,
    }
