"""The Hive type of an expression, as DESCRIBE of a table made by CREATE TABLE .. AS shows it in Hive 4.0.1."""

from __future__ import annotations

import pytest
from sqlglot import exp

from acidsql.acid.hive_types import parse_type
from acidsql.acid.table import Column, Table
from acidsql.grammar import statements as s
from acidsql.grammar.parser import parse
from acidsql.planner.expressions.expression_types import ExpressionTypes
from acidsql.planner.expressions.star_columns import Fields
from acidsql.planner.queries.query_normalization import normalized

TABLES = {
    "t": Table(
        "default",
        "t",
        tuple(
            Column(name, kind)
            for name, kind in {
                "y": "tinyint",
                "i": "int",
                "l": "bigint",
                "f": "float",
                "n": "double",
                "d": "decimal(10,2)",
                "b": "boolean",
                "txt": "string",
                "v": "varchar(5)",
                "dt": "date",
                "ts": "timestamp",
                "a": "array<int>",
                "m": "map<string,double>",
                "r": "struct<x:int,w:string>",
            }.items()
        ),
        "/w/t",
    )
}


def fields_of(item: exp.Table) -> Fields | None:
    if item.name not in TABLES:
        return None
    return {column.name: parse_type(column.type) for column in TABLES[item.name].columns}


