"""`sys.compactions`, `sys.locks` and `sys.transactions`: what SHOW lists, as relations of a query."""

from __future__ import annotations

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session


def _rows(session: Session, query: str) -> list[tuple[object, ...]]:
    return list(session.execute(query).rows())


def _refused(session: Session, statement: str) -> str:
    with pytest.raises(AcidSqlError) as caught:
        session.execute(statement)
    return caught.value.condition


@pytest.mark.ci
def test_locks_transactions_and_compactions_can_be_selected_from(session: Session) -> None:
    session.execute("CREATE TABLE t (a INT) PARTITIONED BY (p STRING) TBLPROPERTIES ('transactional'='true')")
    session.execute(r"INSERT INTO t PARTITION (p='it\'s') VALUES (1)")
    session.execute(r"INSERT INTO t PARTITION (p='it\'s') VALUES (2)")
    session.execute(r"ALTER TABLE t PARTITION (p='it\'s') COMPACT 'major' AND WAIT")
    session.execute("START TRANSACTION")
    session.execute("INSERT INTO t PARTITION (p='x') VALUES (1)")
    txn = session.transaction_id
    held = "SELECT DISTINCT l.db, l.`table`, lock_type, lock_state, txnid FROM sys.locks l WHERE `table` = 't'"
    assert _rows(session, held) == [("default", "t", "shared_read", "acquired", txn)]
    joined = "SELECT DISTINCT t.state FROM SYS.Locks JOIN sys.transactions AS t ON txnid = txn_id"
    assert _rows(session, joined) == [("open",)]
    assert _rows(session, f"SELECT started RLIKE '^[0-9]{{4}}-' FROM sys.transactions WHERE txn_id = {txn}") == [
        (True,)
    ]
    session.execute("COMMIT")
    done = "SELECT c_id, c_table, c_partition, c_type, c_state, c_duration >= 0 FROM sys.compactions"
    assert _rows(session, done) == [(1, "t", "p=it%27s", "major", "succeeded", True)]
    assert _rows(session, "SELECT count(*) FROM sys.locks WHERE `table` = 't'") == [(0,)]


def test_they_are_views_that_nothing_writes_to_and_a_table_of_the_name_stays(session: Session) -> None:
    assert ("blockedby_ext_id", "bigint") in [row[:2] for row in _rows(session, "DESCRIBE sys.locks")]
    assert _refused(session, "INSERT INTO sys.locks VALUES (1)") == "INSERT_INTO_VIEW"
    assert _refused(session, "DELETE FROM sys.transactions WHERE txn_id = 1") == "WRITE_TO_VIEW"
    assert _refused(session, "SELECT * FROM sys.tables") == "TABLE_NOT_FOUND"
    session.execute("CREATE DATABASE sys")
    session.execute("CREATE TABLE sys.locks (mine INT)")
    assert [row[0] for row in _rows(session, "DESCRIBE sys.locks")] == ["mine"]
