"""Views of the catalog: made, changed and dropped by statements, and read as Hive reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from acidsql.acid.table import View
from acidsql.session import Session
from tests.answers import fails, rows
from tests.selection import every

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
SETUP = f"""
CREATE TABLE t (id int, name varchar(5)) PARTITIONED BY (p string) {ACID};
INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y');
CREATE DATABASE d;
CREATE TABLE d.u (id int, w decimal(5,2)) {ACID};
INSERT INTO d.u VALUES (1, 1.5), (3, 2);
CREATE VIEW v AS SELECT * FROM t
"""


@pytest.fixture
def db(session: Session) -> Session:
    for _ in session.script(SETUP):
        pass
    return session


def names(session: Session, statement: str) -> list[object]:
    return [row[0] for row in rows(session, statement)]


def stored(session: Session, name: str, database: str = "default") -> View:
    found = session.catalog.find(database, name)
    assert isinstance(found, View)
    return found


# -- reading
def test_a_view_gives_the_rows_of_now(db: Session) -> None:
    assert rows(db, "SELECT * FROM v ORDER BY id") == [(1, "a", "x"), (2, "b", "x"), (3, "c", "y")]
    db.sql("DELETE FROM t WHERE id = 1")
    db.sql("UPDATE t SET name = 'z' WHERE id = 2")
    assert rows(db, "SELECT name, v.id FROM v WHERE p = 'x'") == [("z", 2)]
    assert rows(db, "SELECT count(*) FROM v") == [(2,)]


def test_a_view_keeps_its_columns_when_its_table_gets_more(db: Session) -> None:
    db.sql("ALTER TABLE t ADD COLUMNS (later int)")
    assert db.sql("SELECT * FROM v").columns == ["id", "name", "p"]
    assert names(db, "DESCRIBE v") == ["id", "name", "p"]


def test_a_view_reads_the_database_in_which_it_was_made(db: Session) -> None:
    db.sql("USE d")
    db.sql("CREATE VIEW default.w AS SELECT * FROM u JOIN default.v USING (id)")
    db.sql("USE default")
    db.sql(f"CREATE TABLE u (id int, other string) {ACID}")
    assert [row[0] for row in rows(db, "SELECT id FROM w ORDER BY 1")] == [1, 3]
    db.sql("USE d")
    assert rows(db, "SELECT count(*) FROM default.w")[0] == (2,)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("text", "expected"),
    every(
        3,
        [
            ("SELECT id, x FROM v LATERAL VIEW explode(array(id, 9)) e AS x WHERE id = 1", [(1, 1), (1, 9)]),
            ("SELECT x.a, c FROM v AS x (a, b, c) WHERE b = 'b'", [(2, "x")]),
            ("SELECT count(*) FROM v TABLESAMPLE (2 ROWS)", [(2,)]),
            ("SELECT count(*) FROM v TABLESAMPLE (2 ROWS) AS s WHERE s.id > 0", [(2,)]),
            ("SELECT * FROM v PIVOT (count(name) FOR p IN ('x', 'y')) WHERE id = 1", [(1, 1, None)]),
            ("SELECT default.v.id FROM default.v WHERE default.v.p = 'y'", [(3,)]),
            ("SELECT V.ID FROM V ORDER BY v.Id LIMIT 1", [(1,)]),
            ("SELECT a.id FROM v a LEFT ANTI JOIN v b ON a.id = b.id + 1", [(1,)]),
        ],
    ),
)
def test_a_view_stands_where_a_table_stands(db: Session, text: str, expected: list[tuple[object, ...]]) -> None:
    assert rows(db, text) == expected


@pytest.mark.ci
def test_dml_reads_views(db: Session) -> None:
    db.sql("CREATE VIEW new (k, n) AS SELECT id + 1, name FROM v WHERE p = 'x'")
    db.sql("MERGE INTO t USING new ON t.id = new.k WHEN MATCHED THEN UPDATE SET name = new.n"
           " WHEN NOT MATCHED THEN INSERT VALUES (k, new.n, 'z')")  # fmt: skip
    assert rows(db, "SELECT id, name FROM t ORDER BY id") == [(1, "a"), (2, "a"), (3, "b")]
    db.sql("INSERT INTO d.u SELECT k, 9 FROM new")
    db.sql("DELETE FROM t WHERE id IN (SELECT k FROM new)")
    assert rows(db, "SELECT id FROM v") == [(1,)]
    db.sql("UPDATE d.u SET w = 0 WHERE id IN (SELECT id FROM v)")
    assert rows(db, "SELECT * FROM d.u WHERE w = 0") == [(1, 0)]
    db.sql("FROM new INSERT INTO t SELECT k, n, 'm' INSERT INTO d.u SELECT k, 7")
    assert rows(db, "SELECT id, p FROM t ORDER BY id") == [(1, "x"), (2, "m")]


def test_a_transaction_sees_its_own_writes_through_a_view(db: Session) -> None:
    with db.transaction():
        db.sql("INSERT INTO t VALUES (4, 'd', 'y')")
        assert rows(db, "SELECT id FROM v WHERE p = 'y' ORDER BY id") == [(3,), (4,)]
        db.sql("DELETE FROM t WHERE id IN (SELECT id FROM v WHERE id > 2)")
    assert names(db, "SELECT id FROM v ORDER BY id") == [1, 2]


def test_the_snapshot_of_a_statement_covers_views_and_tables(db: Session) -> None:
    frame = db.sql("SELECT (SELECT count(*) FROM v), (SELECT count(*) FROM t)")
    db.sql("INSERT INTO t VALUES (4, 'd', 'y')")
    assert [tuple(row) for row in frame.collect()] == [(3, 3)]


def test_locks_and_pruning_go_through_a_view(db: Session) -> None:
    db.sql("CREATE VIEW w (q, n) AS SELECT p, count(*) FROM v GROUP BY p")
    assert names(db, "EXPLAIN LOCKS SELECT * FROM w WHERE q = 'x'")[1:] == ["default.t.p=x -> SHARED_READ"]
    assert "  through default.w, default.v" in db.explain("SELECT * FROM w WHERE q = 'x'").splitlines()
    assert rows(db, "SELECT * FROM w WHERE q = 'x'") == [("x", 2)]


def test_times_in_a_definition_count_as_those_of_the_statement(db: Session) -> None:
    """A statement over wall-clock times alone runs in UTC: the definition's words tell that this one must not."""
    db.sql("CREATE VIEW at AS SELECT from_unixtime(0) AS text, cast('2020-01-01 00:00:00' AS timestamp) AS ts")
    assert rows(db, "SELECT text, date_format(ts, 'HH') FROM at") == rows(
        db, "SELECT from_unixtime(0), date_format(timestamp '2020-01-01 00:00:00', 'HH')"
    )


