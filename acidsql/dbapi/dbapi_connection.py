"""Connections: a session, its cursors, and its transactions."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

from acidsql import connection as sessions
from acidsql.dbapi import exceptions
from acidsql.dbapi.dbapi_cursor import Cursor
from acidsql.dbapi.exceptions import raising_dbapi_errors
from acidsql.errors import AcidSqlError, Condition
from acidsql.statements.results import Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from acidsql.dbapi.row_batches import RowBatch
    from acidsql.session import Session


def connect(
    warehouse: str | os.PathLike[str] | None = None,
    metastore: str | None = None,
    spark: SparkSession | None = None,
    conf: Mapping[str, str] | None = None,
    *,
    autocommit: bool = True,
    settings: Mapping[str, str] | None = None,
) -> Connection:
    """Opens a connection. Spark starts with the first statement that needs it.

    Args:
        warehouse: A directory, or a URI of one of Spark's file systems. The default is `$ACIDSQL_WAREHOUSE`, else
            `./warehouse`.
        metastore: `sqlite:///PATH` or `thrift://HOST:PORT[,HOST:PORT..]`. The default is `$ACIDSQL_METASTORE`, else
            `<warehouse>/.acidsql/metastore.db`.
        spark: A Spark session to use. Without it acidsql starts Spark.
        conf: Spark settings for the Spark session that acidsql starts.
        settings: Settings of acidsql and Hive, as SET changes them. They come behind those of the TOML file that
            `$ACIDSQL_SETTINGS` names.
        autocommit: Whether each statement commits by itself, as in Hive. With `False` a query or DML statement begins
            a transaction, which `commit` or `rollback` ends.

    Returns:
        The connection, which is a context manager.

    Raises:
        OperationalError: METASTORE_UNAVAILABLE if the metastore cannot be opened.

    >>> with dbapi.connect("warehouse", spark=spark) as books:
    ...     books.cursor().execute("SELECT 1 + 1").fetchall()
    [(2,)]
    """
    with raising_dbapi_errors():
        place = None if warehouse is None else os.fspath(warehouse)
        return Connection(sessions.connect(place, metastore, spark, conf, settings=settings), autocommit=autocommit)


class Connection:
    """A connection to a warehouse: a session of its own, with one transaction at a time."""

    Warning = exceptions.Warning
    Error = exceptions.Error
    InterfaceError = exceptions.InterfaceError
    DatabaseError = exceptions.DatabaseError
    DataError = exceptions.DataError
    OperationalError = exceptions.OperationalError
    IntegrityError = exceptions.IntegrityError
    InternalError = exceptions.InternalError
    ProgrammingError = exceptions.ProgrammingError
    NotSupportedError = exceptions.NotSupportedError

    def __init__(self, session: Session, *, autocommit: bool = True) -> None:
        self.session = session
        """The session that runs the statements, for what DB-API has no words for."""
        session.autocommit = autocommit
        self._closed = False
        self._cursors: weakref.WeakSet[Cursor] = weakref.WeakSet()
        self._in_order = threading.RLock()
        self._ran_before = False
        """Whether a statement has succeeded in the open transaction."""
        self._lost: int | None = None
        """The transaction that an error rolled back after other statements of it had succeeded."""

    @property
    def autocommit(self) -> bool:
        """Whether each statement commits by itself. Can be set while no transaction is open.

        Raises ProgrammingError (IN_TRANSACTION).

        >>> connection.autocommit
        True
        """
        return self.session.autocommit

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        self.require_open()
        with self._in_order, raising_dbapi_errors():
            self.session.autocommit = value

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open.

        >>> connection.in_transaction
        False
        """
        return self.session.transaction_id is not None

    def cursor(self) -> Cursor:
        """A new cursor.

        >>> connection.cursor().execute("SELECT name FROM employee WHERE id = 2").fetchone()
        ('Tom',)
        """
        self.require_open()
        made = Cursor(self)
        self._cursors.add(made)
        return made

    def commit(self) -> None:
        """Commits the open transaction. Without one it does nothing.

        Raises:
            OperationalError: WRITE_CONFLICT if another transaction changed the same rows first. The transaction is
                then rolled back.
            InternalError: TRANSACTION_ABORTED if an error has rolled back the transaction. Call `rollback` first.

        >>> connection.autocommit = False
        >>> connection.cursor().execute("DELETE FROM employee WHERE id = 2").rowcount
        1
        >>> connection.commit()
        """
        self._end("COMMIT")

    def rollback(self) -> None:
        """Rolls back the open transaction. Without one it does nothing. DDL is not undone.

        >>> connection.rollback()
        """
        self._lost = None
        self._end("ROLLBACK")

    def close(self) -> None:
        """Closes the cursors, rolls back the open transaction, and closes the session. A second call does nothing.

        >>> connection.close()
        """
        if self._closed:
            return
        for cursor in list(self._cursors):
            cursor.close()
        self._closed = True
        with raising_dbapi_errors():
            self.session.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commits, or rolls back after an error, and closes the connection."""
        try:
            if kind is None:
                self.commit()
        finally:
            self.close()

    # -- for cursors

    def require_open(self) -> None:
        """Raises InterfaceError (SESSION_CLOSED) if the connection was closed."""
        if self._closed:
            raise exceptions.InterfaceError(Condition.SESSION_CLOSED, reason="the connection was closed")

    def run(self, text: str, parameters: Mapping[str, object] | Sequence[object] | None) -> Result:
        """Runs a statement, in a transaction if autocommit is off. A query that is only a scan needs no Spark."""
        with self._in_transaction(text):
            return self.session.execute(text, parameters, rows_only=True)

    def run_many(self, text: str, rows: Sequence[Mapping[str, object] | Sequence[object]]) -> Iterator[Result]:
        """Runs a statement for each set of parameters, or once for all of them where this is the same.

        Raises UNBOUND_PARAMETER before anything runs if a set lacks a parameter.
        """
        from acidsql.dbapi.row_batches import row_batch

        self._check_all_bound(text, rows)
        named = [row for row in rows if isinstance(row, Mapping)]
        whole = len(named) == len(rows)
        batch = row_batch(text, named, self.session.catalog, self.session.database) if whole else None
        if batch is not None:
            yield self._run_batch(text, batch)
            return
        for row in rows:
            result = self.run(text, row)
            result.close()
            yield result

    def _check_all_bound(self, text: str, rows: Sequence[Mapping[str, object] | Sequence[object]]) -> None:
        if len(rows) < 2:
            return
        from acidsql.grammar.parser import parsed_or_none
        from acidsql.grammar.placeholders import check_all_bound

        statement = parsed_or_none(text, self.session.substituted)
        if statement is not None:
            check_all_bound(statement, rows)

    def _run_batch(self, text: str, batch: RowBatch) -> Result:
        with self._in_transaction(text):
            try:
                return self.session.execute(batch.text, frames={batch.frame: batch.rows})
            except AcidSqlError as error:
                raise batch.original_error(error) from error.__cause__

    @contextmanager
    def _in_transaction(self, text: str) -> Iterator[None]:
        """Begins a transaction for a statement of the block if autocommit is off. A statement that is refused, and has
        changed nothing, leaves the transaction of earlier statements open. An error that rolls back what they did must
        be answered by `rollback`: going on would commit a part of the transaction."""
        if self.session.autocommit:
            self.session.keeps_transaction = True  # one that START TRANSACTION has begun
            yield
            return
        with self._in_order:
            self._require_not_lost()
            if self.session.transaction_id is None and self._begins_transaction(text):
                self.session.execute("START TRANSACTION")
                self._ran_before = False
            self.session.keeps_transaction = self._ran_before
            txn_id = self.session.transaction_id
            try:
                yield
            except BaseException:
                if txn_id is not None and self.session.transaction_id is None and self._ran_before:
                    self._lost = txn_id
                raise
            self._ran_before = txn_id is not None

    def _begins_transaction(self, text: str) -> bool:
        """Whether a statement is a query or DML. Other statements either have transactions of their own or need none,
        and one that cannot be parsed raises its error when it is run."""
        from acidsql.grammar import statements as s
        from acidsql.grammar.parser import parsed_or_none

        statement = parsed_or_none(text, self.session.substituted)
        return isinstance(statement, s.RowStatement)

    def _require_not_lost(self) -> None:
        if self._lost is not None:
            reason = "a statement failed, and what was done before it is undone"
            hint = "Call rollback() before the next statement."
            raise exceptions.InternalError(Condition.TRANSACTION_ABORTED, hint=hint, txn_id=self._lost, reason=reason)

    def _end(self, statement: str) -> None:
        self.require_open()
        with self._in_order, raising_dbapi_errors():
            self._require_not_lost()
            if self.session.transaction_id is not None:
                self.session.execute(statement)
