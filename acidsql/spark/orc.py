"""The end of an ORC file: read what its footer says, and rewrite it without touching a stripe.

Spark's ORC writer is several times slower on a nested struct than on flat columns and cannot set user metadata. So
events are written flat, `operation, originalTransaction, bucket, rowId, currentTransaction, row boolean, c0, c1 ..`,
and the footer's type list is then turned into Hive's nested one: ORC numbers columns in pre-order, and the boolean
holds the struct's place. Source: the ORC v1 specification, "File Tail"; orc_proto.proto for the field numbers.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from acidsql.acid.layout import ACID_FIELDS
from acidsql.acid.types import Array, Char, HiveType, Map, Primitive, Struct, Varchar
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.events import name_sql
from acidsql.planner.ranges import Range
from acidsql.spark.orc_codecs import codec_name, decompress
from acidsql.spark.orc_statistics import integer_range, value_range
from acidsql.spark.protobuf import BYTES, VARINT, Field, decode, encode, read_varint, varint

TAIL_GUESS: Final = 16 * 1024
"""Bytes read from a file's end at first: enough for the tail of nearly every file."""
OPERATION_COLUMN: Final = 1
ORIGINAL_TRANSACTION_COLUMN: Final = 2
BUCKET_COLUMN: Final = 3
ROW_ID_COLUMN: Final = 4
"""ORC's numbers of the ACID columns."""

_ROW_COLUMN: Final = 6
_KIND_TIMESTAMP: Final = 9
_KIND_VARCHAR: Final = 16
_KIND_CHAR: Final = 17
_KIND_STRUCT: Final = 12
_KIND_TIMESTAMP_INSTANT: Final = 18
_MAX_CHUNK: Final = 128 * 1024
_QUOTED: Final = re.compile(r"`((?:[^`]|``)+)`(?!`)")
"""A name in backticks, and what may follow it unseen."""

# orc_proto.PostScript
_PS_FOOTER_LENGTH: Final = 1
_PS_COMPRESSION: Final = 2
_PS_BLOCK_SIZE: Final = 3
_PS_METADATA_LENGTH: Final = 5
# orc_proto.Footer
_FOOTER_CONTENT_LENGTH: Final = 2
_FOOTER_STRIPES: Final = 3
_FOOTER_TYPES: Final = 4
_FOOTER_METADATA: Final = 5
_FOOTER_ROWS: Final = 6
_FOOTER_STATISTICS: Final = 7
# orc_proto.Type
_TYPE_KIND: Final = 1
_TYPE_SUBTYPES: Final = 2
_TYPE_FIELD_NAMES: Final = 3
_TYPE_MAXIMUM_LENGTH: Final = 4
_TYPE_PRECISION: Final = 5
_TYPE_SCALE: Final = 6
_TYPE_ATTRIBUTES: Final = 7

_SPARK_TYPE: Final = Field(_TYPE_ATTRIBUTES, BYTES, b"\x0a\x17spark.sql.catalyst.type\x12\x0dtimestamp_ltz")
"""The attribute of a type by which Spark knows it, a StringPair of key (1) and value (2). Its `timestamp` would be
another type in a session whose spark.sql.timestampType is TIMESTAMP_NTZ."""


@dataclass(frozen=True, slots=True)
class OrcType:
    """orc_proto.Type: `subtypes` are numbers of columns, `names` those of a struct's fields."""

    kind: int
    subtypes: tuple[int, ...]
    names: tuple[str, ...]
    length: int
    precision: int
    scale: int


