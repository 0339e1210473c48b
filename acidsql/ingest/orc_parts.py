"""Rows as complete ORC files in memory, whose stripes go into the files of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from pyarrow import orc

from acidsql.acid.layout import (
    BUCKET,
    CURRENT_TRANSACTION,
    OPERATION,
    OPERATION_INSERT,
    ORIGINAL_TRANSACTION,
    ROW,
    ROW_ID,
)
from acidsql.acid.table import Table
from acidsql.acid.write_ids import WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.storage.orc.orc_footers import with_nested_row, with_plain_columns, writer_options
from acidsql.storage.orc.stripe_appending import stripe_bytes
from acidsql.storage.orc.tail import Tail, read_tail

_CODECS: Final = {"none": "uncompressed", "zlib": "zlib", "snappy": "snappy", "lz4": "lz4", "zstd": "zstd"}


@dataclass(frozen=True, slots=True)
class Part:
    """The stripes of some rows, and the tail that a file with these stripes alone has."""

    stripes: bytes
    tail: Tail


def codec(table: Table) -> str:
    """The codec of the table's files, as pyarrow calls it. Raises NOT_YET_SUPPORTED.

    It is the only one of the properties `orc.*` that counts here: the others change the size of stripes, blocks and
    indexes, or add Bloom filters, and a reader finds the same rows without them.
    """
    name = writer_options(table)["orc.compress"]
    if name.lower() not in _CODECS:
        feature = f"Streaming into a table whose orc.compress is {name} ({table.qualified})"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)
    return _CODECS[name.lower()]


def event_part(table: Table, rows: pa.Table, write_id: WriteId, bucket_property: int, first_row: int) -> Part:
    """Insert events of a full ACID table. The rows are those of `storable`."""
    columns = {f"_c{i}": values for i, values in enumerate(rows.columns)}
    written = _written(table, {**_insertions(rows.num_rows, write_id, bucket_property, first_row), **columns})
    return Part(written.stripes, with_nested_row(written.tail, table))


def plain_part(table: Table, rows: pa.Table) -> Part:
    """Rows of an insert-only table. The rows are those of `storable`."""
    written = _written(table, dict(zip(rows.column_names, rows.columns, strict=True)))
    return Part(written.stripes, with_plain_columns(written.tail, table))


def _insertions(count: int, write_id: WriteId, bucket_property: int, first_row: int) -> dict[str, pa.Array]:
    """The ACID columns. `row` is a column of booleans until the footer makes it a struct."""
    return {
        OPERATION: pa.array(np.full(count, OPERATION_INSERT, np.int32)),
        ORIGINAL_TRANSACTION: pa.array(np.full(count, write_id, np.int64)),
        BUCKET: pa.array(np.full(count, bucket_property, np.int32)),
        ROW_ID: pa.array(np.arange(first_row, first_row + count, dtype=np.int64)),
        CURRENT_TRANSACTION: pa.array(np.full(count, write_id, np.int64)),
        ROW: pa.array(np.full(count, True, np.bool_)),
    }


def _written(table: Table, columns: Mapping[str, pa.Array]) -> Part:
    sink = pa.BufferOutputStream()
    orc.write_table(pa.table(columns), sink, compression=codec(table))
    content = sink.getvalue().to_pybytes()
    tail = read_tail(table.location, len(content), content)
    assert isinstance(tail, Tail)
    return Part(stripe_bytes(content, tail), tail)
