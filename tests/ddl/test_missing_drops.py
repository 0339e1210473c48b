"""DROP of what does not exist: hive.exec.drop.ignorenonexistent."""

from __future__ import annotations

import pytest

from acidsql.session import Session
from tests.answers import fails

DROPS = {
    "DROP TABLE gone": "TABLE_NOT_FOUND",
    "DROP TABLE nowhere.gone PURGE": "DATABASE_NOT_FOUND",
    "DROP VIEW gone": "TABLE_NOT_FOUND",
    "ALTER TABLE p DROP PARTITION (k = 7)": "PARTITION_NOT_FOUND",
}


@pytest.fixture
def db(session: Session) -> Session:
    session.execute("CREATE TABLE p (id int) PARTITIONED BY (k int) STORED AS ORC")
    session.execute("CREATE VIEW v AS SELECT id FROM p")
    return session


@pytest.mark.parametrize("statement", DROPS)
def test_a_drop_of_what_does_not_exist_is_an_error_only_if_the_setting_says_so(db: Session, statement: str) -> None:
    db.execute(statement)
    db.execute("SET hive.exec.drop.ignorenonexistent = false")
    fails(DROPS[statement], lambda: db.execute(statement))
    db.execute("SET hive.exec.drop.ignorenonexistent = TRUE")
    db.execute(statement)


def test_the_setting_hides_no_other_mistake(db: Session) -> None:
    fails("WRONG_DROP", lambda: db.execute("DROP TABLE v"))
    fails("WRONG_DROP", lambda: db.execute("DROP VIEW p"))
    fails("DATABASE_NOT_FOUND", lambda: db.execute("DROP DATABASE gone"))
    fails("TABLE_NOT_FOUND", lambda: db.execute("TRUNCATE TABLE gone"))
    fails("TABLE_NOT_FOUND", lambda: db.execute("ALTER TABLE gone DROP PARTITION (k = 7)"))
    fails("PARTITION_COLUMN_UNKNOWN", lambda: db.execute("ALTER TABLE p DROP PARTITION (id = 7)"))
    assert [row[0] for row in db.execute("SHOW TABLES").rows()] == ["p", "v"]
