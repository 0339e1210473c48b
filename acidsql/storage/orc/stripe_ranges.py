"""Where the columns of a stripe lie in an ORC file, for a reader that asks for them beforehand.

Source: the ORC v1 specification, "Stripes".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from acidsql.storage.orc.codecs import decompress
from acidsql.storage.orc.footer_messages import (
    FOOTER_STRIPES,
    STRIPE_DATA_LENGTH,
    STRIPE_FOOTER_LENGTH,
    STRIPE_INDEX_LENGTH,
    STRIPE_OFFSET,
    number_of,
    subtypes,
)
from acidsql.storage.orc.protobuf import decode
from acidsql.storage.orc.tail import Tail

_STREAMS: Final = 1
_STREAM_KIND, _STREAM_COLUMN, _STREAM_LENGTH = 1, 2, 3
_FIRST_INDEX_KIND: Final = 6
"""ROW_INDEX of orc_proto.Stream.Kind: streams of this kind and those behind it are no data."""


@dataclass(frozen=True, slots=True)
class StripeRange:
    """The parts of a stripe: its indexes, its data and its footer follow each other."""

    start: int
    data_start: int
    footer_start: int
    end: int

    @property
    def size(self) -> int:
        """Bytes without the indexes."""
        return self.end - self.data_start


def stripes_of(tail: Tail) -> list[StripeRange]:
    """The stripes of a file."""
    found = []
    for message in (f.bytes for f in tail.footer if f.number == FOOTER_STRIPES):
        numbers = {f.number: f.value for f in decode(message)}
        start = number_of(numbers, STRIPE_OFFSET)
        data = start + number_of(numbers, STRIPE_INDEX_LENGTH)
        footer = data + number_of(numbers, STRIPE_DATA_LENGTH)
        found.append(StripeRange(start, data, footer, footer + number_of(numbers, STRIPE_FOOTER_LENGTH)))
    return found


def with_children(tail: Tail, columns: Iterable[int]) -> frozenset[int]:
    """Columns by their ORC numbers, with all that lie inside of them."""
    messages = tail.type_messages
    found: set[int] = set()
    waiting = list(columns)
    while waiting:
        number = waiting.pop()
        found.add(number)
        waiting += subtypes(decode(messages[number]))
    return frozenset(found)


def data_ranges(tail: Tail, stripe: StripeRange, footer: bytes, columns: Collection[int]) -> Iterator[tuple[int, int]]:
    """The offsets at which the data of some columns begin and end. `footer` are the bytes of the stripe's footer."""
    at = stripe.start
    for message in decode(decompress(footer, tail.codec, tail.path)):
        if message.number != _STREAMS:
            continue
        numbers = {f.number: f.value for f in decode(message.bytes)}
        length = number_of(numbers, _STREAM_LENGTH)
        if number_of(numbers, _STREAM_KIND) < _FIRST_INDEX_KIND and number_of(numbers, _STREAM_COLUMN) in columns:
            yield at, at + length
        at += length
