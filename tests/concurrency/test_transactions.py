"""START TRANSACTION .. COMMIT | ROLLBACK: one snapshot with the transaction's own writes, which are atomic."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from acidsql.acid.table import Column, Table
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.errors import AcidSqlError
from acidsql.grammar import statements as s
from acidsql.grammar.parser import parse
from acidsql.metastore import heartbeat
from acidsql.metastore.heartbeat import Heartbeat
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.metastore.transactions import Transactions
from acidsql.planner.plan import Facts, WritePlan
from acidsql.planner.statement_planner import plan_statement
from acidsql.session import Session
from acidsql.spark.engine import Engine
from acidsql.storage.local_files import LocalFiles
from acidsql.writing.statement_transactions import write_target
from acidsql.writing.write_transaction import transaction
from tests.answers import rows
from tests.metastore.patience import eventually

TABLE = "(id int, v int) STORED AS ORC TBLPROPERTIES ('transactional'='true')"
PARTITIONED = "(id int, v int) PARTITIONED BY (p string) STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def one(session: Session) -> Session:
    session.execute(f"CREATE TABLE t {TABLE}")
    session.execute("INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)")
    return session


@pytest.fixture
def two(one: Session, open_session: Callable[[], Session]) -> Session:
    """Another session on the same tables; it does not wait long for locks."""
    other = open_session()
    other.execute("SET hive.lock.numretries=1")
    return other


def directories(session: Session, table: str = "t") -> list[str]:
    root = Path(session.warehouse, table)
    return sorted(str(p.relative_to(root)) for p in root.rglob("*delta_*") if p.is_dir())


def fails(condition: str, session: Session, sql: str) -> AcidSqlError:
    with pytest.raises(AcidSqlError) as caught:
        session.execute(sql)
    assert caught.value.condition == condition
    return caught.value


# -- what it sees and what others see
def test_a_transaction_sees_its_own_writes_and_others_see_them_after_the_commit(one: Session, two: Session) -> None:
    one.execute("START TRANSACTION")
    one.execute("INSERT INTO t VALUES (4, 40)")
    one.execute("UPDATE t SET v = v + 1 WHERE id IN (1, 4)")
    one.execute("DELETE FROM t WHERE id = 2")
    one.execute(
        "MERGE INTO t USING (SELECT 4 AS id UNION ALL SELECT 5) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET v = t.v + 100 WHEN NOT MATCHED THEN INSERT VALUES (s.id, 50)"
    )
    expected = [(1, 11), (3, 30), (4, 141), (5, 50)]
    assert rows(one) == expected
    assert rows(two) == [(1, 10), (2, 20), (3, 30)]
    committed = one.execute("COMMIT")
    assert committed.operation == "COMMIT"
    assert rows(one) == rows(two) == expected
    assert one.sql("SELECT count(DISTINCT row__id) FROM t").collect() == [(4,)]


def test_the_statement_ids_of_a_transaction_continue_under_one_write_id(one: Session) -> None:
    with one.transaction():
        one.execute("INSERT INTO t VALUES (4, 40)")
        one.execute("UPDATE t SET v = 0 WHERE id = 4")
        one.execute("DELETE FROM t WHERE id = 1")
        one.execute("INSERT INTO t VALUES (5, 50)")
    assert directories(one)[:2] == ["delete_delta_0000002_0000002_0001", "delete_delta_0000002_0000002_0002"]
    assert directories(one)[2:] == [
        "delta_0000001_0000001_0000",
        "delta_0000002_0000002_0000",
        "delta_0000002_0000002_0001",
        "delta_0000002_0000002_0003",
    ]
    assert rows(one) == [(2, 20), (3, 30), (4, 0), (5, 50)]


def test_a_statement_has_other_statement_ids_than_the_clauses_of_a_merge_before_it(tmp_path: Path) -> None:
    target = Table("default", "t", (Column("id", "int"),), f"{tmp_path}/t", properties={"transactional": "true"})
    facts = Facts("default", {target.qualified: target})
    merge = (
        "MERGE INTO t USING (SELECT 1 AS id) s ON t.id = s.id"
        " WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (s.id)"
    )
    with SqliteMetastore(tmp_path / "m.db", str(tmp_path)) as store:
        store.create_table(target)
        with transaction(Transactions(store), tuple) as txn:
            for text in (merge, "INSERT INTO t VALUES (2)", "DELETE FROM t"):
                statement = parse(text)
                assert isinstance(statement, s.Merge | s.Insert | s.Delete)
                plan = plan_statement(statement, facts)
                assert isinstance(plan, WritePlan)
                txn.begin(write_target(plan, (), txn, LocalFiles()))
                txn.end_statement()
    assert [write.target.statement_ids for write in txn.writes] == [[0, 1], [2], [3]]


def test_a_transaction_writes_several_tables_and_new_partitions(one: Session, two: Session) -> None:
    one.execute(f"CREATE TABLE p {PARTITIONED}")
    with one.transaction():
        one.execute("INSERT INTO p VALUES (1, 1, 'a'), (2, 2, 'b')")
        one.execute("UPDATE p SET v = 7, p = 'c' WHERE p = 'b'")
        one.execute("INSERT INTO p PARTITION (p = 'a') SELECT id, v FROM t WHERE id = 3")
        one.execute("DELETE FROM t WHERE id = 3")
        assert rows(one, "SELECT * FROM p ORDER BY id") == [(1, 1, "a"), (2, 7, "c"), (3, 30, "a")]
        assert rows(two, "SELECT * FROM p") == []
        assert rows(two, "SHOW PARTITIONS p") == []
    assert rows(two, "SELECT * FROM p ORDER BY id") == [(1, 1, "a"), (2, 7, "c"), (3, 30, "a")]
    assert rows(two, "SHOW PARTITIONS p") == [("p=a",), ("p=b",), ("p=c",)]
    assert rows(two) == [(1, 10), (2, 20)]


def test_the_first_statement_of_a_transaction_fixes_the_snapshot_of_all_tables(one: Session, two: Session) -> None:
    one.execute(f"CREATE TABLE u {TABLE}")
    one.execute("START TRANSACTION")
    two.execute("INSERT INTO t VALUES (4, 40)")  # before the first statement
    assert len(rows(one)) == 4
    two.execute("INSERT INTO t VALUES (5, 50)")
    two.execute("INSERT INTO u VALUES (1, 1)")
    assert len(rows(one)) == 4
    assert rows(one, "SELECT * FROM u") == []
    one.execute("COMMIT")
    assert len(rows(one)) == 5
    assert rows(one, "SELECT * FROM u") == [(1, 1)]


def test_an_overwrite_replaces_what_the_transaction_wrote_before(one: Session, two: Session) -> None:
    with one.transaction():
        one.execute("INSERT INTO t VALUES (4, 40)")
        one.execute("INSERT OVERWRITE TABLE t SELECT id, v FROM t WHERE id > 2")
        assert rows(one) == [(3, 30), (4, 40)]
    assert rows(two) == [(3, 30), (4, 40)]


def test_a_write_that_a_base_would_hide_is_refused(one: Session) -> None:
    one.execute("START TRANSACTION")
    one.execute("INSERT OVERWRITE TABLE t VALUES (1, 1)")
    fails("OVERWRITTEN_IN_TRANSACTION", one, "INSERT INTO t VALUES (2, 2)")
    assert rows(one) == [(1, 10), (2, 20), (3, 30)]


# -- how it ends
def test_a_rollback_leaves_nothing(one: Session) -> None:
    before = directories(one)
    one.execute("START TRANSACTION")
    one.execute("INSERT INTO t VALUES (4, 40)")
    one.execute("DELETE FROM t")
    assert rows(one) == []
    one.execute("ROLLBACK")
    assert rows(one) == [(1, 10), (2, 20), (3, 30)]
    assert directories(one) == before


def test_an_error_ends_the_transaction(one: Session) -> None:
    before = directories(one)
    one.execute("START TRANSACTION")
    one.execute("INSERT INTO t VALUES (4, 40)")
    error = fails("COLUMN_NOT_FOUND", one, "DELETE FROM t WHERE nope = 1")
    assert error.hint.endswith("was rolled back.")
    assert directories(one) == before
    assert fails("NO_TRANSACTION", one, "COMMIT").hive_code == 20008
    assert rows(one) == [(1, 10), (2, 20), (3, 30)]


def test_an_exception_in_the_block_rolls_back(one: Session) -> None:
    def work() -> None:
        with one.transaction():
            one.execute("INSERT INTO t VALUES (4, 40)")
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        work()
    assert rows(one) == [(1, 10), (2, 20), (3, 30)]
    one.execute("INSERT INTO t VALUES (5, 50)")


def test_closing_the_session_rolls_back(one: Session, open_session: Callable[[], Session]) -> None:
    other = open_session()
    other.execute("START TRANSACTION")
    other.execute("DELETE FROM t")
    other.close()
    assert len(rows(one)) == 3
    one.execute("DELETE FROM t WHERE id = 1")  # nobody holds a lock


@pytest.mark.parametrize(
    "statement",
    [
        "START TRANSACTION",
        f"CREATE TABLE u {TABLE}",
        "DROP TABLE t",
        "TRUNCATE TABLE t",
        "ALTER TABLE t ADD COLUMNS (w int)",
        "CREATE TABLE u AS SELECT * FROM t",
        "LOAD DATA INPATH '/nowhere' INTO TABLE t",
    ],
)
def test_ddl_and_a_transaction_inside_are_refused_and_the_transaction_goes_on(one: Session, statement: str) -> None:
    before = rows(one, "SELECT * FROM t")
    one.execute("START TRANSACTION")
    one.execute("INSERT INTO t VALUES (77, 7)")
    refused = fails("IN_TRANSACTION", one, statement)
    assert refused.hive_code == 20007
    assert f"Transaction {one.transaction_id} is still open." in str(refused)
    one.execute("COMMIT")
    assert sorted(rows(one, "SELECT * FROM t")) == sorted([*before, (77, 7)])


def test_a_plain_table_is_not_written_in_a_transaction(one: Session) -> None:
    """A write of a plain table cannot be undone."""
    one.execute("CREATE TABLE plain (id int) STORED AS ORC")
    one.execute("START TRANSACTION")
    fails("IN_TRANSACTION", one, "INSERT INTO plain VALUES (1)")
    one.execute("COMMIT")
    assert rows(one, "SELECT * FROM plain") == []


SLOW = "UPDATE t SET v = v + 1 WHERE id IN (SELECT r.id % 7 FROM range(1000000000000) r WHERE r.id % 1000003 = 5)"


@contextmanager
def beside(one: Session, metastore: SqliteMetastore, *, begun: bool) -> Iterator[Session]:
    """Another session on the tables of `one`, with a connection to its metastore; in a transaction if `begun`."""
    with metastore, Session(one.warehouse, metastore, Engine(one.spark, {})) as other:
        if begun:
            other.execute("START TRANSACTION")
        yield other


def assert_lost(error: BaseException | None, session: Session, before: list[str]) -> None:
    """The error says that the transaction was aborted, and nothing is left of its statement."""
    assert isinstance(error, AcidSqlError)
    assert error.condition == "TRANSACTION_ABORTED"
    assert directories(session) == before
    assert list(Path(session.warehouse, "t").glob(".acidsql*")) == []


@pytest.fixture
def frequent_heartbeats(monkeypatch: pytest.MonkeyPatch) -> None:
    """A heartbeat every 0.3 seconds. A transaction still times out after minutes only."""
    monkeypatch.setattr(heartbeat, "_BEATS", 1000)


@pytest.mark.usefixtures("frequent_heartbeats")
@pytest.mark.parametrize("begun", [False, True])
def test_a_statement_whose_transaction_is_gone_stops_and_says_so(one: Session, tmp_path: Path, begun: bool) -> None:
    before = directories(one)
    metastore = SqliteMetastore(tmp_path / "metastore.db", "/w")
    with beside(one, metastore, begun=begun) as other, ThreadPoolExecutor() as pool:
        running = pool.submit(other.execute, SLOW)
        eventually(lambda: bool(one._metastore.locks()))
        (txn,) = {lock.txn for lock in one._metastore.locks()}
        one.execute(f"ABORT TRANSACTIONS {txn}")
        error = running.exception(240)
    assert_lost(error, one, before)


class LateMetastore(SqliteMetastore):
    """Aborts a transaction that asks for a write ID, and answers when the session has `noticed` that."""

    noticed: threading.Event

    def allocate_write_id(self, txn: TxnId, table: Table) -> WriteId:
        write_id = super().allocate_write_id(txn, table)
        self.abort(txn)
        assert self.noticed.wait(60)
        return write_id


@pytest.mark.usefixtures("frequent_heartbeats")
@pytest.mark.parametrize("begun", [False, True])
def test_jobs_that_start_after_the_transaction_is_gone_end_too(
    one: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begun: bool
) -> None:
    before = directories(one)
    metastore = LateMetastore(tmp_path / "metastore.db", "/w")
    metastore.noticed = threading.Event()
    insist = Heartbeat._insist

    def watched(beats: Heartbeat, on_lost: Callable[[], None]) -> None:
        def lost() -> None:
            on_lost()
            metastore.noticed.set()

        insist(beats, lost)

    monkeypatch.setattr(Heartbeat, "_insist", watched)
    with beside(one, metastore, begun=begun) as other, pytest.raises(AcidSqlError) as caught:
        other.execute(SLOW)
    assert_lost(caught.value, one, before)


# -- others at the same time
def test_no_update_is_lost(one: Session, two: Session) -> None:
    """Both have read 10. The second may not write 11 over the first one's 11."""
    for session in (one, two):
        session.execute("START TRANSACTION")
        assert rows(session)[0] == (1, 10)
    one.execute("UPDATE t SET v = v + 1 WHERE id = 1")
    one.execute("COMMIT")
    error = fails("WRITE_CONFLICT", two, "UPDATE t SET v = v + 1 WHERE id = 1")
    assert error.message.startswith("Aborting [txnid:")
    two.execute("UPDATE t SET v = v + 1 WHERE id = 1")
    assert rows(one)[0] == (1, 12)


