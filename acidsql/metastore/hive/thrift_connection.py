"""Connections to a Hive Metastore: fail-over, reconnection, and no unread answers after an interrupted call."""

from __future__ import annotations

import os
import platform
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

from pymetastore.hive_metastore import ttypes as t
from thrift.protocol.TProtocol import TProtocolException
from thrift.Thrift import TApplicationException, TException
from thrift.transport.TTransport import TTransportException

from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.hive import thrift_idl as idl
from acidsql.metastore.hive.service_uri import Address
from acidsql.metastore.hive.thrift_transport import Connection, connected
from acidsql.metastore.process_identity import user_name

Request = Callable[[Any], Any]
"""A call of a method of the generated client."""

_PAUSES: Final = (0.1, 0.5, 1.0, 2.0, 4.0)
"""Seconds between attempts to reach a metastore that answered before: it may be restarting."""

_DECLARED: Final[tuple[type[Exception], ...]] = tuple(
    kind
    for kind in vars(t).values()
    if isinstance(kind, type) and issubclass(kind, TException) and kind.__module__ == t.__name__
)
"""Exceptions that are complete answers: the connection stays usable after them."""
_NEWEST: Final = 4
"""The major version of Hive whose metastore is spoken to in full."""
_BROKEN: Final = (TTransportException, TProtocolException, OSError, EOFError)


class AnswerLostError(AcidSqlError):
    """METASTORE_UNAVAILABLE for a call that was sent: the metastore may have executed it."""


class HiveConnections:
    """A pool of connections. Each call has its own connection, so that several threads may call at once.

    `ask` and `tell` differ when the connection breaks during a call. `ask` repeats the call for some seconds, and is
    for calls that may run twice. `tell` does not repeat it, and the outcome is then unknown. Both retry a call that
    cannot be sent because no metastore answers.
    """

    def __init__(self, address: Address) -> None:
        """Connects once, to check that a metastore answers. Raises METASTORE_UNAVAILABLE."""
        self.address = address
        self.user = user_name()
        self.host = platform.node()
        self._idle: deque[Connection] = deque()
        self._closed = False
        self._last_good = 0
        self._process = os.getpid()
        self._major: int | None = None
        first = self._connect(())
        self.user = first.authenticated or self.user
        self._idle.append(first)

    @property
    def is_hive_3(self) -> bool:
        """Whether the metastore is one of Hive 3, which lacks some calls and types of locks. All the metastores of an
        address must have the same version."""
        if self._major is None:
            first = str(self.ask(idl.get_version)).partition(".")[0]
            self._major = int(first) if first.isdigit() else _NEWEST
        return self._major < _NEWEST

    def close(self) -> None:
        """Closes idle connections. Connections in use are closed when they are returned."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def ask(self, request: Request, *expected: type[Exception]) -> Any:
        """Makes a call that may be repeated. Raises `expected` exceptions as they are, and others as METASTORE_FAILED.

        Raises METASTORE_UNAVAILABLE: AnswerLostError where the call may have been done.
        """
        broken: Exception | None = None
        for pause in (*_PAUSES, None):
            try:
                return self._call(request, expected)
            except _BROKEN as error:
                broken = error
            except AcidSqlError as error:
                if broken is None or error.condition != Condition.METASTORE_UNAVAILABLE.name:
                    raise
                break  # the call that broke may have been executed
            if pause is None or _timed_out(broken):  # the call has waited long enough
                break
            time.sleep(pause)
        assert broken is not None
        raise self._lost(broken) from broken

    def tell(self, request: Request, *expected: type[Exception]) -> Any:
        """Makes a call that must not run twice. Raises `expected` exceptions as they are, others as METASTORE_FAILED.

        Raises METASTORE_UNAVAILABLE: AnswerLostError where the call may have been done.
        """
        try:
            return self._call(request, expected)
        except _BROKEN as error:
            raise self._lost(error) from error

    def _call(self, request: Request, expected: Sequence[type[Exception]]) -> Any:
        connection = self._take()
        try:
            answer = request(connection.client)
        except _DECLARED as error:
            self._give_back(connection)
            if isinstance(error, tuple(expected)):
                raise
            raise self.failed(error) from error
        except BaseException as error:  # also an interrupt: the next call must not read this answer
            connection.close()
            if isinstance(error, TApplicationException) and not isinstance(error, tuple(expected)):
                raise self.failed(error) from error
            raise
        self._give_back(connection)
        return answer

    # -- connections

    def _take(self) -> Connection:
        if self._closed:
            raise self._unavailable(["it was closed"])
        if self._process != os.getpid():  # after a fork the sockets belong to the parent
            self._idle, self._process = deque(), os.getpid()
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread took the last one
                break
            if not connection.is_stale():
                return connection
            connection.close()
        return self._connect(_PAUSES)

    def _give_back(self, connection: Connection) -> None:
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)

    def _connect(self, pauses: Sequence[float]) -> Connection:
        """Connects to the metastore that answered last, or else to the first of the others that answers."""
        reasons: list[str] = []
        for pause in (*pauses, None):
            reasons.clear()
            for number in sorted(range(len(self.address.places)), key=lambda n: (n != self._last_good, n)):
                try:
                    connection = connected(self.address, self.address.places[number], self.user)
                except _BROKEN as error:
                    reasons.append(f"{self.address.places[number]}: {_reason(error)}")
                else:
                    self._last_good = number
                    return connection
            if pause is not None:
                time.sleep(pause)
        raise self._unavailable(reasons)

    # -- errors

    def failed(self, error: Exception) -> AcidSqlError:
        """METASTORE_FAILED with the metastore's message."""
        return AcidSqlError(Condition.METASTORE_FAILED, uri=self.address, reason=_reason(error))

    def _lost(self, error: Exception) -> AnswerLostError:
        reason = f"the connection broke during a call: {_reason(error)}"
        return AnswerLostError(Condition.METASTORE_UNAVAILABLE, uri=self.address, reason=reason)

    def _unavailable(self, reasons: Sequence[str]) -> AcidSqlError:
        return AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=self.address, reason="; ".join(reasons))


def _timed_out(error: Exception) -> bool:
    return isinstance(error, TimeoutError) or getattr(error, "type", None) == TTransportException.TIMED_OUT


def _reason(error: Exception) -> str:
    """The message of a Thrift exception, or the first line of any other exception."""
    text = str(getattr(error, "message", None) or error).strip()
    return text.splitlines()[0] if text else type(error).__name__