@dataclass(frozen=True)
class Tail:
    """What stands behind the stripes of an ORC file of `size` bytes: `footer_start` is the footer's offset in it."""

    path: str
    size: int
    footer_start: int
    footer: tuple[Field, ...]
    postscript: tuple[Field, ...]
    stripe_statistics: bytes
    codec: str

    @cached_property
    def rows(self) -> int:
        return next((f.int for f in self.footer if f.number == _FOOTER_ROWS), 0)

    @property
    def stripe_rows(self) -> tuple[int, ...]:
        """Number of rows of each stripe."""
        stripes = (decode(f.bytes) for f in self.footer if f.number == _FOOTER_STRIPES)
        return tuple(next((f.int for f in s if f.number == 5), 0) for s in stripes)

    @cached_property
    def top_level_names(self) -> tuple[str, ...]:
        """Names of the root struct's fields."""
        return _field_names(decode(next(f.bytes for f in self.footer if f.number == _FOOTER_TYPES)))

    @property
    def type_messages(self) -> tuple[bytes, ...]:
        """orc_proto.Type of the columns by ORC's numbers of them (for `orc_type`); the root's is the first."""
        return tuple(f.bytes for f in self.footer if f.number == _FOOTER_TYPES)

    @cached_property
    def is_acid(self) -> bool:
        """Whether the file has Hive's six ACID columns; the query-based compactor writes them in lower case."""
        return [n.lower() for n in self.top_level_names] == [n.lower() for n in ACID_FIELDS]

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        """Names of the table's columns in the file, in order: the fields of `row`, or of the root of a plain file. As
        ORC's readers give them or, where these tell no columns apart, as `with_clear_names` makes them be given."""
        given = tuple(map(name_as_read, self._written_names))
        return given if self.has_clear_names else self._written_names

    @cached_property
    def has_clear_names(self) -> bool:
        """Whether ORC's readers take the file, and give each of the table's columns another name."""
        given = list(map(name_as_read, self._written_names))
        return "" not in given and len(set(given)) == len(given)

    @property
    def _written_names(self) -> tuple[str, ...]:
        types = [f.bytes for f in self.footer if f.number == _FOOTER_TYPES]
        return _field_names(decode(types[_owner(self, decode(types[0]))]))

    @cached_property
    def has_unnamed_instants(self) -> bool:
        """Whether a column is a TIMESTAMP_INSTANT, Hive's timestamp with local time zone, without the attribute by
        which Spark knows it."""
        types = (decode(f.bytes) for f in self.footer if f.number == _FOOTER_TYPES)
        return any(_is_instant(t) and _SPARK_TYPE not in t for t in types)

    @cached_property
    def row_columns(self) -> tuple[int, ...]:
        """ORC's numbers of the table's columns, in order."""
        types = [f.bytes for f in self.footer if f.number == _FOOTER_TYPES]
        children = _subtypes(decode(types[0]))
        return tuple(_subtypes(decode(types[children[-1]])) if self.is_acid else children)

    def integer_range(self, column: int) -> tuple[int, int] | None:
        """Minimum and maximum of an integer column by its ORC number; None where the file has no such statistics."""
        if column not in self._integer_ranges:
            statistics = self._statistics
            self._integer_ranges[column] = integer_range(statistics[column]) if column < len(statistics) else None
        return self._integer_ranges[column]

    def value_range(self, position: int, hive_type: HiveType) -> Range | None:
        """Bounds of the values of a table's column, by its place in the row, as `planner.ranges` compares them."""
        if position not in self._value_ranges:
            statistics = self._statistics
            column = self.row_columns[position]
            found = value_range(statistics[column], hive_type) if column < len(statistics) else None
            self._value_ranges[position] = found
        return self._value_ranges[position]

    @property
    def _statistics(self) -> list[bytes]:
        return [f.bytes for f in self.footer if f.number == _FOOTER_STATISTICS]

    @cached_property
    def _integer_ranges(self) -> dict[int, tuple[int, int] | None]:
        """Those that were asked for: a tail is asked by every statement that reads the file."""
        return {}

    @cached_property
    def _value_ranges(self) -> dict[int, Range | None]:
        return {}

    def stripe_integer_ranges(self, column: int) -> tuple[tuple[int, int] | None, ...]:
        """The same for each stripe."""
        stripes = (f.bytes for f in decode(self.stripe_statistics) if f.number == 1)
        columns = ([f.bytes for f in decode(s) if f.number == 1] for s in stripes)
        return tuple(integer_range(c[column]) if column < len(c) else None for c in columns)


