"""Connections: the settings of a profile, and what dbt does with a session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.acidsql.statements import ScriptCursor, open_handle
from dbt.adapters.contracts.connection import AdapterResponse, Connection, ConnectionState, Credentials
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.exceptions import FailedToConnectError
from dbt.adapters.sql import SQLConnectionManager
from dbt_common.exceptions import DbtConfigError, DbtDatabaseError, DbtRuntimeError

from acidsql.errors import AcidSqlError

logger = AdapterLogger("acidsql")


@dataclass
class AcidSqlCredentials(Credentials):
    """What an output of profiles.yml has besides `type` and `threads`."""

    schema: str = "default"
    """The Hive database."""
    database: str | None = None  # type: ignore[assignment]
    """Nothing: there is no level above Hive's databases."""
    warehouse: str | None = None
    """A directory, or a URI of a file system; as in `acidsql.connect`."""
    metastore: str | None = None
    conf: dict[str, str] = field(default_factory=dict)
    """Settings of the Spark that acidsql starts."""
    settings: dict[str, str] = field(default_factory=dict)
    """Settings of acidsql and Hive, which each connection sets."""

    def __post_init__(self) -> None:
        if self.database not in (None, "", self.schema):
            raise DbtConfigError("acidsql has no databases above its schemas: leave `database` out of the profile")
        self.database = None

    @property
    def type(self) -> str:
        return "acidsql"

    @property
    def unique_field(self) -> str:
        return self.metastore or self.warehouse or "warehouse"

    def _connection_keys(self) -> tuple[str, ...]:
        return ("warehouse", "metastore", "schema", "conf", "settings")


class AcidSqlConnectionManager(SQLConnectionManager):
    """Opens a session for each thread. Each statement commits by itself, so BEGIN and COMMIT of dbt do nothing."""

    TYPE = "acidsql"

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        if connection.state == ConnectionState.OPEN:
            return connection
        given = connection.credentials
        conf = {"spark.sql.session.timeZone": "UTC"} | {key: str(value) for key, value in given.conf.items()}
        settings = {key: str(value) for key, value in given.settings.items()}
        try:
            connection.handle = open_handle(given.warehouse, given.metastore, conf, settings)
        except AcidSqlError as error:
            connection.handle = None
            connection.state = ConnectionState.FAIL
            raise FailedToConnectError(str(error)) from error
        connection.state = ConnectionState.OPEN
        return connection

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        try:
            yield
        except AcidSqlError as error:
            logger.debug(f"Error while running:\n{sql}")
            raise DbtDatabaseError(str(error)) from error
        except DbtRuntimeError:
            raise
        except Exception as error:
            raise DbtRuntimeError(str(error)) from error

    def cancel(self, connection: Connection) -> None:
        connection.handle.session.cancel()

    @classmethod
    def get_response(cls, cursor: ScriptCursor) -> AdapterResponse:
        rows = cursor.rowcount
        return AdapterResponse(_message="OK" if rows < 0 else f"OK {rows}", rows_affected=rows if rows >= 0 else None)

    @classmethod
    def data_type_code_to_name(cls, type_code: int | str) -> str:
        return str(type_code)

    # -- transactions

    def begin(self) -> Connection:
        connection = self.get_thread_connection()
        connection.transaction_open = True
        return connection

    def commit(self) -> Connection:
        connection = self.get_thread_connection()
        connection.transaction_open = False
        return connection

    def add_begin_query(self) -> Any:
        """Nothing: a statement is a transaction, and DDL is not possible within one."""

    def add_commit_query(self) -> Any:
        """Nothing, as BEGIN."""
