"""Rewrite the end of an ORC file without touching a stripe.

Spark's ORC writer is several times slower on a nested struct than on flat columns, and cannot set user metadata. So
Spark writes flat events, `operation, originalTransaction, bucket, rowId, currentTransaction, row boolean, c0, c1 ..`,
and this module turns the footer's list of types into Hive's nested one. That works because ORC numbers columns in
pre-order, and the boolean column keeps the number of the struct. Source: the ORC v1 specification, "File Tail".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from acidsql.acid.hive_types import Array, Char, HiveType, Map, Primitive, Struct, Varchar
from acidsql.storage.orc.codecs import compress
from acidsql.storage.orc.footer_messages import (
    FOOTER_CONTENT_LENGTH,
    FOOTER_METADATA,
    FOOTER_TYPES,
    KIND_CHAR,
    KIND_STRUCT,
    KIND_TIMESTAMP,
    KIND_TIMESTAMP_INSTANT,
    KIND_VARCHAR,
    PS_BLOCK_SIZE,
    PS_FOOTER_LENGTH,
    PS_METADATA_LENGTH,
    SPARK_TYPE,
    TYPE_ATTRIBUTES,
    TYPE_FIELD_NAMES,
    TYPE_KIND,
    TYPE_MAXIMUM_LENGTH,
    TYPE_SUBTYPES,
    is_instant,
    name_as_written,
    subtypes,
)
from acidsql.storage.orc.protobuf import BYTES, VARINT, Field, decode, encode, varint
from acidsql.storage.orc.tail import ROW_COLUMN, Tail

_MAX_CHUNK: Final = 128 * 1024


def nest_row(tail: Tail, columns: Sequence[tuple[str, HiveType]]) -> Tail:
    """The tail with a struct `row`, whose fields are the flat columns behind `row`, under their own names.

    `row` must be NULL in all events of the file or in none: ORC stores no field of a NULL struct, and flat columns
    have a NULL there.
    """
    types = [decode(f.bytes) for f in tail.footer if f.number == FOOTER_TYPES]
    children = subtypes(types[0])[ROW_COLUMN:]
    types[ROW_COLUMN] = (
        Field(TYPE_KIND, VARINT, KIND_STRUCT),
        Field(TYPE_SUBTYPES, BYTES, b"".join(varint(c) for c in children)),
        *(Field(TYPE_FIELD_NAMES, BYTES, name_as_written(name).encode()) for name, _ in columns),
    )
    types[0] = _first_children(types[0], ROW_COLUMN)
    for child, (_, hive_type) in zip(children, columns, strict=True):
        types[child] = _with_length(types[child], hive_type)
    return _replace_types(tail, [encode(t) for t in types])


def with_clear_names(tail: Tail, names: Sequence[str]) -> Tail:
    """The tail with other names of the table's columns, which ORC's readers do not change."""
    types = [decode(f.bytes) for f in tail.footer if f.number == FOOTER_TYPES]
    owner = tail.struct_of_columns
    others = (f for f in types[owner] if f.number != TYPE_FIELD_NAMES)
    named = (Field(TYPE_FIELD_NAMES, BYTES, name_as_written(name).encode()) for name in names)
    types[owner] = (*others, *named)
    return _replace_types(tail, [encode(t) for t in types])


def instants_named(tail: Tail) -> Tail:
    """The tail with the attribute by which Spark's reader knows a TIMESTAMP_INSTANT, at each one.

    Spark parses ORC's own name of the type, and fails (OrcUtils.toCatalystSchema, Spark 4.1), unless an attribute of
    the type says another. Others pass over attributes.
    """
    types = [decode(f.bytes) for f in tail.footer if f.number == FOOTER_TYPES]
    named = [_named(t) if is_instant(t) else t for t in types]
    return _replace_types(tail, [encode(t) for t in named])


def with_instants(tail: Tail, columns: Sequence[HiveType]) -> Tail:
    """The tail with a TIMESTAMP_INSTANT for every timestamp with local time zone. `columns` are the table's, all of
    which the file has. The writer's time zone was UTC."""
    types = [decode(f.bytes) for f in tail.footer if f.number == FOOTER_TYPES]
    for child, kind in zip(subtypes(types[tail.struct_of_columns]), columns, strict=True):
        for number in _instants(types, child, kind):
            types[number] = _as_instant(types[number])
    return instants_named(_replace_types(tail, [encode(t) for t in types]))