def type_of(query: str) -> str | None:
    """The type of the only column of a query."""
    statement = parse(query)
    assert isinstance(statement, s.Query)
    tree = normalized(statement.tree)
    fields = ExpressionTypes(tree, fields_of).output(tree)
    if fields is None:
        return None
    (kind,) = fields.values()
    return None if kind is None else str(kind)


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("7", "int"),
        ("3000000000", "bigint"),
        ("5Y", "tinyint"),
        ("1.50", "decimal(2,1)"),
        ("100.00", "decimal(3,0)"),
        ("0.05", "decimal(2,2)"),
        ("1e3", "double"),
        ("2.5D", "double"),
        ("'x'", "string"),
        ("NULL", "void"),
        ("i + 1", "int"),
        ("y + l", "bigint"),
        ("i / 2", "double"),
        ("i DIV 2", "bigint"),
        ("f + 1.5", "float"),
        ("f * n", "double"),
        ("d + d", "decimal(11,2)"),
        ("d * d", "decimal(21,4)"),
        ("d / d", "decimal(23,13)"),
        ("txt + 1", "double"),
        ("i = 1 AND b", "boolean"),
        ("txt || i", "string"),
        ("CASE WHEN b THEN i ELSE l END", "bigint"),
        ("CASE WHEN b THEN i ELSE txt END", "string"),
        ("coalesce(i, d)", "decimal(12,2)"),
        ("CAST(txt AS DECIMAL(7,3))", "decimal(7,3)"),
        ("CAST(i AS VARCHAR(4))", "varchar(4)"),
        ("sum(i)", "bigint"),
        ("sum(d)", "decimal(20,2)"),
        ("avg(d)", "decimal(14,6)"),
        ("max(f)", "float"),
        ("abs(y)", "int"),
        ("count(*)", "bigint"),
        ("a[0]", "int"),
        ("m['k']", "double"),
        ("array(1, 2.5)", "array<decimal(11,1)>"),
        ("CURRENT_DATE", "date"),
        ("if(b, dt, ts)", "timestamp"),
        ("no_such_function(i)", None),
        ("no_such_column", None),
    ],
)
def test_an_expression_has_hives_type(expression: str, kind: str | None) -> None:
    assert type_of(f"SELECT {expression} FROM t") == kind
    if kind not in (None, "void"):
        assert str(parse_type(kind or "")) == kind


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("SELECT x.f FROM t AS x", "float"),
        ("SELECT q.k FROM (SELECT f AS k FROM t) q", "float"),
        ("SELECT k FROM (SELECT f, i FROM t) q(k, j)", "float"),
        ("WITH c AS (SELECT d FROM t) SELECT d FROM c", "decimal(10,2)"),
        ("WITH c(k) AS (SELECT d FROM t) SELECT k FROM c", "decimal(10,2)"),
        ("SELECT k FROM (SELECT i AS k FROM t UNION ALL SELECT n FROM t) q", "double"),
        ("SELECT (SELECT max(dt) FROM t) AS m", "date"),
        ("SELECT a.f FROM t a JOIN t b ON a.i = b.i", "float"),
        ("SELECT f FROM t WHERE EXISTS (SELECT 1 FROM t u WHERE u.i = t.i)", "float"),
        ("SELECT x.f FROM t AS x(a1, b1)", None),
        ("SELECT f FROM t JOIN elsewhere e ON t.i = e.i", "float"),
        ("SELECT k FROM t JOIN elsewhere e ON t.i = e.i", None),
        ("SELECT (SELECT f FROM elsewhere) FROM t", None),
        ("SELECT i FROM t a JOIN t b USING (i)", "int"),
        ("SELECT f FROM t a JOIN t b USING (i)", None),
        ("SELECT k FROM t JOIN (SELECT 1.5 AS i, 'x' AS k) u USING (i)", "string"),
        ("SELECT i FROM t JOIN (SELECT 1.5 AS i, 'x' AS k) u USING (i)", None),
        ("SELECT i FROM t NATURAL JOIN (SELECT 1 AS i) u", "int"),
        ("SELECT i FROM t NATURAL JOIN (SELECT 1.5 AS i) u", None),
        ("SELECT i FROM t NATURAL JOIN elsewhere u", None),
        ("SELECT i FROM t JOIN elsewhere u USING (i)", None),
        ("SELECT f FROM t JOIN elsewhere u USING (i)", "float"),
        ("SELECT i FROM (SELECT * FROM t NATURAL JOIN (SELECT 1 AS i) u) q", None),
        ("SELECT f FROM t LATERAL VIEW explode(a) e AS f", None),
        ("SELECT i FROM t a JOIN t b ON a.i = b.i", None),
        ("SELECT f FROM (SELECT * FROM t) q", "float"),
        ("WITH c AS (SELECT * FROM t WHERE i > 1) SELECT f FROM c", "float"),
        ("SELECT v FROM (SELECT x.*, 1 AS one FROM t x) q", "varchar(5)"),
        (
            "SELECT k FROM (SELECT * EXCEPT (y, i, l, f, n, d, b, txt, v, dt, ts, a, m) FROM t) q(k)",
            "struct<x:int,w:string>",
        ),
        ("SELECT f FROM (SELECT * EXCEPT (f) FROM t) q", None),
        ("SELECT k FROM (SELECT * FROM (SELECT i FROM t) a JOIN (SELECT f FROM t) b) q(j, k)", "float"),
        (
            "SELECT k FROM (SELECT * FROM (SELECT f, i FROM t) a JOIN (SELECT d, i FROM t) b USING (i)) q(i, f, k)",
            "decimal(10,2)",
        ),
        ("SELECT k FROM (SELECT * FROM (SELECT f FROM t) a LEFT SEMI JOIN t b ON a.f = b.f) q(k)", "float"),
        ("SELECT f FROM t a LEFT SEMI JOIN t b ON a.i = b.i", "float"),
        ("SELECT f FROM (SELECT * FROM t JOIN elsewhere) q", None),
        ("SELECT k FROM (SELECT * FROM (SELECT i FROM t) LATERAL VIEW explode(array('x')) l AS e) q(k, e)", "int"),
        ("SELECT f FROM t LATERAL VIEW explode(a) l AS e", "float"),
        ("SELECT f FROM t LATERAL VIEW explode(a) l", "float"),
        ("SELECT f FROM t JOIN (VALUES (1, 'x')) AS w ON col1 = i", "float"),
        ("SELECT col2 FROM (VALUES (1, 'x')) AS w", "string"),
        ("SELECT k FROM t, (VALUES (1), (2.5)) AS w(k)", "decimal(11,1)"),
        ("SELECT a FROM t UNPIVOT (a FOR b IN (i, l)) AS t", None),
        ("SELECT t.i FROM t UNPIVOT (i FOR b IN (i, l)) AS t", None),
    ],
)
def test_a_column_has_the_type_of_the_only_item_that_it_can_belong_to(query: str, kind: str | None) -> None:
    assert type_of(query) == kind
