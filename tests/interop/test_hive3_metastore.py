"""A metastore of Hive 3.1.3: what works on it, and what is one clear error because it has no call for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.locks import Patience
from acidsql.metastore.registry import open_hive
from acidsql.session import Session, connect
from tests.answers import fails, rows
from tests.interop.hive3_metastore import Hive3Metastore

pytestmark = [pytest.mark.hive, pytest.mark.nightly, pytest.mark.timeout(1500)]
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def on_hive3(hive3: Hive3Metastore) -> Iterator[Session]:
    """A session without Spark. Its table `t` is not there before and after."""
    with connect(metastore=hive3.metastore_uri) as session:
        session.execute("DROP TABLE IF EXISTS t")
        yield session
        session.execute("DROP TABLE IF EXISTS t")


def test_tables_with_constraints_and_row_level_writes(on_hive3: Session) -> None:
    on_hive3.execute(f"CREATE TABLE t (id int NOT NULL, v string DEFAULT 'd') {ACID}")
    on_hive3.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    on_hive3.execute("UPDATE t SET v = 'u' WHERE id = 2")
    on_hive3.execute("DELETE FROM t WHERE id = 1")
    assert on_hive3.read_arrow("t").read_all().sort_by("id").to_pydict() == {"id": [2, 3], "v": ["u", "c"]}
    on_hive3.execute("ALTER TABLE t SET TBLPROPERTIES ('k'='v')")
    on_hive3.execute("ALTER TABLE t ADD COLUMNS (w int)")
    assert on_hive3.read_arrow("t", ["w"]).read_all().to_pydict() == {"w": [None, None]}


def test_every_kind_of_write_by_spark(hive3: Hive3Metastore, spark: SparkSession) -> None:
    with connect(metastore=hive3.metastore_uri, spark=spark) as session:
        session.execute("SET acidsql.driver.write.max.bytes=0")
        session.execute(f"CREATE TABLE t (id int, v string) PARTITIONED BY (p string) {ACID}")
        session.execute("INSERT INTO t SELECT CAST(id AS INT), 'a', CAST(id % 2 AS STRING) FROM range(100)")
        session.execute("UPDATE t SET v = 'u' WHERE id < 10")
        session.execute("DELETE FROM t WHERE id >= 90")
        merged = session.execute(
            "MERGE INTO t USING (SELECT CAST(id AS INT) AS k FROM range(5, 95)) s ON t.id = s.k"
            " WHEN MATCHED AND t.v = 'u' THEN DELETE WHEN MATCHED AND s.k >= 80 THEN UPDATE SET v = 'm'"
            " WHEN NOT MATCHED THEN INSERT VALUES (s.k, 'n', 'new')"
        )
        assert merged.counts is not None
        assert (merged.counts.updated, merged.counts.deleted, merged.counts.inserted) == (10, 5, 5)
        found = "SELECT v, count(*), count(DISTINCT id) FROM t GROUP BY v ORDER BY v"
        assert rows(session, found) == [("a", 70, 70), ("m", 10, 10), ("n", 5, 5), ("u", 5, 5)]
        session.execute("ALTER TABLE t PARTITION (p = 'new') RENAME TO PARTITION (p = '2')")
        session.execute("INSERT OVERWRITE TABLE t PARTITION (p) SELECT * FROM t WHERE p = '2' AND id < 92")
        assert rows(session, "SELECT id FROM t WHERE v = 'n' ORDER BY id") == [(90,), (91,)]
        session.execute(f"CREATE TABLE copied {ACID} AS SELECT id, v FROM t WHERE v <> 'a'")
        assert rows(session, "SELECT count(*) FROM copied") == [(17,)]
        for name in ("t", "copied"):
            session.execute(f"DROP TABLE {name}")


def test_a_transaction_sees_its_writes_and_a_rollback_leaves_none(on_hive3: Session) -> None:
    on_hive3.execute(f"CREATE TABLE t (id int, v string) {ACID}")
    on_hive3.execute("START TRANSACTION")
    on_hive3.execute("INSERT INTO t VALUES (1, 'a')")
    assert on_hive3.read_arrow("t").read_all().num_rows == 1
    on_hive3.execute("ROLLBACK")
    assert on_hive3.read_arrow("t").read_all().num_rows == 0


def test_a_write_of_a_transaction_that_has_ended_says_so(hive3: Hive3Metastore, on_hive3: Session) -> None:
    """Hive 3 ends the connection where a transaction that has ended asks for a write ID."""
    on_hive3.execute(f"CREATE TABLE t (id int) {ACID}")
    with open_hive(hive3.metastore_uri) as store:
        txn = store.open_txn()
        store.abort(txn)
        fails("TRANSACTION_ABORTED", lambda: store.allocate_write_id(txn, store.table("default", "t")))


def test_a_second_writer_of_a_table_waits_and_readers_do_not(hive3: Hive3Metastore) -> None:
    store = open_hive(hive3.metastore_uri)
    first, second = store.open_txn(), store.open_txn()
    update = LockComponent("default", "t", LockType.EXCL_WRITE, Operation.UPDATE)
    read = LockComponent("default", "t", LockType.SHARED_READ, Operation.SELECT)
    store.lock(first, (update,), patience=Patience(0, 0.1))
    store.lock(store.open_txn(read_only=True), (read,), patience=Patience(0, 0.1))
    fails("LOCK_TIMEOUT", lambda: store.lock(second, (update,), patience=Patience(1, 0.1)))
    for txn in store.transactions():
        if txn.is_open:
            store.abort(txn.id)
    store.close()


def test_what_hive_3_has_no_call_for_is_refused_before_anything_is_written(on_hive3: Session) -> None:
    on_hive3.execute(f"CREATE TABLE t (id int) {ACID}")
    fails("NOT_YET_SUPPORTED", lambda: on_hive3.stream("t", id="orders"))
    on_hive3.execute("ALTER TABLE t COMPACT 'minor'")
    fails("NOT_YET_SUPPORTED", lambda: on_hive3.execute("ALTER TABLE t COMPACT 'minor' AND WAIT"))
    fails("NOT_YET_SUPPORTED", lambda: on_hive3.execute("ABORT COMPACTIONS 1"))
    (waiting,) = on_hive3._metastore.compactions()
    assert waiting.state.value == "initiated"
    assert on_hive3.read_arrow("t").read_all().num_rows == 0
