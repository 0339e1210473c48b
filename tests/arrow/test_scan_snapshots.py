"""Readers without Spark: their snapshot, their transaction, their memory, and that no JVM starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from acidsql.arrow import scan_batches
from acidsql.arrow.scan.orc_columns import OrcFile
from acidsql.session import Session, connect
from tests.metastore.patience import eventually
from tests.snapshot.test_delete_applicability import LAYOUTS, Layout, adopt


def test_a_reader_stays_on_its_snapshot_while_the_table_is_compacted_and_cleaned(session: Session) -> None:
    session.execute("CREATE TABLE kept (id INT) TBLPROPERTIES ('transactional'='true')")
    for number in range(3):
        session.execute(f"INSERT INTO kept VALUES ({number})")
    reader = session.read_arrow("kept")
    first = reader.read_next_batch().to_pydict()["id"]
    session.execute("DELETE FROM kept WHERE id = 2")
    session.execute("ALTER TABLE kept COMPACT 'major' AND WAIT")
    assert [len(done.removed) for done in session.compactor.clean()] in ([], [0])
    assert sorted(first + reader.read_all().to_pydict()["id"]) == [0, 1, 2]
    assert sum(len(done.removed) for done in session.compactor.clean()) > 0
    assert sorted(session.read_arrow("kept").read_all().to_pydict()["id"]) == [0, 1]


def test_a_reader_that_is_dropped_ends_its_transaction(session: Session) -> None:
    session.execute("CREATE TABLE t (id INT) TBLPROPERTIES ('transactional'='true')")
    reader = session.read_arrow("t")
    before = open_txns(session)
    del reader
    eventually(lambda: open_txns(session) == before - 1)


def test_a_reader_in_a_transaction_sees_its_writes_and_outlives_its_end(session: Session) -> None:
    session.execute("CREATE TABLE own (id INT) TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO own VALUES (1)")
    before = open_txns(session)
    with session.transaction():
        session.execute("INSERT INTO own VALUES (2)")
        reader = session.read_arrow("own")
        session.execute("DELETE FROM own")
    assert open_txns(session) == before + 1
    assert sorted(reader.read_all().to_pydict()["id"]) == [1, 2]
    assert open_txns(session) == before
    assert session.read_arrow("own").read_all() == pa.table({"id": pa.array([], pa.int32())})


def open_txns(session: Session) -> int:
    return len([txn for txn in session._metastore.transactions() if txn.is_open])


# ------------------------------------------------------------------------------------------------ without Spark


def test_stripes_are_read_one_by_one_and_those_without_wanted_rows_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[int] = []
    original = OrcFile.read

    def counted(self: OrcFile, stripe: int, acid: list[int], positions: list[int]) -> object:
        reads.append(stripe)
        return original(self, stripe, acid, positions)

    monkeypatch.setattr(OrcFile, "read", counted)
    monkeypatch.setattr(scan_batches, "BATCH_ROWS", 40)
    with connect(tmp_path / "warehouse") as session:
        session.execute("CREATE TABLE t (id INT, name STRING) TBLPROPERTIES ('transactional'='true')")
        with session.stream("t", batch_size=10, commit_rows=None, commit_seconds=86_400) as stream:
            for commit in range(5):
                stream.write([{"id": 100 * commit + i, "name": f"n{i}"} for i in range(100)])
                stream.commit()
                reader = session.read_arrow("t")  # of a file that grows
                assert sum(batch.num_rows for batch in reader) == 100 * (commit + 1)
            reads.clear()
            reader = session.read_arrow("t", ["name"])
            assert reader.read_next_batch().num_rows == 40
            assert len(set(reads)) == 1
            assert [batch.num_rows for batch in reader] == [40, 20] + 4 * [40, 40, 20]
            assert len(set(reads)) == 5
            reads.clear()
            assert session.read_arrow("t", ["id"], "id = 305").read_all().to_pydict() == {"id": [305]}
            assert set(reads) == {3}
        assert not session._engine.is_running


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_the_same_delete_events_apply_as_in_spark(layout: Layout, tmp_path: Path) -> None:
    with connect(tmp_path / "warehouse") as session:
        adopt(session, layout, tmp_path / "t")
        assert sorted(session.read_arrow("t", ["id"]).read_all().to_pydict()["id"]) == layout.expected
        assert not session._engine.is_running


@pytest.mark.ci
def test_the_shell_answers_without_java(tmp_path: Path) -> None:
    with connect(tmp_path / "warehouse") as session:
        session.execute("CREATE TABLE t (id INT, name STRING) TBLPROPERTIES ('transactional'='true')")
        with session.stream("t") as stream:
            stream.write([{"id": i, "name": f"n{i}"} for i in range(5)])
    arguments = ["shell", "--warehouse", f"{tmp_path}/warehouse", "-S", "-e", "SELECT name FROM t WHERE id > 2 LIMIT 9"]
    environment = {k: v for k, v in os.environ.items() if k not in ("JAVA_HOME", "PATH")} | {"PATH": f"{tmp_path}"}
    done = subprocess.run(
        [sys.executable, "-m", "acidsql", *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "name\nn3\nn4\n"), done.stderr