def read_tail(path: str, size: int, end: bytes) -> Tail | int:
    """The tail of a file of `size` bytes, from its last bytes; where they are too few, how many are needed."""
    if size < 4 or not end:
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason="it is too short for an ORC file")
    try:
        return _tail(path, size, end)
    except (IndexError, zlib.error, OSError) as error:
        # What is cut off in the middle of a number, or does not decompress.
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason="its end is damaged") from error


def _tail(path: str, size: int, end: bytes) -> Tail | int:
    ps_length = end[-1]
    postscript = decode(end[-1 - ps_length : -1])
    numbers = {f.number: f.value for f in postscript}
    if numbers.get(8000) != b"ORC":
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason="it is not an ORC file")
    footer_length = _int(numbers, _PS_FOOTER_LENGTH)
    metadata_length = _int(numbers, _PS_METADATA_LENGTH)
    needed = 1 + ps_length + footer_length + metadata_length
    if needed > size:
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason="its end is longer than the file")
    if needed > len(end):
        return needed
    codec = codec_name(_int(numbers, _PS_COMPRESSION))
    footer_at = len(end) - 1 - ps_length - footer_length
    footer = decompress(end[footer_at : footer_at + footer_length], codec, path)
    metadata = decompress(end[footer_at - metadata_length : footer_at], codec, path)
    return Tail(path, size, size - 1 - ps_length - footer_length, decode(footer), postscript, metadata, codec)


def nest_row(tail: Tail, columns: Sequence[tuple[str, HiveType]]) -> Tail:
    """The tail with the flat columns behind `row` made the fields of a struct `row`, under their own names.

    `row` must be NULL in all events of the file or in none: ORC stores no field of a NULL struct, and flat columns
    have a NULL there.
    """
    types = [decode(f.bytes) for f in tail.footer if f.number == _FOOTER_TYPES]
    children = _subtypes(types[0])[_ROW_COLUMN:]
    types[_ROW_COLUMN] = (
        Field(_TYPE_KIND, VARINT, _KIND_STRUCT),
        Field(_TYPE_SUBTYPES, BYTES, b"".join(varint(c) for c in children)),
        *(Field(_TYPE_FIELD_NAMES, BYTES, name_as_written(name).encode()) for name, _ in columns),
    )
    types[0] = _first_children(types[0], _ROW_COLUMN)
    for child, (_, hive_type) in zip(children, columns, strict=True):
        types[child] = _with_length(types[child], hive_type)
    return _replace_types(tail, [encode(t) for t in types])


def name_as_written(name: str) -> str:
    """The name of a field as a footer must have it for ORC's readers to give it again (OrcUtils.convertTypeFromProtobuf
    puts backticks around a name, if it has none, and ParserUtils.parseName ends it at the first single one).

    >>> name_as_written("a b"), name_as_written("a`b")
    ('a b', '`a``b`')
    """
    return name_sql(name) if "`" in name else name


def name_as_read(written: str) -> str:
    """What ORC's readers make of a field's name in a footer; '' where they fail.

    >>> name_as_read("a b"), name_as_read("`a``b`"), name_as_read("a`b"), name_as_read("`")
    ('a b', 'a`b', 'a', '')
    """
    quoted = written if written.startswith("`") else f"`{written}`"
    found = _QUOTED.match(quoted)
    return found.group(1).replace("``", "`") if found else ""


