"""Removal of deleted rows from a scan.

If the delete events fit, they become a bitmap in which each row is looked up (cache.py). Otherwise the rows are joined
with the delete events by a left anti join. The join uses one packed 64-bit key if write ID, partition, bucket,
statement and row ID fit into it, because Spark keeps such keys in a map of longs. A row outside the range of all delete
events has a NULL key and passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as t

from acidsql.grammar.quoting import name_sql
from acidsql.snapshot.scan_binding import SourceFile
from acidsql.spark.catalyst.gateway import jvm
from acidsql.spark.catalyst.logical_plans import resolved_condition, where_resolved
from acidsql.spark.catalyst.sessions import empty_frame
from acidsql.spark.scan.deletes.cache import DeleteCache
from acidsql.spark.scan.deletes.known_rows import KnownRows
from acidsql.spark.scan.file_partitions import PART
from acidsql.storage.file_systems import FileSystem
from acidsql.storage.orc.tail import BUCKET_COLUMN, ORIGINAL_TRANSACTION_COLUMN, ROW_ID_COLUMN

WRITE_ID: Final = ":originalTransaction"
BUCKET: Final = ":bucket"
ROW: Final = ":rowId"
DELETER: Final = ":currentTransaction"
"""The write ID of the transaction that deleted the row."""

_STATEMENT_AND_BUCKET_BITS: Final = 24
_BROADCAST_EVENTS: Final = 8_000_000
"""The largest number of delete events that is broadcast: a long and its slot take some 20 bytes."""
_DELETED: Final = ":deleted"
_MASKS: Final = ":deleted_masks"
_READ_BY_CONDITION: Final = t.StructType(
    [
        t.StructField(PART, t.IntegerType()),
        t.StructField(WRITE_ID, t.LongType()),
        t.StructField(BUCKET, t.IntegerType()),
        t.StructField(ROW, t.LongType()),
        t.StructField(_MASKS, t.ArrayType(t.ArrayType(t.LongType(), False))),
    ]
)
"""The columns that the condition on deleted rows reads."""


def filtered(
    spark: SparkSession,
    rows: DataFrame,
    files: FileSystem,
    deletes: Sequence[SourceFile],
    cache: DeleteCache,
    known: KnownRows,
    places: Mapping[str, int],
) -> DataFrame | None:
    """The rows without those that an event of the files deletes, in the same stage; None if no bitmap can represent the
    events.

    `places` are the positions of the columns WRITE_ID, BUCKET, ROW and PART in `rows`, of those that they have: of all
    but what is `known` to be the same in every row. Raises MALFORMED_LAYOUT.
    """
    found = cache.bits(jvm(spark), files, deletes)
    if found is None:
        return None
    names = (PART, WRITE_ID, BUCKET, ROW, _MASKS)
    part, write_id, bucket, row, masks = map(name_sql, names)
    sql = found.bitmap.keeps_sql(part, write_id, bucket, row, masks, known)
    if sql is None:
        return rows
    used = {name: place for name, place in places.items() if name_sql(name) in sql}
    condition = found.condition(sql, lambda text: resolved_condition(empty_frame(spark, _READ_BY_CONDITION), text))
    return where_resolved(rows, condition, used, {_MASKS: found.masks})


@dataclass(frozen=True, slots=True)
class DeletedKeys:
    """Facts from the footers of the delete files: the number of events, and the ranges of the rows that they delete.

    The ranges are inclusive; `parts` is the number of partitions of the scan.
    """

    events: int
    parts: int
    write_ids: tuple[int, int]
    bucket_properties: tuple[int, int]
    row_ids: tuple[int, int]

    @property
    def part_bits(self) -> int:
        return (self.parts - 1).bit_length()

    @property
    def row_bits(self) -> int:
        return self.row_ids[1].bit_length()

    @property
    def packs(self) -> bool:
        bits = self.write_ids[1].bit_length() + self.part_bits + _STATEMENT_AND_BUCKET_BITS + self.row_bits
        one_codec = all(p >> 29 == 1 for p in self.bucket_properties)
        return bits <= 63 and one_codec and self.row_ids[0] >= 0 and self.write_ids[0] >= 0


def deleted_keys(files: Sequence[SourceFile], parts: int) -> DeletedKeys:
    return DeletedKeys(
        events=sum(f.tail.rows for f in files if f.tail is not None),
        parts=parts,
        write_ids=_range(files, ORIGINAL_TRANSACTION_COLUMN),
        bucket_properties=_range(files, BUCKET_COLUMN),
        row_ids=_range(files, ROW_ID_COLUMN),
    )


def without_deleted(rows: DataFrame, events: DataFrame, deleted: DeletedKeys) -> DataFrame:
    """The rows without those that an event deletes. Both frames have the columns WRITE_ID, BUCKET, ROW and PART."""
    if not deleted.packs:
        return _without_wide_keys(rows, events)
    key = _packed_key(deleted)
    events = events.select(key.alias(_DELETED))
    if deleted.events <= _BROADCAST_EVENTS:
        events = F.broadcast(events)
    can_be_deleted = F.col(WRITE_ID).between(*deleted.write_ids) & F.col(ROW).between(*deleted.row_ids)
    return rows.join(events, F.when(can_be_deleted, key) == F.col(_DELETED), "left_anti")


def _without_wide_keys(rows: DataFrame, events: DataFrame) -> DataFrame:
    names = (WRITE_ID, BUCKET, ROW, PART)
    events = events.select(*(F.col(name).alias(f"{name}_deleted") for name in names))
    return rows.join(events, [F.col(name) == F.col(f"{name}_deleted") for name in names], "left_anti")


def with_deleter(rows: DataFrame, events: DataFrame) -> DataFrame:
    """All rows, with the column DELETER, which is NULL for a row that is not deleted. Both frames have the columns
    WRITE_ID, BUCKET, ROW and PART, and the events have DELETER."""
    names = (WRITE_ID, BUCKET, ROW, PART)
    first = events.groupBy(*(F.col(name).alias(f"{name}_deleted") for name in names)).agg(F.min(DELETER).alias(DELETER))
    return rows.join(first, [F.col(name) == F.col(f"{name}_deleted") for name in names], "left").select(
        *rows.columns, DELETER
    )


def _range(files: Sequence[SourceFile], column: int) -> tuple[int, int]:
    """The range over all files; wider than any key if a file has no statistics."""
    ranges = [(f.tail.integer_range(column) if f.tail is not None else None) or (-1, 2**62) for f in files]
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _packed_key(deleted: DeletedKeys) -> Column:
    """Write ID, partition, bucket and statement, row ID (BucketCodec V1: 12 bits each for bucket and statement)."""
    row_bits = deleted.row_bits
    bucket = F.shiftright(F.col(BUCKET), 16).bitwiseAND(0xFFF).cast("long")
    statement = F.col(BUCKET).bitwiseAND(0xFFF).cast("long")
    key = F.shiftleft(bucket, row_bits + 12).bitwiseOR(F.shiftleft(statement, row_bits)).bitwiseOR(F.col(ROW))
    above = row_bits + _STATEMENT_AND_BUCKET_BITS
    if deleted.part_bits:
        key = key.bitwiseOR(F.shiftleft(F.col(PART).cast("long"), above))
    return key.bitwiseOR(F.shiftleft(F.col(WRITE_ID), above + deleted.part_bits))
