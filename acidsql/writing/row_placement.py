"""Rows that are ready for the files of a table, and where each of them goes: its partition and its bucket."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from acidsql.acid.hive_types import HiveType
from acidsql.acid.partition_values import NOT_UTF8, PartitionValues, check_names, normal_value
from acidsql.acid.table import Column
from acidsql.errors import AcidSqlError, Condition

Numbers = npt.NDArray[np.int64]

_NAMED: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


@dataclass(frozen=True, slots=True)
class Placed:
    """Rows of one partition and one bucket, in the order in which they were given. `values` are the partition's."""

    values: PartitionValues
    bucket: int
    rows: pa.Table


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Converted rows.

    `data` has the columns of the table's files. `partitions` are the different partitions of the rows, and `places` is
    the number of each row's partition in it. `buckets` is the bucket of each row, or None for a table without buckets.
    """

    data: pa.Table
    partitions: tuple[PartitionValues, ...]
    places: Numbers
    buckets: Numbers | None = None

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return int(self.data.num_rows)

    @property
    def nbytes(self) -> int:
        """About how many bytes of memory the rows take."""
        return (
            int(self.data.get_total_buffer_size())
            + self.places.nbytes
            + (0 if self.buckets is None else self.buckets.nbytes)
        )

    def placed(self) -> Iterator[Placed]:
        """The rows by partition and bucket, those of one place in their order. No rows give nothing."""
        if not self.num_rows:
            return
        buckets = np.zeros_like(self.places) if self.buckets is None else self.buckets
        most = int(buckets.max()) + 1
        keys = self.places * most + buckets
        if (keys == keys[0]).all():
            yield Placed(self.partitions[self.places[0]], int(buckets[0]), self.data)
            return
        order = np.argsort(keys, kind="stable")
        together, found = self.data.take(pa.array(order)), keys[order]
        starts = [0, *(np.flatnonzero(np.diff(found)) + 1).tolist(), len(found)]
        for start, end in pairwise(starts):
            place, bucket = divmod(int(found[start]), most)
            yield Placed(self.partitions[place], bucket, together.slice(start, end - start))


def partitions_of(
    columns: Sequence[tuple[Column, HiveType, pa.Array]], static: PartitionValues, count: int
) -> tuple[tuple[PartitionValues, ...], Numbers]:
    """The different partitions of rows, and each row's place among them. `columns` are the dynamic partition columns,
    which come after those with the values `static`.

    Raises INVALID_PARTITION_VALUE.
    """
    places = np.zeros(count, np.int64)
    partitions: list[PartitionValues] = [static] if count else []
    for column, hive_type, array in columns:
        texts, codes = _texts(column, hive_type, array)
        pairs, places = np.unique(places * len(texts) + codes, return_inverse=True) if count else (places, places)
        partitions = [(*partitions[old], texts[new]) for old, new in (divmod(int(p), len(texts)) for p in pairs)]
    return tuple(partitions), places


def _texts(column: Column, hive_type: HiveType, array: pa.Array) -> tuple[list[str | None], Numbers]:
    """The different texts of a partition column's values, and the place of each row's text among them."""
    encoded = pc.dictionary_encode(array, null_encoding="encode")
    texts = []
    values = encoded.dictionary
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        values = values.cast(pa.large_binary())  # Python has no text for bytes that are not UTF-8
    for place, value in enumerate(values.to_pylist()):
        try:
            texts.append(None if value is None else partition_text(value, column, hive_type))
        except AcidSqlError as error:
            number = encoded.indices.index(pa.scalar(place, pa.int32())).as_py() + 1
            raise _in_record(error, number) from None
    different = list(dict.fromkeys(texts))
    meant = np.array([different.index(text) for text in texts], np.int64)
    return different, meant[encoded.indices.to_numpy(zero_copy_only=False)] if len(array) else np.zeros(0, np.int64)


def _in_record(error: AcidSqlError, number: int) -> AcidSqlError:
    parameters = error.getMessageParameters() | {"number": str(number)}
    return AcidSqlError.of(Condition.INVALID_PARTITION_VALUE, parameters, hint=f"It is in record {number}.")


def partition_text(value: object, column: Column, hive_type: HiveType) -> str | None:
    """The text of a value, as INSERT gives it to the partition's directory
    (acidsql.planner.stored_values.partition_text).

    Raises INVALID_PARTITION_VALUE.
    """
    try:
        text = normal_value(_plain_text(value), hive_type)
    except UnicodeDecodeError:
        raise AcidSqlError(
            Condition.INVALID_PARTITION_VALUE, value=value, column=column.name, reason=NOT_UTF8
        ) from None
    check_names([text], [column], None)
    return text


def _plain_text(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return _NAMED.get(repr(value), repr(value))
        case bytes():
            return value.decode()
        case datetime():
            return value.isoformat(sep=" ")
        case date():
            return value.isoformat()
        case str():
            return value
        case _:
            return format(value, "f") if hasattr(value, "as_tuple") else str(value)
