"""What becomes of expressions whose operands have types that Hive and Spark combine differently."""

from __future__ import annotations

import pytest

from acidsql.acid.table import Column, Table
from acidsql.grammar import statements as s
from acidsql.grammar.parser import parse
from acidsql.planner.plan import Facts, QueryPlan
from acidsql.planner.queries.query import plan_query

COLUMNS = {
    "i": "int",
    "l": "bigint",
    "f": "float",
    "n": "double",
    "d": "decimal(10,2)",
    "b": "boolean",
    "code": "string",
    "dt": "date",
    "ts": "timestamp",
    "c": "char(5)",
}
TABLE = Table("default", "t", tuple(Column(name, kind) for name, kind in COLUMNS.items()), "/w/t")


def planned(query: str, **settings: str) -> QueryPlan:
    statement = parse(query)
    assert isinstance(statement, s.Query)
    return plan_query(statement, Facts("default", {"default.t": TABLE}, settings=settings))


def condition(text: str) -> str:
    return planned(f"SELECT 1 AS one FROM t WHERE {text}").sql.partition(" WHERE ")[2].replace("`", "")


NUMBER = "IF(code RLIKE '[0-9]|NaN|Infinity', CAST(code AS DOUBLE), NULL)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("code = 1", f"{NUMBER} = CAST(1 AS DOUBLE)"),
        ("0 < code", f"CAST(0 AS DOUBLE) < {NUMBER}"),
        ("i = '5'", "i = 5"),
        ("i = '5.0'", "i = 5"),
        ("i > '5.5'", "CAST(i AS DOUBLE) > CAST('5.5' AS DOUBLE)"),
        ("l = '9007199254740993'", "l = 9007199254740993"),
        ("d = '1.5'", "d = 1.5"),
        ("i = '1_0'", "CAST(i AS DOUBLE) = CAST('1_0' AS DOUBLE)"),
        ("i = '\u0663'", "CAST(i AS DOUBLE) = CAST(NULL AS DOUBLE)"),
        ("d = ' 5e-1 '", "d = 0.5"),
        ("d = '1e50'", "CAST(d AS DOUBLE) = CAST('1e50' AS DOUBLE)"),
        ("d = '1e-50'", "CAST(d AS DOUBLE) = CAST('1e-50' AS DOUBLE)"),
        ("i + 1 = '5'", "CAST(i + 1 AS DOUBLE) = CAST('5' AS DOUBLE)"),
        ("b = 'true'", "CAST(b AS DOUBLE) = CAST(NULL AS DOUBLE)"),
        ("b > 0", "CAST(b AS DOUBLE) > CAST(0 AS DOUBLE)"),
        ("f = 23.4", "f = CAST(23.4 AS FLOAT)"),
        ("f = -23.4", "f = CAST(-23.4 AS FLOAT)"),
        ("f = 23.4D", "f = CAST(23.4D AS FLOAT)"),
        ("f = n", "f = n"),
        ("f = d", "f = CAST(d AS FLOAT)"),
        ("f IN (0.1, 0.2)", "f IN (CAST(0.1 AS FLOAT), CAST(0.2 AS FLOAT))"),
        ("NOT f BETWEEN 0.1 AND 0.2", "NOT f BETWEEN CAST(0.1 AS FLOAT) AND CAST(0.2 AS FLOAT)"),
        ("dt = '2024-1-31'", "dt = CAST('2024-01-31' AS DATE)"),
        ("dt = '2024-01-31 10:00:00'", "dt = CAST('2024-01-31' AS DATE)"),
        ("code IN ('a', 1)", f"(code = 'a' OR {NUMBER} = CAST(1 AS DOUBLE))"),
        ("code IN ('a', 'b')", "code IN ('a', 'b')"),
        ("i = 1 AND code = 'x'", "i = 1 AND code = 'x'"),
        ("d = 1.50", "d = 1.5"),
        ("d = 2.00", "d = 2BD"),
        ("c = 'a  '", "c = 'a'"),
        ("'a ' <=> c", "'a' <=> c"),
        ("c IN ('a ', 'b')", "c IN ('a', 'b')"),
        ("c BETWEEN 'a ' AND 'b '", "c BETWEEN 'a ' AND 'b '"),
        ("code = 'a '", "code = 'a '"),
        ("concat(c, '') = 'a '", "concat(c, '') = 'a '"),
        ("code", "(NOT lower(code) IN ('', 'false', 'no', 'off', '0'))"),
        ("NOT i", "NOT (i <> 0)"),
        ("b OR code", "b OR (NOT lower(code) IN ('', 'false', 'no', 'off', '0'))"),
        ("CAST(code AS BOOLEAN)", "(NOT lower(code) IN ('', 'false', 'no', 'off', '0'))"),
        ("f + 0.10 > 1e0", "f + CAST(0.1 AS FLOAT) > 1e0"),
        ("code + 1 > 2", f"{NUMBER} + 1 > 2"),
        ("i > -2147483648", "i > -2147483648L"),
        ("year('2024-1-31x') = 2024", "year(CAST('2024-01-31' AS DATE)) = 2024"),
        ("printf('%s %.1f %s', i, d, dt) = ''", "printf('%s %.1f %s', i, CAST(d AS DOUBLE), CAST(dt AS STRING)) = ''"),
    ],
)
def test_a_condition_says_how_hive_compares(text: str, expected: str) -> None:
    assert condition(text) == expected


