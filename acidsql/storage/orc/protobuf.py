"""Protocol buffers without a schema: a message is a sequence of fields, so that a change keeps all other fields.

This is code of our own because generated classes move fields that their schema does not know behind the others, and
would bind acidsql to one major version of the protobuf package. tests/storage/test_orc_proto.py compares it with the
classes that protoc generated from ORC's specification.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
_FIXED32: Final = 5


class Field(NamedTuple):
    """One field of a protobuf message. `value` is an int (varint) or bytes. A footer has dozens of fields, and making a
    tuple takes a third of the time of making a frozen dataclass."""

    number: int
    wire: int
    value: int | bytes

    @property
    def bytes(self) -> bytes:
        assert isinstance(self.value, bytes)
        return self.value

    @property
    def int(self) -> int:
        assert isinstance(self.value, int)
        return self.value


def decode(message: bytes) -> tuple[Field, ...]:
    """The fields of a protobuf message, in order."""
    return tuple(_fields(message))


def encode(fields: Sequence[Field]) -> bytes:
    """The message of the fields: `encode(decode(m)) == m` for canonical messages."""
    return b"".join(_encode_field(f) for f in fields)


def varint(value: int) -> bytes:
    """A base-128 varint.

    >>> varint(300)
    b'\\xac\\x02'
    """
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _fields(message: bytes) -> Iterator[Field]:
    at = 0
    while at < len(message):
        key, at = read_varint(message, at)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, at = read_varint(message, at)
            yield Field(number, wire, value)
            continue
        if wire == BYTES:
            length, at = read_varint(message, at)
        else:
            length = 8 if wire == FIXED64 else 4
        yield Field(number, wire, message[at : at + length])
        at += length


def read_varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _encode_field(field: Field) -> bytes:
    key = varint(field.number << 3 | field.wire)
    if isinstance(field.value, int):
        return key + varint(field.value)
    return key + (varint(len(field.value)) if field.wire == BYTES else b"") + field.value