def with_clear_names(tail: Tail, names: Sequence[str]) -> Tail:
    """The tail with other names of the table's columns, which ORC's readers give as they are."""
    types = [decode(f.bytes) for f in tail.footer if f.number == _FOOTER_TYPES]
    owner = _owner(tail, types[0])
    others = (f for f in types[owner] if f.number != _TYPE_FIELD_NAMES)
    named = (Field(_TYPE_FIELD_NAMES, BYTES, name_as_written(name).encode()) for name in names)
    types[owner] = (*others, *named)
    return _replace_types(tail, [encode(t) for t in types])


def instants_named(tail: Tail) -> Tail:
    """The tail with the name that Spark's reader has for a TIMESTAMP_INSTANT beside each one.

    Spark parses ORC's own name of the type, and fails (OrcUtils.toCatalystSchema, Spark 4.1), unless an attribute of
    the type says another. Others pass over attributes.
    """
    types = [decode(f.bytes) for f in tail.footer if f.number == _FOOTER_TYPES]
    named = [_named(t) if _is_instant(t) else t for t in types]
    return _replace_types(tail, [encode(t) for t in named])


def with_instants(tail: Tail, columns: Sequence[HiveType]) -> Tail:
    """The tail with a TIMESTAMP_INSTANT for every timestamp with local time zone; `columns` are those of the table, all
    that the file has. The writer's time zone was UTC."""
    types = [decode(f.bytes) for f in tail.footer if f.number == _FOOTER_TYPES]
    for child, kind in zip(_subtypes(types[_owner(tail, types[0])]), columns, strict=True):
        for number in _instants(types, child, kind):
            types[number] = _as_instant(types[number])
    return instants_named(_replace_types(tail, [encode(t) for t in types]))


def with_user_metadata(tail: Tail, items: Mapping[str, str]) -> Tail:
    """The tail with items added to the file's user metadata."""
    added = tuple(
        Field(_FOOTER_METADATA, BYTES, encode((Field(1, BYTES, k.encode()), Field(2, BYTES, v.encode()))))
        for k, v in items.items()
    )
    return replace(tail, footer=(*tail.footer, *added))


def encode_end(tail: Tail) -> bytes:
    """The bytes of the file from `footer_start` on. The footer is stored in uncompressed chunks, as ORC allows."""
    footer = _stored(encode(tail.footer), tail)
    return footer + _postscript(tail, {_PS_FOOTER_LENGTH: len(footer)})


def encode_second_end(tail: Tail) -> bytes:
    """An end that stands behind the file's own, which no reader sees any more: readers begin with the last byte. So
    files end to which a streaming client of Hive's has added stripes."""
    metadata = _stored(tail.stripe_statistics, tail)
    footer = _stored(encode(_with_numbers(tail.footer, {_FOOTER_CONTENT_LENGTH: tail.size})), tail)
    lengths = {_PS_FOOTER_LENGTH: len(footer), _PS_METADATA_LENGTH: len(metadata)}
    return metadata + footer + _postscript(tail, lengths)


def _stored(data: bytes, tail: Tail) -> bytes:
    return data if tail.codec == "none" else b"".join(_original_chunks(data, _chunk_size(tail)))


def _postscript(tail: Tail, lengths: Mapping[int, int]) -> bytes:
    """The postscript with other lengths, and its own."""
    postscript = encode(_with_numbers(tail.postscript, lengths))
    return postscript + bytes([len(postscript)])


def _with_numbers(fields: Sequence[Field], numbers: Mapping[int, int]) -> tuple[Field, ...]:
    return tuple(Field(f.number, f.wire, numbers[f.number]) if f.number in numbers else f for f in fields)


# ------------------------------------------------------------------------------------------------ parts of a footer


def _int(numbers: Mapping[int, int | bytes], key: int) -> int:
    value = numbers.get(key, 0)
    return value if isinstance(value, int) else 0


