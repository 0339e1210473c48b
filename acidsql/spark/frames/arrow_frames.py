"""Arrow tables with types that Spark reads: dictionaries, views and unsigned numbers become plain values, UUIDs become
texts."""

from __future__ import annotations

import uuid
from typing import Any, Final

import pyarrow as pa

from acidsql.errors import AcidSqlError, Condition

_PLAIN: Final = {
    "uint8": pa.int16(),
    "uint16": pa.int32(),
    "uint32": pa.int64(),
    "uint64": pa.decimal128(20, 0),
    "halffloat": pa.float32(),
    "date64[ms]": pa.date32(),
    "string_view": pa.string(),
    "binary_view": pa.binary(),
}
"""The next wider type for those that Spark does not have, by Arrow's names of them: pyarrow 15 knows no views."""


_UUID: Final = "arrow.uuid"
"""Arrow's name for the type of uuid.UUID, whose values it stores as 16 bytes."""


def with_known_types(table: pa.Table) -> pa.Table:
    """The table with the same values in types that Spark has. A type that has no counterpart stays as it is.

    Raises INVALID_PARAMETER for UUIDs inside of a list, map or struct.
    """
    columns, changed = [], False
    for field, column in zip(table.schema, table.columns, strict=True):
        if not _is_uuid(field.type) and _holds_uuid(field.type):
            reason = f"its column {field.name} holds UUIDs inside of the type {field.type}"
            raise AcidSqlError(Condition.INVALID_PARAMETER, name="frame", reason=reason, hint="Give them as texts.")
        wanted = _plain(field.type)
        if wanted == field.type:
            columns.append(column)
        else:
            changed = True
            columns.append(_decoded(column, field.type).cast(wanted))
    if not changed:
        return table
    return pa.Table.from_arrays(columns, names=table.column_names)


def _decoded(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """The column without an encoding that a cast does not undo."""
    if _is_uuid(kind):
        texts = [None if value is None else str(_uuid(value)) for value in column.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.string())])
    if isinstance(kind, pa.BaseExtensionType):
        chunks = [chunk.storage for chunk in column.chunks]
        return _decoded(pa.chunked_array(chunks, kind.storage_type), kind.storage_type)
    if pa.types.is_dictionary(kind):
        values = _plain(kind.value_type)  # Arrow does not decode a dictionary of views
        chunks = [chunk.dictionary.cast(values).take(chunk.indices) for chunk in column.chunks]
        return pa.chunked_array(chunks, values)
    return column


def _is_uuid(kind: Any) -> bool:
    return isinstance(kind, pa.BaseExtensionType) and kind.extension_name == _UUID


def _uuid(value: Any) -> uuid.UUID:
    """A value of Arrow's type as Python's: pyarrow gives the 16 bytes in some versions."""
    return value if isinstance(value, uuid.UUID) else uuid.UUID(bytes=value)


def _holds_uuid(kind: Any) -> bool:
    match kind:
        case _ if _is_uuid(kind):
            return True
        case pa.StructType():
            return any(_holds_uuid(field.type) for field in kind)
        case pa.MapType():
            return _holds_uuid(kind.key_type) or _holds_uuid(kind.item_type)
        case pa.ListType() | pa.LargeListType() | pa.FixedSizeListType() | pa.DictionaryType():
            return _holds_uuid(kind.value_type)
        case _:
            return False


def _plain(kind: Any) -> pa.DataType:
    match kind:
        case _ if _is_uuid(kind):
            return pa.string()
        case pa.BaseExtensionType():
            return _plain(kind.storage_type)
        case pa.DictionaryType() | pa.RunEndEncodedType():
            return _plain(kind.value_type)
        case pa.StructType():
            return pa.struct([field.with_type(_plain(field.type)) for field in kind])
        case pa.MapType():
            return pa.map_(_plain(kind.key_type), kind.item_field.with_type(_plain(kind.item_type)))
        case pa.ListType() | pa.LargeListType() | pa.FixedSizeListType():
            inside = _plain(kind.value_type)
            return kind if inside == kind.value_type else pa.list_(kind.value_field.with_type(inside))
        case _:
            return _PLAIN.get(str(kind), kind)
