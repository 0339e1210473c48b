"""Mistakes in queries and expressions: the condition, Hive's code, the place, and no text of Spark's or Java's."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from tests.selection import every

TABLES = """
CREATE TABLE u (id int, name string, v int);
CREATE TRANSACTIONAL TABLE t (id int, m map<string,int>, a array<int>, s struct<x:int>);
INSERT INTO u VALUES (1, 'a', 10), (2, 'b', NULL);
INSERT INTO t SELECT 1, map('a', 1), array(1), named_struct('x', 1);
"""
FOREIGN_TEXT = re.compile(r"SQLSTATE|spark\.|apache|java\.|_LEGACY|\] \[(?!Error)|#\d|u@1|List\(", re.IGNORECASE)

MISTAKES = [
    # statement, condition, Hive's code, the underlined text (None: no place is known), a part of the message
    ("SELECT uper(name) FROM u", "INVALID_FUNCTION", 10011, "uper(name)", "Did you mean upper"),
    ("SELECT id,\n  explod(a) FROM t", "INVALID_FUNCTION", 10011, "explod(a)", "explode"),
    ("SELECT name FROM u WHERE uper(name) = 'A'", "INVALID_FUNCTION", 10011, "uper(name)", "upper"),
    ("SELECT 'uper(x)', /* uper( */ uper(name) FROM u", "INVALID_FUNCTION", 10011, "uper(name)", "upper"),
    ("UPDATE t SET id = absolute(id)", "INVALID_FUNCTION", 10011, "absolute(id)", "Invalid function absolute"),
    ("DELETE FROM t WHERE nope(id)", "INVALID_FUNCTION", 10011, "nope(id)", "Invalid function nope"),
    ("INSERT INTO u VALUES (1, uper('a'), 2)", "INVALID_FUNCTION", 10011, "uper('a')", "upper"),
    ("CREATE TABLE n AS SELECT uper('x') AS x", "INVALID_FUNCTION", 10011, "uper('x')", "upper"),
    ("CREATE TABLE n (a int, CHECK (uper(a) > 1))", "INVALID_FUNCTION", 10011, "uper", "uper"),
    ("CREATE TABLE n (a string DEFAULT uper('x'))", "INVALID_FUNCTION", 10011, "uper", "uper"),
    (
        "SELECT ds_hll_estimate(id) FROM u",
        "INVALID_FUNCTION",
        10011,
        "ds_hll_estimate(id)",
        "a sketch function of Hive",
    ),
    ("SELECT upper(name, name) FROM u", "WRONG_ARGUMENT_COUNT", 10015, "upper(name, name)", "1 argument, not 2"),
    ("SELECT substr(name) FROM u", "WRONG_ARGUMENT_COUNT", 10015, "substr(name)", "2 or 3 arguments, not 1"),
    ("SELECT coalesce() FROM u", "WRONG_ARGUMENT_COUNT", 10015, "coalesce", "at least 1 argument, not 0"),
    ("SELECT map(1) FROM u", "WRONG_ARGUMENT_COUNT", 10015, "map", "an even number of arguments"),
    ("SELECT abs(a) FROM t", "WRONG_ARGUMENT_TYPE", 10016, "abs(a)", "but it is array<int>"),
    ("SELECT id + a FROM t", "WRONG_ARGUMENT_TYPE", 10016, "id + a", "combines int with array<int>"),
    ("SELECT size(id) FROM u", "WRONG_ARGUMENT_TYPE", 10016, "size(id)", "array or map, but it is int"),
    ("SELECT cast(a AS int) FROM t", "WRONG_ARGUMENT_TYPE", 10016, "cast(a AS int)", "cannot be cast"),
    ("SELECT max(m) FROM t", "WRONG_ARGUMENT_TYPE", 10016, "max(m)", "no order"),
    ("SELECT a[0][1] FROM t", "WRONG_ARGUMENT_TYPE", 10016, None, "no elements and no fields"),
    ("SELECT date '2024-13-01'", "WRONG_ARGUMENTS", 10014, "date '2024-13-01'", "is not a valid date"),
    ("SELECT percentile(v, 2) FROM u", "WRONG_ARGUMENTS", 10014, "percentile(v, 2)", "it is 2.0"),
    ("SELECT name FROM u GROUP BY id", "NOT_IN_GROUP_BY", 10025, "name", "'name'"),
    ("SELECT id, sum(v) FROM u", "NOT_IN_GROUP_BY", 10025, None, "GROUP BY key"),
    ("SELECT sum(sum(id)) FROM u", "MISPLACED_AGGREGATE", 10128, "sum(id)", "inside another"),
    ("SELECT id FROM u WHERE sum(id) > 1", "MISPLACED_AGGREGATE", 10128, None, "sum"),
    ("SELECT * FROM t WHERE explode(a) > 1", "MISPLACED_UDTF", 10081, None, "outside the SELECT"),
    ("SELECT lead(id) FROM u", "MISSING_OVER", 10247, "lead", "lead"),
    ("SELECT id FROM u ORDER BY 5", "ORDER_BY_POSITION", 10221, "5", "5 is not between 1 and 1"),
    ("SELECT id FROM u GROUP BY 7", "GROUP_BY_POSITION", 10220, "7", "7 is not between 1 and 1"),
    ("SELECT id AS x FROM u WHERE x > 1", "COLUMN_NOT_FOUND", 10002, "x", "'x'"),
    ("SELECT s.nope FROM t", "COLUMN_NOT_FOUND", 10002, "s.nope", "'nope'"),
    ("SELECT id FROM u UNION SELECT id, name FROM u", "UNRESOLVED_QUERY", None, None, "1, not 2"),
    ("SELECT id FROM u UNION SELECT a FROM t", "UNRESOLVED_QUERY", None, None, "int and array<int>"),
    ("SELECT id FROM u WHERE id IN (SELECT id, v FROM u)", "UNRESOLVED_QUERY", None, None, "as many columns"),
    ("SELECT id FROM u WHERE id = (SELECT id, v FROM u)", "UNRESOLVED_QUERY", None, None, "one column"),
    ("SELECT (SELECT id FROM u) FROM u", "QUERY_FAILED", None, None, "more than one row"),
    ("SELECT * FROM u LIMIT name", "UNRESOLVED_QUERY", None, None, "LIMIT must be a whole number"),
    ("SELECT nope.* FROM u", "UNRESOLVED_QUERY", None, "nope.*", "names no table"),
    ("SELECT grouping(id) FROM u", "UNRESOLVED_QUERY", None, "grouping(id)", "GROUPING SETS"),
    ("SELECT rank() OVER w FROM u", "UNRESOLVED_QUERY", None, None, "window w is not defined"),
    ("SELECT posexplode(a) AS x FROM t", "UNRESOLVED_QUERY", None, None, "2 columns"),
    ("SELECT name RLIKE '(' FROM u", "QUERY_FAILED", None, None, "'(' is not a valid regular expression"),
    ("CREATE TABLE u (id int)", "TABLE_ALREADY_EXISTS", 10073, "u", "default.u"),
]


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with connect(tmp_path_factory.mktemp("wrong_queries"), spark=spark) as session:
        for _ in session.script(TABLES):
            pass
        yield session


@pytest.mark.ci
@pytest.mark.parametrize(("statement", "condition", "code", "place", "part"), every(3, MISTAKES))
def test_a_mistake_is_told_in_plain_words_with_its_place(
    tables: Session, statement: str, condition: str, code: int | None, place: str | None, part: str
) -> None:
    with pytest.raises(AcidSqlError) as raised:
        tables.sql(statement).collect()
    error = raised.value
    assert (error.condition, error.hive_code) == (condition, code)
    assert (error.span.text if error.span else None) == place
    assert part in error.message
    assert FOREIGN_TEXT.search(str(error)) is None


def test_the_caret_is_under_the_occurrence_that_is_wrong(tables: Session) -> None:
    text = "SELECT id + 1, a FROM t WHERE id + 1 > 0 AND size(id) > 0 OR size(a) > 0 OR size(id) = 1"
    with pytest.raises(AcidSqlError) as raised:
        tables.sql(text)
    assert raised.value.span is not None
    assert raised.value.span.start == text.index("size(id)")


@pytest.mark.ci
def test_create_table_of_an_existing_table_keeps_its_rows(tables: Session) -> None:
    before = tables.sql("SELECT id FROM u ORDER BY id").collect()
    for statement in ("CREATE TABLE u (x int)", "CREATE TABLE u LIKE t", "CREATE TABLE u AS SELECT 1 AS x"):
        with pytest.raises(AcidSqlError) as raised:
            tables.sql(statement)
        assert raised.value.condition == "TABLE_ALREADY_EXISTS"
        assert "remove" not in str(raised.value)
    assert tables.sql("SELECT id FROM u ORDER BY id").collect() == before