def test_a_table_or_view_of_the_catalog_hides_a_temporary_view(db: Session, spark: SparkSession) -> None:
    spark.sql("SELECT 7 AS seven").createOrReplaceTempView("v")
    spark.sql("SELECT 8 AS eight").createOrReplaceTempView("only")
    try:
        assert rows(db, "SELECT count(*) FROM v") == [(3,)]
        assert rows(db, "SELECT * FROM only") == [(8,)]
        error = fails("INVALID_VIEW", lambda: db.sql("CREATE VIEW w AS SELECT * FROM only"))
        assert error.message == "View definition references temporary view only"
    finally:
        spark.catalog.dropTempView("v")
        spark.catalog.dropTempView("only")


def test_what_a_view_lacks_is_named_with_the_view(db: Session) -> None:
    db.sql("CREATE VIEW w AS SELECT * FROM d.u")
    db.sql("DROP TABLE d.u")
    error = fails("TABLE_NOT_FOUND", lambda: db.sql("SELECT * FROM w"))
    assert error.message == "Table not found 'd.u' in definition of VIEW default.w"
    db.sql("ALTER TABLE t CHANGE COLUMN name called varchar(5)")
    error = fails("COLUMN_NOT_FOUND", lambda: db.sql("SELECT * FROM v"))
    assert "t.name" in error.message
    assert error.hint == "The query reads the view default.v."


