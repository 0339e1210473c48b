"""The hashes of every type, both bucketing versions, against what Hive 4.0.1 answered (cases/hive_hashes.jsonl).

`SELECT hash(x), murmur_hash(x)` asks Hive for ObjectInspectorUtils.getBucketHashCodeOld and .getBucketHashCode;
tests/interop/test_hive_buckets.py asks a running Hive again, and compares the buckets of its files.
"""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal as Number
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from acidsql.acid.bucketing import BucketingVersion, BucketValue, bucket_number
from acidsql.acid.hive_types import Array, Decimal, HiveType, Map, Primitive, Struct, parse_type
from acidsql.errors import AcidSqlError

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

CASES: Final = [json.loads(line) for line in (Path(__file__).parent / "cases" / "hive_hashes.jsonl").open()]
FOUR_BILLION: Final = 2**32
"""More buckets than hashes: the bucket number is the hash without its sign."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['type']} {case['value']!r}"[:60])
def test_the_hash_of_a_value_is_hives(case: dict[str, Json]) -> None:
    type_ = str(case["type"])
    value = value_of(parse_type(type_), case["value"])
    for version in [BucketingVersion.JAVA] if type_ == "binary" else BucketingVersion:
        expected = case[f"version_{version.value}"]
        assert isinstance(expected, int)
        assert bucket_number([type_], [value], FOUR_BILLION, version) == expected & 0x7FFFFFFF, version


def test_every_type_has_cases() -> None:
    heads = {str(case["type"]).split("<")[0].split("(")[0] for case in CASES}
    assert heads == {
        *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "string", "varchar", "char"),
        *("binary", "date", "timestamp", "timestamp with local time zone", "array", "map", "struct"),
    }


@pytest.mark.parametrize("version", BucketingVersion)
def test_null_is_zero_in_every_type(version: BucketingVersion) -> None:
    for case in CASES:
        assert bucket_number([str(case["type"]), "int"], [None, None], FOUR_BILLION, version) == 0


def test_all_nans_have_one_hash() -> None:
    other = float.fromhex("0x1p0") * float("nan") * -1
    for version in BucketingVersion:
        for type_ in ("float", "double"):
            one = bucket_number([type_], [float("nan")], FOUR_BILLION, version)
            assert bucket_number([type_], [other], FOUR_BILLION, version) == one


def test_a_binary_is_refused_in_version_two() -> None:
    with pytest.raises(AcidSqlError, match="depends on the rows before") as error:
        bucket_number(["array<binary>"], [[b"x"]], 4, BucketingVersion.MURMUR)
    assert error.value.condition == "NOT_YET_SUPPORTED"


def value_of(type_: HiveType, value: Json) -> BucketValue:
    """A value of the cases' JSON."""
    match type_, value:
        case Primitive("float" | "double"), str():
            return float(value)
        case Primitive("binary"), str():
            return bytes.fromhex(value)
        case Primitive("date"), str():
            return date.fromisoformat(value)
        case Primitive("timestamp" | "timestamp with local time zone"), str():
            return datetime.fromisoformat(value)
        case Decimal(), str():
            return Number(value)
        case Array(element), list():
            return [value_of(element, v) for v in value]
        case Struct(fields), list():
            return [value_of(f, v) for (_, f), v in zip(fields, value, strict=True)]
        case Map(key, of), {"@map": list(pairs)}:
            return {value_of(key, k): value_of(of, v) for k, v in (pair for pair in pairs if isinstance(pair, list))}
        case _, None | bool() | int() | str():
            return value
        case _:
            raise TypeError(f"{value!r} is no {type_}")