@pytest.mark.parametrize("first", ["SELECT 1", "SELECT current_date()", "SELECT * FROM range(3)"])
def test_no_update_is_lost_behind_a_query_that_locks_nothing(first: str, one: Session, two: Session) -> None:
    """Such a query does not fix the snapshot: it would be older than the locks by which conflicts are found."""
    one.execute("START TRANSACTION")
    rows(one, first)
    two.execute("UPDATE t SET v = v + 5 WHERE id = 1")
    one.execute("UPDATE t SET v = v - 1 WHERE id = 1")
    rows(one, first)
    one.execute("COMMIT")
    assert rows(two) == [(1, 14), (2, 20), (3, 30)]


def test_a_writer_waits_for_another_one_until_it_commits(one: Session, two: Session) -> None:
    one.execute("START TRANSACTION")
    one.execute("UPDATE t SET v = 0 WHERE id = 1")
    error = fails("LOCK_TIMEOUT", two, "DELETE FROM t WHERE id = 3")
    assert "holds EXCL_WRITE" in error.message
    two.execute("INSERT INTO t VALUES (4, 40)")  # inserts and reads do not wait
    assert rows(two) == [(1, 10), (2, 20), (3, 30), (4, 40)]
    one.execute("COMMIT")
    two.execute("DELETE FROM t WHERE id = 3")
    assert rows(one) == [(1, 0), (2, 20), (4, 40)]


