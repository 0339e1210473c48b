"""Connections to a Hive Metastore: fail-over, reconnecting, and calls that leave nothing on a socket when cut."""

from __future__ import annotations

import getpass
import os
import platform
import select
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pymetastore.hive_metastore import ThriftHiveMetastore
from pymetastore.hive_metastore import ttypes as t
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.protocol.TProtocol import TProtocolException
from thrift.Thrift import TApplicationException, TException
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException

from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.hive.service_uri import Address, Place

Request = Callable[[Any], Any]
"""Calls methods of the generated client."""

_CONNECT_SECONDS: Final = 20.0
_PAUSES: Final = (0.1, 0.5, 1.0, 2.0, 4.0)
"""Seconds between the attempts to find a metastore that was there before: it may be starting again."""

_DECLARED: Final[tuple[type[Exception], ...]] = tuple(
    kind
    for kind in vars(t).values()
    if isinstance(kind, type) and issubclass(kind, TException) and kind.__module__ == t.__name__
)
"""Exceptions that are answers: read to their end, they leave the connection as good as it was."""
_BROKEN: Final = (TTransportException, TProtocolException, OSError, EOFError)


class AnswerLostError(AcidSqlError):
    """METASTORE_UNAVAILABLE of a call that was sent, so that it may have been done."""


@dataclass(frozen=True, slots=True)
class _Connection:
    client: Any
    socket: Any
    transport: Any

    def is_stale(self) -> bool:
        """Between two calls a socket has something to read only when the metastore has closed it."""
        return bool(select.select([self.socket.handle], [], [], 0)[0])

    def close(self) -> None:
        self.transport.close()


class HiveConnections:
    """A pool: each call has a connection for itself, so that several threads may call at once.

    `ask` and `tell` differ in what they do when the connection breaks in the middle of a call. What may be done twice
    is asked again, for some seconds; what may not is told once, and nobody knows then whether it was done. A call that
    cannot be sent at all, because no metastore answers, is retried in both.
    """

    def __init__(self, address: Address) -> None:
        """Connects to see that there is a metastore. Raises METASTORE_UNAVAILABLE."""
        self.address = address
        self.user = _user()
        self.host = platform.node()
        self._idle: deque[_Connection] = deque()
        self._closed = False
        self._last_good = 0
        self._process = os.getpid()
        self._idle.append(self._connect(()))

    def close(self) -> None:
        """What others have in use is closed when they give it back."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def ask(self, request: Request, *expected: type[Exception]) -> Any:
        """Calls what may be repeated. The `expected` exceptions come through; any other is METASTORE_FAILED.

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
                break  # the one that broke may have been done
            if pause is None or _timed_out(broken):  # it has been waited for long enough
                break
            time.sleep(pause)
        assert broken is not None
        raise self._lost(broken) from broken

    def tell(self, request: Request, *expected: type[Exception]) -> Any:
        """Calls what must not be done twice. The `expected` exceptions come through; any other is METASTORE_FAILED.

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
        except BaseException as error:  # an interrupt too: its answer must not be read as that of the next call
            connection.close()
            if isinstance(error, TApplicationException) and not isinstance(error, tuple(expected)):
                raise self.failed(error) from error
            raise
        self._give_back(connection)
        return answer

    # -- connections

    def _take(self) -> _Connection:
        if self._closed:
            raise self._unavailable(["it was closed"])
        if self._process != os.getpid():  # after a fork, the sockets are the parent's
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

    def _give_back(self, connection: _Connection) -> None:
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)

    def _connect(self, pauses: Sequence[float]) -> _Connection:
        """To the metastore that answered last or, if it does not, to the first of the others that does."""
        reasons: list[str] = []
        for pause in (*pauses, None):
            reasons.clear()
            for number in sorted(range(len(self.address.places)), key=lambda n: (n != self._last_good, n)):
                try:
                    connection = self._open(self.address.places[number])
                except _BROKEN as error:
                    reasons.append(f"{self.address.places[number]}: {_reason(error)}")
                else:
                    self._last_good = number
                    return connection
            if pause is not None:
                time.sleep(pause)
        raise self._unavailable(reasons)

    def _open(self, place: Place) -> _Connection:
        socket = TSocket(place.host, place.port)
        socket.setTimeout(min(_CONNECT_SECONDS, self.address.timeout) * 1000)
        transport = TBufferedTransport(socket)
        try:
            transport.open()
            socket.setTimeout(self.address.timeout * 1000)
            client = ThriftHiveMetastore.Client(TBinaryProtocol(transport))
            # Who makes the directories of tables, as Hive tells it (hive.metastore.execute.setugi).
            client.set_ugi(self.user, [])
        except BaseException:
            transport.close()
            raise
        return _Connection(client, socket, transport)

    # -- errors

    def failed(self, error: Exception) -> AcidSqlError:
        """METASTORE_FAILED, with what the metastore says."""
        return AcidSqlError(Condition.METASTORE_FAILED, uri=self.address, reason=_reason(error))

    def _lost(self, error: Exception) -> AnswerLostError:
        reason = f"the connection broke during a call: {_reason(error)}"
        return AnswerLostError(Condition.METASTORE_UNAVAILABLE, uri=self.address, reason=reason)

    def _unavailable(self, reasons: Sequence[str]) -> AcidSqlError:
        return AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=self.address, reason="; ".join(reasons))


def _timed_out(error: Exception) -> bool:
    return isinstance(error, TimeoutError) or getattr(error, "type", None) == TTransportException.TIMED_OUT


def _reason(error: Exception) -> str:
    """A Thrift exception's message, or the first line of what there is to say."""
    text = str(getattr(error, "message", None) or error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no such user in a container's /etc/passwd: KeyError, from Python 3.13 on OSError
        return str(os.getuid())