# -- statements
def test_create_view_keeps_all_that_it_names(db: Session) -> None:
    db.sql(
        "CREATE VIEW IF NOT EXISTS d.w (k COMMENT 'the key', q) COMMENT 'what is seen' PARTITIONED ON (q)"
        " TBLPROPERTIES ('a'='b') AS\nSELECT id + 1,\n  p FROM t"
    )
    view = stored(db, "w", "d")
    assert [(c.name, c.type, c.comment) for c in view.all_columns] == [("k", "int", "the key"), ("q", "string", None)]
    assert [c.name for c in view.partition_columns] == ["q"]
    assert (view.comment, view.properties["a"]) == ("what is seen", "b")
    assert view.original == "SELECT id + 1,\n  p FROM t"
    assert view.expanded == "SELECT `_c0` AS `k`, `p` AS `q` FROM (SELECT id + 1,\n  p FROM `default`.`t`) `w`"
    assert view.created > 1_700_000_000
    assert rows(db, "SELECT k FROM d.w WHERE q = 'y'") == [(4,)]
    db.sql("CREATE VIEW IF NOT EXISTS d.w AS SELECT 1")
    assert stored(db, "w", "d") == view


def test_a_column_of_null_has_a_type_in_a_view_only(db: Session) -> None:
    db.sql("CREATE VIEW w AS SELECT id, NULL AS nothing FROM t")
    assert [c.type for c in stored(db, "w").columns] == ["int", "void"]
    assert rows(db, "SELECT nothing FROM w WHERE id = 1") == [(None,)]
    fails("CREATE_AS_TYPE", lambda: db.sql("CREATE TABLE c AS SELECT * FROM w"))


def test_replacing_a_view_keeps_its_comment_and_properties(db: Session) -> None:
    db.sql("CREATE OR REPLACE VIEW w COMMENT 'c' TBLPROPERTIES ('a'='b') AS SELECT 1 AS one")
    db.sql("CREATE OR REPLACE VIEW w TBLPROPERTIES ('x'='y') AS SELECT 2 AS two, 'z' AS z")
    view = stored(db, "w")
    assert (view.column_names, view.comment) == (("two", "z"), "c")
    assert {"a": "b", "x": "y"}.items() <= view.properties.items()
    db.sql("ALTER VIEW w AS SELECT name FROM v WHERE id = 3")
    assert rows(db, "SELECT * FROM w") == [("c",)]
    assert stored(db, "w").original == "SELECT name FROM v WHERE id = 3"


def test_a_view_is_renamed_and_gets_properties(db: Session) -> None:
    db.sql("ALTER VIEW v SET TBLPROPERTIES ('a'='b', 'Comment'='c')")
    assert (stored(db, "v").comment, dict(stored(db, "v").properties)) == ("c", {"a": "b"})
    db.sql("ALTER VIEW v UNSET TBLPROPERTIES ('a', 'comment')")
    assert (stored(db, "v").comment, dict(stored(db, "v").properties)) == (None, {})
    fails("UNKNOWN_PROPERTY", lambda: db.sql("ALTER VIEW v UNSET TBLPROPERTIES ('a')"))
    db.sql("ALTER VIEW v UNSET TBLPROPERTIES IF EXISTS ('a')")
    db.sql("ALTER VIEW v RENAME TO d.seen")
    assert (names(db, "SHOW VIEWS"), names(db, "SHOW VIEWS IN d")) == ([], ["seen"])
    assert len(rows(db, "SELECT * FROM d.seen")) == 3
    fails("TABLE_ALREADY_EXISTS", lambda: db.sql("ALTER VIEW d.seen RENAME TO t"))
    fails("TABLE_ALREADY_EXISTS", lambda: db.sql("ALTER TABLE t RENAME TO d.seen"))


def test_views_are_listed_with_the_tables(db: Session) -> None:
    db.sql("CREATE VIEW d.w AS SELECT 1 AS one")
    assert names(db, "SHOW TABLES") == ["t", "v"]
    assert names(db, "SHOW VIEWS") == ["v"]
    assert names(db, "SHOW VIEWS IN d") == ["w"]
    assert names(db, "SHOW VIEWS FROM d LIKE 'x*'") == []
    assert names(db, "SHOW COLUMNS IN v") == ["id", "name", "p"]
    assert db.inspect("t").table.name == "t"
    fails("NOT_A_TABLE", lambda: db.inspect("v"))


