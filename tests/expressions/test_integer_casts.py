"""Numbers stored as smaller integers, or cast: a DECIMAL that does not fit is NULL, others are cut, as in Hive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from tests.selection import every

CASTS: dict[str, object] = {
    "CAST(300.5 AS TINYINT)": None,
    "CAST(-128.9 AS TINYINT)": -128,
    "CAST(127.99999999999999999999 AS TINYINT)": 127,
    "CAST(40000.0 AS SMALLINT)": None,
    "CAST(2147483648.0 AS INT)": None,
    "CAST(9223372036854775808 AS BIGINT)": None,
    "CAST(5.99999999999999999999BD AS INT)": 5,
    "CAST(300 AS TINYINT)": 44,
    "CAST(3000000000 AS INT)": -1294967296,
    "CAST(300.7D AS TINYINT)": 44,
    "CAST(1e10D AS TINYINT)": -1,
    "CAST('300' AS TINYINT)": None,
    "CAST('12' AS TINYINT)": 12,
    "CAST(true AS INT)": 1,
    "CAST(m AS INT)": None,
    "CAST(- (m) AS BIGINT)": -3000000000,
    "CAST(m + 1 AS INT)": None,
    "CAST(l AS INT)": -1294967296,
    "CAST(l + 1 AS INT)": -1294967295,
    "CAST(l * 1.0 AS INT)": None,
    "CAST(coalesce(m, 0) AS INT)": None,
    "CAST(coalesce(l, 0) AS INT)": -1294967296,
    "CAST(CAST(abs(m) AS INT) AS BIGINT)": None,
    "CAST(abs(CAST(abs(CAST(abs(l) AS INT)) AS SMALLINT)) AS TINYINT)": 0,
    "CAST((SELECT max(m) FROM n) AS INT)": None,
    "CAST(max(m) OVER () AS INT)": None,
    "CAST(x.q AS INT)": None,
}


@pytest.fixture(scope="module")
def db(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    place = tmp_path_factory.mktemp("casts")
    with connect(place / "warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark) as session:
        session.execute("CREATE TRANSACTIONAL TABLE n (l bigint, m decimal(20,2))")
        session.execute("INSERT INTO n VALUES (3000000000, 3000000000.75)")
        yield session


def rows(db: Session, query: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in db.sql(query).collect()]


def test_a_cast_to_an_integer_is_null_where_a_decimal_does_not_fit(db: Session) -> None:
    (found,) = rows(db, f"SELECT {', '.join(CASTS)} FROM (SELECT l, m, m AS q FROM n) x")
    assert dict(zip(CASTS, found, strict=True)) == CASTS
    direct = [text for text in CASTS if "q" not in text]
    (found,) = rows(db, f"SELECT {', '.join(direct)} FROM n")
    assert dict(zip(direct, found, strict=True)) == {text: CASTS[text] for text in direct}


def test_casts_mean_the_same_in_every_clause_and_keep_the_column_s_name(db: Session) -> None:
    query = "SELECT CAST(m AS INT), count(*) FROM n WHERE CAST(m AS INT) IS NULL GROUP BY CAST(m AS INT)"
    assert rows(db, f"{query} HAVING CAST(max(m) AS INT) IS NULL ORDER BY 2") == [(None, 1)]
    assert db.sql(query).columns[0] == "CAST(m AS INT)"


@pytest.mark.ci
def test_what_is_stored_in_a_smaller_integer_is_null_where_a_decimal_does_not_fit(db: Session) -> None:
    db.execute("CREATE TRANSACTIONAL TABLE s (k int, y tinyint DEFAULT 300.5, i int) PARTITIONED BY (p smallint)")
    db.execute("INSERT INTO s SELECT 1, m, m, m FROM n")
    db.execute("INSERT INTO s SELECT 2, l, l, 7 FROM n")
    db.execute("INSERT INTO s VALUES (3, 128.0, 2147483648.5, 7), (4, 127.9, -2147483648.9, 32767.9)")
    db.execute("INSERT INTO s PARTITION (p = 40000.5) (k) VALUES (5)")
    db.execute("INSERT INTO s VALUES (6, 0, 0, 0), (7, 0, 0, 0), (8, 0, 0, 0)")
    db.execute("UPDATE s SET y = 300.5, i = y + 2147483648.0 WHERE k = 6")
    db.execute("UPDATE s SET y = DEFAULT, p = 99999.5 WHERE k = 7")
    db.execute("MERGE INTO s USING n ON s.k = 8 WHEN MATCHED THEN UPDATE SET y = n.m, i = n.l, p = n.m")
    assert rows(db, "SELECT * FROM s ORDER BY k") == [
        (1, None, None, None),
        (2, 0, -1294967296, 7),
        (3, None, None, 7),
        (4, 127, -2147483648, 32767),
        (5, None, None, None),
        (6, None, None, 0),
        (7, None, 0, None),
        (8, None, -1294967296, None),
    ]


def test_strict_store_assignment_refuses_what_does_not_fit(db: Session) -> None:
    db.execute("CREATE TRANSACTIONAL TABLE strict (y tinyint, z tinyint DEFAULT 300.5)")
    db.execute("SET acidsql.store.assignment=ansi")
    try:
        for statement in ("INSERT INTO strict VALUES (300.5, 1)", "INSERT INTO strict (y) VALUES (1)"):
            with pytest.raises(AcidSqlError, match="INVALID_STORE_VALUE"):
                db.execute(statement)
        db.execute("INSERT INTO strict VALUES (100.5, 1)")
    finally:
        db.execute("SET acidsql.store.assignment=hive")
    assert rows(db, "SELECT * FROM strict") == [(100, 1)]


BEYOND_BIGINT = (
    "9223372036854775808",
    "9223372036854775807.5",
    "-9223372036854775809",
    "(9223372036854775808BD)",
    "-1e19BD",
)


@pytest.mark.ci
@pytest.mark.parametrize("kind", every(2, ["tinyint", "bigint"]))
def test_the_order_of_null_and_a_number_beyond_bigint_is_null(db: Session, kind: str) -> None:
    table = f"beyond_{kind}"
    db.execute(f"CREATE TRANSACTIONAL TABLE {table} (k int, v {kind})")
    db.execute(f"INSERT INTO {table} VALUES (1, 1), (2, NULL)")
    for number in BEYOND_BIGINT:
        pairs = [(f"v {operator} {number}", f"{number} {operator} v") for operator in ("<", "<=", ">", ">=", "=", "<>")]
        conditions = [f"v BETWEEN {number} AND {number}", *(text for pair in pairs for text in pair)]
        conditions += [f"v + 0 {condition[2:]}" for condition, _ in pairs]
        branches = (f"SELECT {n}, k FROM {table} WHERE {c} OR NOT ({c})" for n, c in enumerate(conditions))
        found = rows(db, " UNION ALL ".join(branches))
        assert sorted(found) == [(n, 1) for n in range(len(conditions))], conditions
    db.execute(f"UPDATE {table} SET v = 2 WHERE v < {BEYOND_BIGINT[0]} AND NOT (v > {BEYOND_BIGINT[1]})")
    db.execute(f"DELETE FROM {table} WHERE v >= {BEYOND_BIGINT[2]}")
    assert rows(db, f"SELECT k, v FROM {table}") == [(2, None)]
