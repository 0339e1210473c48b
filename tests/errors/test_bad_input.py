"""Bad input through a session: message, place and Hive's code of the error, and that nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect

TABLES = """
CREATE TRANSACTIONAL TABLE emp (id int, name string, salary int);
CREATE TRANSACTIONAL TABLE upd (id int, name string, salary int);
CREATE TRANSACTIONAL TABLE strict (id int NOT NULL, low int, high int CHECK (high < 100), tags array<int>);
CREATE TABLE plain (id int, note string);
CREATE TABLE only (id int) TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only');
INSERT INTO emp VALUES (1, 'Jerry', 5000), (2, 'Tom', 8000), (3, NULL, NULL);
INSERT INTO upd VALUES (2, 'Tom', 7500), (4, 'Mary', 9000);
INSERT INTO strict VALUES (1, 1, 50, array(1)), (2, NULL, NULL, NULL);
INSERT INTO plain VALUES (1, 'a'), (1, 'b');
"""


@dataclass(frozen=True, slots=True)
class World:
    """A warehouse with the tables, and how to look at all that a statement could have left in it."""

    session: Session
    warehouse: Path

    def seen(self) -> object:
        """Every file, and the rows of every table that a statement here could change."""
        files = sorted((str(p), p.stat().st_mtime_ns) for p in self.warehouse.rglob("*") if p.is_file())
        directories = sorted(str(p) for p in self.warehouse.rglob("*") if p.is_dir())
        return files, directories, self.session.catalog.tables("default")

    def write_ids(self) -> object:
        """The committed write IDs of each table, and that no transaction is left open."""
        metastore = self.session._metastore
        txns = metastore.valid_txns()
        assert not txns.open
        tables = (metastore.table("default", name) for name in ("emp", "upd", "strict"))
        lists = [metastore.valid_write_ids(table, txns) for table in tables]
        return [(set(range(1, w.high_watermark + 1)) - w.open - w.aborted, w.open) for w in lists]

    def high_watermark(self) -> int:
        return self.session._metastore.valid_txns().high_watermark


@pytest.fixture(scope="module")
def world(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    place = tmp_path_factory.mktemp("bad")
    with connect(place / "warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark) as session:
        for _ in session.script(TABLES):
            pass
        yield World(session, place / "warehouse")


def caret(error: AcidSqlError) -> str | None:
    """The text above the carets."""
    if error.span is None:
        return None
    line, carets = error.span.caret_block().splitlines()
    start = carets.index("^")
    assert str(error).count("^") == carets.count("^")
    return line[start : len(carets)]


# Statement, condition, Hive's code, what the carets are under, a part of the message.
Bad = tuple[str, str, int | None, str | None, str]

PLANNED: list[Bad] = [
    # tables
    ("SELECT * FROM empl", "TABLE_NOT_FOUND", 10001, "empl", "Table not found 'empl' Did you mean emp?"),
    ("UPDATE epm SET id = 1", "TABLE_NOT_FOUND", 10001, "epm", "Did you mean emp?"),
    ("DELETE FROM default.emq", "TABLE_NOT_FOUND", 10001, "default.emq", "'default.emq' Did you mean emp?"),
    ("INSERT INTO emp SELECT * FROM nowhere", "TABLE_NOT_FOUND", 10001, "nowhere", "'nowhere'"),
    ("SELECT 1 FROM emp WHERE id IN (SELECT id FROM ump)", "TABLE_NOT_FOUND", 10001, "ump", "Did you mean"),
    ("SELECT * FROM nodb.emp", "TABLE_NOT_FOUND", 10001, "nodb.emp", "'nodb.emp'"),
    ("SELECT * FROM emp JOIN emp ON true", "AMBIGUOUS_TABLE_ALIAS", 10008, "emp", "'emp'"),
    # what may be changed
    (
        "UPDATE plain SET note = 'x'",
        "NOT_TRANSACTIONAL",
        10297,
        "plain",
        "Attempt to do update or delete on table default.plain that is not transactional",
    ),
    ("DELETE FROM plain", "NOT_TRANSACTIONAL", 10297, "plain", "default.plain"),
    ("MERGE INTO plain p USING emp e ON p.id = e.id WHEN MATCHED THEN DELETE", "NOT_TRANSACTIONAL", 10297, "plain", ""),
    (
        "UPDATE only SET id = 1",
        "INSERT_ONLY",
        10414,
        "only",
        "Attempt to do update or delete on table default.only that is insert-only transactional",
    ),
    ("DELETE FROM only", "INSERT_ONLY", 10414, "only", "insert-only"),
    ("MERGE INTO only o USING emp e ON o.id = e.id WHEN MATCHED THEN DELETE", "INSERT_ONLY", 10414, "only", ""),
    # SET and column lists
    (
        "UPDATE emp SET salry = 1",
        "SET_COLUMN_NOT_FOUND",
        10408,
        "salry",
        'Target column "salry" of set clause is not found in table "default.emp". Did you mean salary?',
    ),
    ("UPDATE emp SET name = 'x', NAME = 'y'", "SET_COLUMN_TWICE", None, "NAME", "name is set twice"),
    (
        "INSERT INTO emp (id, nme) VALUES (1, 'x')",
        "INSERT_COLUMN_NOT_FOUND",
        None,
        "nme",
        "'nme' in insert schema specification is/are not found among regular columns of default.emp",
    ),
    ("INSERT INTO emp (id, Id) VALUES (1, 2)", "DUPLICATE_COLUMN", 10036, "Id", "Duplicate column name: id"),
    # number of values
    ("INSERT INTO emp VALUES (1, 'a', 2), (1, 'a')", "INSERT_COLUMN_COUNT", 10044, "(1, 'a')", "3 columns but"),
    ("INSERT INTO emp (id) VALUES (1, 2)", "INSERT_COLUMN_COUNT", 10044, "(1, 2)", "1 columns but"),
    # row__id
    (
        "SELECT row__id FROM emp e JOIN upd u ON e.id = u.id",
        "AMBIGUOUS_ROW_ID",
        None,
        "row__id",
        "(default.emp, default.upd)",
    ),
    ("SELECT plain.row__id FROM plain", "ROW_ID_OF_PLAIN_TABLE", None, "plain.row__id", "default.plain has no row__id"),
    ("SELECT id FROM plain ORDER BY row__id", "ROW_ID_OF_PLAIN_TABLE", None, "row__id", "default.plain"),
    # MERGE's clauses
    (
        "MERGE INTO emp USING upd u ON emp.id = u.id WHEN MATCHED THEN DELETE WHEN MATCHED AND u.id = 1 THEN DELETE",
        "MERGE_UNCONDITIONAL_NOT_LAST",
        10404,
        "WHEN MATCHED AND u.id = 1 THEN DELETE",
        "all but the last must have an AND predicate",
    ),
    (
        "MERGE INTO emp USING upd u ON emp.id = u.id WHEN NOT MATCHED THEN INSERT * WHEN MATCHED THEN DELETE",
        "MERGE_CLAUSE_ORDER",
        None,
        "WHEN MATCHED THEN DELETE",
        "WHEN MATCHED stands behind WHEN NOT MATCHED",
    ),
    (
        "MERGE INTO emp USING upd u ON emp.id = u.id WHEN MATCHED THEN INSERT *",
        "MERGE_CLAUSE_ORDER",
        None,
        "WHEN MATCHED THEN INSERT *",
        "takes UPDATE or DELETE",
    ),
    (
        "MERGE INTO emp USING upd u ON emp.id = u.id WHEN NOT MATCHED THEN UPDATE SET *",
        "MERGE_CLAUSE_ORDER",
        None,
        "WHEN NOT MATCHED THEN UPDATE SET *",
        "takes INSERT",
    ),
    (
        "MERGE INTO emp USING upd u ON emp.id = u.id WHEN NOT MATCHED BY SOURCE THEN UPDATE SET *",
        "MERGE_CLAUSE_ORDER",
        None,
        "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET *",
        "needs a source row",
    ),
    (
        "MERGE INTO emp USING upd u ON u.id = 1 WHEN NOT MATCHED THEN INSERT *",
        "MERGE_ON_WITHOUT_TARGET",
        None,
        "u.id = 1",
        "No columns from target table 'emp' found in ON clause 'u.id = 1' of MERGE statement.",
    ),
    (
        "MERGE INTO emp USING upd u ON emp.id = u.id WHEN NOT MATCHED THEN INSERT VALUES (u.id)",
        "MERGE_INSERT_LENGTH",
        None,
        "WHEN NOT MATCHED THEN INSERT VALUES (u.id)",
        "Column schema must have the same length as values (3 vs 1)",
    ),
    (
        "MERGE INTO emp USING upd u ON emp.id = u.id WHEN NOT MATCHED THEN INSERT (idd) VALUES (u.id)",
        "INSERT_COLUMN_NOT_FOUND",
        None,
        "idd",
        "Did you mean id?",
    ),
    (
        "MERGE INTO emp USING upd u ON emp.id = u.id WHEN MATCHED THEN UPDATE SET salery = 1",
        "SET_COLUMN_NOT_FOUND",
        10408,
        "salery",
        "Did you mean salary?",
    ),
    (
        "MERGE INTO emp USING upd u ON emp.id = u.id WHEN NOT MATCHED THEN INSERT (id) VALUES (emp.id)",
        "COLUMN_NOT_FOUND",
        10002,
        "emp.id",
        "'emp.id'",
    ),
    ("MERGE INTO emp USING emp ON true WHEN MATCHED THEN DELETE", "MERGE_NAMES", None, "emp", "both called emp"),
    # parameters and settings
    ("SELECT * FROM emp WHERE id = :id", "UNBOUND_PARAMETER", None, ":id", "parameter :id"),
    ("UPDATE emp SET id = ?", "UNBOUND_PARAMETER", None, "?", "parameter ?"),
    ("SET acidsql.store.assignement=ansi", "UNKNOWN_SETTING", None, None, "Did you mean acidsql.store.assignment?"),
    ("SET acidsql.store.assignment=loose", "INVALID_SETTING", None, None, "it takes hive or ansi"),
    # syntax
    ("SELCT * FROM emp", "PARSE_SYNTAX_ERROR", None, "SELCT", "did you mean SELECT?"),
    ("SELECT * FORM emp", "PARSE_SYNTAX_ERROR", None, "FORM", ""),
    ("UPDATE emp SE id = 1", "PARSE_SYNTAX_ERROR", None, "id", "expected SET"),
    ("DELETE emp", "PARSE_SYNTAX_ERROR", None, "emp", "no DELETE without FROM"),
    ("INSERT INTO emp VALUES (1,, 2)", "PARSE_SYNTAX_ERROR", None, ",", ""),
    ("MERGE INTO emp USING upd WHEN MATCHED THEN DELETE", "PARSE_SYNTAX_ERROR", None, "WHEN", "expected ON"),
    ("MERGE INTO emp USING upd ON emp.id = upd.id WHEN MATCHED DELETE", "PARSE_SYNTAX_ERROR", None, "DELETE", "THEN"),
    ("SELECT id FROM emp WHERE id = = 1", "PARSE_SYNTAX_ERROR", None, "=", ""),
    ("SELECT 1; SELECT 2", "PARSE_SYNTAX_ERROR", None, "SELECT", "one statement is expected"),
    ("SELECT\n  id,\n  name nam salary\nFROM emp", "PARSE_SYNTAX_ERROR", None, "salary", ""),
    ("", "PARSE_SYNTAX_ERROR", None, None, "there is no statement"),
]


@pytest.mark.parametrize("bad", PLANNED, ids=[f"{b[1]}-{i}" for i, b in enumerate(PLANNED)])
def test_an_error_that_the_text_shows_opens_no_transaction(world: World, bad: Bad) -> None:
    before, txns = world.seen(), world.high_watermark()
    check(world, bad)
    assert world.seen() == before
    assert world.high_watermark() == txns


ANALYSED: list[Bad] = [
    ("UPDATE emp SET salary = salry + 1", "COLUMN_NOT_FOUND", 10002, "salry", "Did you mean salary"),
    ("DELETE FROM emp WHERE nme = 'x'", "COLUMN_NOT_FOUND", 10002, "nme", "Did you mean name"),
    ("INSERT INTO emp SELECT id, nme, 1 FROM upd", "COLUMN_NOT_FOUND", 10002, "nme", "Did you mean name"),
    (
        "MERGE INTO emp e USING upd u ON e.id = u.idd WHEN MATCHED THEN DELETE",
        "COLUMN_NOT_FOUND",
        10002,
        "u.idd",
        "Did you mean u.id",
    ),
    (
        "MERGE INTO emp e USING upd u ON e.id = u.id WHEN MATCHED AND salary > 1 THEN DELETE",
        "AMBIGUOUS_COLUMN",
        10007,
        "salary",
        "it could be e.salary, u.salary",
    ),
    ("UPDATE emp SET salary = named_struct('a', 1)", "INCOMPATIBLE_TYPE", 10044, "named_struct('a', 1", "struct<a"),
    ("UPDATE emp SET name = array('a')", "INCOMPATIBLE_TYPE", 10044, "array('a'", "from array<string> to string"),
    ("INSERT INTO emp VALUES (1, 'a', named_struct('a', 1))", "INCOMPATIBLE_TYPE", 10044, None, "column salary from"),
    ("INSERT INTO emp SELECT id, array(name), 1 FROM upd", "INCOMPATIBLE_TYPE", 10044, None, "column name from"),
    ("INSERT INTO strict SELECT 1, 1, 1, 5", "INCOMPATIBLE_TYPE", 10044, "5", "column tags from int to array<int>"),
    (
        "MERGE INTO emp e USING upd u ON e.id = u.id WHEN MATCHED THEN UPDATE SET salary = array(u.salary)",
        "INCOMPATIBLE_TYPE",
        10044,
        None,
        "column salary from array<int> to int",
    ),
    ("INSERT INTO emp SELECT id, name FROM upd", "INSERT_COLUMN_COUNT", 10044, "emp", "3 columns but"),
    ("INSERT INTO emp SELECT *, 1 FROM upd", "INSERT_COLUMN_COUNT", 10044, "emp", "gives 4 values"),
    ("INSERT INTO emp SELECT * FROM {frame}", "UNBOUND_PARAMETER", None, "{frame}", "{frame}"),
    # found in the job, among rows
    ("INSERT INTO strict (low) VALUES (1)", "CONSTRAINT_VIOLATED", None, None, "NOT NULL on column id"),
    ("INSERT INTO strict (id, high) SELECT id, salary FROM emp", "CONSTRAINT_VIOLATED", None, None, "CHECK high < 100"),
    ("UPDATE strict SET id = low", "CONSTRAINT_VIOLATED", None, None, "NOT NULL on column id"),
    ("UPDATE strict SET high = high + 50", "CONSTRAINT_VIOLATED", None, None, "CHECK high < 100"),
    (
        "MERGE INTO strict USING emp e ON strict.id = e.id WHEN MATCHED THEN UPDATE SET high = e.salary",
        "CONSTRAINT_VIOLATED",
        None,
        None,
        "DataConstraintViolationError: Either CHECK or NOT NULL constraint violated!",
    ),
    (
        "MERGE INTO strict USING emp e ON strict.id = e.salary WHEN NOT MATCHED THEN INSERT (id) VALUES (e.salary)",
        "CONSTRAINT_VIOLATED",
        None,
        None,
        "NOT NULL on column id",
    ),
    (
        "MERGE INTO emp USING plain p ON emp.id = p.id WHEN MATCHED THEN UPDATE SET name = p.note",
        "CARDINALITY_VIOLATION",
        None,
        None,
        'Cardinality Violation in Merge statement: {"writeid":1,"bucketid":536870912,"rowid":0}',
    ),
    (
        "MERGE INTO emp USING plain p ON emp.id = p.id WHEN MATCHED AND p.note = 'a' THEN DELETE"
        " WHEN MATCHED THEN UPDATE SET name = p.note WHEN NOT MATCHED THEN INSERT (id) VALUES (p.id)",
        "CARDINALITY_VIOLATION",
        None,
        None,
        "Cardinality Violation in Merge statement: ",
    ),
]


@pytest.mark.ci
@pytest.mark.parametrize("bad", ANALYSED, ids=[f"{b[1]}-{i}" for i, b in enumerate(ANALYSED)])
def test_a_later_error_leaves_no_file_and_no_valid_write_id(world: World, bad: Bad) -> None:
    before, write_ids = world.seen(), world.write_ids()
    check(world, bad)
    assert world.seen() == before
    assert world.write_ids() == write_ids


def check(world: World, bad: Bad) -> None:
    sql, condition, code, place, message = bad
    with pytest.raises(AcidSqlError) as raised:
        world.session.sql(sql)
    error = raised.value
    assert (error.condition, error.hive_code) == (condition, code)
    assert message in error.message
    assert error.getCondition() == condition
    assert error.getSqlState() == error.sqlstate
    if place is not None:
        assert caret(error) == place


@pytest.mark.parametrize(
    ("sql", "code", "place"),
    [
        ("SELECT salry FROM emp", 10002, "salry"),
        ("SELECT e.salry FROM emp e", 10002, "e.salry"),
        ("SELECT id FROM emp WHERE 'nme' = nme", 10002, "nme"),
        ("SELECT id FROM emp e JOIN upd u ON e.id = u.id", 10007, "id"),
    ],
)
def test_a_wrong_column_of_a_query_is_underlined(world: World, sql: str, code: int, place: str) -> None:
    with pytest.raises(AcidSqlError) as raised:
        world.session.sql(sql)
    assert raised.value.hive_code == code
    assert caret(raised.value) == place
    assert "@" not in str(raised.value)


def test_a_hint_says_what_to_do(world: World) -> None:
    with pytest.raises(AcidSqlError) as raised:
        world.session.sql("UPDATE plain SET note = 'x'")
    assert str(raised.value).splitlines() == [
        "[NOT_TRANSACTIONAL] [Error 10297] Attempt to do update or delete on table default.plain that is not"
        " transactional",
        "1 | UPDATE plain SET note = 'x'",
        "  |        ^^^^^",
        "Hint: Create it with TBLPROPERTIES ('transactional'='true').",
    ]


def test_the_place_in_a_script_is_its_line_there(world: World) -> None:
    with pytest.raises(AcidSqlError) as raised:
        list(world.session.script("SELECT 1;\n\n-- a comment; with a semicolon\nUPDATE emp\nSET salry = 1;\nSELECT 2"))
    assert raised.value.span is not None
    assert (raised.value.span.line, raised.value.span.column) == (5, 5)


@pytest.mark.parametrize(
    ("sql", "feature"),
    [
        ("CREATE MATERIALIZED VIEW v AS SELECT * FROM emp", "CREATE MATERIALIZED VIEW"),
        ("EXPLAIN SHOW TABLES", "EXPLAIN SHOW TABLES"),
        ("GRANT SELECT ON emp TO someone", "GRANT"),
    ],
)
def test_an_unsupported_statement_is_named(world: World, sql: str, feature: str) -> None:
    before = world.seen()
    with pytest.raises(AcidSqlError) as raised:
        world.session.execute(sql)
    assert raised.value.condition == "NOT_YET_SUPPORTED"
    assert raised.value.message == f"{feature} is not yet supported by acidsql."
    assert world.seen() == before


def test_explain_finds_the_same_errors_and_needs_no_spark(world: World) -> None:
    for sql, condition, _, place, _ in PLANNED[:30]:
        if condition in ("UNBOUND_PARAMETER", "PARSE_SYNTAX_ERROR") or sql.startswith("SET"):
            continue
        with pytest.raises(AcidSqlError) as raised:
            world.session.explain(sql)
        assert raised.value.condition == condition
        assert caret(raised.value) == place
