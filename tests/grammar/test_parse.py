"""parse() as a whole: one statement, nothing foreign in its trees, every error with its place."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from acidsql.errors import AcidSqlError
from acidsql.grammar.parser import parse, parse_order, table_names
from acidsql.grammar.script_splitter import split_script
from acidsql.grammar.statements import Default, Insert, MultiInsert, Query, StartTransaction, Statement, Values

TOKENS = (
    "SELECT FROM WHERE INSERT INTO OVERWRITE TABLE VALUES UPDATE SET DELETE MERGE USING ON WHEN NOT MATCHED THEN AND OR"
    " CREATE DROP ALTER PARTITION BY GROUP ORDER COMPACT SHOW TABLES DESCRIBE EXPLAIN LOCKS WITH AS DEFAULT NULL CASE"
    " END START TRANSACTION COMMIT ABORT USE CAST LATERAL VIEW JOIN UNION ALL LIMIT IN EXISTS BETWEEN INTERVAL DATE int"
    " string STORED ORC t a b c db default x 1 2.5 3L 'x' 'it\\'s' \"y\" `q` ( ) ( ) , , . * = == <> < > <= + - / %"
    " ! ? : [ ] {f} ; /*+ x */ -> => :: || & | ^ ~ ARRAY STRUCT MAP TRIM EXTRACT OVER WINDOW PIVOT HAVING CHECK"
    " CONSTRAINT COMMENT LOCATION TBLPROPERTIES BUCKETS CLUSTERED ROW FORMAT FOR VERSION OF TABLESAMPLE GRANT"
)
WORDS = TOKENS.split()
STARTS = [
    "SELECT",
    "SELECT a FROM t",
    "WITH c AS (",
    "INSERT INTO t",
    "INSERT INTO t VALUES (",
    "UPDATE t SET a =",
    "DELETE FROM t WHERE",
    "MERGE INTO t USING s ON t.a = s.a WHEN",
    "CREATE TABLE t (a",
    "CREATE TABLE t (a int)",
    "ALTER TABLE t",
    "SHOW",
    "DESCRIBE",
    "FROM s INSERT INTO t",
    "",
]


def trees(value: object) -> list[exp.Expr]:
    """Every sqlglot tree in a statement."""
    if isinstance(value, exp.Expr):
        return [value]
    if isinstance(value, tuple):
        return [tree for item in value for tree in trees(item)]
    if is_dataclass(value) and not isinstance(value, type):
        return [tree for field in fields(value) for tree in trees(getattr(value, field.name))]
    return []


def foreign_nodes(statement: Statement) -> list[exp.Expr]:
    return [
        node
        for tree in trees(statement)
        for node in tree.walk()
        if isinstance(node, exp.Command | exp.DDL) and not isinstance(node, exp.Query)
    ]


def outcome(text: str) -> Statement | AcidSqlError:
    try:
        return parse(text)
    except AcidSqlError as error:
        return error


def check_error(error: AcidSqlError, text: str) -> None:
    assert error.span is not None
    assert 0 <= error.span.start <= error.span.end <= len(text)
    assert "\x1b" not in str(error)
    assert "TokenType" not in str(error)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(STARTS), st.lists(st.sampled_from(WORDS), max_size=12))
def test_any_tokens_make_a_statement_or_an_error_with_its_place(start: str, words: list[str]) -> None:
    text = " ".join([start, *words])
    result = outcome(text)
    if isinstance(result, AcidSqlError):
        check_error(result, text)
    else:
        assert not foreign_nodes(result)
        assert all(name.name for name in table_names(result))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=30))
@example("\x1b\n0")
def test_any_characters_make_a_statement_or_an_error_with_its_place(text: str) -> None:
    result = outcome(text)
    if isinstance(result, AcidSqlError):
        check_error(result, text)


def test_an_insert_inside_a_query_ends_the_reading() -> None:
    # sqlglot's loop over the INSERTs of a FROM .. INSERT never ends when none of them is read.
    with pytest.raises(AcidSqlError, match="no statement may stand inside a query"):
        parse("SELECT * FROM (FROM c INSERT INTO t SELECT *)")


def test_the_error_of_a_script_shows_its_own_line() -> None:
    script = "SELECT 1;\n\nUPDATE t\nSET a = 1 WEHRE b = 2;\n"
    piece = split_script(script)[1]
    with pytest.raises(AcidSqlError) as caught:
        parse(piece.text, piece)
    assert str(caught.value) == (
        "[PARSE_SYNTAX_ERROR] Syntax error near 'WEHRE': did you mean WHERE?\n"
        "4 | SET a = 1 WEHRE b = 2;\n"
        "  |           ^^^^^"
    )


def test_a_branch_of_a_multi_insert_is_a_multi_insert_too() -> None:
    statement = parse("FROM s INSERT INTO t SELECT a")
    assert isinstance(statement, MultiInsert)
    (branch,) = statement.branches
    assert branch.source == "INSERT INTO t SELECT a"
    assert isinstance(branch.rows, exp.Select)
    assert branch.rows.args.get("from_") is None


def test_the_word_default_is_a_default_and_the_quoted_one_a_column() -> None:
    statement = parse("INSERT INTO t VALUES (DEFAULT, `default`, default)")
    assert isinstance(statement, Insert)
    assert isinstance(statement.rows, Values)
    ((first, second, third),) = statement.rows.rows
    assert isinstance(first, Default)
    assert isinstance(second, exp.Column)
    assert isinstance(third, Default)
    assert first.span is not None
    assert first.span.text == "DEFAULT"


def test_start_transaction_is_no_alias() -> None:
    assert isinstance(parse("start transaction"), StartTransaction)


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("WITH t AS (SELECT * FROM t) SELECT * FROM t", ["t"]),
        ("WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM a, b, c", ["b", "c"]),
        ("WITH RECURSIVE a AS (SELECT 1 UNION ALL SELECT * FROM a) SELECT * FROM a", []),
        ("SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x) y JOIN x ON true", ["x"]),
        ("WITH x AS (SELECT 1) SELECT * FROM t WHERE a IN (SELECT b FROM x) AND b = (SELECT 1 FROM d.x)", ["t", "d.x"]),
        ("WITH T AS (SELECT 1) SELECT * FROM `t`", []),
        ("INSERT INTO t SELECT * FROM T JOIN {f} JOIN db.t", ["t", "db.t"]),
        ("MERGE INTO t USING s ON t.a = (SELECT 1 FROM u) WHEN MATCHED AND EXISTS (SELECT 1 FROM v) THEN UPDATE SET"
         " a = (SELECT 1 FROM w) WHEN NOT MATCHED THEN INSERT VALUES ((SELECT 1 FROM x))", list("tsuvwx")),
        ("UPDATE t SET a = (SELECT max(b) FROM u) WHERE c IN (SELECT d FROM t)", ["t", "u"]),
        ("SELECT * FROM range(3) r LATERAL VIEW explode(array(1)) e AS x", []),
        ("FROM (SELECT * FROM s) q INSERT INTO a SELECT 1 INSERT INTO b SELECT (SELECT 1 FROM u)", list("absu")),
    ],
)  # fmt: skip
def test_the_tables_of_a_statement_are_those_that_no_cte_in_scope_hides(text: str, tables: list[str]) -> None:
    assert [str(name) for name in table_names(parse(text))] == tables


def test_a_tables_place_is_its_whole_name() -> None:
    (name,) = table_names(parse("SELECT * FROM db . `t` AS x"))
    assert name.span is not None
    assert name.span.text == "db . `t`"


@pytest.mark.ci
@pytest.mark.timeout(60)  # a parser whose time grows with the square of the rows takes minutes
def test_ten_thousand_rows_are_read() -> None:
    rows = ", ".join(f"({i}, 'name {i}', {i}.5, NULL, -1, DATE '2020-01-01')" for i in range(10_000))
    statement = parse(f"INSERT INTO t VALUES {rows}")
    assert isinstance(statement, Insert)
    assert isinstance(statement.rows, Values)
    assert len(statement.rows.rows) == 10_000


def test_long_chains_are_no_problem_and_deep_nesting_is_a_plain_error() -> None:
    chain = parse("SELECT * FROM t WHERE " + " OR ".join(f"a = {i}" for i in range(2_000)))
    assert isinstance(chain, Query)
    assert [str(name) for name in table_names(chain)] == ["t"]
    with pytest.raises(AcidSqlError, match="nested too deeply"):
        parse("SELECT " + "(" * 2_000 + "1" + ")" * 2_000)


def test_importing_the_grammar_starts_no_parser_and_no_spark() -> None:
    code = (
        "import sys, acidsql.grammar.parser; from acidsql.grammar.statement_reader import _grammar;"
        "print('pyspark' in sys.modules, _grammar.cache_info().currsize)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.split() == ["False", "0"]


def test_threads_parse_at_once() -> None:
    """Sessions of several threads, and compactions beside them."""
    texts = [
        f"MERGE INTO t{i} t USING (SELECT {i} AS k, {', '.join(f's.c{n} + {i} AS c{n}' for n in range(40))} FROM s) s"
        f" ON t.k = s.k AND t.v > {i} WHEN MATCHED AND s.c{i} = {i} THEN DELETE WHEN NOT MATCHED THEN INSERT *"
        for i in range(32)
    ]
    expected = [repr(parse(text)) for text in texts]
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(lambda text: repr(parse(text)), texts)) == expected
    finally:
        sys.setswitchinterval(switch)


@pytest.mark.parametrize(
    "text", ["SELECT * FROM (a JOIN b ON a.id = b.id WHERE a.id > 1) x", "SELECT * FROM array(1)[0] t"]
)
def test_a_clause_that_sqlglot_would_leave_out_is_refused(text: str) -> None:
    with pytest.raises(AcidSqlError, match="cannot stand here") as caught:
        parse(text)
    assert caught.value.condition == "PARSE_SYNTAX_ERROR"


def test_the_order_of_a_queued_compaction_is_read_by_the_grammar() -> None:
    items = parse_order("a + 1 DESC NULLS LAST, `b c` = 2, d NULLS FIRST")
    assert [(i.source, i.descending, i.nulls_first) for i in items] == [
        ("a + 1 DESC NULLS LAST", True, False),
        ("`b c` = 2", False, None),
        ("d NULLS FIRST", False, True),
    ]
    with pytest.raises(AcidSqlError, match="PARSE_SYNTAX_ERROR"):
        parse_order("a DESC b")
