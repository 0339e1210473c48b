"""Frames of other libraries as Arrow tables, and a check of lists of records."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final

import pyarrow as pa

from acidsql.errors import AcidSqlError, Condition

_LONG: Final = 1 << 63
_UNKNOWN: Final = {
    "Object": "Give the column a type of polars, such as String.",
    "period[": "Convert the column by .dt.to_timestamp(), or by .astype(str).",
}
"""How the types of pandas and polars begin whose values are lost on the way to Arrow, with the ways out."""


def arrow_table(frame: Any, name: str) -> Any:
    """The rows of a frame of Arrow, pandas, polars, or of whatever has `__arrow_c_stream__`, as a pyarrow.Table; None
    for another value.

    Raises INVALID_PARAMETER, which calls the frame `name`, for a frame of pandas whose index has a name: an index is no
    column, so its values would be lost, and what `check_values` raises. Raises the exceptions of pyarrow for values
    that Arrow cannot hold.
    """
    match frame:
        case pa.Table():
            return frame
        case pa.RecordBatch():
            return pa.Table.from_batches([frame])
        case pa.RecordBatchReader():
            return frame.read_all()
        case _ if is_of_pandas(frame):  # pandas' own stream would have the index as a column
            _check_index(frame, name)
            check_values(frame, name)
            return pa.Table.from_pandas(frame, preserve_index=False)
        case _ if hasattr(frame, "__arrow_c_stream__"):
            check_values(frame, name)
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


def check_values(frame: Any, name: str) -> None:
    """Checks that Arrow gets the values of a frame of pandas or polars. It gets numbers of months or days for pandas'
    periods, and addresses in memory for polars' columns of Python's objects.

    Raises INVALID_PARAMETER, which calls the frame `name`.
    """
    kinds: Mapping[object, object] = {}
    if is_of_pandas(frame):
        kinds = dict(frame.dtypes)
    elif type(frame).__module__.startswith("polars."):
        kinds = getattr(frame, "schema", {})
    for column, kind in kinds.items():
        wanted = next((hint for start, hint in _UNKNOWN.items() if str(kind).startswith(start)), None)
        if wanted is not None:
            raise AcidSqlError(
                Condition.INVALID_PARAMETER,
                name=name.removeprefix("The "),
                reason=f"its column {column} has the type {kind}, whose values Arrow does not get",
                hint=wanted,
            )


def is_of_pandas(frame: object) -> bool:
    """Whether a value is a DataFrame of pandas, or of a class that is derived from it."""
    pandas: Any = sys.modules.get("pandas")  # no frame of pandas comes without it
    return pandas is not None and isinstance(frame, pandas.DataFrame)


def check_integers(records: Iterable[object], column: str | None = None) -> None:
    """Checks that no record has an integer that no BIGINT holds: Spark would make it NULL, and Arrow refuses it.

    With `column`, the records are the values of that column. Raises INVALID_RECORD, with the number of the record from
    1 on.
    """
    for number, record in enumerate(records, 1):
        name = _beyond(record, column)
        if name is not None:
            raise AcidSqlError(
                Condition.INVALID_RECORD,
                number=number,
                reason=f"its {name} holds an integer beyond the range of BIGINT",
                hint="Give it as a decimal.Decimal, which has up to 38 digits, or as text.",
            )


def _beyond(value: object, name: str | None) -> str | None:
    """The name of what holds an integer beyond BIGINT; None if nothing does. A value without a name is a record."""
    match value:
        case int():
            return None if -_LONG <= value < _LONG else name or "value"
        case Mapping():
            found = (_beyond(inner, name or str(key)) for key, inner in value.items())
        case list() | tuple():
            names = getattr(value, "__fields__", range(len(value)))  # those of a pyspark.sql.Row
            found = (_beyond(inner, name or str(key)) for key, inner in zip(names, value, strict=False))
        case _:
            return None
    return next((one for one in found if one is not None), None)
