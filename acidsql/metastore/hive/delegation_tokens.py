"""The delegation tokens of a Hive Metastore: in the file that $HADOOP_TOKEN_FILE_LOCATION names, and as the metastore
gives them.

A job of YARN has no ticket: who submits it gets a token from the metastore, and YARN lays the file beside each process.
The formats are Hadoop's Credentials, Token and WritableUtils, and its Security.proto.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from acidsql.errors import AcidSqlError, Condition

FILE_VARIABLE: Final = "HADOOP_TOKEN_FILE_LOCATION"
_KIND: Final = b"HIVE_DELEGATION_TOKEN"
"""DelegationTokenIdentifier.HIVE_DELEGATION_KIND."""
_MAGIC: Final = b"HDTS"
_WRITABLE: Final = 0
_PROTOBUF: Final = 1
_TOKENS: Final = 1
"""CredentialsProto.tokens."""
_TOKEN: Final = 2
"""CredentialsKVProto.token, whose fields 1 to 4 are the identifier, the password, the kind and the service."""
_LENGTH_DELIMITED: Final = 2


@dataclass(frozen=True, slots=True)
class DelegationToken:
    """A token: who has it, may call as its owner."""

    identifier: bytes
    password: bytes

    def __repr__(self) -> str:
        return f"DelegationToken(of {self.owner!r})"  # no secret comes to a log

    @property
    def name(self) -> str:
        """The user of SASL."""
        return base64.b64encode(self.identifier).decode("ascii")

    @property
    def secret(self) -> str:
        """The password of SASL."""
        return base64.b64encode(self.password).decode("ascii")

    @property
    def owner(self) -> str:
        """Who got the token: the first text of its identifier, behind a byte of its version."""
        return _Reader(self.identifier[1:]).text().decode("utf-8", errors="replace")


def token_of_environment() -> DelegationToken | None:
    """The token of a Hive Metastore in the file that the environment names.

    None without the variable, and where the file has no such token. Raises METASTORE_UNAVAILABLE if it cannot be read.
    """
    file = os.environ.get(FILE_VARIABLE)
    if not file:
        return None
    try:
        return next((token for kind, token in _tokens(Path(file).read_bytes()) if kind == _KIND), None)
    except (OSError, IndexError, ValueError) as error:
        reason = f"its delegation tokens cannot be read: {error}"
        hint = f"${FILE_VARIABLE} names the file."
        raise AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=file, reason=reason, hint=hint) from error


def token_of_text(text: str) -> DelegationToken:
    """The token that the metastore answers (Token.encodeToUrlString). Raises ValueError for another text."""
    reader = _Reader(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return DelegationToken(reader.text(), reader.text())


def _tokens(content: bytes) -> Iterator[tuple[bytes, DelegationToken]]:
    """The tokens of a file (Credentials.readTokenStorageStream), with their kinds."""
    if content[: len(_MAGIC)] != _MAGIC:
        raise ValueError("it is no file of Hadoop's tokens")
    version, body = content[len(_MAGIC)], content[len(_MAGIC) + 1 :]
    if version == _WRITABLE:
        yield from _writable_tokens(_Reader(body))
    elif version == _PROTOBUF:
        yield from _protobuf_tokens(body)
    else:
        raise ValueError(f"it has version {version} of the format")


def _writable_tokens(reader: _Reader) -> Iterator[tuple[bytes, DelegationToken]]:
    for _ in range(reader.number()):
        reader.text()  # the name that the token has in this file
        token = DelegationToken(reader.text(), reader.text())
        kind, _service = reader.text(), reader.text()
        yield kind, token


def _protobuf_tokens(body: bytes) -> Iterator[tuple[bytes, DelegationToken]]:
    size, start = _protobuf_number(body, 0)  # CredentialsProto is written behind its length
    for field, entry in _protobuf_fields(body[start : start + size]):
        if field == _TOKENS:
            of_token = dict(_protobuf_fields(dict(_protobuf_fields(entry))[_TOKEN]))
            yield of_token[3], DelegationToken(of_token[1], of_token[2])


def _protobuf_fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message that has texts, bytes and messages only."""
    place = 0
    while place < len(message):
        tag, place = _protobuf_number(message, place)
        if tag & 7 != _LENGTH_DELIMITED:
            raise ValueError(f"field {tag >> 3} is no text")
        size, place = _protobuf_number(message, place)
        yield tag >> 3, message[place : place + size]
        place += size


def _protobuf_number(message: bytes, place: int) -> tuple[int, int]:
    """A number, seven bits a byte, and the place behind it."""
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place


class _Reader:
    """Reads what Hadoop's Writables write."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._place = 0

    def number(self) -> int:
        """WritableUtils.readVInt, of a number that is not negative."""
        if self._place >= len(self._content):
            raise ValueError("it ends too early")
        first = self._content[self._place]
        self._place += 1
        if first < 0x80:
            return first
        size = 0x90 - first
        if not 1 <= size <= 4:
            raise ValueError("it has a number that cannot be one of bytes")
        value = int.from_bytes(self._content[self._place : self._place + size], "big")
        self._place += size
        return value

    def text(self) -> bytes:
        """Bytes behind their number."""
        size = self.number()
        found = self._content[self._place : self._place + size]
        if len(found) != size:
            raise ValueError("it ends too early")
        self._place += size
        return found