def orc_type(message: bytes) -> OrcType:
    fields = decode(message)
    numbers = {f.number: f.value for f in fields}
    names = tuple(f.bytes.decode() for f in fields if f.number == _TYPE_FIELD_NAMES)
    length, precision, scale = (_int(numbers, n) for n in (_TYPE_MAXIMUM_LENGTH, _TYPE_PRECISION, _TYPE_SCALE))
    return OrcType(_int(numbers, _TYPE_KIND), tuple(_subtypes(fields)), names, length, precision, scale)


def _owner(tail: Tail, root: Sequence[Field]) -> int:
    """ORC's number of the struct whose fields are the table's columns: `row`, or the root of a plain file."""
    return _subtypes(root)[-1] if tail.is_acid else 0


def _field_names(fields: Sequence[Field]) -> tuple[str, ...]:
    return tuple(f.bytes.decode() for f in fields if f.number == _TYPE_FIELD_NAMES)


def _subtypes(fields: Sequence[Field]) -> list[int]:
    """Child column numbers: packed by ORC's writers, one by one in old files."""
    found: list[int] = []
    for f in fields:
        if f.number == _TYPE_SUBTYPES:
            found += _packed(f.value) if isinstance(f.value, bytes) else [f.value]
    return found


def _packed(data: bytes) -> list[int]:
    found, at = [], 0
    while at < len(data):
        value, at = read_varint(data, at)
        found.append(value)
    return found


def _first_children(root: Sequence[Field], count: int) -> tuple[Field, ...]:
    names = [f for f in root if f.number == _TYPE_FIELD_NAMES][:count]
    children = b"".join(varint(c) for c in _subtypes(root)[:count])
    rest = [f for f in root if f.number not in (_TYPE_SUBTYPES, _TYPE_FIELD_NAMES, _TYPE_KIND)]
    return (Field(_TYPE_KIND, VARINT, _KIND_STRUCT), Field(_TYPE_SUBTYPES, BYTES, children), *names, *rest)


def _with_length(fields: tuple[Field, ...], hive_type: HiveType) -> tuple[Field, ...]:
    """CHAR(n) and VARCHAR(n) are stored like STRING; only their type says so."""
    match hive_type:
        case Char(length):
            return (Field(_TYPE_KIND, VARINT, _KIND_CHAR), Field(_TYPE_MAXIMUM_LENGTH, VARINT, length))
        case Varchar(length):
            return (Field(_TYPE_KIND, VARINT, _KIND_VARCHAR), Field(_TYPE_MAXIMUM_LENGTH, VARINT, length))
        case _:
            return fields


def _is_instant(fields: tuple[Field, ...]) -> bool:
    return Field(_TYPE_KIND, VARINT, _KIND_TIMESTAMP_INSTANT) in fields


def _named(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    return (*(f for f in fields if f.number != _TYPE_ATTRIBUTES), _SPARK_TYPE)


def _as_instant(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    timestamp, instant = (Field(_TYPE_KIND, VARINT, k) for k in (_KIND_TIMESTAMP, _KIND_TIMESTAMP_INSTANT))
    return tuple(instant if f == timestamp else f for f in fields)


def _instants(types: Sequence[tuple[Field, ...]], number: int, hive_type: HiveType) -> Iterator[int]:
    """The numbers of the columns that are instants: `number`, or some inside it."""
    children = _subtypes(types[number])
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
    footer = tuple(Field(f.number, f.wire, next(replaced)) if f.number == _FOOTER_TYPES else f for f in tail.footer)
    return replace(tail, footer=footer)


def _chunk_size(tail: Tail) -> int:
    """Readers have a buffer of the file's compression block size: no chunk may be longer (InStream.readHeader)."""
    return min(_MAX_CHUNK, next((f.int for f in tail.postscript if f.number == _PS_BLOCK_SIZE), _MAX_CHUNK))


def _original_chunks(data: bytes, size: int) -> Iterator[bytes]:
    for at in range(0, len(data), size):
        chunk = data[at : at + size]
        yield (len(chunk) << 1 | 1).to_bytes(3, "little") + chunk
