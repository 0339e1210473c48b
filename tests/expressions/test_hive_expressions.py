"""Expressions that Spark evaluates differently from Hive, above all on CHAR and VARCHAR, in every kind of table. Hive
4.0.1 gives the expected results (tests/interop/test_hive_evaluates.py)."""

from __future__ import annotations

from typing import Final

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from tests.selection import core

COLUMNS: Final = "(id int, code char(3), wide char(5), short varchar(5), text string)"
ROWS: Final = "(1, 'x3', 'x3', 'ab ', 'x3 '), (2, 'y', 'z', 'c', 'y'), (3, '', NULL, '', '')"
FOUND: Final = {
    "code = 'x3'": [1],
    "code = 'x3 '": [1],
    "'x3    ' = code": [1],
    "code IN ('x3 ', 'q')": [1],
    "code <> 'x3 '": [2, 3],
    "code >= 'x3 '": [1, 2],
    "code < 'x3 '": [3],
    "code = ' '": [3],
    "code BETWEEN 'x3 ' AND 'x3  '": [],
    "code = text": [2, 3],
    "code = wide": [1],
    "code = concat('x3', ' ')": [],
    "code = short": [3],
    "code LIKE 'x3'": [1],
    "code LIKE 'x3 '": [],
    "text = 'x3'": [],
    "short = 'ab'": [],
    "short = 'ab '": [1],
    "CAST(text AS VARCHAR(3)) = 'x3'": [],
    "CAST(text AS VARCHAR(2)) = 'x3'": [1],
}
"""The ids for which a condition is true."""
VALUES: Final = {
    "length(code)": 2,
    "concat(code, '|')": "x3|",
    "reverse(code)": "3x",
    "CAST(code AS STRING)": "x3",
    "concat(CAST('abcdef' AS CHAR(3)), '|')": "abc|",
    "concat(CAST('ab ' AS CHAR(5)), '|')": "ab|",
    "concat(CAST('ab ' AS VARCHAR(5)), '|')": "ab |",
    "CAST(12345 AS VARCHAR(2))": "12",
    "CAST(CAST('abcdef' AS VARCHAR(4)) AS VARCHAR(9))": "abcd",
    "CAST('\u017c\u00f3\u0142w' AS VARCHAR(2))": "\u017c\u00f3",
    "CASE WHEN code = 'x3 ' THEN 1 ELSE 0 END": 1,
    "greatest(id, 2, 3)": 3,
    "greatest(id, NULL, 3)": None,
    "least('b', short, text)": "ab ",
    "least(greatest(id, 5), CAST(NULL AS INT))": None,
    "upper(least('b', CAST('abc' AS VARCHAR(2)), text))": "AB",
    "CAST(nvl(CAST('23.4' AS FLOAT), 0.5) AS STRING)": "23.4",
    "CAST(coalesce(CAST(NULL AS DECIMAL(5,2)), CAST('0.1' AS FLOAT)) AS STRING)": "0.1",
    "CAST(if(id = 1, CAST('23.4' AS FLOAT), 0.5) AS STRING)": "23.4",
    "CAST(CASE WHEN id > 1 THEN 0.5 ELSE CAST('23.4' AS FLOAT) END AS STRING)": "23.4",
    "CAST(greatest(CAST('23.4' AS FLOAT), 0.5) AS STRING)": "23.4",
    "CAST(1.0 / CAST(id + 2 AS BIGINT) AS STRING)": "0.33333333333333333333",
    "typeof(1.0 / CAST(id AS BIGINT))": "decimal(21,20)",
    "string(id = 1)": "TRUE",
    "boolean(concat('o', 'ff'))": False,
    "date(concat('202', '4'))": None,
    "timestamp('2024-01')": None,
    "tinyint(id + 299.5)": None,
    "string(CAST('0.0000001' AS DECIMAL(20,10)))": "0.0000001000",
    "CAST(greatest(DATE '2024-01-31', '2024-02-01abc') AS STRING)": "2024-02-01",
    "CAST(least(TIMESTAMP '2024-01-31 10:00:00', '2024-01-31') AS STRING)": "2024-01-31 00:00:00",
    "greatest(DATE '2024-01-31', 'x')": None,
    "trunc('2024-05-15abc', 'MM')": "2024-05-01",
    "trunc('2024-05', 'MM')": None,
    "months_between('2024-02-28abc', '2024-01-31')": 0.90322581,
    "from_utc_timestamp('2024', 'Asia/Tokyo')": None,
    "typeof(code)": "char(3)",
    "typeof(TIMESTAMP '2024-01-31 10:00:00')": "timestamp",
    "to_epoch_milli(TIMESTAMP '1960-05-05 12:00:00.25')": -304775999750,
    "index(array(3, 1), 0)": 3,
    "likeany('abc', 'x%', 'a%')": True,
    "likeall('abc', 'a%', '%b')": False,
    "hour(TIMESTAMP '2024-01-31 10:00:00' - DATE '2024-01-31')": 10,
    "decode(unhex('80'), 'windows-1252')": "\u20ac",
}
"""What expressions give for the first row."""
OF_ALL: Final = {
    "stddev(id * 2)": 1.632993161855452,
    "stddev(DISTINCT id * 2)": 1.632993161855452,
    "variance(DISTINCT id * 3)": 6.0,
    "std(id * 2)": 1.632993161855452,
    "variance(id * 3)": 6.0,
    "var_samp(id * 3)": 9.0,
    "max(greatest(id, 2))": 3,
}
"""What aggregates give for all rows."""
UNIONS: Final = {
    ("code", "'q'"): ["q", "x3"],
    ("'q'", "code"): ["q", "x3"],
    ("code", "code"): ["x3 ", "x3 "],
    ("code", "wide"): ["x3   ", "x3   "],
    ("code", "short"): ["ab ", "x3"],
    ("concat(code, '|')", "wide"): ["x3", "x3|"],
}
"""What two branches of a UNION ALL give together for the first row."""
TABLES: Final = {
    "acid": "STORED AS ORC TBLPROPERTIES ('transactional'='true')",
    "insert_only": "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')",
    "plain": "STORED AS ORC TBLPROPERTIES ('transactional'='false')",
    "parquet": "STORED AS PARQUET TBLPROPERTIES ('transactional'='false')",
    "text": "STORED AS TEXTFILE TBLPROPERTIES ('transactional'='false')",
}