def test_an_overwrite_does_not_hide_an_insert_that_it_did_not_see(one: Session, two: Session) -> None:
    one.execute("START TRANSACTION")
    assert len(rows(one, "SELECT 1 FROM t")) == 3
    one.execute("COMMIT")
    one.execute(f"CREATE TABLE u {TABLE}")
    one.execute("START TRANSACTION")
    assert rows(one, "SELECT * FROM u") == []  # the snapshot
    winner = two.execute("INSERT INTO t VALUES (4, 40)").txn_id
    mine = one._engines.session_transaction.id
    error = fails("WRITE_CONFLICT", one, "INSERT OVERWRITE TABLE t VALUES (9, 9)")
    assert error.message.startswith(
        f"Aborting [txnid:{mine},{winner}] due to a write conflict on default/t committed by"
    )
    assert error.message.endswith(f" [txnid:{winner},{winner}] u/i")
    assert rows(two) == [(1, 10), (2, 20), (3, 30), (4, 40)]


def test_write_skew_is_possible_as_under_any_snapshot_isolation(one: Session, two: Session) -> None:
    """Each reads what the other one writes, and writes another table: neither waits, both commit. What is guaranteed
    is snapshot isolation, not serializability."""
    one.execute(f"CREATE TABLE u {TABLE}")
    one.execute("INSERT INTO u VALUES (1, 1)")
    for session in (one, two):
        session.execute("START TRANSACTION")
        assert rows(session, "SELECT t.v + u.v FROM t JOIN u ON t.id = u.id") == [(11,)]
    one.execute("UPDATE t SET v = 0 WHERE id = 1")
    two.execute("UPDATE u SET v = 0 WHERE id = 1")
    one.execute("COMMIT")
    two.execute("COMMIT")
    assert rows(one, "SELECT t.v + u.v FROM t JOIN u ON t.id = u.id") == [(0,)]


