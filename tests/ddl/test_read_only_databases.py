"""Databases with the property `readonly`: statements that write to them are refused, as by Hive's hook."""

from __future__ import annotations

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
WRITES = (
    "INSERT INTO r.t VALUES (2)",
    "UPDATE r.t SET id = 2",
    "DELETE FROM r.t",
    "MERGE INTO r.t USING other o ON t.id = o.id WHEN NOT MATCHED THEN INSERT VALUES (o.id)",
    "FROM other INSERT INTO r.t SELECT id INSERT INTO more SELECT id",
    "LOAD DATA LOCAL INPATH '/nowhere' INTO TABLE r.t",
    "TRUNCATE TABLE r.t",
    "CREATE TABLE r.n (id int)",
    "CREATE TABLE r.n AS SELECT 1 AS id",
    "CREATE VIEW r.w AS SELECT 1 AS id",
    "ALTER VIEW r.v AS SELECT 1 AS id",
    "DROP VIEW r.v",
    "DROP TABLE r.t",
    "ALTER TABLE r.t ADD COLUMNS (v int)",
    "ALTER TABLE other RENAME TO r.other",
    "ALTER TABLE r.t COMPACT 'major'",
    "ANALYZE TABLE r.t COMPUTE STATISTICS",
    "MSCK REPAIR TABLE r.t",
    "DROP DATABASE r CASCADE",
    "ALTER DATABASE r SET OWNER USER bob",
    "ALTER DATABASE r SET DBPROPERTIES ('readonly'='TRUE')",
)


def test_a_read_only_database_is_read_and_not_written(session: Session) -> None:
    for statement in (
        "CREATE DATABASE r",
        f"CREATE TABLE r.t (id int) {ACID}",
        "CREATE VIEW r.v AS SELECT id FROM r.t",
        "INSERT INTO r.t VALUES (1)",
        f"CREATE TABLE other (id int) {ACID}",
        f"CREATE TABLE more (id int) {ACID}",
        "ALTER DATABASE r SET DBPROPERTIES ('readonly'='True', 'a'='b')",
    ):
        session.execute(statement)
    for statement in WRITES:
        with pytest.raises(AcidSqlError) as caught:
            session.execute(statement)
        assert caught.value.condition == "READ_ONLY_DATABASE", statement
        assert caught.value.message == "A write operation is disallowed on a read-only database."
        assert caught.value.span is not None
    session.execute("USE r")
    with pytest.raises(AcidSqlError, match="read-only database"):
        session.execute("INSERT INTO t VALUES (2)")
    for statement in ("SHOW TABLES", "DESCRIBE t", "EXPLAIN INSERT INTO t VALUES (2)"):
        session.execute(statement)
    session.execute("INSERT INTO default.other SELECT id FROM v")
    session.execute("ALTER DATABASE r SET DBPROPERTIES ('a'='c')")
    session.execute("ALTER DATABASE r SET DBPROPERTIES ('readonly'='false')")
    session.execute("INSERT INTO t VALUES (2)")
    assert sorted(session.execute("SELECT id FROM t").rows()) == [(1,), (2,)]
    assert list(session.execute("SELECT id FROM default.other").rows()) == [(1,)]
