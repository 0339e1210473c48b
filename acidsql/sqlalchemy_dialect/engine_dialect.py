"""The dialect itself: how SQLAlchemy connects, and what acidsql can do."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final

from sqlalchemy import exc, schema
from sqlalchemy.engine import URL
from sqlalchemy.sql.compiler import IdentifierPreparer

from acidsql.errors import Condition
from acidsql.sqlalchemy_dialect.ddl_compiler import TABLE_OPTIONS, AcidSqlDdlCompiler
from acidsql.sqlalchemy_dialect.reflection import CatalogDialect
from acidsql.sqlalchemy_dialect.statement_compiler import AcidSqlCompiler, AcidSqlIdentifierPreparer
from acidsql.sqlalchemy_dialect.type_mapping import AcidSqlTypeCompiler

AUTOCOMMIT: Final = "AUTOCOMMIT"
SNAPSHOT: Final = "SNAPSHOT"
"""The isolation level of transactions: all statements read one snapshot, and the first writer to commit wins."""
_GONE: Final = (Condition.SESSION_CLOSED.name, Condition.SPARK_GONE.name)


class AcidSqlDialect(CatalogDialect):
    """`acidsql:///DIRECTORY`, with `?metastore=URI` and settings of Spark (`&spark.master=local[2]`) as options."""

    name = "acidsql"
    driver = "dbapi"
    default_paramstyle = "named"
    max_identifier_length = 255
    supports_statement_cache = True

    statement_compiler = AcidSqlCompiler
    ddl_compiler = AcidSqlDdlCompiler
    type_compiler_cls = AcidSqlTypeCompiler
    preparer: type[IdentifierPreparer] = AcidSqlIdentifierPreparer
    construct_arguments = [(schema.Table, dict(TABLE_OPTIONS))]  # noqa: RUF012

    supports_native_boolean = True
    supports_native_decimal = True
    returns_native_bytes = True
    supports_sane_rowcount = True
    supports_sane_multi_rowcount = True
    supports_multivalues_insert = True
    supports_is_distinct_from = True
    supports_comments = True
    inline_comments = True
    div_is_floordiv = False
    # What Hive does not have:
    supports_default_values = False
    supports_empty_insert = False
    supports_sequences = False
    supports_identity_columns = False
    supports_native_enum = False
    supports_native_uuid = False
    postfetch_lastrowid = False
    insert_null_pk_autoincrement = False
    tuple_in_values = False

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        from acidsql import dbapi

        return dbapi

    def create_connect_args(self, url: URL) -> Any:
        """The arguments of `acidsql.dbapi.connect`. Raises ArgumentError for an option that does not exist."""
        if url.host or url.username:
            raise exc.ArgumentError(
                "The URL is acidsql:///DIRECTORY; a Hive Metastore is ?metastore=thrift://HOST:PORT"
            )
        conf: dict[str, str] = {}
        arguments: dict[str, Any] = {"warehouse": url.database or None, "autocommit": False, "conf": conf}
        for key, value in url.query.items():
            if not isinstance(value, str):
                raise exc.ArgumentError(f"{key} is given more than once in the URL")
            if key.startswith("spark."):
                conf[key] = value
            elif key in ("warehouse", "metastore"):
                arguments[key] = value
            else:
                raise exc.ArgumentError(f"{key} is not an option of an acidsql URL: metastore, warehouse, spark.*")
        return [], arguments

    def _get_default_schema_name(self, connection: Any) -> str:
        return str(connection.connection.dbapi_connection.session.database)

    def _get_server_version_info(self, connection: Any) -> tuple[int, ...]:
        import acidsql

        return tuple(int(part) for part in acidsql.__version__.split(".") if part.isdigit())

    # -- transactions

    def get_isolation_level_values(self, dbapi_conn: Any) -> list[str]:  # type: ignore[override]
        return [SNAPSHOT, AUTOCOMMIT]

    def get_default_isolation_level(self, dbapi_conn: Any) -> str:  # type: ignore[override]
        return SNAPSHOT

    def get_isolation_level(self, dbapi_connection: Any) -> str:  # type: ignore[override]
        return AUTOCOMMIT if dbapi_connection.autocommit else SNAPSHOT

    def set_isolation_level(self, dbapi_connection: Any, level: Any) -> None:
        dbapi_connection.autocommit = level == AUTOCOMMIT

    def detect_autocommit_setting(self, dbapi_conn: Any) -> bool:
        return bool(dbapi_conn.autocommit)

    # -- connections of the pool

    def do_ping(self, dbapi_connection: Any) -> bool:
        """Whether the connection is open. No statement is run: the first one starts Spark."""
        dbapi_connection.require_open()
        return True

    def is_disconnect(self, e: Any, connection: Any, cursor: Any) -> bool:
        return getattr(e, "condition", None) in _GONE
