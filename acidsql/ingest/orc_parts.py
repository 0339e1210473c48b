"""Rows as complete ORC files in memory, whose stripes go into the files of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import orc

from acidsql.acid.table import Table
from acidsql.acid.write_ids import WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.storage.orc.event_columns import insert_columns
from acidsql.storage.orc.orc_footers import arrow_codec, with_nested_row, with_plain_columns, writer_options
from acidsql.storage.orc.stripe_appending import stripe_bytes
from acidsql.storage.orc.tail import Tail, read_tail


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
    name = arrow_codec(table)
    if name is None:
        given = writer_options(table)["orc.compress"]
        feature = f"Streaming into a table whose orc.compress is {given} ({table.qualified})"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)
    return name


def event_part(table: Table, rows: pa.Table, write_id: WriteId, bucket_property: int, first_row: int) -> Part:
    """Insert events of a full ACID table. The rows are those of `storable`."""
    columns = {f"_c{i}": values for i, values in enumerate(rows.columns)}
    written = _written(table, {**insert_columns(rows.num_rows, write_id, bucket_property, first_row), **columns})
    return Part(written.stripes, with_nested_row(written.tail, table))


def plain_part(table: Table, rows: pa.Table) -> Part:
    """Rows of an insert-only table. The rows are those of `storable`."""
    written = _written(table, dict(zip(rows.column_names, rows.columns, strict=True)))
    return Part(written.stripes, with_plain_columns(written.tail, table))


def _written(table: Table, columns: Mapping[str, object]) -> Part:
    sink = pa.BufferOutputStream()
    orc.write_table(pa.table(columns), sink, compression=codec(table))
    content = sink.getvalue().to_pybytes()
    tail = read_tail(table.location, len(content), content)
    assert isinstance(tail, Tail)
    return Part(stripe_bytes(content, tail), tail)
