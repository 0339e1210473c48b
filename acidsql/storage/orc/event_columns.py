"""The ACID columns of rows that are inserted, as flat columns: the footer makes a struct of the others later
(acidsql.storage.orc.orc_footers.with_nested_row). A writer gets them as arrays, or does not write them at all."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from acidsql.acid.layout import (
    BUCKET,
    CURRENT_TRANSACTION,
    OPERATION,
    OPERATION_INSERT,
    ORIGINAL_TRANSACTION,
    ROW,
    ROW_ID,
)
from acidsql.acid.write_ids import WriteId
from acidsql.storage.orc.added_columns import AddedColumn
from acidsql.storage.orc.footer_messages import KIND_INT, KIND_LONG, KIND_STRUCT
from acidsql.storage.orc.integer_runs import Sequence
from acidsql.storage.orc.tail import (
    BUCKET_COLUMN,
    CURRENT_TRANSACTION_COLUMN,
    OPERATION_COLUMN,
    ORIGINAL_TRANSACTION_COLUMN,
    ROW_COLUMN,
    ROW_ID_COLUMN,
)


def insert_columns(count: int, write_id: WriteId, bucket_property: int, first_row: int) -> dict[str, NDArray[Any]]:
    """The columns of `count` new rows, whose row IDs count up from `first_row`."""
    rows = np.arange(first_row, first_row + count, dtype=np.int64)
    return inserted_columns(np.full(count, write_id, np.int64), np.full(count, bucket_property, np.int32), rows)


def inserted_columns(
    write_ids: NDArray[np.int64], bucket_properties: NDArray[np.int32], rows: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """The columns of rows with these row IDs. `row` is true for each of them."""
    count = len(rows)
    return {
        OPERATION: np.full(count, OPERATION_INSERT, np.int32),
        ORIGINAL_TRANSACTION: write_ids,
        BUCKET: bucket_properties,
        ROW_ID: rows,
        CURRENT_TRANSACTION: write_ids,
        ROW: np.full(count, True, np.bool_),
    }


def known_columns(write_id: WriteId, bucket_property: int, present: Collection[str] = ()) -> dict[int, AddedColumn]:
    """The columns of rows of one write ID and one bucket property, to be added to a file of rows. Without the columns
    `present`, which are the first ones of the file; the row IDs count up from 0 if they are not among them."""
    known = {
        OPERATION_COLUMN: AddedColumn(OPERATION, KIND_INT, Sequence(OPERATION_INSERT)),
        ORIGINAL_TRANSACTION_COLUMN: AddedColumn(ORIGINAL_TRANSACTION, KIND_LONG, Sequence(write_id)),
        BUCKET_COLUMN: AddedColumn(BUCKET, KIND_INT, Sequence(bucket_property)),
        ROW_ID_COLUMN: AddedColumn(ROW_ID, KIND_LONG, Sequence(0, 1)),
        CURRENT_TRANSACTION_COLUMN: AddedColumn(CURRENT_TRANSACTION, KIND_LONG, Sequence(write_id)),
        ROW_COLUMN: AddedColumn(ROW, KIND_STRUCT, None),
    }
    return {number: column for number, column in known.items() if column.name not in present}
