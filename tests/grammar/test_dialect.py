"""Expressions and queries are written as they were typed; `faithful.txt` holds them, one a line.

`typed ==> written` where the spelling changes and the meaning does not.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.errors import ParseException
from pyspark.sql import SparkSession
from sqlglot import exp

from acidsql.grammar.dialect import AcidSql, frame_of, span_of, to_spark
from acidsql.grammar.parser import parse
from acidsql.grammar.script_splitter import split_script
from acidsql.grammar.statements import Merge, Query, Update

LINES = (Path(__file__).parent / "faithful.txt").read_text(encoding="utf-8").splitlines()
# Spark's parser gives these another tree that means the same: a sum for a compound interval, LOCATE's default
# argument, a name for VALUES, Spark's own SELECT * around it, QUALIFY, which Spark has not, and 'it''s', which is its
# in Hive (BaseSemanticAnalyzer.unescapeSQLString) and it's in Spark 4.
OTHER_TREE = (
    "INTERVAL 1 DAY 2 H",
    "position('a' IN",
    "VALUES (",
    "SELECT * FROM (VALUES",
    "SELECT a FROM t QUALIFY",
    "SELECT 'a' 'b'",
)


def typed_and_written(line: str) -> tuple[str, str]:
    typed, _, written = line.partition(" ==> ")
    return typed, written or typed


def query_of(typed: str) -> str:
    """An expression as a query's only column; a query as it is."""
    return typed if re.match(r"SELECT|WITH|FROM|VALUES \(|\(SELECT", typed) else f"SELECT {typed}"


def tree_of(text: str) -> exp.Query:
    statement = parse(text)
    assert isinstance(statement, Query)
    return statement.tree


def squeezed(text: str) -> str:
    return "".join(text.split()).upper()


@pytest.mark.parametrize("line", LINES)
def test_what_is_typed_is_what_spark_gets(line: str) -> None:
    typed, written = typed_and_written(line)
    assert squeezed(to_spark(tree_of(query_of(typed)))) == squeezed(query_of(written))


@pytest.mark.parametrize("line", LINES)
def test_writing_twice_changes_nothing_more(line: str) -> None:
    once = to_spark(tree_of(query_of(typed_and_written(line)[0])))
    assert to_spark(tree_of(once)) == once


def test_spark_reads_the_typed_and_the_written_text_as_one_plan(spark: SparkSession) -> None:
    parser = spark._jsparkSession.sessionState().sqlParser()

    def plan(text: str) -> str:
        try:
            parsed = parser.parsePlan(text).toString()
        except ParseException:
            return "refused"
        shown = re.sub(r"#\d+L?|(Sample .*), \d+", r"\1", parsed).upper()
        # A join without a condition is written CROSS JOIN, IS NOT NULL as NOT .. IS NULL; quotes mark what Spark
        # has still to look up, which CURRENT_DATE in capitals is.
        return shown.replace("CROSS", "INNER").replace("NOT ISNULL", "ISNOTNULL").replace("'", "")

    compared = 0
    for line in LINES:
        typed = query_of(typed_and_written(line)[0])
        if not typed_and_written(line)[0].startswith(OTHER_TREE):
            expected = plan(typed)
            if expected != "refused":  # acidsql takes a little more, for example AS 'name'
                assert plan(to_spark(tree_of(typed))) == expected, line
                compared += 1
    assert compared > 250


def test_a_function_keeps_its_name_and_case() -> None:
    tree = tree_of("SELECT Nvl(a, b), TRUNC(d, 'MM'), date_sub(d, 1)")
    assert to_spark(tree) == "SELECT Nvl(a, b), TRUNC(d, 'MM'), date_sub(d, 1)"
    assert all(isinstance(node, exp.Anonymous) for node in tree.find_all(exp.Func))


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        (r"'it\'s'", "it's"),
        (r"'\n\t\\'", "\n\t\\"),
        (r"'\\d+'", r"\d+"),
        (r"'\d'", "d"),
        (r"'\u0041\101'", "AA"),
        (r"'50\%'", r"50\%"),
        ('"it\'s"', "it's"),
        ("'it''s'", "its"),
        ("'a' 'b'", "ab"),
        (r"r'\d'", r"\d"),
        ("'é😀'", "é😀"),
    ],
)
def test_a_string_is_decoded_as_hive_does_and_survives_writing(typed: str, value: str) -> None:
    (literal,) = tree_of(f"SELECT {typed}").expressions
    assert (literal.is_string, literal.this) == (True, value)
    (again,) = tree_of(to_spark(tree_of(f"SELECT {typed}"))).expressions
    assert again.this == value


def test_a_frame_is_a_marked_table_with_its_place() -> None:
    text = "SELECT n.a FROM {new} AS n, `new` WHERE a = '{no}' -- {no}"
    frame, table = tree_of(text).find_all(exp.Table)
    assert (frame_of(frame), frame_of(table)) == ("new", None)
    place = span_of(frame.this)
    assert place is not None
    assert place.text == "{new}"


def test_the_using_of_a_merge_may_be_a_frame() -> None:
    merge = parse("MERGE INTO t USING {new} s ON t.a = s.a WHEN MATCHED THEN DELETE")
    assert isinstance(merge, Merge)
    assert frame_of(merge.using) == "new"
    assert merge.using.alias == "s"


def test_parameters_stay_placeholders() -> None:
    tree = tree_of("SELECT * FROM t WHERE a = :name AND b = ?")
    assert [node.name for node in tree.find_all(exp.Placeholder)] == ["name", "?"]


def test_places_refer_to_the_whole_script() -> None:
    script = "SELECT 1;\n-- a comment\nUPDATE t SET a = b + f(c)\nWHERE d = 'x';"
    piece = split_script(script)[1]
    update = parse(piece.text, piece)
    assert isinstance(update, Update)
    assert update.source == "UPDATE t SET a = b + f(c)\nWHERE d = 'x'"
    target, column = update.target.span, update.assignments[0].column.span
    where = span_of(update.where, script) if update.where else None
    assert target is not None
    assert column is not None
    assert where is not None
    assert (target.text, target.line, column.text) == ("t", 3, "a")
    assert (where.text, where.line, where.column) == ("d = 'x'", 4, 7)
    assert where == (span_of(update.where) if update.where else None)


def test_sqlglots_own_entry_points_know_the_dialect() -> None:
    assert exp.column("a").sql(dialect=AcidSql) == "a"
