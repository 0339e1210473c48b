"""The ACID columns of rows that are inserted, as flat columns: the footer makes a struct of the others later
(acidsql.storage.orc.orc_footers.with_nested_row)."""

from __future__ import annotations

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


def insert_columns(count: int, write_id: WriteId, bucket_property: int, first_row: int) -> dict[str, NDArray[Any]]:
    """The columns of `count` rows, whose row IDs count up from `first_row`. `row` is true for each of them."""
    return {
        OPERATION: np.full(count, OPERATION_INSERT, np.int32),
        ORIGINAL_TRANSACTION: np.full(count, write_id, np.int64),
        BUCKET: np.full(count, bucket_property, np.int32),
        ROW_ID: np.arange(first_row, first_row + count, dtype=np.int64),
        CURRENT_TRANSACTION: np.full(count, write_id, np.int64),
        ROW: np.full(count, True, np.bool_),
    }
