"""Thrift's messages under SASL, as a Hive Metastore with hive.metastore.sasl.enabled speaks them (TSaslTransport).

This is code of our own because Thrift's TSaslClientTransport sends a message of any length in one piece, which a
metastore refuses above 16 MB, and needs pure-sasl, which takes no keytabs and signs no messages by DIGEST-MD5.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from io import BytesIO
from typing import Any, Final, Protocol

from thrift.transport.TTransport import TTransportBase, TTransportException

from acidsql.errors import AcidSqlError

_MOST_OF_A_STEP: Final = 1 << 20
"""Bytes of a message before the other side is known to be who it says. Tickets of Active Directory have some 64 KiB."""
_MOST_OF_A_FRAME: Final = 1 << 20
"""Bytes that are sent in one frame; what is received may be longer, as the metastore does not divide its answers."""


class Mechanism(Protocol):
    """One of SASL's mechanisms, on the side of the client."""

    @property
    def name(self) -> str: ...

    @property
    def is_complete(self) -> bool:
        """Whether the client has proved who it is, and the server too."""
        ...

    def first(self) -> bytes:
        """The message before the server has said anything."""
        ...

    def respond(self, challenge: bytes) -> bytes:
        """The answer to a message of the server. Raises METASTORE_UNAVAILABLE where the server cannot be believed."""
        ...

    def most_bytes(self) -> int | None:
        """How many bytes `wrap` may be given at once, if the server has said so."""
        ...

    def wrap(self, data: bytes) -> bytes:
        """What is sent for some bytes, as signed or encrypted as was agreed."""
        ...

    def unwrap(self, data: bytes) -> bytes:
        """The bytes that were received. Raises OSError where they were changed on the way."""
        ...


class _Status(IntEnum):
    """TSaslTransport.NegotiationStatus."""

    START = 1
    OK = 2
    BAD = 3
    ERROR = 4
    COMPLETE = 5


class SaslTransport(TTransportBase):  # type: ignore[misc]  # Thrift has no types
    """A connection whose sides have proved to each other who they are. `carrier` is the connection below."""

    def __init__(self, carrier: Any, mechanism: Mechanism) -> None:
        self._carrier = carrier
        self._mechanism = mechanism
        self._written = BytesIO()
        self._read = BytesIO()

    def isOpen(self) -> bool:
        return bool(self._carrier.isOpen())

    def open(self) -> None:
        """Raises TTransportException, OSError and METASTORE_UNAVAILABLE."""
        if not self._carrier.isOpen():
            self._carrier.open()
        try:
            self._negotiate()
        except AcidSqlError:
            self._send(_Status.BAD, b"")  # it may say so in its log
            raise

    def _negotiate(self) -> None:
        mechanism = self._mechanism
        first = mechanism.first()
        self._send(_Status.START, mechanism.name.encode("ascii"))
        self._send(_Status.OK, first)
        while True:
            status, challenge = self._receive()
            if status == _Status.OK:
                answer = mechanism.respond(challenge)
                self._send(_Status.COMPLETE if mechanism.is_complete else _Status.OK, answer)
            elif status == _Status.COMPLETE:
                if not mechanism.is_complete:
                    mechanism.respond(challenge)
                if not mechanism.is_complete:
                    raise _refused("it ended the authentication before it had proved who it is")
                return
            else:
                said = challenge.decode("utf-8", errors="replace")
                raise _refused(f"it refused the authentication by {mechanism.name}: {said or 'it gives no reason'}")

    def _send(self, status: _Status, payload: bytes) -> None:
        self._carrier.write(struct.pack(">BI", status, len(payload)) + payload)
        self._carrier.flush()

    def _receive(self) -> tuple[int, bytes]:
        status, length = struct.unpack(">BI", self._carrier.readAll(5))
        if length > _MOST_OF_A_STEP:
            raise _refused(f"its message of {length} bytes is none of an authentication")
        return status, self._carrier.readAll(length) if length else b""

    def close(self) -> None:
        self._carrier.close()

    def read(self, count: int) -> bytes:
        found = self._read.read(count)
        if not found:
            (length,) = struct.unpack(">i", self._carrier.readAll(4))
            if length < 0:
                raise _refused(f"a frame cannot have {length} bytes")
            self._read = BytesIO(self._mechanism.unwrap(self._carrier.readAll(length)))
            found = self._read.read(count)
        return found

    def write(self, data: bytes) -> None:
        self._written.write(data)

    def flush(self) -> None:
        data, self._written = self._written.getvalue(), BytesIO()
        most = min(self._mechanism.most_bytes() or _MOST_OF_A_FRAME, _MOST_OF_A_FRAME)
        for start in range(0, len(data), most):
            frame = self._mechanism.wrap(data[start : start + most])
            self._carrier.write(struct.pack(">i", len(frame)) + frame)
        self._carrier.flush()


def _refused(reason: str) -> TTransportException:
    return TTransportException(TTransportException.NOT_OPEN, reason)
