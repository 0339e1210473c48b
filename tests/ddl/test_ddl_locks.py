"""The locks that EXPLAIN prints for a DDL statement are those that its run requests from the metastore."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import get_args

import pyarrow as pa
import pytest
from pyarrow import orc

from acidsql.errors import AcidSqlError
from acidsql.grammar import statements as s
from acidsql.grammar.parser import parse
from acidsql.planner.ddl.ddl_plan import DdlStatement, Step
from acidsql.request import Request
from acidsql.session import Session
from tests.selection import every

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
SETUP = f"""
CREATE TABLE acid (k int CONSTRAINT nn NOT NULL) PARTITIONED BY (p int) {ACID};
ALTER TABLE acid ADD PARTITION (p = 1);
CREATE TABLE whole (k int) {ACID};
CREATE TABLE plain (k int CONSTRAINT nn NOT NULL) PARTITIONED BY (p int);
ALTER TABLE plain ADD PARTITION (p = 1);
CREATE TABLE other_plain (k int CONSTRAINT nn NOT NULL) PARTITIONED BY (p int);
ALTER TABLE other_plain ADD PARTITION (p = 5);
CREATE TABLE heap (k int);
CREATE EXTERNAL TABLE ext (k int);
CREATE DATABASE d;
CREATE TABLE d.one (k int) {ACID};
CREATE TABLE d.two (k int);
CREATE DATABASE bare;
CREATE VIEW v AS SELECT k FROM whole
"""

CASES = {
    "CREATE DATABASE e": "",
    "CREATE DATABASE IF NOT EXISTS d": "",
    "ALTER DATABASE d SET DBPROPERTIES ('a'='b')": "",
    "ALTER DATABASE d SET OWNER USER bob": "",
    "ALTER DATABASE d SET LOCATION '{tmp}/elsewhere'": "",
    "DROP DATABASE bare": "bare -> EXCLUSIVE",
    "DROP DATABASE d CASCADE": "d -> EXCLUSIVE",
    "DROP DATABASE IF EXISTS nowhere": "",
    "CREATE TABLE n (k int)": "default -> SHARED_READ",
    f"CREATE TABLE d.n (k int) {ACID}": "d -> SHARED_READ",
    "CREATE EXTERNAL TABLE n (k int) LOCATION '{tmp}/elsewhere'": "default -> SHARED_READ",
    "CREATE TABLE d.n LIKE acid": "d -> SHARED_READ",
    "CREATE TABLE IF NOT EXISTS acid (k int)": "",
    f"CREATE TABLE n {ACID} AS SELECT 1 AS k": "default -> SHARED_READ, default.n -> EXCL_WRITE",
    "CREATE TABLE d.n AS SELECT k FROM whole": (
        "d -> SHARED_READ, d.n -> EXCLUSIVE, default.whole -> SHARED_READ"  # plain: readers see it grow
    ),
    "CREATE TEMPORARY TABLE acid (k int)": "default -> SHARED_READ",
    "CREATE TEMPORARY TABLE heap AS SELECT k FROM whole": "default -> SHARED_READ, default.whole -> SHARED_READ",
    "CREATE OR REPLACE TEMPORARY VIEW v AS SELECT k FROM whole": "default -> SHARED_READ",
    "DROP TABLE acid": "default -> SHARED_READ, default.acid -> EXCLUSIVE",
    "DROP TABLE plain": "default -> SHARED_READ, default.plain -> EXCLUSIVE",
    "DROP TABLE ext": "default -> SHARED_READ",
    "DROP TABLE IF EXISTS nothing": "",
    "CREATE VIEW n AS SELECT k FROM d.one": "default -> SHARED_READ",
    "CREATE OR REPLACE VIEW v AS SELECT k FROM d.one": "default -> SHARED_READ, default.v -> EXCLUSIVE",
    "CREATE OR REPLACE VIEW d.n AS SELECT k FROM v": "d -> SHARED_READ, d.n -> EXCLUSIVE",
    "CREATE VIEW IF NOT EXISTS v AS SELECT 1": "",
    "ALTER VIEW v AS SELECT 1": "default.v -> EXCLUSIVE",
    "ALTER VIEW v SET TBLPROPERTIES ('a'='b')": "default.v -> EXCLUSIVE",
    "ALTER VIEW v RENAME TO d.v": "d -> SHARED_READ, default.v -> EXCLUSIVE",
    "DROP VIEW v": "default.v -> EXCLUSIVE",
    "DROP VIEW IF EXISTS nothing": "",
    "TRUNCATE TABLE whole": "default.whole -> EXCLUSIVE",
    "TRUNCATE TABLE acid PARTITION (p = 1)": "default.acid -> EXCLUSIVE",
    "TRUNCATE TABLE heap": "default.heap -> EXCLUSIVE",
    "LOAD DATA LOCAL INPATH '{tmp}/in' INTO TABLE whole": "default.whole -> SHARED_READ",
    "LOAD DATA LOCAL INPATH '{tmp}/in' INTO TABLE acid PARTITION (p = 1)": "default.acid.p=1 -> SHARED_READ",
    "LOAD DATA LOCAL INPATH '{tmp}/in' OVERWRITE INTO TABLE acid PARTITION (p = '02')": (
        "default.acid.p=2 -> EXCLUSIVE"
    ),
    "LOAD DATA LOCAL INPATH '{tmp}/in' INTO TABLE heap": "default.heap -> SHARED_READ",
    "ALTER TABLE acid RENAME TO d.acid": "d -> SHARED_READ, default.acid -> EXCLUSIVE",
    "ALTER TABLE plain RENAME TO other": "default -> SHARED_READ, default.plain -> EXCLUSIVE",
    "ALTER TABLE ext RENAME TO d.ext": "d -> SHARED_READ, default.ext -> EXCLUSIVE",
    "ALTER TABLE acid SET LOCATION '{tmp}/elsewhere'": "ALTER_REFUSED",
    "ALTER TABLE plain PARTITION (p = 1) SET LOCATION '{tmp}/elsewhere'": "default.plain -> EXCLUSIVE",
    "ALTER TABLE heap SET LOCATION '{tmp}/elsewhere'": "default.heap -> EXCLUSIVE",
    "ALTER TABLE acid SET FILEFORMAT PARQUET": "CANNOT_CHANGE_FILE_FORMAT",
    "ALTER TABLE heap CLUSTERED BY (k) INTO 2 BUCKETS": "default.heap -> EXCLUSIVE",
    "ALTER TABLE heap SET SERDEPROPERTIES ('a'='b')": "default.heap -> EXCLUSIVE",
    "ALTER TABLE heap NOT SORTED": "default.heap -> EXCLUSIVE",
    "ALTER TABLE heap INTO 2 BUCKETS": "NOT_BUCKETED",
    "ANALYZE TABLE acid PARTITION (p = 1) COMPUTE STATISTICS": (
        "default.acid -> EXCLUSIVE, default.acid -> SHARED_READ"
    ),
    "ANALYZE TABLE whole COMPUTE STATISTICS NOSCAN": "default.whole -> EXCLUSIVE",
    "ANALYZE TABLE v COMPUTE STATISTICS": "ANALYZE_VIEW",
    "ALTER TABLE acid COMPACT 'major'": "",
    "ALTER TABLE acid PARTITION (p = 1) COMPACT 'major'": "",
    "ALTER TABLE acid EXCHANGE PARTITION (p = 1) WITH TABLE plain": "EXCHANGE_TRANSACTIONAL",
    "ALTER TABLE plain EXCHANGE PARTITION (p = 5) WITH TABLE other_plain": (
        "default.other_plain -> EXCLUSIVE, default.plain -> EXCLUSIVE"
    ),
    "ALTER TABLE heap CONVERT TO ACID": "default.heap -> EXCLUSIVE",
    "ALTER TABLE heap SET TBLPROPERTIES ('transactional'='true')": "default.heap -> EXCLUSIVE",
    "ALTER TABLE plain SET TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')": (
        "default.plain -> EXCLUSIVE"
    ),
} | {
    statement.format(table): f"default.{table} -> EXCLUSIVE"
    for table in ("acid", "plain")
    for statement in (
        "MSCK REPAIR TABLE {}",
        "MSCK TABLE {} SYNC PARTITIONS",
        "ALTER TABLE {} ADD COLUMNS (v string)",
        "ALTER TABLE {} CHANGE COLUMN k k bigint",
        "ALTER TABLE {} CHANGE COLUMN k k int NOT NULL",
        "ALTER TABLE {} ADD CONSTRAINT ck CHECK (k > 0)",
        "ALTER TABLE {} DROP CONSTRAINT nn",
        "ALTER TABLE {} REPLACE COLUMNS (k int, v string)",
        "ALTER TABLE {} ADD PARTITION (p = 2)",
        "ALTER TABLE {} ADD IF NOT EXISTS PARTITION (p = 1)",
        "ALTER TABLE {} DROP PARTITION (p = 1)",
        "ALTER TABLE {} DROP IF EXISTS PARTITION (p > 7)",
        "ALTER TABLE {} PARTITION (p = 1) RENAME TO PARTITION (p = 2)",
        "ALTER TABLE {} PARTITION (p = 1) SET FILEFORMAT ORC",
        "ALTER TABLE {} SET SERDE 'org.apache.hadoop.hive.ql.io.orc.OrcSerde'",
        "ALTER TABLE {} UNSET SERDEPROPERTIES ('a')",
        "ALTER TABLE {} TOUCH PARTITION (p = 1)",
        "ALTER TABLE {} PARTITION (p = 1) UPDATE STATISTICS SET ('numRows'='5')",
        "ALTER TABLE {} UPDATE STATISTICS FOR COLUMN k SET ('numDVs'='5')",
        "ALTER TABLE {} SET OWNER ROLE r",
        "ALTER TABLE {} SET TBLPROPERTIES ('a'='b')",
        "ALTER TABLE {} UNSET TBLPROPERTIES IF EXISTS ('a')",
    )
}
"""The statement and its locks, or the condition of the error that its run raises."""


@pytest.fixture
def db(session: Session, tmp_path: Path) -> Session:
    for _ in session.script(SETUP):
        pass
    (tmp_path / "in").mkdir()
    orc.write_table(pa.table({"k": pa.array([1], pa.int32())}), tmp_path / "in" / "000000_0")
    return session


@pytest.fixture
def metastore(db: Session, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """The embedded metastore's file, which logs from now on each lock that is entered in its table."""
    with closing(sqlite3.connect(tmp_path / "metastore.db", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE requested (db TEXT, tbl TEXT, part TEXT, lock_type TEXT)")
        connection.execute(
            "CREATE TRIGGER log_locks AFTER INSERT ON hive_locks BEGIN"
            " INSERT INTO requested VALUES (new.db, new.tbl, new.part, new.lock_type); END"
        )
        yield connection


def requested(metastore: sqlite3.Connection) -> list[str]:
    """The locks that were requested, as EXPLAIN prints locks."""
    rows = metastore.execute("SELECT * FROM requested").fetchall()
    return sorted(f"{'.'.join(filter(None, names))} -> {kind}" for *names, kind in rows)


@pytest.mark.ci
@pytest.mark.parametrize("case", every(3, CASES))
def test_explain_prints_the_locks_that_the_run_requests(
    db: Session, metastore: sqlite3.Connection, tmp_path: Path, case: str
) -> None:
    statement = case.replace("{tmp}", str(tmp_path))
    if CASES[case].isidentifier():
        with pytest.raises(AcidSqlError) as caught:
            db.execute(statement)
        assert caught.value.condition == CASES[case]
        assert requested(metastore) == []
        return
    title, *printed = [str(row[0]) for row in db.execute(f"EXPLAIN LOCKS {statement}").rows()]
    assert title == "LOCK INFORMATION:"
    in_plan = db.explain(statement)
    assert requested(metastore) == [], "EXPLAIN locks nothing"
    db.execute(statement)
    assert printed == requested(metastore) == list(filter(None, CASES[case].split(", ")))
    if " AS SELECT" not in statement:
        assert [line.strip() for line in in_plan.splitlines() if " -> " in line] == printed


def test_the_cases_hold_every_ddl_statement_and_every_alter_action() -> None:
    parsed = [parse(case.replace("{tmp}", "")) for case in CASES]
    assert {type(p) for p in parsed} == set(get_args(DdlStatement))
    assert {type(p.action) for p in parsed if isinstance(p, s.AlterTable)} == set(get_args(s.AlterAction))


def test_the_plans_of_the_cases_have_every_step(db: Session, tmp_path: Path) -> None:
    found: set[type[object]] = set()
    for case in CASES:
        parsed = parse(case.replace("{tmp}", str(tmp_path)))
        assert isinstance(parsed, get_args(DdlStatement))
        if not CASES[case].isidentifier() and not (isinstance(parsed, s.CreateTable) and parsed.query is not None):
            definition = None
            if isinstance(parsed, s.CreateView | s.AlterView):
                definition = db._dispatch.plans.view_definition(parsed, Request(case, {}, {}))
            found |= {type(step) for step in db._dispatch.ddl.plan(parsed, "default", definition).steps}
    assert found == set(get_args(Step))
