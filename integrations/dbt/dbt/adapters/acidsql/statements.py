"""The handle of a connection: a session of acidsql with DB-API's cursors, which take scripts too."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from acidsql import dbapi
from acidsql.grammar.script_splitter import split_script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from acidsql.session import Session

_IN_ORDER: Final = threading.Lock()
_STARTED: list[dbapi.Connection] = []
"""The connection that has started Spark; it stays open until the process ends."""


class Handle:
    """A session of its own on the Spark session that all connections of the process share."""

    def __init__(self, connection: dbapi.Connection) -> None:
        self._connection = connection

    @property
    def session(self) -> Session:
        return self._connection.session

    def cursor(self) -> ScriptCursor:
        return ScriptCursor(self._connection.cursor())

    def commit(self) -> None:
        self._connection.commit()

    def rollback(self) -> None:
        self._connection.rollback()

    def close(self) -> None:
        self._connection.close()


class ScriptCursor:
    """A cursor whose `execute` runs all statements of a text. The rows are those of the last statement."""

    def __init__(self, cursor: dbapi.Cursor) -> None:
        self._cursor = cursor

    def execute(self, sql: str, bindings: Mapping[str, object] | Sequence[object] | None = None) -> None:
        """Runs the statements. An error ends the transaction that one of them has begun."""
        try:
            for piece in split_script(sql):
                self._cursor.execute(piece.text, bindings)
        except BaseException:
            self._cursor.connection.rollback()  # type: ignore[attr-defined]
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)


def open_handle(
    warehouse: str | None, metastore: str | None, conf: Mapping[str, str], settings: Mapping[str, str]
) -> Handle:
    """Opens a session. The first one of the process starts Spark with `conf`; `settings` are SET in each of them."""
    spark = _shared_spark(warehouse, metastore, conf)
    handle = Handle(dbapi.connect(warehouse, metastore, spark))
    for key, value in settings.items():
        handle.session.execute(f"SET {key}={value}")
    return handle


def _shared_spark(warehouse: str | None, metastore: str | None, conf: Mapping[str, str]) -> SparkSession:
    with _IN_ORDER:
        if not _STARTED:
            _STARTED.append(dbapi.connect(warehouse, metastore, conf=conf))
            atexit.register(_STARTED[0].close)
        return _STARTED[0].session.spark
