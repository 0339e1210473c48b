"""QUALIFY, which Hive 4 has and Spark only from version 4.2 on: a filter on window functions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from acidsql.session import Session, connect
from tests.answers import fails, rows
from tests.spark_versions import needs_no_spark, needs_spark

FIRST = "row_number() OVER (PARTITION BY a ORDER BY b) = 1"
QUERIES: dict[str, tuple[list[str], list[tuple[object, ...]]]] = {
    f"SELECT * FROM t QUALIFY {FIRST}": (["a", "b"], [(1, 10), (2, 5)]),
    f"SELECT t.*, a + b AS c FROM t QUALIFY {FIRST}": (["a", "b", "c"], [(1, 10, 11), (2, 5, 7)]),
    "SELECT a, row_number() OVER (ORDER BY b) AS n FROM t QUALIFY n > 1": (["a", "n"], [(1, 2), (1, 3)]),
    "SELECT a, sum(b) AS s FROM t GROUP BY a QUALIFY rank() OVER (ORDER BY sum(b) DESC) = 1": (["a", "s"], [(1, 30)]),
    "SELECT DISTINCT a FROM t QUALIFY count(*) OVER (PARTITION BY a) > 1": (["a"], [(1,)]),
    "SELECT b FROM t QUALIFY rank() OVER (ORDER BY b) > 1 ORDER BY b DESC LIMIT 1": (["b"], [(20,)]),
    "WITH c AS (SELECT * FROM t) SELECT x.b FROM c AS x JOIN t AS y ON x.b = y.b"
    " QUALIFY row_number() OVER (PARTITION BY x.a ORDER BY y.b) = 1": (["b"], [(5,), (10,)]),
}
TWO_OF_ONE_NAME = (
    f"SELECT 'b', timestamp '2020-01-01 00:00:00.5' > timestamp '2020-01-01 00:00:00', 'b' FROM t QUALIFY {FIRST}"
)


@pytest.fixture(scope="module")
def db(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    place = tmp_path_factory.mktemp("qualify")
    with connect(place / "warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark) as session:
        session.execute("CREATE TRANSACTIONAL TABLE t (a int, b int)")
        session.execute("INSERT INTO t VALUES (1, 10), (1, 20), (2, 5)")
        yield session


@pytest.mark.ci
@pytest.mark.parametrize("query", QUERIES)
def test_qualify_keeps_the_rows_and_columns_of_the_query(db: Session, query: str) -> None:
    names, expected = QUERIES[query]
    frame = db.sql(query)
    assert not names or frame.columns == names
    assert sorted(tuple(row) for row in frame.collect()) == sorted(expected)


@pytest.mark.ci
@needs_spark(4, 0, "* EXCEPT")
def test_qualify_takes_columns_of_one_name(db: Session) -> None:
    assert rows(db, TWO_OF_ONE_NAME) == [("b", True, "b"), ("b", True, "b")]


@needs_no_spark(4, 0, "* EXCEPT")
def test_qualify_without_star_except_is_spelled_or_refused(db: Session) -> None:
    assert "Spark 3.5" in str(fails("NOT_YET_SUPPORTED", lambda: db.sql(TWO_OF_ONE_NAME)))
    inner = f"SELECT * FROM c QUALIFY {FIRST}"
    error = fails("NOT_YET_SUPPORTED", lambda: db.sql(f"WITH c AS (SELECT * FROM t) SELECT a FROM ({inner}) s"))
    assert "CTE" in str(error)
    asked = f"SELECT b FROM (SELECT * FROM t WHERE b > :low QUALIFY {FIRST}) s"
    assert rows(db, asked, {"low": 10}) == [(20,)]


def test_an_insert_takes_the_rows_that_qualify(db: Session) -> None:
    db.execute("CREATE TRANSACTIONAL TABLE latest (a int, b int)")
    db.execute(f"INSERT INTO latest SELECT * FROM t QUALIFY {FIRST}")
    assert sorted(tuple(row) for row in db.sql("SELECT * FROM latest").collect()) == [(1, 10), (2, 5)]