@pytest.mark.ci
@pytest.mark.parametrize("kind", core(TABLES, lambda kind: kind == "acid"))
def test_conditions_and_expressions_have_the_values_that_hive_gives(session: Session, kind: str) -> None:
    session.execute(f"CREATE TABLE t {COLUMNS} {TABLES[kind]}")
    session.execute(f"INSERT INTO t VALUES {ROWS}")
    for condition, ids in FOUND.items():
        rows = session.sql(f"SELECT id FROM t WHERE {condition} ORDER BY id").collect()
        assert [row.id for row in rows] == ids, condition
    (values,) = session.sql(f"SELECT {', '.join(VALUES)} FROM t WHERE id = 1").collect()
    assert dict(zip(VALUES, values, strict=True)) == VALUES
    (values,) = session.sql(f"SELECT {', '.join(OF_ALL)} FROM t").collect()
    assert dict(zip(OF_ALL, values, strict=True)) == pytest.approx(OF_ALL)


@pytest.mark.ci
@pytest.mark.parametrize(("one", "other"), UNIONS)
def test_a_union_of_chars_has_the_type_of_all_its_branches(session: Session, one: str, other: str) -> None:
    session.execute(f"CREATE TABLE t {COLUMNS} {TABLES['acid']}")
    session.execute(f"INSERT INTO t VALUES {ROWS}")
    union = f"SELECT {one} AS c FROM t WHERE id = 1 UNION ALL SELECT {other} FROM t WHERE id = 1"
    assert sorted(row.c for row in session.sql(union).collect()) == UNIONS[one, other]
    within = f"SELECT n, d FROM (SELECT c AS d, 1 AS n FROM ({union}) u) v ORDER BY d"
    assert [row.d for row in session.sql(within).collect()] == UNIONS[one, other]