def test_if_writers_share_a_lock_the_first_committer_wins(one: Session, two: Session) -> None:
    for session in (one, two):
        session.execute("SET hive.txn.xlock.write=false")
        session.execute("START TRANSACTION")
        session.execute("UPDATE t SET v = v + 1 WHERE id = 1")  # nobody waits
    two.execute("COMMIT")
    error = fails("WRITE_CONFLICT", one, "COMMIT")
    assert " due to a write conflict on default/t committed by " in error.message
    assert error.message.endswith(" u/u")
    assert rows(one)[0] == (1, 11)
    assert len(directories(one)) == 3  # the loser's files are gone


MERGE_OF_A_NEW_KEY = """MERGE INTO p USING (SELECT {old} AS id, '{of}' AS p UNION ALL SELECT 8, 'z') s ON p.id = s.id
    WHEN MATCHED THEN UPDATE SET v = v + 1 WHEN NOT MATCHED THEN INSERT VALUES (s.id, 0, s.p)"""


@pytest.mark.ci
@pytest.mark.parametrize("waits", [True, False])
def test_merges_that_insert_the_same_key_into_a_partition_conflict(waits: bool, one: Session, two: Session) -> None:
    """They update rows of other partitions. The partition that they only insert into counts as updated as well."""
    one.execute(f"CREATE TABLE p {PARTITIONED}")
    one.execute("INSERT INTO p VALUES (1, 1, 'a'), (2, 2, 'b')")
    for session in (one, two):
        session.execute(f"SET hive.txn.xlock.write={str(waits).lower()}")
        session.execute("START TRANSACTION")
        assert len(rows(session, "SELECT * FROM p")) == 2
    two.execute(MERGE_OF_A_NEW_KEY.format(old=2, of="b"))
    if waits:
        two.execute("COMMIT")
        fails("WRITE_CONFLICT", one, MERGE_OF_A_NEW_KEY.format(old=1, of="a"))
    else:
        one.execute(MERGE_OF_A_NEW_KEY.format(old=1, of="a"))
        two.execute("COMMIT")
        fails("WRITE_CONFLICT", one, "COMMIT")
    assert rows(two, "SELECT * FROM p ORDER BY id") == [(1, 1, "a"), (2, 3, "b"), (8, 0, "z")]