def with_user_metadata(tail: Tail, items: Mapping[str, str]) -> Tail:
    """The tail with items added to the file's user metadata."""
    added = tuple(
        Field(FOOTER_METADATA, BYTES, encode((Field(1, BYTES, k.encode()), Field(2, BYTES, v.encode()))))
        for k, v in items.items()
    )
    return replace(tail, footer=(*tail.footer, *added))


def encode_end(tail: Tail) -> bytes:
    """The bytes of the file from `footer_start` on."""
    footer = _stored(encode(tail.footer), tail)
    return footer + _postscript(tail, {PS_FOOTER_LENGTH: len(footer)})


def encode_second_end(tail: Tail) -> bytes:
    """An end to append to the file. Readers begin at the last byte, so the former end has no effect any more. Files to
    which a streaming client of Hive has added stripes end in the same way."""
    metadata = _stored(tail.stripe_statistics, tail)
    footer = _stored(encode(_with_numbers(tail.footer, {FOOTER_CONTENT_LENGTH: tail.size})), tail)
    lengths = {PS_FOOTER_LENGTH: len(footer), PS_METADATA_LENGTH: len(metadata)}
    return metadata + footer + _postscript(tail, lengths)


def _stored(data: bytes, tail: Tail) -> bytes:
    """The bytes in chunks of the file's codec. Those of a file to which stripes are appended have to be small: the file
    keeps all its former ends."""
    return compress(data, tail.codec, chunk_size(tail))


def _postscript(tail: Tail, lengths: Mapping[int, int]) -> bytes:
    """The bytes of the postscript with other lengths, followed by its own length."""
    postscript = encode(_with_numbers(tail.postscript, lengths))
    return postscript + bytes([len(postscript)])


def _with_numbers(fields: Sequence[Field], numbers: Mapping[int, int]) -> tuple[Field, ...]:
    return tuple(Field(f.number, f.wire, numbers[f.number]) if f.number in numbers else f for f in fields)


# ------------------------------------------------------------------------------------------------ parts of a footer


def _first_children(root: Sequence[Field], count: int) -> tuple[Field, ...]:
    names = [f for f in root if f.number == TYPE_FIELD_NAMES][:count]
    children = b"".join(varint(c) for c in subtypes(root)[:count])
    rest = [f for f in root if f.number not in (TYPE_SUBTYPES, TYPE_FIELD_NAMES, TYPE_KIND)]
    return (Field(TYPE_KIND, VARINT, KIND_STRUCT), Field(TYPE_SUBTYPES, BYTES, children), *names, *rest)


def _with_length(fields: tuple[Field, ...], hive_type: HiveType) -> tuple[Field, ...]:
    """The type with the length of a CHAR or VARCHAR. Their values are stored like those of STRING."""
    match hive_type:
        case Char(length):
            return (Field(TYPE_KIND, VARINT, KIND_CHAR), Field(TYPE_MAXIMUM_LENGTH, VARINT, length))
        case Varchar(length):
            return (Field(TYPE_KIND, VARINT, KIND_VARCHAR), Field(TYPE_MAXIMUM_LENGTH, VARINT, length))
        case _:
            return fields


def _named(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    return (*(f for f in fields if f.number != TYPE_ATTRIBUTES), SPARK_TYPE)


def _as_instant(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    timestamp, instant = (Field(TYPE_KIND, VARINT, k) for k in (KIND_TIMESTAMP, KIND_TIMESTAMP_INSTANT))
    return tuple(instant if f == timestamp else f for f in fields)


def _instants(types: Sequence[tuple[Field, ...]], number: int, hive_type: HiveType) -> Iterator[int]:
    """The numbers of the instant columns: `number` itself, or columns inside it."""
    children = subtypes(types[number])
    match hive_type:
        case Primitive("timestamp with local time zone"):
            yield number
        case Array(element):
            yield from _instants(types, children[0], element)
        case Map(key, value):
            yield from _instants(types, children[0], key)
            yield from _instants(types, children[1], value)
        case Struct(fields):
            for child, (_, of) in zip(children, fields, strict=True):
                yield from _instants(types, child, of)
        case _:
            pass


def _replace_types(tail: Tail, types: Sequence[bytes]) -> Tail:
    replaced = iter(types)
    footer = tuple(Field(f.number, f.wire, next(replaced)) if f.number == FOOTER_TYPES else f for f in tail.footer)
    return replace(tail, footer=footer)


def chunk_size(tail: Tail) -> int:
    """The longest chunk before its compression."""
    return min(_MAX_CHUNK, next((f.int for f in tail.postscript if f.number == PS_BLOCK_SIZE), _MAX_CHUNK))
