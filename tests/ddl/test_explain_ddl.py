"""EXPLAIN of statements without a query: their locks and steps. EXPLAIN itself changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session


@pytest.fixture
def db(session: Session) -> Session:
    session.execute("CREATE TRANSACTIONAL TABLE t (k INT) PARTITIONED BY (p INT)")
    session.execute(f"ALTER TABLE t ADD PARTITION (p = 7) LOCATION '{session.warehouse}-seven'")
    session.execute("CREATE TABLE plain (k INT)")
    session.execute(f"CREATE EXTERNAL TABLE ext (k INT) LOCATION '{session.warehouse}-ext'")
    session.execute("CREATE DATABASE other")
    session.execute("CREATE TABLE other.one (k INT)")
    return session


def explained(session: Session, statement: str) -> list[str]:
    rows = session.execute(f"EXPLAIN {statement}").rows()
    text = [str(row[0]).replace(session.warehouse, "W") for row in rows]
    assert "\n".join(text) + "\n" == session.explain(statement).replace(session.warehouse, "W")
    return text


def below(directory: Path) -> list[Path]:
    return sorted(directory.rglob("*"))


@pytest.mark.ci
@pytest.mark.parametrize(
    ("statement", "does"),
    [
        ("TRUNCATE TABLE t", "writes an empty base_W in its partitions"),
        ("TRUNCATE TABLE t PARTITION (p = 1)", "writes an empty base_W in its partitions with p = 1"),
        ("TRUNCATE TABLE plain", "removes the files in W/plain"),
        (
            "LOAD DATA LOCAL INPATH '/in' INTO TABLE t PARTITION (p = 1)",
            "adds the partition p=1 at W/t/p=1|copies the files of /in to W/t/p=1/delta_W_W_0000",
        ),
        ("LOAD DATA INPATH '/in' OVERWRITE INTO TABLE t PARTITION (p = 7)", "moves the files of /in to W-seven/base_W"),
        (
            "LOAD DATA INPATH '/in' OVERWRITE INTO TABLE plain",
            "moves the files of /in to W/plain|removes the files that lay there",
        ),
        ("DROP TABLE t", "removes default.t from the catalog|removes W/t if nothing of another table lies in it"),
        ("DROP TABLE ext", "removes default.ext from the catalog|leaves W-ext: the table is external"),
        ("DROP TABLE IF EXISTS none", "nothing"),
        ("ALTER TABLE t PARTITION (p = 7) SET FILEFORMAT orc", "sets the file format to orc, of the partition p=7"),
        ("ALTER TABLE t SET SERDEPROPERTIES ('a'='b')", "sets the SerDe properties 'a'='b'"),
        ("ALTER TABLE t SET OWNER ROLE r", "sets the owner to the role r"),
        ("ALTER TABLE t TOUCH", "changes nothing"),
        (
            "ALTER TABLE t PARTITION (p = 1) UPDATE STATISTICS SET ('numRows'='5')",
            "sets the statistics 'numRows'='5' of the partitions with p = 1",
        ),
        ("ALTER TABLE plain CLUSTERED BY (k) INTO 2 BUCKETS", "sets the buckets of new files: 2 by k"),
        ("ALTER DATABASE other SET LOCATION '/new'", "sets the location of new tables to /new; no file moves"),
        ("ALTER TABLE t ADD COLUMNS (v INT, w STRING)", "adds the columns v int, w string"),
        ("ALTER TABLE t CHANGE COLUMN k n BIGINT", "changes the column k to n bigint"),
        ("ALTER TABLE t REPLACE COLUMNS (k INT, v INT)", "replaces the columns by k int, v int"),
        (
            "ALTER TABLE t ADD PARTITION (p = 1) PARTITION (p = 2) LOCATION 'two'",
            "adds the partition p=1 at W/t/p=1|adds the partition p=2 at W/t/two",
        ),
        (
            "ALTER TABLE t DROP PARTITION (p > 1), PARTITION (p = 0)",
            "removes the partitions with p > 1 from the catalog|removes the partitions with p = 0 from the catalog"
            "|removes those of their directories in which nothing else lies",
        ),
        (
            "ALTER TABLE t PARTITION (p = 1) RENAME TO PARTITION (p = 2)",
            "renames the partition p=1 to p=2|moves W/t/p=1 to W/t/p=2, unless the partition has a LOCATION of its own",
        ),
        ("ALTER TABLE t RENAME TO u", "renames default.t to default.u in the catalog|moves W/t to W/u"),
        ("ALTER TABLE ext RENAME TO u", "renames default.ext to default.u in the catalog|leaves its files in W-ext"),
        ("ALTER TABLE t SET TBLPROPERTIES ('a'='b', 'COMMENT'='c')", "sets 'a'='b', 'comment'='c'"),
        (
            "ALTER TABLE plain SET TBLPROPERTIES ('transactional'='true')",
            "sets 'transactional'='true'|converts the table to full ACID; no file moves",
        ),
        (
            "ALTER TABLE plain SET TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')",
            "sets 'transactional'='true', 'transactional_properties'='insert_only'"
            "|moves the files to delta_0000001_0000001_0000|converts the table to insert-only",
        ),
        ("ALTER TABLE t UNSET TBLPROPERTIES ('a', 'b')", "removes the properties a, b"),
        ("ALTER TABLE plain SET LOCATION '/there'", "sets the location of default.plain to /there; no file moves"),
        ("ALTER TABLE t PARTITION (p = 7) COMPACT 'major'", "queues a major compaction"),
        ("CREATE TABLE u (k INT)", "adds default.u to the catalog|makes W/u"),
        ("CREATE TABLE u LIKE t LOCATION '/u'", "adds default.u to the catalog|adopts the files in /u"),
        ("CREATE TABLE IF NOT EXISTS t (k INT)", "nothing"),
        ("CREATE DATABASE d", "adds d to the catalog, at W/d.db"),
        ("CREATE DATABASE IF NOT EXISTS default", "nothing"),
        (
            "DROP DATABASE other CASCADE",
            "removes other.one from the catalog|removes W/other.db/one if nothing of another table lies in it"
            "|removes other from the catalog|removes W/other.db if no file lies in it",
        ),
        ("DROP DATABASE IF EXISTS d", "nothing"),
    ],
)
def test_explain_lists_the_steps_of_a_statement_without_a_query(db: Session, statement: str, does: str) -> None:
    before = below(Path(db.warehouse))
    lines = explained(db, statement)
    assert lines[lines.index("does") + 1 :] == [f"  {line}" for line in does.split("|")]
    assert db.catalog.tables("default") == ["ext", "plain", "t"]
    assert [row[0] for row in db.execute("SHOW DATABASES").rows()] == ["default", "other"]
    assert below(Path(db.warehouse)) == before


def test_the_plan_begins_with_the_statement_and_its_locks(db: Session) -> None:
    assert explained(db, "ALTER TABLE plain RENAME TO other.plain") == [
        "ALTER TABLE default.plain",
        "locks",
        "  default.plain -> EXCLUSIVE",
        "  other -> SHARED_READ",
        "does",
        "  renames default.plain to other.plain in the catalog",
        "  moves W/plain to W/other.db/plain",
    ]
    assert explained(db, "CREATE DATABASE e")[:2] == ["CREATE DATABASE e", "does"]


def test_explain_locks_prints_the_locks_and_explain_raises_the_errors_of_the_statement(db: Session) -> None:
    assert [row[0] for row in db.execute("EXPLAIN LOCKS DROP TABLE t").rows()] == [
        "LOCK INFORMATION:",
        "default -> SHARED_READ",
        "default.t -> EXCLUSIVE",
    ]
    with pytest.raises(AcidSqlError) as caught:
        db.execute("EXPLAIN TRUNCATE TABLE none")
    assert caught.value.condition == "TABLE_NOT_FOUND"
