"""ROW__ID, which identifies a row, and the bucket property in it (org.apache.hadoop.hive.ql.io.BucketCodec)."""

from __future__ import annotations

from dataclasses import dataclass

from acidsql.acid.write_ids import StatementId, WriteId
from acidsql.errors import AcidSqlError, Condition

MAX_BUCKET = 4095
"""The bucket number has 12 bits."""
MAX_STATEMENT_ID = 4095
"""The statement ID has 12 bits."""

_VERSION_SHIFT = 29
_BUCKET_SHIFT = 16
_TWELVE_BITS = 0xFFF
_THREE_BITS = 0b111


@dataclass(frozen=True, slots=True, order=True)
class RowId:
    """The ROW__ID of a row, which is unique within its partition. ACID files are sorted in the order of this class.

    `write_id` is the originalTransaction of the row. It is 0 in files that are older than the conversion of the table.
    """

    write_id: WriteId
    bucket_property: int
    row_id: int


@dataclass(frozen=True, slots=True)
class BucketProperty:
    """The parts of a bucket property. In version 0 the whole number is the bucket number."""

    version: int
    bucket: int
    statement_id: StatementId


def encode_bucket(bucket: int, statement_id: int) -> int:
    """Encodes a bucket property of version 1.

    It has 3 bits for the version, 1 unused bit, 12 bits for the bucket, 4 unused bits and 12 bits for the statement ID.
    Raises LIMIT_EXCEEDED for numbers outside 0-4095.

    >>> encode_bucket(3, 2)
    537067522
    """
    _check_limit("Bucket number", bucket, MAX_BUCKET)
    _check_limit("Statement ID", statement_id, MAX_STATEMENT_ID)
    return 1 << _VERSION_SHIFT | bucket << _BUCKET_SHIFT | statement_id


def decode_bucket(bucket_property: int) -> BucketProperty:
    """Decodes a bucket property. Unused bits are ignored, as in Hive.

    Raises MALFORMED_LAYOUT if the version is neither 0 nor 1.
    """
    # The number is a Java int, whose sign bit is the highest bit of the version.
    version = bucket_property >> _VERSION_SHIFT & _THREE_BITS
    if version == 0:
        return BucketProperty(0, bucket_property, StatementId(0))
    if version == 1:
        bucket = bucket_property >> _BUCKET_SHIFT & _TWELVE_BITS
        return BucketProperty(1, bucket, StatementId(bucket_property & _TWELVE_BITS))
    raise AcidSqlError(
        Condition.MALFORMED_LAYOUT,
        path=f"Bucket property {bucket_property}",
        reason=f"its version is {version}, known are 0 and 1",
    )


def _check_limit(what: str, value: int, limit: int) -> None:
    if not 0 <= value <= limit:
        raise AcidSqlError(Condition.LIMIT_EXCEEDED, what=what, value=value, limit=limit)
