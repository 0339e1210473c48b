"""Hive 4.0.1 hashes and buckets random rows as acidsql says, by a column of each type, in both bucketing versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession

from acidsql.acid.bucketing import BucketingVersion, BucketValue, bucket_number
from acidsql.session import connect
from tests.interop.hive_client import Hive
from tests.interop.shared_table import create_in_both
from tests.interop.typed_rows import COLUMNS, DDL, SPARK_SCHEMA, Value, random_rows

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

BUCKETS: Final = 7
FOUR_BILLION: Final = 2**32
"""More buckets than hashes: the bucket number is the hash without its sign."""
ROWS: Final = random_rows(11, 300)
NAMES: Final = tuple(COLUMNS)


@pytest.fixture(scope="module")
def source(hive: Hive, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A table of Hive with ROWS."""
    root: Path = tmp_path_factory.mktemp("buckets")
    with connect(root / "warehouse", metastore=f"sqlite:///{root}/metastore.db", spark=spark) as session:
        properties = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
        table = create_in_both(session, hive, "bucket_source", f"({DDL}) {properties}")
        table.write(f"INSERT INTO {table.name} SELECT * FROM {{rows}}", rows=spark.createDataFrame(ROWS, SPARK_SCHEMA))
        yield table.name


@pytest.mark.parametrize("column", NAMES)
def test_hive_hashes_a_column_as_acidsql_does(hive: Hive, source: str, column: str) -> None:
    answered = hive.rows(f"SELECT k, hash({column}), murmur_hash({column}) FROM {source}")
    assert len(answered) == len(ROWS)
    for k, *hashes in answered:
        value = value_of(k, column)
        for version, hashed in zip(BucketingVersion, hashes, strict=True):
            assert isinstance(hashed, int)
            found = bucket_number([COLUMNS[column]], [value], FOUR_BILLION, version)
            assert found == hashed & 0x7FFFFFFF, (version, value)


@pytest.mark.parametrize("version", BucketingVersion)
@pytest.mark.parametrize("column", NAMES)
def test_hive_puts_rows_into_the_buckets_that_acidsql_says(
    hive: Hive, source: str, column: str, version: BucketingVersion
) -> None:
    name = f"interop.by_{column}_{version.value}"
    hive.run(
        f"CREATE TABLE {name} (k int, v {COLUMNS[column]}) CLUSTERED BY (v) INTO {BUCKETS} BUCKETS STORED AS ORC"
        f" TBLPROPERTIES ('transactional'='true', 'bucketing_version'='{version.value}')",
        f"INSERT INTO {name} SELECT k, {column} FROM {source}",
    )
    stored = hive.rows(f"SELECT row__id.bucketid, k FROM {name}")
    assert len(stored) == len(ROWS)
    for bucket_property, k in stored:
        assert isinstance(bucket_property, int)
        value = value_of(k, column)
        found = bucket_number([COLUMNS[column]], [value], BUCKETS, version)
        assert found == bucket_property >> 16 & 0xFFF, value


def value_of(k: object, column: str) -> BucketValue:
    assert isinstance(k, int)
    value: Value = ROWS[k][NAMES.index(column)]
    return value