def test_describe_formatted_shows_both_texts(db: Session) -> None:
    shown = rows(db, "DESCRIBE FORMATTED v")
    assert ("Table Type:", "VIRTUAL_VIEW", "") in shown
    assert shown[-2:] == [
        ("Original Query:", "SELECT * FROM t", ""),
        ("Expanded Query:", "SELECT `t`.`id`, `t`.`name`, `t`.`p` FROM `default`.`t`", ""),
    ]


@pytest.mark.ci
@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW w AS SELECT * FROM t",
        "CREATE VIEW w (a COMMENT 'it''s', `b c`) COMMENT 'c\\n' TBLPROPERTIES ('k'='v') AS SELECT id, name FROM v",
        "CREATE VIEW w PARTITIONED ON (p) AS WITH c AS (SELECT * FROM t) SELECT name, upper(name), p FROM c",
        "CREATE VIEW w AS (SELECT id FROM t UNION ALL SELECT id FROM d.u) ORDER BY id LIMIT 3",
    ],
)
def test_show_create_table_makes_the_same_view_again(db: Session, statement: str) -> None:
    db.sql(statement)
    before, found = stored(db, "w"), rows(db, "SELECT * FROM w")
    text = "\n".join(map(str, names(db, "SHOW CREATE TABLE w")))
    db.sql("DROP VIEW w")
    db.sql("USE d")
    db.sql(text)
    after = stored(db, "w")
    assert (after.all_columns, after.expanded) == (before.all_columns, before.expanded)
    assert (after.comment, after.properties) == (before.comment, before.properties)
    assert sorted(rows(db, "SELECT * FROM default.w")) == sorted(found)


def test_a_table_like_a_view_has_its_columns(db: Session) -> None:
    db.sql("CREATE VIEW w PARTITIONED ON (p) AS SELECT id, name, p FROM t")
    db.sql("CREATE TABLE l LIKE w")
    table = db.catalog.table("default", "l")
    assert [(c.name, c.type) for c in table.columns] == [("id", "int"), ("name", "varchar(5)")]
    assert [c.name for c in table.partition_columns] == ["p"]
    db.sql("INSERT INTO l SELECT * FROM w")
    assert rows(db, "SELECT count(*) FROM l") == [(3,)]
    db.sql("CREATE TABLE c AS SELECT * FROM w")
    assert [c.type for c in db.catalog.table("default", "c").columns] == ["int", "varchar(5)", "string"]


def test_a_dropped_database_takes_its_views_along(db: Session) -> None:
    db.sql("CREATE VIEW d.w AS SELECT 1 AS one")
    fails("DATABASE_NOT_EMPTY", lambda: db.sql("DROP DATABASE d"))
    db.sql("DROP DATABASE d CASCADE")
    assert names(db, "SHOW DATABASES") == ["default"]