@pytest.mark.parametrize(
    "source",
    [
        "(SELECT * FROM t) x",
        "(SELECT i AS j, c AS b, f AS a FROM t) x(i, c, f)",
        "(SELECT * FROM t UNION ALL SELECT * FROM t) x",
        "t JOIN (VALUES (1)) y",
        "t JOIN range(3) y",
        "t LEFT SEMI JOIN t y ON t.i = y.i",
        "t LATERAL VIEW explode(array(1)) l AS e",
        "x",
    ],
)
def test_a_comparison_means_the_same_wherever_a_column_comes_from(source: str) -> None:
    query = f"WITH x AS (SELECT * FROM t) SELECT 1 AS one FROM {source} WHERE c = 'a ' AND f = 0.1 AND i = '05'"
    written = planned(query).sql.replace("`", "")
    assert written.endswith("WHERE c = 'a' AND f = CAST(0.1 AS FLOAT) AND i = 5"), written


@pytest.mark.parametrize("form", ["0x", "2024-02", "2024", "", "99-99-99"])
def test_text_that_is_no_date_is_not_compared_as_one_that_spark_reads(form: str) -> None:
    assert f"dt < CAST(regexp_replace('{form}', " in condition(f"dt < '{form}'")


@pytest.mark.parametrize(
    ("key", "last", "expected"),
    [
        ("i", "true", "i NULLS LAST"),
        ("i DESC", "true", "i DESC NULLS FIRST"),
        ("i", "false", "i"),
        ("i DESC", "false", "i DESC"),
        ("i NULLS FIRST", "true", "i"),
        ("i DESC NULLS LAST", "true", "i DESC"),
        ("i NULLS LAST", "false", "i NULLS LAST"),
    ],
)
def test_nulls_are_sorted_as_hive_sorts_them(key: str, last: str, expected: str) -> None:
    setting = {"hive.default.nulls.last": last}
    assert planned(f"SELECT i FROM t ORDER BY {key}", **setting).sql.endswith(f"ORDER BY {expected}")
    window = f"row_number() OVER (ORDER BY {key})"
    assert f"OVER (ORDER BY {expected})" in planned(f"SELECT {window} AS w FROM t", **setting).sql


def test_a_rewritten_item_keeps_its_name() -> None:
    assert "AS `code = 1`" in planned("SELECT code = 1 FROM t").sql
    assert "AS `1.50`" in planned("SELECT 1.50 FROM t").sql


def test_a_literal_in_the_type_of_its_column_still_skips_files() -> None:
    (scan,) = planned("SELECT 1 AS one FROM t WHERE i = '5'").scans
    assert scan.row_filter == planned("SELECT 1 AS one FROM t WHERE i = 5").scans[0].row_filter != ()
    (scan,) = planned("SELECT 1 AS one FROM t WHERE dt = '2024-1-31'").scans
    assert scan.row_filter == planned("SELECT 1 AS one FROM t WHERE dt = DATE '2024-01-31'").scans[0].row_filter != ()


def test_text_that_is_compared_as_a_number_does_not_skip_files() -> None:
    assert planned("SELECT 1 AS one FROM t WHERE code = 1").scans[0].row_filter == ()
