"""Arrow tables with types that Spark reads: dictionaries, views and unsigned numbers become plain values."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

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


def with_known_types(table: pa.Table) -> pa.Table:
    """The table with the same values in types that Spark has. A type that has no counterpart stays as it is."""
    columns, changed = [], False
    for field, column in zip(table.schema, table.columns, strict=True):
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
    if isinstance(kind, pa.BaseExtensionType):
        chunks = [chunk.storage for chunk in column.chunks]
        return _decoded(pa.chunked_array(chunks, kind.storage_type), kind.storage_type)
    if pa.types.is_dictionary(kind):
        values = _plain(kind.value_type)  # Arrow does not decode a dictionary of views
        chunks = [chunk.dictionary.cast(values).take(chunk.indices) for chunk in column.chunks]
        return pa.chunked_array(chunks, values)
    return column


def _plain(kind: Any) -> pa.DataType:
    match kind:
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
