"""ROW__ID and the bucket property, against values that Hive wrote (shared facts: hive-acid-v2.md, golden tables)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidsql.acid.row_id import BucketProperty, RowId, decode_bucket, encode_bucket
from acidsql.acid.write_ids import StatementId, WriteId
from acidsql.errors import AcidSqlError


@pytest.mark.parametrize(
    ("bucket", "statement", "encoded"),
    [
        (0, 0, 536870912),
        (0, 1, 536870913),
        (0, 2, 536870914),
        (1, 0, 536936448),
        (3, 2, 537067522),
        (4095, 4095, 0b001_0_111111111111_0000_111111111111),
    ],
)
def test_a_bucket_and_a_statement_id_are_encoded_as_hive_does(bucket: int, statement: int, encoded: int) -> None:
    assert encode_bucket(bucket, statement) == encoded
    assert decode_bucket(encoded) == BucketProperty(1, bucket, StatementId(statement))


@given(st.integers(0, 4095), st.integers(0, 4095))
def test_every_bucket_and_statement_id_decodes_to_itself(bucket: int, statement: int) -> None:
    encoded = encode_bucket(bucket, statement)
    assert 0 < encoded < 2**31
    assert decode_bucket(encoded) == BucketProperty(1, bucket, StatementId(statement))


@pytest.mark.parametrize(("bucket", "statement"), [(4096, 0), (0, 4096), (-1, 0), (0, -1)])
def test_a_number_that_does_not_fit_is_refused(bucket: int, statement: int) -> None:
    with pytest.raises(AcidSqlError) as error:
        encode_bucket(bucket, statement)
    assert error.value.condition == "LIMIT_EXCEEDED"


@given(st.integers(0, 2**29 - 1))
def test_version_zero_is_the_bucket_number_itself(bucket: int) -> None:
    assert decode_bucket(bucket) == BucketProperty(0, bucket, StatementId(0))


@pytest.mark.parametrize("encoded", [2 << 29, 3 << 29, -1, -(2**31)])
def test_another_version_is_refused(encoded: int) -> None:
    with pytest.raises(AcidSqlError, match="version") as error:
        decode_bucket(encoded)
    assert error.value.condition == "MALFORMED_LAYOUT"


def test_row_ids_order_by_write_id_then_bucket_property_then_row() -> None:
    first, second, third, fourth = (RowId(WriteId(w), b, r) for w, b, r in ((1, 5, 9), (2, 3, 7), (2, 4, 0), (2, 4, 1)))
    assert sorted([third, first, fourth, second]) == [first, second, third, fourth]
