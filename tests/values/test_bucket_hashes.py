"""The buckets of many rows at once are those of acidsql.acid.bucketing, which tests compare with Hive's."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acidsql.acid.bucketing import BucketingVersion, BucketValue, bucket_number
from acidsql.acid.hive_types import parse_type
from acidsql.values.arrow_types import arrow_type
from acidsql.values.bucket_hashes import buckets

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "tinyint": st.integers(-(2**7), 2**7 - 1),
    "smallint": st.integers(-(2**15), 2**15 - 1),
    "int": st.integers(-(2**31), 2**31 - 1),
    "bigint": st.integers(-(2**63), 2**63 - 1),
    "boolean": st.booleans(),
    "float": st.floats(width=32),
    "double": st.floats(),
    "decimal(10,2)": st.decimals("-99999999.99", "99999999.99", places=2),
    "string": TEXT | TEXT.map(lambda text: text * 30),
    "varchar(200)": TEXT,
    "date": st.dates(),
    "timestamp": st.datetimes(),
    "timestamp with local time zone": st.datetimes(timezones=st.just(UTC)),
    "array<int>": st.lists(st.none() | st.integers(0, 9), max_size=3),
}
COUNT = 2**31 - 1
"""So many buckets that different hashes are different buckets."""


def assert_same(types: Sequence[str], rows: Sequence[tuple[Any, ...]], version: BucketingVersion) -> None:
    """Compares the rows, and those behind the first one, which begin at an offset of their arrays."""
    kinds = [parse_type(name) for name in types]
    arrays = [pa.array(column, arrow_type(kind)) for kind, column in zip(kinds, zip(*rows, strict=True), strict=True)]
    expected = [bucket_number(types, row, COUNT, version) for row in rows]
    assert buckets(list(zip(kinds, arrays, strict=True)), COUNT, version).tolist() == expected
    cut = [array.slice(1) for array in arrays]
    assert buckets(list(zip(kinds, cut, strict=True)), COUNT, version).tolist() == expected[1:]


@pytest.mark.ci
@pytest.mark.parametrize("version", BucketingVersion)
@pytest.mark.parametrize("kind", VALUES)
@settings(max_examples=30)
@given(data=st.data())
def test_buckets_of_an_array_are_those_of_its_values(kind: str, version: BucketingVersion, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.none() | VALUES[kind], min_size=1, max_size=12))
    assert_same([kind], [(value,) for value in values], version)


def test_a_char_is_hashed_without_its_padding() -> None:
    kind = parse_type("char(6)")
    array = pa.array(["ab    ", "      ", "é     ", None])
    found = buckets([(kind, array)], COUNT, BucketingVersion.MURMUR).tolist()
    assert found == [bucket_number(["char(6)"], [v], COUNT, BucketingVersion.MURMUR) for v in array.to_pylist()]


@pytest.mark.parametrize("version", BucketingVersion)
def test_the_hashes_of_several_columns_are_combined_in_order(version: BucketingVersion) -> None:
    at = datetime(2024, 5, 6, 7, 8, 9, 123456)
    rows = [(1, "a", date(2024, 1, 1), at), (None, "é🐝", None, None), (-5, None, date(1, 1, 1), datetime(1, 1, 1))]
    assert_same(["int", "string", "date", "timestamp"], rows, version)


def test_nested_values_are_hashed_field_by_field() -> None:
    kind = "struct<a:int,m:map<string,int>,l:array<string>>"
    value = {"a": 1, "m": [("k", 2), ("l", None)], "l": ["x", None]}
    arrays = [(parse_type(kind), pa.array([value, None], arrow_type(parse_type(kind))))]
    hashed: BucketValue = [1, {"k": 2, "l": None}, ["x", None]]
    for version in BucketingVersion:
        expected = [bucket_number([kind], [v], COUNT, version) for v in (hashed, None)]
        assert buckets(arrays, COUNT, version).tolist() == expected
