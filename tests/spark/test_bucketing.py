"""The bucket as a Spark expression: equal to acidsql.acid.bucketing for every type, and to what Hive 4.0.1 answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal as Number
from itertools import zip_longest
from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as t

from acidsql.acid.bucketing import MURMUR_SEED, BucketingVersion, BucketValue, bucket_number, bucketing_version
from acidsql.acid.hive_types import parse_type
from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError
from acidsql.spark.spark_types import query_type
from acidsql.spark.write.bucket_expression import _SEEDING, bucket_column
from tests.acid.test_bucketing_types import CASES, value_of

BUCKETS: Final = 2**31 - 1
"""Nearly as many as there are hashes, so that equal buckets are equal hashes."""


@pytest.fixture(scope="module")
def spark(spark: SparkSession) -> SparkSession:
    """A session as the statements of acidsql have it, with ANSI mode off."""
    own = spark.newSession()
    own.conf.set("spark.sql.ansi.enabled", "false")
    return own


def integers(bits: int) -> st.SearchStrategy[int]:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return st.integers(low, high) | st.sampled_from([low, high, 0, -1, 1])


def decimals(precision: int, scale: int) -> st.SearchStrategy[Number]:
    largest = 10**precision - 1
    edges = [largest, -largest, *(sign * 2**n + by for n in range(128) for sign in (1, -1) for by in (-1, 0, 1))]
    unscaled = st.integers(-largest, largest) | st.sampled_from([n for n in edges if abs(n) <= largest])
    trailing = st.builds(lambda n, z: n * 10**z, st.integers(-999, 999), st.integers(0, precision - 3))
    return st.builds(lambda n: Number(f"{n}e-{scale}"), unscaled | trailing)


floats = st.floats(width=32) | st.sampled_from([0.0, -0.0, float("nan"), float("inf"), 1.401298464324817e-45])
doubles = st.floats() | st.sampled_from([0.0, -0.0, float("nan"), float("-inf"), 5e-324, 1.7976931348623157e308])
texts = st.text(st.characters(codec="utf-8"), max_size=20) | st.text("aż日🐍 ", max_size=9)
timestamps = st.datetimes() | st.datetimes(datetime(1965, 1, 1), datetime(2040, 1, 1)).map(
    lambda d: d.replace(microsecond=0)
)
instants = st.datetimes(datetime(1700, 1, 1), datetime(2300, 1, 1)).map(lambda d: d.replace(tzinfo=UTC))

VALUES: Final[dict[str, st.SearchStrategy[BucketValue]]] = {
    "boolean": st.booleans(),
    "tinyint": integers(8),
    "smallint": integers(16),
    "int": integers(32),
    "bigint": integers(64),
    "float": floats,
    "double": doubles,
    "decimal(38,18)": decimals(38, 18),
    "decimal(38,0)": decimals(38, 0),
    "decimal(38,38)": decimals(38, 38),
    "decimal(10,2)": decimals(10, 2),
    "decimal(5,0)": decimals(5, 0),
    "string": texts,
    "varchar(40)": texts,
    "char(40)": texts.map(lambda text: text.rstrip(" ")),
    "binary": st.binary(max_size=17),
    "date": st.dates(),
    "timestamp": timestamps,
    "timestamp with local time zone": instants,
    "array<string>": st.lists(st.none() | texts, max_size=4),
    "array<array<decimal(20,3)>>": st.lists(st.lists(decimals(20, 3), max_size=3), max_size=3),
    "map<int,double>": st.dictionaries(integers(32), st.none() | doubles, max_size=3),
    "map<string,array<date>>": st.dictionaries(texts, st.lists(st.dates(), max_size=2), max_size=3),
    "struct<a:int,b:string,c:array<timestamp>,d:float>": st.tuples(
        st.none() | integers(32), st.none() | texts, st.none() | st.lists(timestamps, max_size=2), floats
    ),
}


def table_of(types: Sequence[str], version: BucketingVersion, buckets: int = BUCKETS) -> Table:
    columns = tuple(Column(f"c{place}", type_) for place, type_ in enumerate(types))
    return Table(
        database="d",
        name="t",
        columns=columns,
        location="/none",
        bucket_columns=tuple(column.name for column in columns),
        bucket_count=buckets,
        properties={"bucketing_version": str(version.value)},
    )


def versions_of(types: Sequence[str]) -> list[BucketingVersion]:
    return [BucketingVersion.JAVA] if "binary" in types else list(BucketingVersion)


def assert_spark_agrees(spark: SparkSession, types: Sequence[str], rows: Sequence[Sequence[BucketValue]]) -> None:
    """Compares the buckets of rows in both versions."""
    versions = versions_of(types)
    schema = t.StructType([t.StructField(f"c{i}", query_type(parse_type(x))) for i, x in enumerate(types)])
    frame = spark.createDataFrame([tuple(row) for row in rows], schema)
    found = frame.select(*(bucket_column(table_of(types, version)) for version in versions)).collect()
    for row, buckets in zip(rows, found, strict=True):
        for version, bucket in zip(versions, buckets, strict=True):
            assert bucket == bucket_number(types, row, BUCKETS, version), (version, types, row)


@pytest.mark.nightly
@pytest.mark.parametrize("type_", VALUES)
def test_spark_computes_the_bucket_of_every_value_of_a_type(spark: SparkSession, type_: str) -> None:
    @settings(
        max_examples=2, phases=[Phase.generate], deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    @given(st.lists(st.none() | VALUES[type_], min_size=150, max_size=400))
    def compare(values: list[BucketValue]) -> None:
        assert_spark_agrees(spark, [type_], [[value] for value in values])

    compare()


@pytest.mark.ci
def test_spark_computes_the_hash_that_hive_answered(spark: SparkSession) -> None:
    """All types in one query: a column for each, whose rows are its cases and then NULLs."""
    types = sorted({str(case["type"]) for case in CASES})
    cases = [[case for case in CASES if case["type"] == type_] for type_ in types]
    values = [
        [value_of(parse_type(type_), case["value"]) for case in of_type]
        for type_, of_type in zip(types, cases, strict=True)
    ]
    schema = t.StructType([t.StructField(f"c{i}", query_type(parse_type(type_))) for i, type_ in enumerate(types)])
    buckets = [
        (place, version, bucket_column(replace(table_of([type_], version), columns=(column,), bucket_columns=(name,))))
        for place, type_ in enumerate(types)
        for name in (f"c{place}",)
        for column in (Column(name, type_),)
        for version in versions_of([type_])
    ]
    frame = spark.createDataFrame(list(zip_longest(*values)), schema)
    found = frame.select(*(bucket.alias(f"b{number}") for number, (_, _, bucket) in enumerate(buckets))).collect()
    for number, (place, version, _) in enumerate(buckets):
        for case, row in zip(cases[place], found, strict=False):
            assert row[number] == (case[f"version_{version.value}"] & 0x7FFFFFFF) % BUCKETS, (types[place], case)


def test_several_columns_and_nulls_are_combined(spark: SparkSession) -> None:
    types = ["string", "int", "decimal(10,2)", "timestamp"]
    rows: list[list[BucketValue]] = [
        ["żółw", 5, Number("1.50"), datetime(2020, 1, 1)],
        [None, 5, Number("1.50"), None],
        ["", -1, None, datetime(1960, 1, 1, 12)],
        [None, None, None, None],
    ]
    assert_spark_agrees(spark, types, rows)


@pytest.mark.ci
def test_all_small_integers_agree(spark: SparkSession) -> None:
    frame = spark.range(-(2**15), 2**15).select(F.col("id").cast("smallint").alias("c0"))
    for version in BucketingVersion:
        found = {
            row[0]: row[1] for row in frame.select("c0", bucket_column(table_of(["smallint"], version, 7))).collect()
        }
        assert found == {n: bucket_number(["smallint"], [n], 7, version) for n in range(-(2**15), 2**15)}


def test_columns_may_be_given_as_expressions(spark: SparkSession) -> None:
    table = table_of(["bigint"], BucketingVersion.MURMUR, 4)
    found = spark.range(50).select(bucket_column(table, {"c0": F.col("id") * 3})).collect()
    assert [row[0] for row in found] == [
        bucket_number(["bigint"], [3 * n], 4, BucketingVersion.MURMUR) for n in range(50)
    ]


@pytest.mark.ci
@pytest.mark.parametrize("zone", ["America/New_York", "Europe/Warsaw", "Asia/Kolkata"])
def test_the_time_zone_of_the_session_does_not_matter(spark: SparkSession, zone: str) -> None:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        hours: list[list[BucketValue]] = [[datetime(2024, month, day, 2, 30)] for month in (3, 11) for day in (3, 10)]
        assert_spark_agrees(spark, ["timestamp"], hours)
        assert_spark_agrees(spark, ["date"], [[date(2024, 3, 10)], [date(1500, 1, 1)]])
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))


def test_the_expression_runs_in_the_jvm_without_python(spark: SparkSession) -> None:
    frame = spark.range(3).select(F.col("id").cast("string").alias("c0"))
    plan = frame.select(bucket_column(table_of(["string"], BucketingVersion.MURMUR)))._jdf.queryExecution().toString()
    assert "Python" not in plan
    assert "*(1) Project" in plan, "compiled with the rest of the query"


@pytest.mark.parametrize("type_", ["binary", "array<binary>", "map<binary,int>", "struct<a:int,b:binary>"])
def test_a_binary_has_no_bucket_in_version_two(type_: str) -> None:
    with pytest.raises(AcidSqlError, match="depends on the rows before") as error:
        bucket_column(table_of([type_], BucketingVersion.MURMUR))
    assert error.value.condition == "NOT_YET_SUPPORTED"


def test_the_seeding_int_leaves_hives_seed(spark: SparkSession) -> None:
    assert spark.range(1).select(F.hash(F.lit(_SEEDING))).first() == (MURMUR_SEED,)


def test_without_the_property_the_version_is_one() -> None:
    table = table_of(["int"], BucketingVersion.MURMUR)
    assert bucketing_version(table) is BucketingVersion.MURMUR
    assert bucketing_version(Table("d", "t", (), "/none")) is BucketingVersion.JAVA
