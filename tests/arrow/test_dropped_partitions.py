"""DROP and EXCHANGE PARTITION and LOAD DATA that do not come to their end: rows neither come back nor double nor go."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc

import acidsql
from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError
from acidsql.metastore.catalog import Partition, PartitionValues
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.session import Session
from acidsql.storage.local_files import LocalFiles

DROP = "ALTER TABLE t DROP PARTITION (p = 1)"


def values(session: Session, table: str = "t") -> list[tuple[int, int]]:
    return sorted((row["a"], row["p"]) for row in session.read_arrow(table).read_all().to_pylist())


def test_a_partition_stays_with_its_rows_where_the_transaction_that_drops_it_does_not_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_dropped = SqliteMetastore.commit_dropped

    def aborted_before(
        store: SqliteMetastore, txn: TxnId, table: Table, dropped: Sequence[PartitionValues], kept: Sequence[Partition]
    ) -> None:
        other.execute(f"ABORT TRANSACTIONS {txn}")
        commit_dropped(store, txn, table, dropped, kept)

    monkeypatch.setattr(SqliteMetastore, "commit_dropped", aborted_before)
    with acidsql.connect(str(tmp_path / "w")) as session, acidsql.connect(str(tmp_path / "w")) as other:
        session.execute(
            "CREATE TABLE t (a INT) PARTITIONED BY (p INT) STORED AS ORC TBLPROPERTIES ('transactional'='true')"
        )
        session.execute("INSERT INTO t VALUES (10, 1), (20, 2)")
        with pytest.raises(AcidSqlError, match="TRANSACTION_ABORTED"):
            session.execute(DROP)
        assert values(session) == [(10, 1), (20, 2)]
        monkeypatch.undo()
        session.execute(DROP)
        session.execute("INSERT INTO t VALUES (11, 1)")
        assert values(session) == [(11, 1), (20, 2)]


def test_the_rows_of_a_plain_partition_do_not_come_back_where_its_drop_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with acidsql.connect(str(tmp_path / "w")) as session:
        session.execute("CREATE TABLE t (a INT) PARTITIONED BY (p INT) STORED AS ORC")
        load(session, tmp_path / "first", 10)
        monkeypatch.setattr(SqliteMetastore, "commit_dropped", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.execute(DROP)
        monkeypatch.undo()
        assert values(session) == []
        load(session, tmp_path / "second", 11)
        assert values(session) == [(11, 1)]


def test_a_partition_whose_exchange_is_interrupted_is_in_one_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A partition that is made again in the old table would take over a directory that has not moved yet."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with acidsql.connect(str(tmp_path / "w")) as session:
        for name in ("t", "u"):
            session.execute(f"CREATE TABLE {name} (a INT) PARTITIONED BY (p INT) STORED AS ORC")
        load(session, tmp_path / "first", 10)
        monkeypatch.setattr(LocalFiles, "rename", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.execute("ALTER TABLE u EXCHANGE PARTITION (p = 1) WITH TABLE t")
        monkeypatch.undo()
        load(session, tmp_path / "second", 11)
        assert values(session) == [(11, 1)]
        assert values(session, "u") == [(10, 1)]


@pytest.mark.parametrize("how", ["", "OVERWRITE"])
def test_a_load_that_was_aborted_removes_nothing_of_a_new_table_of_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    forget_statistics = SqliteMetastore.forget_statistics

    def made_anew(store: SqliteMetastore, txn: TxnId | None, table: Table, written: Sequence[PartitionValues]) -> None:
        monkeypatch.undo()
        forget_statistics(store, txn, table, written)
        (running,) = store.valid_txns().open
        other.execute(f"ABORT TRANSACTIONS {running}")
        other.execute("DROP TABLE t")
        other.execute(create)
        for number in (20, 21):
            load(other, tmp_path / str(number), number)

    create = "CREATE TABLE t (a INT) PARTITIONED BY (p INT) STORED AS ORC"
    with acidsql.connect(str(tmp_path / "w")) as session, acidsql.connect(str(tmp_path / "w")) as other:
        session.execute(create)
        load(session, tmp_path / "10", 10)
        monkeypatch.setattr(SqliteMetastore, "forget_statistics", made_anew)
        with pytest.raises(AcidSqlError, match="TRANSACTION_ABORTED"):
            load(session, tmp_path / "11", 11, how)
        assert values(other) == [(20, 1), (21, 1)]


def load(session: Session, directory: Path, number: int, how: str = "") -> None:
    directory.mkdir()
    orc.write_table(pa.table({"a": pa.array([number], pa.int32())}), directory / "000000_0")
    session.execute(f"LOAD DATA LOCAL INPATH '{directory}' {how} INTO TABLE t PARTITION (p = 1)")
