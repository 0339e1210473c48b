"""Hostile input through a session on Spark: the right answer or an AcidSqlError."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import numpy
import pandas  # type: ignore[import-untyped]
import pytest
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from acidsql.spark.failures import translate
from tests.fuzz import on_spark

TABLES = """
CREATE TRANSACTIONAL TABLE t (ts timestamp, d date, id int, v string);
INSERT INTO t (id) VALUES (1), (2);
"""


@pytest.fixture(scope="module")
def opened(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Path]]:
    place = tmp_path_factory.mktemp("hostile")
    with connect(place / "warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark) as session:
        for _ in session.script(TABLES):
            pass
        yield session, place / "warehouse"


@pytest.fixture
def hostile(opened: tuple[Session, Path]) -> Session:
    return opened[0]


def value(session: Session, sql: str, *args: object) -> object:
    return session.sql(sql, list(args)).collect()[0][0]


# ------------------------------------------------------------------------------------------------ VALUES


def test_values_may_be_expressions_of_any_kind(hostile: Session) -> None:
    hostile.sql(
        "INSERT INTO t VALUES (current_timestamp, current_date, -1, current_user), (NULL, NULL, ?, DEFAULT),"
        " (DEFAULT, current_date(), (SELECT 10 * max(id) FROM t), uuid()), (current_timestamp(), NULL, 1 + 2, 'x')",
        [7],
    )
    rows = hostile.sql("SELECT id, ts IS NULL, d IS NULL, v IS NULL FROM t WHERE id NOT IN (1, 2)").collect()
    assert sorted(map(tuple, rows)) == [
        (-1, False, False, False), (3, False, True, False), (7, True, True, True), (20, True, False, False),
    ]  # fmt: skip
    assert value(hostile, "SELECT max(ts) BETWEEN date_sub(current_date, 1) AND current_timestamp FROM t") is True
    assert hostile.sql("SELECT ts FROM t").dtypes == [("ts", "timestamp_ntz")]
    hostile.sql("DELETE FROM t WHERE id NOT IN (1, 2)")


@pytest.mark.parametrize("wrong", ["row__id", "INPUT__FILE__NAME", "v", "*", "sum(1)", "explode(array(1))"])
def test_invalid_values_are_refused(hostile: Session, wrong: str) -> None:
    with pytest.raises(AcidSqlError):
        hostile.sql(f"INSERT INTO t (v) VALUES ({wrong})")
    assert value(hostile, "SELECT count(*) FROM t") == 2


def test_a_from_clause_may_have_several_items_without_a_name(hostile: Session) -> None:
    rows = hostile.sql("SELECT * FROM (SELECT 1 AS a), (SELECT 2 AS b) JOIN (SELECT 3 AS c), explode(array(4))")
    assert list(map(tuple, rows.collect())) == [(1, 2, 3, 4)]


@pytest.mark.parametrize("form", ["avro", "sequencefile", "rcfile"])
def test_a_format_that_cannot_be_read_is_refused_and_nothing_is_written(
    opened: tuple[Session, Path], form: str
) -> None:
    session, warehouse = opened
    before = on_spark.files_of(warehouse), session._metastore.valid_txns().high_watermark
    for statement in (f"CREATE TABLE x STORED AS {form} AS SELECT 1 AS a", f"CREATE TABLE x (a int) STORED AS {form}"):
        with pytest.raises(AcidSqlError, match=f"STORED AS {form.upper()} is not yet supported"):
            session.sql(statement)
    assert (on_spark.files_of(warehouse), session._metastore.valid_txns().high_watermark) == before


# ------------------------------------------------------------------------------------------------ frames

FAILING = "SELECT CASE WHEN id > 0 THEN raise_error('boom') END AS a FROM t"
ACTIONS: dict[str, Callable[[DataFrame], object]] = {
    "collect": lambda frame: frame.collect(),
    "show": lambda frame: frame.show(),
    "toPandas": lambda frame: frame.toPandas(),
    "toArrow": lambda frame: frame.toArrow(),
    "first": lambda frame: frame.first(),
    "head": lambda frame: frame.head(3),
    "take": lambda frame: frame.take(1),
    "tail": lambda frame: frame.tail(1),
    "toLocalIterator": lambda frame: list(frame.toLocalIterator()),
    "foreach": lambda frame: frame.foreach(print),
    "of a derived frame": lambda frame: frame.filter("1 = 1").select("a").distinct().limit(5).count(),
    "of a join": lambda frame: frame.alias("x").crossJoin(frame.alias("y")).collect(),
    "of a cached frame": lambda frame: frame.cache().collect(),
}


@pytest.mark.ci
@pytest.mark.parametrize("action", ACTIONS.values(), ids=ACTIONS)
def test_a_failure_in_a_job_of_a_frame_is_an_error_of_acidsql(
    hostile: Session, action: Callable[[DataFrame], object]
) -> None:
    frame = hostile.sql(FAILING)
    with pytest.raises(AcidSqlError, match="boom") as raised:
        action(frame)
    assert raised.value.condition == "QUERY_FAILED"
    frame.unpersist()


def test_a_frame_is_a_frame_of_pyspark(hostile: Session, spark: SparkSession) -> None:
    frame = hostile.sql("SELECT id FROM t")
    assert isinstance(frame, DataFrame)
    assert frame.sparkSession is spark
    assert frame.cache() is frame
    frame.unpersist()
    other = spark.range(1)
    assert type(other) is not type(frame)
    assert frame.transform(lambda _: other) is other
    assert type(other) is not type(frame)
    with pytest.raises(AnalysisException):
        frame.select("nothing")


# ------------------------------------------------------------------------------------------------ parameters


@pytest.mark.ci
@pytest.mark.parametrize(
    "given",
    [
        None, True, 0, -(1 << 63), 1.5, math.inf, "", "x'; DROP TABLE t --", "a\0b", "${x}", "😀", "\ufeff",
        b"\x00\xff",
        Decimal("1.50"), Decimal("-1E-10"), date(1, 1, 1), date(9999, 12, 31), date(1582, 10, 4), datetime(1, 1, 1),
        datetime(1500, 2, 28, 1, 2, 3, 4), datetime(9999, 12, 31, 23, 59, 59, 999999), [1, 2], [], [["a"], ["b"]],
    ],
    ids=ascii,
)  # fmt: skip
def test_a_parameter_is_read_back_unchanged(hostile: Session, given: object) -> None:
    assert value(hostile, "SELECT ?", given) == given
    assert hostile.sql("SELECT :x", {"x": given}).collect()[0][0] == given


def test_numbers_of_other_kinds_are_numbers(hostile: Session) -> None:
    assert value(hostile, "SELECT ?", 10**30) == Decimal(10**30)
    assert value(hostile, "SELECT ?", numpy.int64(3)) == 3
    assert value(hostile, "SELECT ?", numpy.float64(1.5)) == 1.5
    assert value(hostile, "SELECT ?", numpy.bool_(True)) is True
    assert math.isnan(float(str(value(hostile, "SELECT ?", math.nan))))
    assert value(hostile, "SELECT ?", pandas.Timestamp("2020-01-01")) == datetime(2020, 1, 1)
    assert value(hostile, "SELECT ?", datetime(2020, 1, 1, tzinfo=UTC)) is not None


@pytest.mark.ci
@pytest.mark.parametrize(
    "given",
    [
        object(), object, 1j, {1, 2}, (1, 2), 10**40, Decimal("NaN"), Decimal("1E50"), "\ud800", [1, "a"],
        (n for n in range(3)), memoryview(b"a"), print,
    ],
    ids=lambda given: type(given).__name__,
)  # fmt: skip
def test_a_parameter_that_is_not_a_value_is_refused(hostile: Session, given: object) -> None:
    for sql in ("SELECT ?", "INSERT INTO t (v) VALUES (?)"):
        with pytest.raises(AcidSqlError):
            hostile.sql(sql, [given])
    assert value(hostile, "SELECT count(*) FROM t") == 2


@pytest.mark.parametrize("args", ["abc", 5, {1}, b"a", object()], ids=lambda args: type(args).__name__)
def test_parameters_are_a_mapping_or_a_sequence(hostile: Session, args: object) -> None:
    with pytest.raises(AcidSqlError) as raised:
        hostile.sql("SELECT ?", args)  # type: ignore[arg-type]
    assert raised.value.condition == "INVALID_PARAMETER"


@pytest.mark.parametrize(
    "frame",
    [5, "t", [], [1, "a"], [(1,), ("a",)], pandas.DataFrame({"a": [1, "x"]}), pandas.DataFrame({"a": [object()]}),
     pandas.DataFrame([[1, 2]], columns=["a", "a"])],
    ids=lambda frame: type(frame).__name__,
)  # fmt: skip
def test_a_frame_that_cannot_be_read_is_refused(hostile: Session, frame: object) -> None:
    with pytest.raises(AcidSqlError):
        hostile.sql("SELECT a, b FROM {f}", f=frame)


# ------------------------------------------------------------------------------------------------ long and deep


@pytest.mark.parametrize(
    "count", [2_000, pytest.param(20_000, marks=pytest.mark.nightly), pytest.param(100_000, marks=pytest.mark.soak)]
)
def test_many_rows_of_values_are_inserted(hostile: Session, count: int) -> None:
    hostile.sql("CREATE TRANSACTIONAL TABLE big (id int, v string)")
    rows = ", ".join(f"({number}, '{'x' * 40}')" for number in range(count))
    counts = hostile.sql(f"INSERT INTO big VALUES {rows}").first()
    assert counts is not None
    assert counts.num_inserted_rows == count
    assert tuple(hostile.sql("SELECT count(DISTINCT id), sum(length(v)) FROM big").collect()[0]) == (count, 40 * count)
    hostile.sql("DROP TABLE big")


@pytest.mark.nightly
@pytest.mark.parametrize("word", ["OR", "AND"])
def test_a_condition_of_hundreds_of_terms_is_read(hostile: Session, word: str) -> None:
    condition = f" {word} ".join(f"id <> {number}" for number in range(10, 400))
    assert value(hostile, f"SELECT count(*) FROM t WHERE {condition}") == 2


def test_a_query_that_is_too_long_for_the_stack_of_spark_is_an_error_that_says_so() -> None:
    error = translate(Py4JError("An error occurred while calling o1.sql.\n: java.lang.StackOverflowError"), "SELECT 1")
    assert error.condition == "QUERY_FAILED"
    assert "too deep for Spark's stack" in error.message


# ------------------------------------------------------------------------------------------------ mutated


def fuzzed(spark: SparkSession, place: Path, count: int, seed: int) -> None:
    with connect(place / "warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark) as session:
        on_spark.set_up(session)
        report = on_spark.run(session, place / "warehouse", count, seed)
    assert not report.found, str(report)


@pytest.mark.ci
def test_mutated_statements_fail_as_acidsql_does_and_leave_nothing(spark: SparkSession, tmp_path: Path) -> None:
    fuzzed(spark, tmp_path, 15, 1)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [2])
def test_many_mutated_statements_fail_as_acidsql_does(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    fuzzed(spark, tmp_path, 60, seed)