# -- a lazy frame of a transaction
def test_a_frame_of_a_transaction_reads_the_same_after_its_end(one: Session, two: Session) -> None:
    with one.transaction():
        one.execute("INSERT INTO t VALUES (4, 40)")
        frame = one.sql("SELECT id FROM t")
        two.execute("INSERT INTO t VALUES (5, 50)")
    assert sorted(row.id for row in frame.collect()) == [1, 2, 3, 4]


# -- SHOW and ABORT
def test_open_transactions_are_shown_and_can_be_aborted(one: Session, two: Session) -> None:
    begun = one.execute("START TRANSACTION").txn_id
    one.execute("UPDATE t SET v = 0")
    shown = two.execute("SHOW TRANSACTIONS")
    assert [c.name for c in shown.columns or ()] == [
        "txnid",
        "state",
        "startedtime",
        "lastheartbeattime",
        "user",
        "host",
    ]
    assert (str(begun), "OPEN") in [row[:2] for row in shown.rows()]
    (lock,) = two.execute("SHOW LOCKS t EXTENDED").rows()
    assert lock[1:5] == ("default", "t", None, "ACQUIRED")
    assert lock[6:8] == ("EXCL_WRITE", str(begun))
    aborted = two.execute(f"ABORT TRANSACTIONS {begun} 999")
    assert list(aborted.rows()) == [(str(begun), "aborted"), ("999", "not open")]
    assert list(two.execute("SHOW LOCKS").rows()) == []
    error = fails("TRANSACTION_ABORTED", one, "INSERT INTO t VALUES (4, 40)")
    assert error.hive_code == 10263
    assert rows(one) == [(1, 10), (2, 20), (3, 30)]
    assert directories(one) == ["delta_0000001_0000001_0000"]
    assert (str(begun), "ABORTED") in [row[:2] for row in two.execute("SHOW TRANSACTIONS").rows()]