# -- what Hive refuses
REFUSED = {
    "UPDATE v SET name = 'z'": ("WRITE_TO_VIEW", 10402),
    "DELETE FROM v": ("WRITE_TO_VIEW", 10402),
    "MERGE INTO v USING t ON v.id = t.id WHEN MATCHED THEN DELETE": ("WRITE_TO_VIEW", 10402),
    "INSERT INTO v SELECT * FROM t": ("INSERT_INTO_VIEW", 10090),
    "LOAD DATA LOCAL INPATH '/nowhere' INTO TABLE v": ("INSERT_INTO_VIEW", 10090),
    "TRUNCATE TABLE v": ("TRUNCATE_EXTERNAL", 10146),
    "DROP TABLE v": ("WRONG_DROP", None),
    "DROP VIEW t": ("WRONG_DROP", None),
    "ALTER TABLE v ADD COLUMNS (z int)": ("ALTER_COMMAND_FOR_VIEWS", 10131),
    "ALTER TABLE v COMPACT 'major'": ("ALTER_COMMAND_FOR_VIEWS", 10131),
    "ALTER VIEW t RENAME TO x": ("ALTER_COMMAND_FOR_TABLES", 10132),
    "ALTER VIEW t AS SELECT 1": ("NOT_A_VIEW", 10218),
    "ALTER VIEW gone AS SELECT 1": ("ALTERED_VIEW_NOT_FOUND", 10216),
    "CREATE OR REPLACE VIEW t AS SELECT 1": ("NOT_A_VIEW", 10218),
    "CREATE VIEW v AS SELECT 1": ("TABLE_ALREADY_EXISTS", 10073),
    "CREATE VIEW t AS SELECT 1": ("TABLE_ALREADY_EXISTS", 10073),
    "CREATE TABLE v (id int)": ("TABLE_ALREADY_EXISTS", 10073),
    "CREATE TABLE v AS SELECT 1 AS id": ("TABLE_ALREADY_EXISTS", 10073),
    "CREATE VIEW w AS SELECT * FROM gone": ("TABLE_NOT_FOUND", 10001),
    "CREATE VIEW gone.w AS SELECT 1": ("DATABASE_NOT_FOUND", 10072),
    "CREATE VIEW w AS SELECT nothing FROM t": ("COLUMN_NOT_FOUND", 10002),
    "CREATE VIEW w AS SELECT id, t.id FROM t": ("DUPLICATE_COLUMN", 10036),
    "CREATE VIEW w (a) AS SELECT id, name FROM t": ("VIEW_COLUMN_COUNT", 10089),
    "CREATE VIEW w PARTITIONED ON (id) AS SELECT id, name FROM t": ("VIEW_PARTITION_MISMATCH", 10093),
    "CREATE VIEW w PARTITIONED ON (id) AS SELECT id FROM t": ("VIEW_PARTITION_TOTAL", 10092),
    "CREATE OR REPLACE VIEW v AS SELECT * FROM v": ("RECURSIVE_VIEW", None),
    "ALTER VIEW v AS SELECT w.* FROM t JOIN w ON true": ("RECURSIVE_VIEW", None),
    "SELECT row__id FROM v": ("COLUMN_NOT_FOUND", 10002),
}


@pytest.mark.ci
@pytest.mark.parametrize("statement", every(4, REFUSED))
def test_a_statement_that_does_not_suit_is_refused_and_changes_nothing(db: Session, statement: str) -> None:
    if " w " in statement and statement.startswith("ALTER"):
        db.sql("CREATE VIEW w AS SELECT id FROM v")
    before = (list(db.catalog.tables("default")), stored(db, "v"), rows(db, "SELECT * FROM t ORDER BY id"))
    condition, code = REFUSED[statement]
    error = fails(condition, lambda: db.sql(statement))
    assert error.hive_code == code
    assert (list(db.catalog.tables("default")), stored(db, "v"), rows(db, "SELECT * FROM t ORDER BY id")) == before


def test_if_exists_passes_over_what_is_of_another_kind(db: Session) -> None:
    for statement in ("DROP VIEW IF EXISTS t", "DROP TABLE IF EXISTS v", "CREATE TABLE IF NOT EXISTS v (id int)"):
        db.sql(statement)
    db.sql("CREATE VIEW IF NOT EXISTS t AS SELECT 1")
    assert names(db, "SHOW TABLES") == ["t", "v"]
    db.sql("DROP VIEW v")
    db.sql("DROP VIEW IF EXISTS v")
    assert names(db, "SHOW TABLES") == ["t"]


def test_a_cycle_that_two_sessions_made_is_an_error_and_not_an_endless_query(db: Session) -> None:
    db.sql("CREATE VIEW a AS SELECT 1 AS id")
    db.sql("CREATE VIEW b AS SELECT id FROM a")
    view = stored(db, "a")
    db._metastore.alter_view(view, replace(view, expanded="SELECT `b`.`id` FROM `default`.`b`"))
    fails("RECURSIVE_VIEW", lambda: db.sql("SELECT * FROM a"))
    db.sql("CREATE OR REPLACE VIEW a AS SELECT 2 AS id")
    assert rows(db, "SELECT * FROM b") == [(2,)]


def test_views_outlive_the_session(db: Session, open_session: Callable[[], Session]) -> None:
    with open_session() as other:
        assert rows(other, "SELECT count(*) FROM v") == [(3,)]
        other.sql("CREATE OR REPLACE VIEW v AS SELECT 5 AS five")
    assert rows(db, "SELECT * FROM v") == [(5,)]
