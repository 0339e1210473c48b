"""Appends the stripes of one ORC file to another, as bytes.

A stripe holds no place of the file it lies in, so that its bytes can be moved; the footer tells where it begins. The
file may end after any of its parts, or after several of them, as those of Hive's streaming clients do: an older end
has no effect once stripes and a new end follow. Source: the ORC v1 specification, "File Tail".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from acidsql.errors import AcidSqlError, Condition
from acidsql.storage.orc.footer_messages import (
    FOOTER_CONTENT_LENGTH,
    FOOTER_ENCRYPTION,
    FOOTER_METADATA,
    FOOTER_ROWS,
    FOOTER_STATISTICS,
    FOOTER_STRIPES,
    PS_FOOTER_LENGTH,
    PS_METADATA_LENGTH,
)
from acidsql.storage.orc.merged_statistics import merged
from acidsql.storage.orc.protobuf import BYTES, VARINT, Field, decode, encode
from acidsql.storage.orc.tail import Tail

HEADER: Final = b"ORC"
"""The first bytes of each ORC file, before its first stripe."""
_STRIPE_OFFSET: Final = 1
_OF_CONTENT: Final = (FOOTER_CONTENT_LENGTH, FOOTER_STRIPES, FOOTER_METADATA, FOOTER_ROWS, FOOTER_STATISTICS)
"""The fields of a footer that differ between files of the same columns and the same writer."""
_OF_LENGTH: Final = (PS_FOOTER_LENGTH, PS_METADATA_LENGTH)


def stripe_bytes(file: bytes, tail: Tail) -> bytes:
    """The bytes of all stripes of a file, which lie between its header and its end."""
    return file[len(HEADER) : stripes_end(tail)]


def stripes_end(tail: Tail) -> int:
    """The offset behind the last stripe of a file."""
    lengths = {f.number: f.int for f in tail.postscript if f.number in _OF_LENGTH}
    return tail.footer_start - lengths.get(PS_METADATA_LENGTH, 0)


def first_stripes(part: Tail) -> Tail:
    """A tail for `with_stripes`, of a file that has its header only. `part` is any file with the columns to come."""
    footer = [f for f in part.footer if f.number not in (FOOTER_STRIPES, FOOTER_METADATA, FOOTER_STATISTICS)]
    footer = [Field(FOOTER_ROWS, VARINT, 0) if f.number == FOOTER_ROWS else f for f in footer]
    return replace(part, size=len(HEADER), footer_start=len(HEADER), footer=tuple(footer), stripe_statistics=b"")


def with_stripes(tail: Tail, part: Tail, at: int, length: int) -> Tail:
    """The tail of a file after the stripes of `part`, of `length` bytes, were written at offset `at`.

    Its size is where its own end is to begin: `encode_second_end` gives that end. User metadata is left out. Raises
    MALFORMED_LAYOUT where the part was written in another way than the file.
    """
    _check_alike(tail, part)
    moved = at - len(HEADER)
    stripes = [f for f in tail.footer if f.number == FOOTER_STRIPES]
    stripes += [_moved(f, moved) for f in part.footer if f.number == FOOTER_STRIPES]
    footer = [f for f in tail.footer if f.number not in _OF_CONTENT]
    footer += [
        Field(FOOTER_CONTENT_LENGTH, VARINT, at + length),
        *stripes,
        Field(FOOTER_ROWS, VARINT, tail.rows + part.rows),
        *(Field(FOOTER_STATISTICS, BYTES, s) for s in _statistics(tail, part)),
    ]
    return replace(
        tail,
        size=at + length,
        footer_start=at + length,
        footer=tuple(sorted(footer, key=lambda f: f.number)),
        # A message's repeated field is that of its two parts, one behind the other.
        stripe_statistics=tail.stripe_statistics + part.stripe_statistics,
    )


def movable(tail: Tail) -> Hashable | None:
    """What two files must have in common for a file to have the stripes of both (`together`): the same columns and the
    same writer. None for an encrypted file, whose keys lie in its footer."""
    if any(f.number == FOOTER_ENCRYPTION for f in tail.footer):
        return None
    return tuple(_without(tail.footer, _OF_CONTENT)), tuple(_without(tail.postscript, _OF_LENGTH))


def together(parts: Sequence[tuple[Tail, int]]) -> Tail:
    """The tail of a file that has the stripes of several files, with the number of `stripe_bytes` of each; all have the
    same `movable`. `encode_second_end` gives the file's end. It has no statistics of columns or stripes: those of the
    row groups lie in the stripes."""
    first, at, rows = parts[0][0], len(HEADER), 0
    stripes: list[Field] = []
    for tail, length in parts:
        stripes += [_moved(f, at - len(HEADER)) for f in tail.footer if f.number == FOOTER_STRIPES]
        at += length
        rows += tail.rows
    footer = [f for f in first.footer if f.number not in _OF_CONTENT]
    footer += [Field(FOOTER_CONTENT_LENGTH, VARINT, at), *stripes, Field(FOOTER_ROWS, VARINT, rows)]
    ordered = tuple(sorted(footer, key=lambda f: f.number))
    return replace(first, size=at, footer_start=at, footer=ordered, stripe_statistics=b"")


def _check_alike(tail: Tail, part: Tail) -> None:
    same_footer = _without(tail.footer, _OF_CONTENT) == _without(part.footer, _OF_CONTENT)
    if not same_footer or _without(tail.postscript, _OF_LENGTH) != _without(part.postscript, _OF_LENGTH):
        reason = "stripes with other columns, or of another writer, were to be appended to it"
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=tail.path, reason=reason)


def _without(fields: Iterable[Field], numbers: tuple[int, ...]) -> list[Field]:
    return sorted((f for f in fields if f.number not in numbers), key=lambda f: f.number)


def _moved(stripe: Field, by: int) -> Field:
    fields = decode(stripe.bytes)
    moved = (Field(_STRIPE_OFFSET, VARINT, f.int + by) if f.number == _STRIPE_OFFSET else f for f in fields)
    return Field(FOOTER_STRIPES, BYTES, encode(tuple(moved)))


def _statistics(tail: Tail, part: Tail) -> list[bytes]:
    """Those of the columns of the file, with the part's. A file without rows has none."""
    old, new = ([f.bytes for f in t.footer if f.number == FOOTER_STATISTICS] for t in (tail, part))
    return list(map(merged, old, new)) if tail.rows else new
