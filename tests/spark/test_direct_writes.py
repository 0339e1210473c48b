"""The files that a direct write makes and lists, its errors, and what listens to its query."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from acidsql.acid.data_files import File
from acidsql.spark.catalyst.direct_writes import FORMATS, can_write_directly, write_directly
from acidsql.spark.catalyst.observations import Observation

_ODD = ("a b", "p=%3A", "ünïcode/x", "100%", "plus+", "#?&")


def written(rows: DataFrame, directory: Path, *partition_by: str, file_format: str = "orc") -> list[File]:
    return write_directly(rows, file_format, f"file:{directory}", {}, partition_by)


def below(directory: Path) -> dict[str, int]:
    found = (path for path in directory.rglob("*") if path.is_file() and not path.name.endswith(".crc"))
    return {str(path.relative_to(directory)): path.stat().st_size for path in found}


def test_the_files_that_are_listed_are_those_of_the_tasks(spark: SparkSession, tmp_path: Path) -> None:
    """What another attempt of a task has left in the directory is not among them."""
    assert can_write_directly(spark)
    stray = tmp_path / "t" / "part-00000-of-another-attempt.c000.orc"
    stray.parent.mkdir()
    stray.write_bytes(b"what a lost executor goes on to write")
    files = written(spark.range(0, 100, 1, 3).toDF("k"), tmp_path / "t")
    assert len(files) == 3
    assert {f.path: f.length for f in files} == {k: v for k, v in below(tmp_path / "t").items() if k != stray.name}
    paths = [str(tmp_path / "t" / f.path) for f in files]
    assert sorted(row.k for row in spark.read.orc(paths).collect()) == list(range(100))


def test_two_writes_into_a_directory_share_no_name(spark: SparkSession, tmp_path: Path) -> None:
    one, other = (written(spark.range(5), tmp_path) for _ in range(2))
    assert not {f.path for f in one} & {f.path for f in other}


@pytest.mark.parametrize("file_format", FORMATS)
def test_partition_columns_become_directories(spark: SparkSession, tmp_path: Path, file_format: str) -> None:
    root = tmp_path / "odd dir #1"
    values: list[tuple[str | None, str]] = [*((odd, odd) for odd in _ODD), (None, "null"), ("", "empty")]
    rows = spark.createDataFrame(values * 2, "p string, v string").repartition(2)
    files = written(rows, root, "p", file_format=file_format)
    assert {f.path: f.length for f in files} == below(root)
    read = spark.read.format(file_format).schema("v string").load([str(root / f.path) for f in files])
    assert sorted(row.v for row in read.collect()) == sorted(v for _, v in values * 2)
    by_public_api = tmp_path / "public"
    rows.write.partitionBy("p").format(file_format).save(str(by_public_api))
    assert {f.path.rpartition("/")[0] for f in files} == {
        name.rpartition("/")[0] for name in below(by_public_api) if "part-" in name
    }


def test_rows_that_nobody_makes_leave_no_file_with_rows(spark: SparkSession, tmp_path: Path) -> None:
    files = written(spark.range(10).where("id < 0").selectExpr("id", "id % 2 AS p"), tmp_path, "p")
    assert files == []


def test_a_query_that_fails_raises_its_own_exception(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.range(0, 10, 1, 2).selectExpr("IF(id = 7, CAST(raise_error('seven') AS bigint), id) AS k")
    with pytest.raises((PySparkException, Py4JJavaError), match="seven") as raised:
        written(rows, tmp_path)
    assert "UndeclaredThrowable" not in str(raised.value)


def test_the_query_is_one_of_spark_s_and_its_observations_are_made(spark: SparkSession, tmp_path: Path) -> None:
    """Listeners, and the tab SQL of Spark's UI, see it as they see a write of Spark's own."""
    store: Any = spark._jsparkSession.sharedState().statusStore()
    spark.range(1).collect()
    before = store.executionsList().last().executionId()
    observation = Observation(spark.range(0, 50, 1, 2), {"rows": F.count(F.lit(1))})
    written(observation.rows, tmp_path)
    assert observation.values() == {"rows": 50}
    newest = store.executionsList().last()
    assert newest.executionId() > before
    assert newest.details()


def test_rows_are_sorted_by_their_partition(spark: SparkSession, tmp_path: Path) -> None:
    """A task writes each partition once, though its rows come mixed."""
    rows = spark.range(0, 1000, 1, 1).selectExpr("id AS k", "id % 5 AS p")
    files = written(rows, tmp_path, "p")
    assert sorted(f.path.partition("/")[0] for f in files) == [f"p={p}" for p in range(5)]
