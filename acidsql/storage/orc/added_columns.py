"""Puts columns whose values are known into an ORC file that a writer wrote without them.

The ACID columns of new rows are constants and a count. To write them row by row costs a writer more than many a table's
own columns. Here they become streams of a few bytes for 512 rows, beside the streams of the other columns, whose bytes
are copied as they are:

    stripe of the file          index streams | data streams | footer
    stripe with the columns     index streams | new index streams | new data streams | data streams | new footer

Source: the ORC v1 specification, "Stripes".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice
from typing import BinaryIO, Final, TypeVar

from acidsql.errors import AcidSqlError, Condition
from acidsql.storage.file_systems import Extent
from acidsql.storage.orc.codecs import compress, decompress
from acidsql.storage.orc.footer_messages import (
    FOOTER_ENCRYPTION,
    FOOTER_INDEX_STRIDE,
    FOOTER_STATISTICS,
    FOOTER_STRIPES,
    FOOTER_TYPES,
    KIND_STRUCT,
    STRIPE_DATA_LENGTH,
    STRIPE_FOOTER_LENGTH,
    STRIPE_INDEX_LENGTH,
    STRIPE_OFFSET,
    STRIPE_ROWS,
    TYPE_FIELD_NAMES,
    TYPE_KIND,
    TYPE_SUBTYPES,
    subtypes,
)
from acidsql.storage.orc.integer_runs import Chunks, Sequence, StoredColumn, statistics, stored_column
from acidsql.storage.orc.protobuf import BYTES, VARINT, Field, decode, encode, varint
from acidsql.storage.orc.rewrite import chunk_size
from acidsql.storage.orc.stripe_appending import HEADER
from acidsql.storage.orc.tail import Tail

_T = TypeVar("_T")

# orc_proto.StripeFooter, Stream, ColumnEncoding
_STREAM: Final = 1
_ENCODING: Final = 2
_STREAM_KIND: Final = 1
_STREAM_COLUMN: Final = 2
_STREAM_LENGTH: Final = 3
_ENCODING_KIND: Final = 1
_DATA: Final = 1
_ROW_INDEX: Final = 6
_INDEX_KINDS: Final = frozenset((_ROW_INDEX, 7, 8))
"""Row indexes, and bloom filters of two kinds."""
_DIRECT: Final = 0
_DIRECT_V2: Final = 2
# orc_proto.Metadata and StripeStatistics
_STRIPE_STATISTICS: Final = 1
_COLUMN_STATISTICS: Final = 1


@dataclass(frozen=True, slots=True)
class AddedColumn:
    """A field of the root: integers of the type `kind`, or, without values, a struct that is never NULL."""

    name: str
    kind: int
    values: Sequence | None

    def behind(self, rows: int) -> AddedColumn:
        return self if self.values is None else replace(self, values=self.values.behind(rows))


@dataclass(frozen=True, slots=True)
class _Stripe:
    """A stripe of the new file, of which the field of the footer lacks the offset."""

    pieces: tuple[bytes | Extent, ...]
    information: tuple[Field, ...]
    size: int
    rows: int
    stored: Mapping[int, int]
    """Bytes of the data of each added column."""


def with_columns(source: BinaryIO, tail: Tail, added: Mapping[int, AddedColumn]) -> tuple[list[bytes | Extent], Tail]:
    """The content of a file with the columns, up to its end, and the tail for `encode_second_end`.

    `added` are fields of the root by ORC's numbers of columns; the columns of the file get the other numbers, in their
    order. Raises MALFORMED_LAYOUT for a file that is not laid out as writers do it.
    """
    if any(f.number == FOOTER_ENCRYPTION for f in tail.footer):
        raise _malformed(tail, "it is encrypted")
    pieces: list[bytes | Extent] = [HEADER]
    stripes: list[_Stripe] = []
    at, rows = len(HEADER), 0
    stripe_fields: list[Field] = []
    for field in tail.footer:
        if field.number == FOOTER_STRIPES:
            stripe = _with_columns(source, tail, decode(field.bytes), {n: c.behind(rows) for n, c in added.items()})
            pieces += stripe.pieces
            stripes.append(stripe)
            stripe_fields.append(_located(stripe.information, at))
            at, rows = at + stripe.size, rows + stripe.rows
    stored = {number: sum(s.stored[number] for s in stripes) for number in added}
    of_file = {n: statistics(c.values, rows, stored[n]) for n, c in added.items()}
    footer = _replaced(
        tail.footer,
        {
            FOOTER_STRIPES: lambda _: (f.bytes for f in stripe_fields),
            FOOTER_TYPES: lambda types: _types(list(types), added),
            FOOTER_STATISTICS: partial(_merged, added=of_file),
        },
    )
    of_stripes = _stripe_statistics(tail, stripes, added)
    return pieces, replace(tail, size=at, footer_start=at, footer=footer, stripe_statistics=of_stripes)


# ------------------------------------------------------------------------------------------------ stripes


def _with_columns(
    source: BinaryIO, tail: Tail, information: tuple[Field, ...], added: Mapping[int, AddedColumn]
) -> _Stripe:
    numbers = {f.number: f.int for f in information}
    start, index, data = (numbers[n] for n in (STRIPE_OFFSET, STRIPE_INDEX_LENGTH, STRIPE_DATA_LENGTH))
    chunks, rows = Chunks(tail.codec, chunk_size(tail)), numbers.get(STRIPE_ROWS, 0)
    source.seek(start + index + data)
    footer = decode(decompress(source.read(numbers[STRIPE_FOOTER_LENGTH]), tail.codec, tail.path))
    streams = [_stream(f) for f in footer if f.number == _STREAM]
    indexes, others = [s for s in streams if s.kind in _INDEX_KINDS], [s for s in streams if s.kind not in _INDEX_KINDS]
    if streams != [*indexes, *others] or sum(s.length for s in indexes) != index:
        raise _malformed(tail, "its index streams are not the first ones of a stripe")
    stride = next((f.int for f in tail.footer if f.number == FOOTER_INDEX_STRIDE), 0) if indexes else 0
    made = {n: stored_column(c.values, rows, stride, chunks) for n, c in added.items()}
    new_footer = compress(_stripe_footer(footer, indexes, others, made, added), tail.codec, chunks.size)
    of_index = b"".join(c.index for c in made.values())
    of_data = b"".join(c.data for c in made.values())
    lengths = {
        STRIPE_INDEX_LENGTH: index + len(of_index),
        STRIPE_DATA_LENGTH: data + len(of_data),
        STRIPE_FOOTER_LENGTH: len(new_footer),
    }
    return _Stripe(
        (
            Extent(tail.path, start, index),
            of_index + of_data,
            Extent(tail.path, start + index, data),
            new_footer,
        ),
        tuple(Field(f.number, f.wire, lengths.get(f.number, f.value)) for f in information),
        sum(lengths.values()),
        rows,
        {n: len(c.data) for n, c in made.items()},
    )


@dataclass(frozen=True, slots=True)
class _Stream:
    """orc_proto.Stream."""

    kind: int
    column: int
    length: int

    @property
    def field(self) -> Field:
        numbers = {_STREAM_KIND: self.kind, _STREAM_COLUMN: self.column, _STREAM_LENGTH: self.length}
        return Field(_STREAM, BYTES, encode([Field(n, VARINT, v) for n, v in numbers.items()]))


def _stream(field: Field) -> _Stream:
    numbers = {f.number: f.int for f in decode(field.bytes)}
    return _Stream(*(numbers.get(n, 0) for n in (_STREAM_KIND, _STREAM_COLUMN, _STREAM_LENGTH)))


def _stripe_footer(
    footer: tuple[Field, ...],
    indexes: Iterable[_Stream],
    others: Iterable[_Stream],
    made: Mapping[int, StoredColumn],
    added: Mapping[int, AddedColumn],
) -> bytes:
    number_of = _numbering(added)
    streams = [
        *(replace(s, column=number_of(s.column)) for s in indexes),
        *(_Stream(_ROW_INDEX, n, len(c.index)) for n, c in made.items() if c.index),
        *(_Stream(_DATA, n, len(c.data)) for n, c in made.items() if c.data),
        *(replace(s, column=number_of(s.column)) for s in others),
    ]
    kinds = {n: _DIRECT if c.values is None else _DIRECT_V2 for n, c in added.items()}
    encodings = {n: encode((Field(_ENCODING_KIND, VARINT, kind),)) for n, kind in kinds.items()}
    return encode(
        _replaced(
            footer,
            {
                _STREAM: lambda _: (s.field.bytes for s in streams),
                _ENCODING: partial(_merged, added=encodings),
            },
        )
    )


def _located(information: tuple[Field, ...], at: int) -> Field:
    located = (Field(f.number, f.wire, at) if f.number == STRIPE_OFFSET else f for f in information)
    return Field(FOOTER_STRIPES, BYTES, encode(tuple(located)))


# ------------------------------------------------------------------------------------------------ footers


def _types(types: list[bytes], added: Mapping[int, AddedColumn]) -> Iterator[bytes]:
    """The types of the columns of the new file."""
    number_of = _numbering(added)
    root, *others = [decode(t) for t in types]
    names = dict(zip(subtypes(root), (f for f in root if f.number == TYPE_FIELD_NAMES), strict=True))
    fields = {
        **{number_of(child): name for child, name in names.items()},
        **{n: Field(TYPE_FIELD_NAMES, BYTES, c.name.encode()) for n, c in added.items()},
    }
    rest = (f for f in root if f.number not in (TYPE_KIND, TYPE_SUBTYPES, TYPE_FIELD_NAMES))
    children = b"".join(varint(n) for n in sorted(fields))
    struct = (Field(TYPE_KIND, VARINT, KIND_STRUCT), Field(TYPE_SUBTYPES, BYTES, children))
    new_root = encode((*struct, *(fields[n] for n in sorted(fields)), *rest))
    new = {n: encode((Field(TYPE_KIND, VARINT, c.kind),)) for n, c in added.items()}
    return _merged([new_root, *(encode(_renumbered(t, number_of)) for t in others)], new)


def _renumbered(kind: tuple[Field, ...], number_of: Callable[[int], int]) -> tuple[Field, ...]:
    """The type with the new numbers of its children."""
    children = subtypes(kind)
    if not children:
        return kind
    packed = Field(TYPE_SUBTYPES, BYTES, b"".join(varint(number_of(c)) for c in children))
    rest = [f for f in kind if f.number != TYPE_SUBTYPES]
    return tuple(sorted((packed, *rest), key=lambda f: f.number))


def _stripe_statistics(tail: Tail, stripes: Iterable[_Stripe], added: Mapping[int, AddedColumn]) -> bytes:
    rows, found = 0, []
    for field, stripe in zip(decode(tail.stripe_statistics), stripes, strict=True):
        new = {n: statistics(c.behind(rows).values, stripe.rows, stripe.stored[n]) for n, c in added.items()}
        columns = _replaced(decode(field.bytes), {_COLUMN_STATISTICS: partial(_merged, added=new)})
        found.append(Field(_STRIPE_STATISTICS, BYTES, encode(columns)))
        rows += stripe.rows
    return encode(found)


# ------------------------------------------------------------------------------------------------ numbers of columns


def _numbering(added: Mapping[int, object]) -> Callable[[int], int]:
    """The new number of a column of the file. The root keeps its number 0."""
    known: list[int] = []
    free = (n for n in count() if n not in added)

    def number_of(column: int) -> int:
        known.extend(islice(free, max(0, column + 1 - len(known))))
        return known[column]

    return number_of


def _merged(old: Iterable[_T], added: Mapping[int, _T]) -> Iterator[_T]:
    """The messages of all columns in order, of which `old` are those of the file."""
    items = list(old)
    others = iter(items)
    for number in range(len(items) + len(added)):
        yield added[number] if number in added else next(others)


def _replaced(
    fields: Iterable[Field], new: Mapping[int, Callable[[Iterable[bytes]], Iterable[bytes]]]
) -> tuple[Field, ...]:
    """The message with other values of some repeated fields, in the order of the numbers."""
    fields = list(fields)
    found = [f for f in fields if f.number not in new]
    for number, change in new.items():
        values = [f.bytes for f in fields if f.number == number]
        found += [Field(number, BYTES, value) for value in (change(values) if values else ())]
    return tuple(sorted(found, key=lambda f: f.number))


def _malformed(tail: Tail, reason: str) -> AcidSqlError:
    return AcidSqlError(Condition.MALFORMED_LAYOUT, path=tail.path, reason=reason)