def test_a_column_of_a_result_is_named_after_the_text_of_its_expression(session: Session) -> None:
    rows = session.sql("SELECT CAST('abc' AS CHAR(2)), CAST(1 AS VARCHAR(1)) AS one, greatest(1 + 1, 2)")
    assert rows.columns == ["CAST('abc' AS CHAR(2))", "one", "greatest(1 + 1, 2)"]


def test_a_subquery_in_an_argument_is_evaluated_once(session: Session) -> None:
    session.execute("CREATE TABLE t (id int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO t VALUES (4)")
    query = "SELECT greatest(id, (SELECT max(id) FROM t)) AS most FROM t"
    assert session.sql(query).collect()[0].most == 4
    lines = [str(line) for (line,) in session.execute(f"EXPLAIN {query}").rows()]
    assert len([line for line in lines if line.strip() == "default.t"]) == 2


def test_statements_find_the_rows_of_a_padded_literal(session: Session) -> None:
    session.execute(f"CREATE TABLE t {COLUMNS} {TABLES['acid']}")
    session.execute(f"INSERT INTO t VALUES {ROWS}")
    assert session.execute("UPDATE t SET short = CAST('longer' AS VARCHAR(4)) WHERE code = 'x3 '").counts.updated == 1  # type: ignore[union-attr]
    merge = "MERGE INTO t USING (SELECT 'y' AS k) s ON t.id = 2 AND t.code = 'y ' WHEN MATCHED THEN DELETE"
    assert session.execute(merge).counts.deleted == 1  # type: ignore[union-attr]
    assert session.execute("DELETE FROM t WHERE code IN ('   ')").counts.deleted == 1  # type: ignore[union-attr]
    assert [tuple(row) for row in session.sql("SELECT id, short FROM t").collect()] == [(1, "long")]


def test_a_float_and_a_decimal_of_a_union_are_a_float(session: Session) -> None:
    query = "SELECT 1.5 AS c UNION ALL SELECT CAST('23.4' AS FLOAT) UNION ALL SELECT CAST('0.1' AS DECIMAL(3,1))"
    found = session.execute(f"SELECT CAST(c AS STRING) FROM ({query}) q WHERE c <> 1.5").rows()
    assert sorted(found) == [("0.1",), ("23.4",)]


@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN", "FULL OUTER JOIN"])
def test_a_join_behind_a_lateral_view_is_refused(session: Session, join: str) -> None:
    session.execute("CREATE TABLE t (id int, a array<int>) STORED AS ORC")
    with pytest.raises(AcidSqlError) as caught:
        session.execute(f"SELECT t.id, x, b.id FROM t LATERAL VIEW explode(a) e AS x {join} t b ON b.id = t.id")
    assert (caught.value.condition, caught.value.hive_code) == ("LATERAL_VIEW_WITH_JOIN", 10085)
    session.execute(f"SELECT t.id, x FROM t {join} t b ON b.id = t.id LATERAL VIEW explode(t.a) e AS x")


@pytest.mark.parametrize("behind", ["OVER (PARTITION BY id)", "FILTER (WHERE id > 1)"])
def test_percentile_approx_is_refused_where_it_would_be_sparks(session: Session, behind: str) -> None:
    with pytest.raises(AcidSqlError) as caught:
        session.execute(f"SELECT percentile_approx(id, 0.5) {behind} FROM (SELECT 1 AS id) t")
    assert caught.value.condition == "NOT_YET_SUPPORTED"
