"""Frames of other libraries as Arrow tables."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from acidsql.errors import AcidSqlError, Condition


def arrow_table(frame: Any, name: str) -> Any:
    """The rows of a frame of Arrow, pandas, polars, or of whatever has `__arrow_c_stream__`, as a pyarrow.Table; None
    for another value.

    Raises INVALID_PARAMETER, which calls the frame `name`, for a frame of pandas whose index has a name: an index is no
    column, so its values would be lost. Raises the exceptions of pyarrow for values that Arrow cannot hold.
    """
    match frame:
        case pa.Table():
            return frame
        case pa.RecordBatch():
            return pa.Table.from_batches([frame])
        case pa.RecordBatchReader():
            return frame.read_all()
        case _ if type(frame).__module__.startswith("pandas."):  # pandas' own stream would have the index as a column
            _check_index(frame, name)
            return pa.Table.from_pandas(frame, preserve_index=False)
        case _ if hasattr(frame, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(frame).read_all()
        case _:
            return None


def _check_index(frame: Any, name: str) -> None:
    columns = [str(column) for column in getattr(frame, "columns", ())]
    index = getattr(frame, "index", None)
    for level in getattr(index, "names", ()):
        if level is not None and str(level) not in columns:
            raise AcidSqlError(
                Condition.INVALID_PARAMETER,
                name=name.removeprefix("The "),
                reason=f"{level} is an index of pandas, not a column",
                hint="Call reset_index() to make it a column, or reset_index(drop=True) to leave it out.",
            )
