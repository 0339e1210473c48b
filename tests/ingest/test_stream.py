"""Streams: what they commit is there once, whatever happens between two commits."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

from acidsql.errors import AcidSqlError
from acidsql.ingest import stream_options, stream_writer
from acidsql.ingest.striped_file import StripedFile
from acidsql.metastore.catalog import Partition
from acidsql.session import Session
from tests.answers import counts, fails
from tests.embedded_metastore import store_of
from tests.metastore.clock import Clock
from tests.metastore.patience import eventually

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = "STORED AS ORC TBLPROPERTIES ('transactional'='true','transactional_properties'='insert_only')"


def ids(session: Session, table: str = "t") -> list[int]:
    return sorted(row.id for row in session.sql(f"SELECT id FROM {table}").collect())


def files(session: Session, table: str = "t") -> list[str]:
    root = Path(session.warehouse, table)
    return sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file())


@pytest.fixture
def table(session: Session, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setattr(stream_options, "_IDLE_BY_HAND_SECONDS", 3600.0)  # a slow query must not look like idleness
    session.sql(f"CREATE TABLE t (id bigint, name string) {ACID}")
    return session


def test_rows_are_visible_after_their_commit_and_not_before(table: Session) -> None:
    with table.stream("t", commit_rows=None, commit_seconds=None) as stream:
        stream.write({"id": 1, "name": "one"})
        assert ids(table) == []
        stream.commit()
        assert ids(table) == [1]
        stream.write([(2, "two"), (3, None)])
        assert ids(table) == [1]
        stream.commit()
        assert ids(table) == [1, 2, 3]
        assert files(table) == [
            "delta_0000001_0000010/_orc_acid_version",
            "delta_0000001_0000010/bucket_00000",
            "delta_0000001_0000010/bucket_00000_flush_length",
        ]
    assert files(table) == ["delta_0000001_0000010/_orc_acid_version", "delta_0000001_0000010/bucket_00000"]
    found = table.sql("SELECT row__id, id, name FROM t ORDER BY id").collect()
    assert [(r.row__id.writeid, r.row__id.bucketid, r.row__id.rowid, r.name) for r in found] == [
        (1, 536870912, 0, "one"),
        (2, 536870912, 0, "two"),
        (2, 536870912, 1, None),
    ]


def test_a_batch_of_one_writes_plain_deltas(table: Session) -> None:
    with table.stream("t", commit_rows=1, batch_size=1) as stream:
        stream.write({"id": 1})
        stream.write({"id": 2})
    assert [f for f in files(table) if "bucket" in f] == [
        "delta_0000001_0000001_0000/bucket_00000",
        "delta_0000002_0000002_0000/bucket_00000",
    ]
    assert ids(table) == [1, 2]


def test_an_exception_in_the_block_drops_what_is_not_committed(table: Session) -> None:
    with suppress(RuntimeError), table.stream("t", commit_rows=None, commit_seconds=None) as stream:
        stream.write({"id": 1})
        stream.commit()
        stream.write({"id": 2})
        raise RuntimeError
    assert ids(table) == [1]


def test_abort_drops_what_is_not_committed_and_the_stream_goes_on(table: Session) -> None:
    with table.stream("t", "s", commit_rows=None, commit_seconds=None) as stream:
        stream.write({"id": 1}, offset=1)
        stream.abort()
        stream.write({"id": 2}, offset=2)
    assert ids(table) == [2]


def test_the_offset_is_committed_with_the_rows(table: Session) -> None:
    with table.stream("t", "s", commit_rows=None, commit_seconds=None) as stream:
        assert stream.committed_offset is None
        stream.write({"id": 1}, offset={"file": "a", "line": 1})
        assert stream.committed_offset is None
        stream.commit()
        assert stream.committed_offset == {"file": "a", "line": 1}
    with suppress(RuntimeError), table.stream("t", "s", commit_seconds=None) as stream:
        stream.write({"id": 2}, offset={"file": "a", "line": 2})
        raise RuntimeError
    with table.stream("t", "s") as stream:
        assert stream.committed_offset == {"file": "a", "line": 1}
        stream.write([], offset={"file": "b", "line": 0})
    with table.stream("t", "s") as stream, table.stream("t", "another") as another:
        assert stream.committed_offset == {"file": "b", "line": 0}
        assert another.committed_offset is None


def test_show_streams_counts_rows_and_commits_from_the_first_one(
    table: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(time, "time", clock.time)
    with table.stream("t", "s", commit_rows=2, commit_seconds=None) as stream:
        for number in range(3):
            stream.write([(number, ""), (number, "")], offset=number)
            clock.pass_by(2)
        (shown,) = table.sql("SHOW STREAMS").collect()
    assert (shown.table, shown.stream_id, shown.committed_offset) == ("t", "s", "2")
    assert (shown.rows, shown.commits) == ("6", "3")
    assert shown.rows_per_second == "1.5"


def test_a_second_writer_under_the_same_id_is_refused(table: Session, open_session: Callable[[], Session]) -> None:
    with table.stream("t", "s"):
        fails("STREAM_IN_USE", lambda: open_session().stream("t", "s"))
    with open_session().stream("t", "s"):
        pass


def test_rows_are_committed_by_number_and_by_time(table: Session) -> None:
    with table.stream("t", commit_rows=3, commit_seconds=None) as stream:
        stream.write([(1, ""), (2, "")])
        assert ids(table) == []
        stream.write((3, ""))
        assert ids(table) == [1, 2, 3]
    with table.stream("t", commit_rows=None, commit_seconds=0.05) as stream:
        stream.write((4, ""))
        eventually(lambda: stream.counts.commits > 0)
        assert ids(table) == [1, 2, 3, 4]


def test_an_idle_stream_leaves_no_transaction_open(table: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_options, "_LEAST_IDLE_SECONDS", 0.1)
    with table.stream("t", commit_rows=1, commit_seconds=0) as stream:
        stream.write((1, ""))
        eventually(lambda: not table.sql("SHOW TRANSACTIONS").collect())
        assert not [r for r in table.sql("SHOW TRANSACTIONS").collect() if "OPEN" in str(r)]
        stream.write((2, ""))
    assert ids(table) == [1, 2]


def test_an_overwrite_between_two_commits_hides_only_the_first(table: Session) -> None:
    with table.stream("t", commit_rows=1) as stream:
        stream.write((1, ""))
        table.sql("INSERT OVERWRITE t VALUES (10, 'over')")
        stream.write((2, ""))
        table.sql("TRUNCATE TABLE t")
        stream.write((3, ""))
        assert ids(table) == [3]
    assert ids(table) == [3]


def test_updates_deletes_and_compactions_run_beside_an_open_batch(table: Session) -> None:
    with table.stream("t", commit_rows=1) as stream:
        for number in range(4):
            stream.write((number, "new"))
        assert counts(table, "UPDATE t SET name = 'old' WHERE id = 1") == (1, 1, 0, 0)
        stream.write((4, "new"))
        assert counts(table, "DELETE FROM t WHERE id IN (2, 4)") == (2, 0, 2, 0)
        table.sql("ALTER TABLE t COMPACT 'minor' AND WAIT")
        stream.write((5, "new"))
        assert ids(table) == [0, 1, 3, 5]
    table.sql("ALTER TABLE t COMPACT 'major' AND WAIT")
    found = table.sql("SELECT id, name FROM t ORDER BY id").collect()
    assert [tuple(r) for r in found] == [(0, "new"), (1, "old"), (3, "new"), (5, "new")]


def test_a_transaction_that_was_aborted_meanwhile_is_replaced(table: Session) -> None:
    with table.stream("t", "s", commit_rows=1, commit_seconds=86_400) as stream:
        stream.write((1, ""), offset=1)
        open_ones = [r[0] for r in table.sql("SHOW TRANSACTIONS").collect() if "OPEN" in str(r)]
        table.sql(f"ABORT TRANSACTIONS {' '.join(str(t) for t in open_ones[:3])}")
        stream.write((2, ""), offset=2)
        table.sql(f"ABORT TRANSACTIONS {' '.join(str(t) for t in open_ones[4:])}")
        stream.write((3, ""), offset=3)
        assert ids(table) == [1, 2, 3]
        assert stream.committed_offset == 3


def test_a_record_that_does_not_fit_is_refused_and_the_stream_goes_on(table: Session) -> None:
    with table.stream("t", commit_rows=None) as stream:
        stream.write((1, ""))
        with pytest.raises(AcidSqlError, match="id"):
            stream.write([(2, ""), ("many", "")])
        with pytest.raises(AcidSqlError, match="nome"):
            stream.write({"id": 3, "nome": ""})
        stream.write((4, ""))
    assert ids(table) == [1, 4]


def test_an_iterator_with_a_record_that_does_not_fit_adds_nothing(table: Session) -> None:
    def numbers() -> Iterator[tuple[object, str]]:
        yield from ((i, "") for i in range(25_000))
        yield "many", ""

    with table.stream("t", "s", commit_rows=None, commit_seconds=None) as stream:
        stream.write((1, ""), offset=1)
        fails("INVALID_RECORD", lambda: stream.write(numbers(), offset=2))
    assert ids(table) == [1]
    with table.stream("t", "s") as stream:
        assert stream.committed_offset == 1


def test_rows_beyond_the_memory_go_to_the_files_before_their_commit(
    table: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_writer, "MOST_BYTES", 1000)
    with table.stream("t", commit_rows=None, commit_seconds=None) as stream:
        stream.write((i, "x" * 50) for i in range(30_000))
        assert ids(table) == []
        stream.abort()
        stream.write([(i, "y" * 50) for i in range(100)])
        stream.write([(i, "y" * 50) for i in range(100, 200)])
        stream.commit()
        assert ids(table) == list(range(200))
    assert ids(table) == list(range(200))


def test_an_arrow_reader_is_written_batch_by_batch(table: Session) -> None:
    batches = [pa.record_batch({"id": [i], "name": [str(i)]}) for i in range(3)]
    with table.stream("t") as stream:
        stream.write(pa.RecordBatchReader.from_batches(batches[0].schema, batches))
    assert ids(table) == [0, 1, 2]


def test_partitions_are_found_made_and_shown(session: Session) -> None:
    session.sql(f"CREATE TABLE p (id bigint) PARTITIONED BY (day string, hour int) {ACID}")
    session.sql("INSERT INTO p VALUES (1, 'a', 1)")
    with session.stream("p", commit_rows=None) as stream:
        stream.write([(2, "a", 1), (3, "b", 2), (4, None, 3), (5, "", 3)])
    with session.stream("p", partition={"day": "c", "hour": 4}) as stream:
        stream.write([{"id": 6}])
    found = session.sql("SELECT id, day, hour FROM p ORDER BY id").collect()
    null = found[3].day
    assert [tuple(r) for r in found] == [
        (1, "a", 1), (2, "a", 1), (3, "b", 2), (4, null, 3), (5, null, 3), (6, "c", 4),
    ]  # fmt: skip
    assert len(session.sql("SHOW PARTITIONS p").collect()) == 4


def test_a_partition_that_is_dropped_between_two_commits_begins_anew(session: Session) -> None:
    session.sql(f"CREATE TABLE p (id bigint) PARTITIONED BY (day string) {ACID}")
    with session.stream("p", commit_rows=1) as stream:
        stream.write((1, "a"))
        session.sql("ALTER TABLE p DROP PARTITION (day='a')")
        stream.write((2, "a"))
        session.sql("INSERT OVERWRITE p PARTITION (day='b') VALUES (3)")
        stream.write((4, "b"))
    assert ids(session, "p") == [2, 3, 4]


@pytest.mark.parametrize("table_properties", [ACID, INSERT_ONLY])
def test_buckets_hold_the_rows_that_insert_puts_into_them(session: Session, table_properties: str) -> None:
    session.sql(f"CREATE TABLE b (id bigint, name string) CLUSTERED BY (id) INTO 4 BUCKETS {table_properties}")
    with session.stream("b", commit_rows=10) as stream:
        for number in range(40):
            stream.write((number, str(number)))
    session.sql("INSERT INTO b SELECT id + 0, concat(name, '!') FROM b")
    found = session.sql("SELECT id, INPUT__FILE__NAME AS file FROM b").collect()
    bucket_of: dict[int, set[str]] = {}
    for row in found:
        bucket_of.setdefault(row.id, set()).add(row.file.rpartition("/")[2].removeprefix("bucket_")[:6].lstrip("0_"))
    assert len(found) == 80
    assert all(len(buckets) == 1 for buckets in bucket_of.values())


def test_an_insert_only_table_takes_a_stream(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id bigint, name string) {INSERT_ONLY}")
    with session.stream("t", "s", commit_rows=2, commit_seconds=None) as stream:
        for number in range(5):
            stream.write((number, ""), offset=number)
        assert ids(session) == [0, 1, 2, 3]
    assert ids(session) == [0, 1, 2, 3, 4]


def test_a_table_that_was_altered_is_refused_before_anything_is_written(table: Session) -> None:
    stream = table.stream("t", "s", commit_rows=1)
    stream.write((1, ""), offset=1)
    table.sql("ALTER TABLE t ADD COLUMNS (more int)")
    fails("TABLE_CHANGED", lambda: stream.write((2, ""), offset=2))
    fails("STREAM_CLOSED", lambda: stream.write((2, ""), offset=2))
    fails("STREAM_CLOSED", stream.close)
    with table.stream("t", "s") as stream:
        assert stream.committed_offset == 1
        stream.write({"id": 2, "more": 5}, offset=2)
    assert [tuple(r) for r in table.sql("SELECT id, more FROM t ORDER BY id").collect()] == [(1, None), (2, 5)]


def test_a_new_table_of_the_same_name_gets_no_rows_of_the_old_one(table: Session) -> None:
    stream = table.stream("t", "s", commit_rows=1)
    stream.write((1, ""), offset=1)
    table.sql("DROP TABLE t")
    table.sql(f"CREATE TABLE t (id bigint, name string) {ACID}")
    with pytest.raises(AcidSqlError):
        stream.write((2, ""), offset=2)
    stream.drop_and_close()
    assert ids(table) == []
    with table.stream("t", "s") as stream:
        assert stream.committed_offset is None


def test_closing_the_session_ends_its_streams(open_session: Callable[[], Session], table: Session) -> None:
    other = open_session()
    stream = other.stream("t", "s", commit_rows=None, commit_seconds=None)
    stream.write((1, ""))
    other.close()
    fails("STREAM_CLOSED", lambda: stream.write((2, "")))
    with table.stream("t", "s"):
        assert ids(table) == []


@pytest.mark.parametrize("target", ["plain", "v"])
def test_plain_tables_and_views_take_no_stream(session: Session, target: str) -> None:
    session.sql("CREATE TABLE plain (id bigint) STORED AS ORC")
    session.sql("CREATE VIEW v AS SELECT * FROM plain")
    with pytest.raises(AcidSqlError):
        session.stream(target)


def test_a_stream_needs_no_java(table: Session, tmp_path: Path) -> None:
    program = """
        import acidsql
        from pyspark import SparkContext
        with acidsql.connect(sys.argv[1], metastore=sys.argv[2]) as session, session.stream("t", id="s") as stream:
            stream.write([{"id": 7, "name": "seven"}], offset=7)
        assert SparkContext._gateway is None
    """
    code = "import sys\n" + textwrap.dedent(program)
    arguments = [sys.executable, "-c", code, str(tmp_path / "warehouse"), f"sqlite:///{tmp_path}/metastore.db"]
    done = subprocess.run(arguments, env={"PATH": "/nowhere"}, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert ids(table) == [7]


# ------------------------------------------------------------------------------------- what a failure leaves behind


@pytest.mark.parametrize("written", [0, 1, 1000])
def test_a_write_that_fails_half_way_leaves_the_commits_before_it(
    table: Session, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    """As on a full disk: some bytes of the stripes are in the file, behind its last end."""

    def fail(file: StripedFile, at: int, data: bytes) -> None:
        with open(file.path, "r+b") as opened:
            opened.seek(at)
            opened.write(data[:written])
        raise OSError(28, "No space left on device")

    with suppress(AcidSqlError), table.stream("t", commit_rows=None, commit_seconds=None) as stream:
        stream.write({"id": 1, "name": "one"})
        stream.commit()
        monkeypatch.setattr(StripedFile, "_write", fail)
        stream.write([{"id": number, "name": str(number)} for number in range(2, 500)])
        with pytest.raises(OSError, match="No space left"):
            stream.commit()
    monkeypatch.undo()
    assert files(table) == ["delta_0000001_0000010/_orc_acid_version", "delta_0000001_0000010/bucket_00000"]
    assert ids(table) == [1]
    table.execute("INSERT INTO t VALUES (2, 'two')")
    table.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert ids(table) == [1, 2]


def test_an_aborted_transaction_with_a_delta_of_its_own_leaves_no_files(table: Session) -> None:
    stream = table.stream("t", id="x", commit_rows=None, commit_seconds=None, batch_size=1)
    stream.write({"id": 1, "name": "one"}, offset=1)
    stream.commit()
    store = store_of(table)
    (state,) = store.streams()
    claim = stream._writer.claim
    assert claim is not None
    store.release_claim(claim)  # as if it had timed out
    stream.write({"id": 2, "name": "two"}, offset=2)
    fails("STREAM_LOST", stream.commit)
    with suppress(AcidSqlError):
        stream.close()
    table.execute("INSERT INTO t VALUES (3, 'three')")
    assert sorted({name.partition("/")[0] for name in files(table)}) == [
        "delta_0000001_0000001_0000",
        "delta_0000003_0000003_0000",
    ]
    assert ids(table) == [1, 3]
    assert state.offset == 1


def test_a_closed_stream_whose_claim_was_lost_holds_no_locks(table: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_writer, "MOST_BYTES", 1)  # rows go to the files at once, in an open transaction
    stream = table.stream("t", id="x", commit_rows=None, commit_seconds=None)
    stream.write({"id": 1}, offset=1)
    claim = stream._writer.claim
    assert claim is not None
    store_of(table).release_claim(claim)
    stream._writer.heartbeat()
    fails("STREAM_LOST", stream.close)
    assert list(table.execute("SHOW LOCKS").rows()) == []
    assert ids(table) == []


@pytest.mark.parametrize("most_bytes", [1, stream_writer.MOST_BYTES])
def test_lost_transactions_of_a_batch_are_replaced(
    table: Session, monkeypatch: pytest.MonkeyPatch, most_bytes: int
) -> None:
    monkeypatch.setattr(stream_writer, "MOST_BYTES", most_bytes)
    with table.stream("t", commit_rows=None, commit_seconds=86_400) as stream:
        stream.write({"id": 1})
        stream.commit()
        table.execute(
            "ABORT TRANSACTIONS " + " ".join(str(txn.id) for txn in store_of(table).transactions() if txn.is_open)
        )
        stream.write({"id": 2})
        stream.commit()
    assert ids(table) == [1, 2]


# --------------------------------------------------------------------------------------------- where a stream may write


def test_a_read_only_database_takes_no_streams(session: Session) -> None:
    session.execute("CREATE DATABASE d")
    session.execute(f"CREATE TABLE d.t (id int) {ACID}")
    with session.stream("d.t", commit_rows=1, batch_size=1) as stream:
        stream.write({"id": 1})
        session.execute("ALTER DATABASE d SET DBPROPERTIES ('readonly'='true')")
        fails("READ_ONLY_DATABASE", lambda: stream.write({"id": 2}))
        with suppress(AcidSqlError):
            stream.close()
    fails("READ_ONLY_DATABASE", lambda: session.stream("d.t"))
    assert ids(session, "d.t") == [1]


def test_a_partition_that_another_client_adds_with_another_spelling_is_the_same(session: Session) -> None:
    session.execute(f"CREATE TABLE p (id int) PARTITIONED BY (q int) {ACID}")
    store = store_of(session)
    with session.stream("p", commit_rows=None, commit_seconds=None) as stream:
        table = store.table("default", "p")
        store.add_partitions(table, [Partition(("01",), f"{table.location}/q=01")])
        stream.write({"id": 1, "q": 1})
        stream.commit()
    assert [found.values for found in store.partitions(table)] == [("01",)]
    assert ids(session, "p") == [1]
