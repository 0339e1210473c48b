"""Statements whose operands have different types change and find the rows that they do in Hive 4.0.1."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from acidsql.spark.catalyst.pyspark_api import frame_of_arrow
from tests.selection import core


@pytest.fixture
def table(session: Session) -> Session:
    session.execute(
        "CREATE TABLE t (id int, code string, f float, d decimal(10,2), b boolean, dt date, ts timestamp)"
        " STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    )
    session.execute(
        "INSERT INTO t VALUES (1, '1', 23.4, 1.5, true, DATE '2024-01-31', TIMESTAMP '2024-01-31 10:00:00'),"
        " (2, '1.5', 0.1, 2, false, DATE '2024-02-29', TIMESTAMP '2024-02-29 00:00:00'),"
        " (3, '0.5', 2.5, 0, true, DATE '1999-12-31', TIMESTAMP '1999-12-31 23:59:59'),"
        " (4, 'abc', NULL, NULL, NULL, NULL, NULL), (5, NULL, 1, 1, false, DATE '2024-01-01', NULL)"
    )
    return session


def ids(session: Session, query: str = "SELECT id FROM t ORDER BY id") -> list[int]:
    return [row[0] for row in session.sql(query).collect()]


CONDITIONS: Final[tuple[tuple[str, list[int]], ...]] = (
    ("code = 1", [1]),
    ("code > 0", [1, 2, 3]),
    ("code <> 1", [2, 3]),
    ("code IN (1, 'abc')", [1, 4]),
    ("f = 23.4", [1]),
    ("f IN (0.1, 2.50)", [2, 3]),
    ("f BETWEEN 0.1 AND 2.5", [2, 3, 5]),
    ("f = 23.4D", [1]),
    ("d = '1.5'", [1]),
    ("b = 'true'", []),
    ("b = '1'", [1, 3]),
    ("dt < '2024-02'", []),
    ("dt = '2024-1-31'", [1]),
    ("dt > '2024-01-31 12:00:00'", [2]),
    ("dt <> 'abc'", []),
    ("ts < '2024-02'", []),
    ("ts >= '2024-01-31 10:00'", [1, 2]),
    ("dt IN ('2024-1-1', '2024-01-31x')", [1, 5]),
    ("code IN (SELECT id FROM t)", [1]),
    ("f IN (SELECT 23.4)", [1]),
    ("CASE f WHEN 23.4 THEN true ELSE false END", [1]),
    ("nullif(f, 23.4) IS NULL", [1, 4]),
    ("code", [1, 2, 3, 4]),
    ("id - 1", [2, 3, 4, 5]),
    ("CASE WHEN id = 1 THEN 'inf' WHEN id = 2 THEN 'Infinity' ELSE 'nan' END > 0", [2]),
    ("greatest(id, concat(id, '0')) = 20", [2]),
    ("sign(d) = 1", [1, 2, 5]),
    ("year(substr(dt, 1, 7)) IS NULL AND month(concat(dt, 'x')) = 1", [1, 5]),
    ("id - 1 > -2147483648 - 1 AND id < 3", [1, 2]),
    ("CAST(CAST(d / 100000000 AS decimal(20,10)) AS string) = '0.0000000150'", [1]),
    ("printf('%.1f %s', d, dt) = '1.5 2024-01-31'", [1]),
)
"""Conditions, and the ids of the rows for which they are true."""
DELETED: Final = ("code <> 1", "f BETWEEN 0.1 AND 2.5", "ts >= '2024-01-31 10:00'", "code IN (SELECT id FROM t)")
"""Those by which a DELETE is tried in each run; by the others it is at night."""


@pytest.mark.ci
def test_conditions_find_hives_rows(table: Session) -> None:
    """All in one query, a branch for each."""
    branches = [f"SELECT {place} AS place, id FROM t WHERE {text}" for place, (text, _) in enumerate(CONDITIONS)]
    found = table.sql(" UNION ALL ".join(branches)).collect()
    for place, (condition, expected) in enumerate(CONDITIONS):
        assert sorted(row.id for row in found if row.place == place) == expected, condition


@pytest.mark.parametrize("case", core(CONDITIONS, lambda case: case[0] in DELETED), ids=lambda case: case[0])
def test_a_delete_finds_hives_rows(table: Session, case: tuple[str, list[int]]) -> None:
    condition, found = case
    table.execute(f"DELETE FROM t WHERE {condition}")
    assert ids(table) == [number for number in range(1, 6) if number not in found]


@pytest.mark.ci
def test_update_and_merge_compare_as_hive(table: Session) -> None:
    table.execute("UPDATE t SET d = 9 WHERE f = 23.4 AND code = 1")
    assert ids(table, "SELECT id FROM t WHERE d = 9") == [1]
    table.execute(
        "MERGE INTO t USING (SELECT '1.0' AS k, 7 AS v) s ON t.id = s.k WHEN MATCHED AND t.code = 1 THEN UPDATE"
        " SET d = s.v WHEN NOT MATCHED THEN INSERT (id) VALUES (99)"
    )
    assert ids(table, "SELECT id FROM t WHERE d = 7") == [1]
    assert 99 not in ids(table)


def test_a_join_compares_text_with_numbers_as_numbers(table: Session) -> None:
    assert ids(table, "SELECT a.id FROM t a JOIN t b ON a.code = b.id ORDER BY a.id") == [1]


@pytest.mark.ci
def test_nulls_come_last_unless_the_setting_or_the_statement_says_otherwise(table: Session) -> None:
    assert ids(table, "SELECT id FROM t ORDER BY f") == [2, 5, 3, 1, 4]
    assert ids(table, "SELECT id FROM t ORDER BY f DESC") == [4, 1, 3, 5, 2]
    assert ids(table, "SELECT id FROM t ORDER BY f NULLS FIRST") == [4, 2, 5, 3, 1]
    places = table.sql("SELECT id, rank() OVER (ORDER BY f) AS place FROM t ORDER BY id").collect()
    assert [row.place for row in places] == [4, 1, 3, 5, 2]
    table.execute("SET hive.default.nulls.last=false")
    assert ids(table, "SELECT id FROM t ORDER BY f") == [4, 2, 5, 3, 1]


EXPRESSIONS: Final = (
    ("1.50", "1.5"),
    ("100.00", "100"),
    ("cast(true as string)", "TRUE"),
    ("concat('x', false)", "xFALSE"),
    ("true || '!'", "TRUE!"),
    ("cast('off' as boolean)", "FALSE"),
    ("cast('f' as boolean)", "TRUE"),
    ("cast(' ' as boolean)", "TRUE"),
    ("cast('' as boolean)", "FALSE"),
    ("cast('2024-01' as date)", None),
    ("cast('2024-01-05abc' as date)", "2024-01-05"),
    ("cast('24-1-1' as date)", "0024-01-01"),
    ("cast('-0001-01-01' as date)", "-0001-01-01"),
    ("cast('10000-01-01' as date)", None),
    ("cast('2024-01-05 10' as timestamp)", "2024-01-05 00:00:00"),
    ("cast('2024-01-05 10:20' as timestamp)", "2024-01-05 00:00:00"),
    ("cast(concat('2024-01-05', ' 24:00:00') as timestamp)", "2024-01-05 00:00:00"),
    ("cast('2024' as timestamp)", None),
    ("cast(cast(0.1 as float) as decimal(20,18))", "0.100000000000000000"),
    ("cast(0.1 as float) + 0.1", "0.2"),
    ("abs(cast(-128 as tinyint))", "128"),
)
"""Expressions, and their values as text."""


def test_expressions_have_hives_values(session: Session) -> None:
    """All in one query."""
    (found,) = session.sql(f"SELECT {', '.join(f'cast(({text}) as string)' for text, _ in EXPRESSIONS)}").collect()
    for (expression, expected), value in zip(EXPRESSIONS, found, strict=True):
        assert value == expected, expression


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["spark", "pandas", "arrow", "temporary view"])
def test_columns_of_frames_and_temporary_views_compare_as_those_of_tables(table: Session, kind: str) -> None:
    arrow = pa.table({"k": ["1.0", "x"], "f": pa.array([0.1, 2.0], pa.float32())})
    frames = {
        "spark": frame_of_arrow(table.spark, arrow),
        "pandas": arrow.to_pandas(),
        "arrow": arrow,
        "temporary view": frame_of_arrow(table.spark, arrow),
    }
    name, given = "{s}", {"s": frames[kind]}
    if kind == "temporary view":
        frames[kind].createOrReplaceTempView("arrow_insert")
        name, given = "arrow_insert", {}
    joined = table.sql(f"SELECT t.id FROM t JOIN {name} s ON t.id = s.k", **given)
    assert joined.collect() == [(1,)]
    assert table.sql(f"SELECT k FROM {name} WHERE f = 0.1", **given).collect() == [("1.0",)]
    table.execute(f"MERGE INTO t USING {name} s ON t.f = s.f AND s.f = 0.1 WHEN MATCHED THEN DELETE", frames=given)
    assert ids(table) == [1, 3, 4, 5]
    table.spark.catalog.dropTempView("arrow_insert")


def test_a_check_compares_as_hive_does(session: Session) -> None:
    session.execute(
        "CREATE TABLE checked (code string, f float, CHECK (code > 0), CHECK (f <> 23.4))"
        " STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    )
    session.execute("INSERT INTO checked VALUES ('0.5', 0.1)")
    for row in ("('0', 0.1)", "('1', 23.4)"):
        with pytest.raises(AcidSqlError, match="CHECK"):
            session.execute(f"INSERT INTO checked VALUES {row}")
    assert [tuple(row) for row in session.sql("SELECT code FROM checked").collect()] == [("0.5",)]


def test_intervals_of_months_are_text_in_a_result(session: Session) -> None:
    query = "SELECT INTERVAL '1-2' YEAR TO MONTH AS a, INTERVAL '1' YEAR - INTERVAL '15' MONTH AS b, 7 AS c"
    assert [tuple(row) for row in session.sql(query).collect()] == [("1-2", "-0-3", 7)]
