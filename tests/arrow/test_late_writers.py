"""Writers whose transaction was aborted when they were about to change a file, while another table came in the place of
their own. A call of the file system in which the others act stands for a process that was stopped there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import orc

import acidsql
from acidsql.errors import AcidSqlError
from acidsql.session import Session
from acidsql.storage.local_files import LocalFiles
from tests.embedded_metastore import store_of

CREATE = "CREATE TABLE t (a INT) PARTITIONED BY (p INT) STORED AS ORC TBLPROPERTIES ('transactional'='true')"
PLAIN = "CREATE TABLE t (a INT) PARTITIONED BY (p INT) STORED AS ORC"


def values(session: Session) -> list[int]:
    return sorted(row["a"] for row in session.read_arrow("t").read_all().to_pylist())


def insert(session: Session, number: int) -> None:
    session.execute(f"INSERT INTO t VALUES ({number}, 1)")


def load(session: Session, number: int, how: str = "") -> None:
    directory = Path(session.warehouse).parent / f"load{number}"
    directory.mkdir()
    orc.write_table(pa.table({"a": pa.array([number], pa.int32())}), directory / "000000_0")
    session.execute(f"LOAD DATA LOCAL INPATH '{directory}' {how} INTO TABLE t PARTITION (p = 1)")


def before_the_first(monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[], None]) -> None:
    """Runs `act` before the first call of a method of the file system."""
    original = getattr(LocalFiles, name)

    def late(files: LocalFiles, *args: Any) -> object:
        monkeypatch.undo()
        act()
        return original(files, *args)

    monkeypatch.setattr(LocalFiles, name, late)


def make_anew(own: Session, other: Session, create: str, add: Callable[[Session, int], None], count: int) -> None:
    """Aborts the writer, renames its table, and makes another one with `count` rows."""
    for txn in store_of(own).valid_txns().open:
        other.execute(f"ABORT TRANSACTIONS {txn}")
    other.execute("ALTER TABLE t RENAME TO t_old")
    other.execute(create)
    for number in range(count):
        add(other, 100 + number)


@pytest.mark.parametrize(
    ("statement", "call", "count"),
    [
        ("TRUNCATE TABLE t", "make_new_directory", 6),
        ("INSERT OVERWRITE TABLE t PARTITION (p = 1) VALUES (9)", "make_new_directory", 6),
        ("ALTER TABLE t DROP PARTITION (p = 1)", "make_directories", 6),
        ("INSERT INTO t VALUES (9, 2)", "make_new_directory", 6),
    ],
)
def test_a_late_writer_leaves_nothing_in_a_new_table_of_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str, call: str, count: int
) -> None:
    with acidsql.connect(str(tmp_path / "w")) as session, acidsql.connect(str(tmp_path / "w")) as other:
        session.execute(CREATE)
        insert(session, 1)
        insert(session, 2)
        before_the_first(monkeypatch, call, lambda: make_anew(session, other, CREATE, insert, count))
        with pytest.raises(AcidSqlError, match="TRANSACTION_ABORTED"):
            session.execute(statement)
        assert values(other) == [100 + number for number in range(count)]


def test_a_late_stream_leaves_nothing_in_a_new_table_of_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with acidsql.connect(str(tmp_path / "w")) as session, acidsql.connect(str(tmp_path / "w")) as other:
        session.execute(CREATE)
        insert(session, 1)
        stream = session.stream("t", commit_seconds=None, batch_size=3)
        stream.write([{"a": 9, "p": 1}])
        before_the_first(monkeypatch, "make_new_directory", lambda: make_anew(session, other, CREATE, insert, 6))
        with pytest.raises(AcidSqlError, match="TABLE_CHANGED"):
            stream.commit()
        with suppress(AcidSqlError):
            stream.close()
        assert values(other) == [100, 101, 102, 103, 104, 105]


@pytest.mark.parametrize("statement", ["TRUNCATE TABLE t", "ALTER TABLE t DROP PARTITION (p = 1)"])
def test_a_late_removal_of_plain_files_stops_at_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    with acidsql.connect(str(tmp_path / "w")) as session, acidsql.connect(str(tmp_path / "w")) as other:
        session.execute(PLAIN)
        for number in range(3):
            load(session, number)
        before_the_first(monkeypatch, "list_below", lambda: make_anew(session, other, PLAIN, load, 3))
        with pytest.raises(AcidSqlError, match="TRANSACTION_ABORTED"):
            session.execute(statement)
        assert values(other) == [100, 101, 102]