def test_show_locks_of_a_partition(one: Session, two: Session) -> None:
    one.execute(f"CREATE TABLE p {PARTITIONED}")
    one.execute("INSERT INTO p VALUES (1, 1, 'a'), (2, 2, 'b/c')")
    one.execute("START TRANSACTION")
    one.execute("DELETE FROM p WHERE p = 'b/c'")
    assert [row[3] for row in two.execute("SHOW LOCKS p").rows()] == ["p=b%2Fc"]
    assert len(list(two.execute("SHOW LOCKS p PARTITION (p = 'b/c')").rows())) == 1
    assert list(two.execute("SHOW LOCKS p PARTITION (p = 'a')").rows()) == []
    two.execute("UPDATE p SET v = 5 WHERE p = 'a'")  # another partition: nobody waits
    fails("LOCK_TIMEOUT", two, "UPDATE p SET v = 5 WHERE p = 'b/c'")
    one.execute("COMMIT")
    assert rows(two, "SELECT * FROM p") == [(1, 5, "a")]


def test_the_number_of_open_transactions_has_a_limit(one: Session, two: Session) -> None:
    one.execute("START TRANSACTION")
    two.execute("SET hive.max.open.txns=1")
    assert "hive.max.open.txns" in fails("TOO_MANY_TRANSACTIONS", two, "DELETE FROM t").message
    one.execute("ROLLBACK")
    two.execute("DELETE FROM t")


# -- conflicts by row
@pytest.fixture
def by_row(one: Session, two: Session) -> tuple[Session, Session]:
    for session in (one, two):
        session.execute("SET hive.txn.xlock.write=false")
        session.execute("SET acidsql.conflict.detection=row")
    return one, two


def begin(*sessions: Session) -> None:
    for session in sessions:
        session.execute("START TRANSACTION")
        assert rows(session)


def test_writers_of_different_rows_both_commit(by_row: tuple[Session, Session]) -> None:
    one, two = by_row
    begin(one, two)
    one.execute("UPDATE t SET v = v + 1 WHERE id = 1")
    two.execute("UPDATE t SET v = v + 1 WHERE id = 2")
    two.execute("DELETE FROM t WHERE id = 3")
    one.execute("COMMIT")
    two.execute("COMMIT")
    assert rows(one) == [(1, 11), (2, 21)]


