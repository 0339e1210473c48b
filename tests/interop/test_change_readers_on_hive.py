"""Readers of changes on a real Hive Metastore, which commits their places as it does the offsets of streams."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from acidsql.connection import connect
from acidsql.session import Session
from tests.answers import fails, rows
from tests.interop.hive_client import Hive

pytestmark = [pytest.mark.hive, pytest.mark.nightly, pytest.mark.timeout(1500)]
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def session(hive: Hive, spark: SparkSession) -> Iterator[Session]:
    with connect(metastore=hive.metastore_uri, spark=spark) as opened:
        for table in ("read_t", "read_copy"):
            opened.execute(f"DROP TABLE IF EXISTS {table}")
            opened.execute(f"CREATE TABLE {table} (id int, v string) {ACID}")
        yield opened
        for table in ("read_t", "read_copy"):
            opened.execute(f"DROP TABLE IF EXISTS {table}")


def follow(session: Session) -> None:
    with session.transaction():
        changes = session.changes(
            "read_t", since="copy", deduplication_mode="netChanges", compute_updates=True, row_id="id"
        )
        session.execute(
            "MERGE INTO read_copy c USING (SELECT * FROM {changes} WHERE _change_type <> 'update_preimage') s"
            " ON c.id = s.id WHEN MATCHED AND s._change_type = 'delete' THEN DELETE"
            " WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v)",
            frames={"changes": changes},
        )


def test_a_copy_follows_a_table_on_a_hive_metastore(session: Session, hive: Hive, spark: SparkSession) -> None:
    session.execute("INSERT INTO read_t VALUES (1, 'a'), (2, 'b')")
    follow(session)
    with connect(metastore=hive.metastore_uri, spark=spark) as late:
        late.execute("START TRANSACTION")
        late.execute("INSERT INTO read_t VALUES (3, 'late')")
        session.execute("UPDATE read_t SET v = 'B' WHERE id = 2")
        follow(session)
        assert rows(session, "SELECT * FROM read_copy ORDER BY id") == [(1, "a"), (2, "B")]
        late.execute("COMMIT")
        session.execute("START TRANSACTION")
        assert session.changes("read_t", since="copy").count() == 1
        late.execute("START TRANSACTION")
        fails("STREAM_IN_USE", lambda: late.changes("read_t", since="copy"))
        late.execute("ROLLBACK")
        session.execute("ROLLBACK")
    session.execute("DELETE FROM read_t WHERE id = 1")
    follow(session)
    assert rows(session, "SELECT * FROM read_copy ORDER BY id") == [(2, "B"), (3, "late")]
    assert session.changes("read_t", since="copy").count() == 0
    session.forget_changes("read_t", since="copy")
    assert session.changes("read_t", since="copy").count() == 2
