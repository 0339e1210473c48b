"""Files and directories of committed writes that are gone: an error, and not fewer rows. Without Spark."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import acidsql
from acidsql.errors import AcidSqlError
from acidsql.session import Session

PROPERTIES = "STORED AS ORC TBLPROPERTIES ('transactional'='true'"
KINDS = {"full": ")", "insert_only": ", 'transactional_properties'='insert_only')"}


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with acidsql.connect(str(tmp_path / "w")) as opened:
        yield opened


def values(session: Session, table: str = "t") -> list[int]:
    return sorted(row["id"] for row in session.read_arrow(table).read_all().to_pylist())


def directory(session: Session, name: str, table: str = "t") -> Path:
    (found,) = (Path(session.warehouse) / table).rglob(name)
    return found


def remove(path: Path) -> None:
    shutil.rmtree(path)


def remove_file(path: Path) -> None:
    next(f for f in path.iterdir() if not f.name.startswith("_")).unlink()


def make(session: Session, kind: str = "full", partitioned: str = "") -> None:
    session.execute(f"CREATE TABLE t (id INT) {partitioned} {PROPERTIES}{KINDS[kind]}")


def fails(session: Session, *lost: str) -> None:
    for act in (
        lambda: values(session),
        lambda: session.sql("SELECT count(*) FROM t").collect() if session.is_closed else session.read_arrow("t"),
    ):
        with pytest.raises(AcidSqlError) as caught:
            act()
        assert caught.value.condition == "FILES_MISSING"
        assert all(name in str(caught.value) for name in lost)


@pytest.mark.parametrize("how", [remove, remove_file])
@pytest.mark.parametrize("kind", KINDS)
def test_a_reader_misses_the_directory_or_file_of_a_committed_insert(
    session: Session, kind: str, how: Callable[[Path], None]
) -> None:
    make(session, kind)
    for one in (1, 2):
        session.execute(f"INSERT INTO t VALUES ({one})")
    how(directory(session, "delta_0000002_0000002_0000"))
    fails(session, "delta_0000002_0000002_0000")
    session.execute("INSERT INTO t VALUES (3)")
    fails(session, "delta_0000002_0000002_0000")


@pytest.mark.parametrize("how", [remove, remove_file])
def test_a_reader_misses_the_delete_events_of_an_update(session: Session, how: Callable[[Path], None]) -> None:
    make(session)
    session.execute("INSERT INTO t VALUES (1), (2)")
    session.execute("UPDATE t SET id = 3 WHERE id = 1")
    how(directory(session, "delete_delta_0000002_0000002_0000"))
    fails(session, "delete_delta_0000002_0000002_0000")


def test_inspect_tells_what_a_reader_misses(session: Session) -> None:
    make(session)
    for one in (1, 2):
        session.execute(f"INSERT INTO t VALUES ({one})")
    remove(directory(session, "delta_0000002_0000002_0000"))
    (part,) = session.inspect("t").parts
    assert part.problem is not None
    assert "delta_0000002_0000002_0000" in str(part.problem)
    assert [d.name for d in part.directories] == ["delta_0000001_0000001_0000"]


def test_statements_that_read_the_table_fail_and_those_that_replace_it_do_not(session: Session) -> None:
    make(session)
    session.execute("INSERT INTO t VALUES (1), (2)")
    remove(directory(session, "delta_0000001_0000001_0000"))
    for statement in ("UPDATE t SET id = 3 WHERE id = 1", "DELETE FROM t WHERE id = 1"):
        with pytest.raises(AcidSqlError, match="FILES_MISSING"):
            session.execute(statement)
    session.execute("INSERT INTO t VALUES (3)")
    session.execute("ALTER TABLE t COMPACT 'major'")
    session.compactor.run_once()
    assert [c.error for c in session.catalog.compactions() if "FILES_MISSING" in c.error]  # type: ignore[attr-defined]
    session.execute("INSERT OVERWRITE TABLE t VALUES (4)")
    assert values(session) == [4]


def test_the_loss_of_an_overwrite_does_not_bring_old_rows_back(session: Session) -> None:
    make(session)
    session.execute("INSERT INTO t VALUES (1)")
    session.execute("INSERT OVERWRITE TABLE t VALUES (2)")
    remove(directory(session, "base_0000002"))
    fails(session, "base_0000002")


def test_the_loss_of_a_truncation_does_not_bring_old_rows_back(session: Session) -> None:
    make(session)
    session.execute("INSERT INTO t VALUES (1)")
    session.execute("TRUNCATE TABLE t")
    assert values(session) == []
    remove(directory(session, "base_0000002"))
    fails(session, "base_0000002")


@pytest.mark.parametrize("how", [remove, remove_file])
@pytest.mark.parametrize(("kind", "name"), [("major", "base_0000003_v*"), ("minor", "delta_0000001_0000003_v*")])
def test_a_reader_misses_what_a_compaction_has_written(
    session: Session, kind: str, name: str, how: Callable[[Path], None]
) -> None:
    make(session)
    for one in (1, 2, 3):
        session.execute(f"INSERT INTO t VALUES ({one})")
    session.execute(f"ALTER TABLE t COMPACT '{kind}' AND WAIT")
    assert values(session) == [1, 2, 3]
    session.compactor.run_once()
    assert values(session) == [1, 2, 3]
    found = directory(session, name)
    session.execute("INSERT INTO t VALUES (4)")
    how(found)
    fails(session, found.name)


def test_what_a_compaction_or_an_overwrite_has_replaced_is_not_missed(session: Session) -> None:
    make(session)
    session.execute("INSERT INTO t VALUES (1), (2)")
    session.execute("DELETE FROM t WHERE id = 1")
    for kind in ("minor", "major"):
        session.execute("INSERT INTO t VALUES (3)")
        session.execute(f"ALTER TABLE t COMPACT '{kind}' AND WAIT")
        session.compactor.run_once()
    assert values(session) == [2, 3, 3]
    session.execute("DELETE FROM t")
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    session.compactor.run_once()
    assert values(session) == []
    session.execute("INSERT OVERWRITE TABLE t VALUES (9)")
    session.compactor.run_once()
    assert values(session) == [9]


def test_statements_without_rows_and_rolled_back_ones_leave_nothing_to_miss(session: Session) -> None:
    make(session)
    session.execute("INSERT INTO t VALUES (1)")
    session.execute("DELETE FROM t WHERE id = 7")
    session.execute("START TRANSACTION")
    session.execute("INSERT INTO t VALUES (2)")
    session.execute("ROLLBACK")
    with session.transaction():
        session.execute("INSERT INTO t VALUES (3)")
        session.execute("UPDATE t SET id = 4 WHERE id = 3")
        assert values(session) == [1, 4]
    assert values(session) == [1, 4]


@pytest.mark.parametrize("size", [1, 5])
def test_a_reader_misses_the_files_of_a_stream(session: Session, size: int) -> None:
    make(session)
    with session.stream("t", batch_size=size) as stream:
        for one in (1, 2):
            stream.write([{"id": one}])
            stream.commit()
            assert values(session) == list(range(1, one + 1))
    assert values(session) == [1, 2]
    remove(directory(session, "delta_0000001_000000[15]*"))
    fails(session, "delta_0000001")


# -- partitions
def test_a_reader_misses_the_directory_of_a_partition(session: Session) -> None:
    make(session, partitioned="PARTITIONED BY (p STRING)")
    session.execute("INSERT INTO t PARTITION (p = 'a') VALUES (1)")
    session.execute("INSERT INTO t PARTITION (p = 'b') VALUES (2)")
    remove(directory(session, "p=b"))
    fails(session, "delta_0000002")
    session.execute("ALTER TABLE t DROP PARTITION (p = 'b')")
    assert values(session) == [1]
    session.execute("ALTER TABLE t ADD PARTITION (p = 'b')")
    assert values(session) == [1]


def test_a_renamed_partition_and_table_keep_what_is_known_of_them(session: Session) -> None:
    make(session, partitioned="PARTITIONED BY (p STRING)")
    session.execute("INSERT INTO t PARTITION (p = 'a') VALUES (1)")
    session.execute("INSERT INTO t PARTITION (p = 'b') VALUES (2)")
    session.execute("ALTER TABLE t PARTITION (p = 'a') RENAME TO PARTITION (p = 'c')")
    session.execute("ALTER TABLE t RENAME TO u")
    assert values(session, "u") == [1, 2]
    remove(directory(session, "p=c", "u"))
    with pytest.raises(AcidSqlError, match=r"FILES_MISSING.*/u/p=c has lost.*delta_0000001"):
        values(session, "u")


def test_a_table_property_lets_readers_go_on_without_the_rows(session: Session) -> None:
    make(session)
    for one in (1, 2, 3):
        session.execute(f"INSERT INTO t VALUES ({one})")
    remove(directory(session, "delta_0000002_0000002_0000"))
    fails(session)
    session.execute("ALTER TABLE t SET TBLPROPERTIES ('acidsql.missing.files' = 'ignore')")
    assert values(session) == [1, 3]
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    session.execute("ALTER TABLE t UNSET TBLPROPERTIES ('acidsql.missing.files')")
    assert values(session) == [1, 3]
