"""Views on Hive's own metastore: Hive reads those of acidsql, and acidsql those of Hive, with the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from pyspark.sql import SparkSession

from acidsql.acid.table import View
from acidsql.session import Session, connect
from tests.answers import fails
from tests.interop.hive_client import Hive, HiveError
from tests.interop.values import assert_same_rows, rows_of_acidsql, rows_of_hive

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

ACID: Final = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
DEFINITIONS: Final = (
    "AS SELECT * FROM t",
    "(a COMMENT 'the key', b) COMMENT 'seen' AS SELECT id + 1, concat(name, '!') FROM t WHERE p = 'x'",
    "AS SELECT id + 1, name FROM t",
    "AS SELECT x.*, u.w AS wage FROM t x LEFT JOIN other.u u ON x.id = u.id",
    "AS WITH c AS (SELECT * FROM t WHERE id > 1) SELECT p, count(*) AS n FROM c GROUP BY p",
    "AS SELECT id FROM t UNION ALL SELECT id FROM other.u",
    "AS SELECT * FROM t LATERAL VIEW explode(array(id, 10)) e AS x",
    "PARTITIONED ON (p) AS SELECT id, name, p FROM t",
    "AS SELECT `t`.`name` AS `odd name`, 'a \\'quoted\\' text; -- it' AS text FROM t -- a comment\n WHERE id IN (1, 2)",
    "AS SELECT * FROM (SELECT id, name FROM t) k JOIN (SELECT id AS other_id, w FROM other.u) u ON k.id = u.other_id",
)


@pytest.fixture
def session(hive: Hive, spark: SparkSession) -> Iterator[Session]:
    clean = [f"DROP DATABASE IF EXISTS {name} CASCADE" for name in ("viewed", "other")]
    hive.run(*clean, "CREATE DATABASE viewed", "CREATE DATABASE other")
    with connect(metastore=hive.metastore_uri, spark=spark) as opened:
        opened.sql("USE viewed")
        opened.sql(f"CREATE TABLE t (id int, name varchar(5)) PARTITIONED BY (p string) {ACID}")
        opened.sql("INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, NULL, 'y')")
        opened.sql(f"CREATE TABLE other.u (id int, w decimal(5,2)) {ACID}")
        opened.sql("INSERT INTO other.u VALUES (1, 1.5), (3, 2)")
        yield opened
    hive.run("USE default", *clean)


def view(session: Session, name: str) -> View:
    found = session.catalog.find("viewed", name)
    assert isinstance(found, View)
    return found


def in_hive(hive: Hive, name: str) -> list[tuple[str, str]]:
    """The columns of a view as Hive describes them."""
    rows = [[str(cell).strip() for cell in row] for row in hive.rows(f"DESCRIBE viewed.{name}")]
    names = [row[:2] for row in rows]
    end = next((i for i, row in enumerate(names) if row[0] in ("", "# Partition Information")), len(names))
    return [(column, kind) for column, kind in names[:end]]


@pytest.mark.nightly
def test_each_reads_the_views_of_the_other(hive: Hive, session: Session) -> None:
    hive.run("USE viewed")
    for number, definition in enumerate(DEFINITIONS):
        mine, theirs = f"mine_{number}", f"theirs_{number}"
        session.sql(f"CREATE VIEW {mine} {definition}")
        hive.run(f"CREATE VIEW {theirs} {definition}")
    hive.run("USE default")
    session.sql("USE default")
    for number, definition in enumerate(DEFINITIONS):
        mine, theirs = f"viewed.mine_{number}", f"viewed.theirs_{number}"
        expected = rows_of_hive(hive.rows(f"SELECT * FROM {theirs}"))
        assert expected, "an empty view proves nothing"
        assert_same_rows(rows_of_hive(hive.rows(f"SELECT * FROM {mine}")), expected, f"Hive reads {definition}")
        for name in (mine, theirs):
            assert_same_rows(rows_of_acidsql(session, f"SELECT * FROM {name}"), expected, f"{name}: {definition}")
        columns = [(c.name, c.type) for c in view(session, f"theirs_{number}").all_columns]
        assert [(c.name, c.type) for c in view(session, f"mine_{number}").all_columns] == columns, definition
        assert in_hive(hive, f"mine_{number}") == in_hive(hive, f"theirs_{number}"), definition


def test_each_changes_and_drops_the_views_of_the_other(hive: Hive, session: Session) -> None:
    session.sql("CREATE VIEW mine COMMENT 'c' TBLPROPERTIES ('a'='b') AS SELECT * FROM t")
    hive.run("USE viewed", "CREATE VIEW theirs (k) COMMENT 'c' TBLPROPERTIES ('a'='b') AS SELECT id FROM mine")
    shown = {tuple(str(cell).strip() for cell in row[:2]) for row in hive.rows("DESCRIBE FORMATTED mine")}
    assert ("Table Type:", "VIRTUAL_VIEW") in shown
    assert ("Original Query:", "SELECT * FROM t") in shown
    assert [row[0] for row in hive.rows("SHOW VIEWS")] == ["mine", "theirs"]
    assert [row[0] for row in session.sql("SHOW VIEWS").collect()] == ["mine", "theirs"]
    assert (view(session, "theirs").comment, view(session, "theirs").properties["a"]) == ("c", "b")
    hive.run("ALTER VIEW mine AS SELECT id, p FROM t WHERE p = 'y'")
    assert rows_of_acidsql(session, "SELECT * FROM theirs") == [[3]]
    session.sql("ALTER VIEW theirs AS SELECT p FROM mine")
    session.sql("ALTER VIEW theirs SET TBLPROPERTIES ('comment'='changed')")
    session.sql("ALTER VIEW theirs RENAME TO renamed")
    assert hive.rows("SELECT * FROM renamed") == [["y"]]
    hive.run("CREATE OR REPLACE VIEW renamed AS SELECT 1 AS one, 'x' AS p")
    assert rows_of_acidsql(session, "SELECT * FROM renamed") == [[1, "x"]]
    for statement in ("UPDATE mine SET p = 'z'", "INSERT INTO mine VALUES (1, 'x')", "DROP TABLE mine"):
        with pytest.raises(HiveError):
            hive.run(statement)
    fails("WRITE_TO_VIEW", lambda: session.sql("UPDATE mine SET p = 'z'"))
    session.sql("DROP VIEW renamed")
    hive.run("DROP VIEW mine", "USE default")
    assert [row[0] for row in session.sql("SHOW TABLES").collect()] == ["t"]
