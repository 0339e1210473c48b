"""The bucket of a row: against files that Hive bucketed, and published values of the hashes."""

from __future__ import annotations

import json
from datetime import date
from io import BytesIO
from pathlib import Path

import pyorc
import pytest

from acidsql.acid.bucketing import BucketingVersion, BucketValue, _murmur3, bucket_number
from acidsql.acid.directories import BucketFile, parse_bucket_file

GOLDEN = Path(__file__).parent.parent / "golden"
FOUR_BILLION = 2**32
"""More buckets than hashes: the bucket number is the hash without its sign."""


@pytest.mark.parametrize("case", ["bucketed", "bucketed_string"])
def test_every_row_that_hive_wrote_is_in_the_bucket_of_its_values(case: str) -> None:
    table = json.loads((GOLDEN / case / "schema.json").read_text())["t"]
    types = {column["name"]: column["type"] for column in table["columns"]}
    keys = table["bucket_columns"]
    checked = 0
    for path in sorted((GOLDEN / case / "warehouse" / "t").glob("delta_*/bucket_*")):
        file = parse_bucket_file(path.name)
        assert isinstance(file, BucketFile)
        for event in pyorc.Reader(BytesIO(path.read_bytes()), struct_repr=pyorc.StructRepr.DICT):
            row = event["row"]
            values = [row[key] for key in keys]
            found = bucket_number([types[key] for key in keys], values, table["num_buckets"], BucketingVersion.MURMUR)
            assert found == file.bucket, values
            checked += 1
    assert checked >= 9


@pytest.mark.parametrize(
    ("data", "seed", "hashed"),
    [
        (b"", 0, 0),
        (b"", 1, 0x514E28B7),
        (b"test", 0, 0xBA6BD213),
        (b"Hello, world!", 0, 0xC0363E43),
        (b"The quick brown fox jumps over the lazy dog", 0, 0x2E4FF723),
        (b"a", 0x9747B28C, 0x7FA09EA6),
        (b"aa", 0x9747B28C, 0x5D211726),
        (b"aaa", 0x9747B28C, 0x283E0130),
        (b"aaaa", 0x9747B28C, 0x5A97808A),
    ],
)
def test_murmur3_of_ascii_is_the_published_one(data: bytes, seed: int, hashed: int) -> None:
    assert _murmur3(data, seed) == hashed


@pytest.mark.parametrize(
    ("type_", "value", "hashed"),
    [
        ("string", "abc", 96354),
        ("string", "hello", 99162322),
        ("string", "é", (31 * -61 + -87) & 0x7FFFFFFF),
        ("int", 7, 7),
        ("int", -1, 0x7FFFFFFF),
        ("smallint", -3, -3 & 0x7FFFFFFF),
        ("bigint", 2**32 + 5, 1 ^ 5),
        ("bigint", -1, 0),
        ("boolean", True, 1),
        ("tinyint", -128, -128 & 0x7FFFFFFF),
        ("date", date(1970, 1, 3), 2),
        ("date", 2, 2),
        ("date", None, 0),
    ],
)
def test_version_one_is_javas_hash(type_: str, value: BucketValue, hashed: int) -> None:
    assert bucket_number([type_], [value], FOUR_BILLION, BucketingVersion.JAVA) == hashed


def test_columns_are_combined_by_31() -> None:
    assert bucket_number(["int", "int"], [2, 3], FOUR_BILLION, BucketingVersion.JAVA) == 31 * 2 + 3
    assert bucket_number(["int", "int"], [None, 3], FOUR_BILLION, BucketingVersion.JAVA) == 3


def test_a_date_and_its_days_have_one_bucket() -> None:
    for version in BucketingVersion:
        as_date = bucket_number(["date"], [date(2020, 1, 1)], FOUR_BILLION, version)
        assert bucket_number(["date"], [18262], FOUR_BILLION, version) == as_date


def test_a_value_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match="'5' is not a value of int"):
        bucket_number(["int"], ["5"], 4, BucketingVersion.MURMUR)