@pytest.mark.parametrize(
    "second", ["DELETE FROM t WHERE id < 3", "UPDATE t SET v = 0", "INSERT OVERWRITE TABLE t VALUES (9, 9)"]
)
def test_writers_of_the_same_row_conflict(by_row: tuple[Session, Session], second: str) -> None:
    one, two = by_row
    begin(one, two)
    one.execute("UPDATE t SET v = v + 1 WHERE id = 1")
    if "OVERWRITE" in second:
        one.execute("COMMIT")
        fails("WRITE_CONFLICT", two, second)
    else:
        two.execute(second)
        one.execute("COMMIT")
        fails("WRITE_CONFLICT", two, "COMMIT")
    assert rows(two) == [(1, 11), (2, 20), (3, 30)]
    assert len(directories(one)) == 3


def test_row_ids_of_different_partitions_do_not_conflict(by_row: tuple[Session, Session]) -> None:
    one, two = by_row
    one.execute(f"CREATE TABLE p {PARTITIONED}")
    one.execute("INSERT INTO p VALUES (1, 1, 'a'), (2, 2, 'b')")
    begin(one, two)
    one.execute("UPDATE p SET v = 7 WHERE id = 1")
    two.execute("UPDATE p SET v = 8 WHERE id = 2")
    one.execute("COMMIT")
    two.execute("COMMIT")
    assert rows(one, "SELECT * FROM p ORDER BY id") == [(1, 7, "a"), (2, 8, "b")]


def test_merges_that_insert_take_turns_also_with_row_conflicts(by_row: tuple[Session, Session]) -> None:
    one, two = by_row
    merge = "MERGE INTO t USING (SELECT 8 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (8, 8)"
    one.execute("START TRANSACTION")
    one.execute(merge)
    fails("LOCK_TIMEOUT", two, merge)
    one.execute("COMMIT")
    two.execute(merge)
    assert rows(one, "SELECT * FROM t WHERE id = 8") == [(8, 8)]


def test_a_merge_that_inserts_does_not_commit_on_a_snapshot_before_another_one(by_row: tuple[Session, Session]) -> None:
    """The other one has deleted no row, so that the row IDs alone show no conflict."""
    one, two = by_row
    merge = "MERGE INTO t USING (SELECT 8 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (8, 8)"
    begin(one)
    two.execute(merge)
    fails("WRITE_CONFLICT", one, merge)
    assert rows(two, "SELECT * FROM t WHERE id = 8") == [(8, 8)]


# -- SET AUTOCOMMIT
def test_without_autocommit_a_statement_begins_a_transaction_that_the_user_ends(one: Session, two: Session) -> None:
    one.execute("SET AUTOCOMMIT FALSE")
    assert not one.autocommit
    assert one.transaction_id is None
    one.execute("SHOW TABLES")
    assert one.transaction_id is None  # only queries and DML begin one
    one.execute("DELETE FROM t WHERE id = 1")
    assert one.transaction_id is not None
    assert len(rows(two)) == 3
    one.execute("ROLLBACK")
    assert rows(one) == [(1, 10), (2, 20), (3, 30)]
    one.execute("COMMIT")  # the query began one, too
    one.execute("DELETE FROM t WHERE id = 2")
    assert one.execute("SET AUTOCOMMIT TRUE").txn_id is not None
    assert rows(two) == [(1, 10), (3, 30)]
    one.execute("DELETE FROM t WHERE id = 3")
    assert one.transaction_id is None
    assert rows(two) == [(1, 10)]
    assert one.execute("set autocommit true").txn_id is None


def test_a_statement_that_fails_leaves_no_transaction_that_it_alone_has_begun(one: Session) -> None:
    one.keeps_transaction = True
    one.execute("SET AUTOCOMMIT FALSE")
    error = fails("SET_COLUMN_NOT_FOUND", one, "UPDATE t SET w = 1")
    assert one.transaction_id is None
    assert "Transaction" not in error.hint
    one.execute("DELETE FROM t WHERE id = 1")
    fails("SET_COLUMN_NOT_FOUND", one, "UPDATE t SET w = 1")
    with pytest.raises(AcidSqlError, match="IN_TRANSACTION"):
        one.autocommit = True
    one.execute("SET AUTOCOMMIT TRUE")
    assert rows(one) == [(2, 20), (3, 30)]
