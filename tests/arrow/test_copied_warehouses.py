"""Warehouses that were copied, moved or restored, and metastores that are older than their tables: without Spark."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc

import acidsql
from acidsql.errors import AcidSqlError
from acidsql.frontends.cli import main
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.session import Session

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def values(session: Session, table: str = "t") -> list[int]:
    return sorted(row["id"] for row in session.read_arrow(table).read_all().to_pylist())


def insert(session: Session, *ids: int, table: str = "t") -> None:
    for one in ids:
        session.execute(f"INSERT INTO {table} VALUES ({one})")


def compact(session: Session, table: str = "t") -> None:
    session.execute(f"ALTER TABLE {table} COMPACT 'major' AND WAIT")
    session.compactor.run_once()


@pytest.fixture
def prod(tmp_path: Path) -> Path:
    with acidsql.connect(str(tmp_path / "prod")) as session:
        session.execute(f"CREATE TABLE t (id INT) {ACID}")
        insert(session, 1, 2, 3)
    return tmp_path / "prod"


def test_what_is_written_through_a_copy_of_a_warehouse_stays_in_the_copy(prod: Path) -> None:
    copy = prod.with_name("copy")
    shutil.copytree(prod, copy)
    with acidsql.connect(str(copy)) as session:
        insert(session, 99)
        compact(session)
        assert values(session) == [1, 2, 3, 99]
    with acidsql.connect(str(prod)) as session:
        assert values(session) == [1, 2, 3]
        insert(session, 4)
        assert values(session) == [1, 2, 3, 4]
    with acidsql.connect(str(copy)) as session:
        assert values(session) == [1, 2, 3, 99]


def test_a_copy_whose_tables_lie_elsewhere_is_read_and_not_written(tmp_path: Path, prod: Path) -> None:
    with acidsql.connect(str(prod)) as session:
        session.execute(f"CREATE TABLE far (id INT) {ACID[:14]} LOCATION '{tmp_path}/far' {ACID[14:]}")
        insert(session, 1, table="far")
    copy = prod.with_name("copy")
    shutil.copytree(prod, copy)
    with acidsql.connect(str(copy)) as session:
        assert values(session, "far") == [1]
        for statement in ("INSERT INTO far VALUES (2)", "INSERT INTO t VALUES (4)", "DROP TABLE far"):
            with pytest.raises(AcidSqlError, match=r"CATALOG_MOVED.*\(default\.far\)"):
                session.execute(statement)
        assert session.claim_tables(forget=True) == ["default.far"]
        insert(session, 4)
        assert values(session) == [1, 2, 3, 4]
    with acidsql.connect(str(prod)) as session:
        insert(session, 2, table="far")
        assert values(session, "far") == [1, 2]
        assert values(session) == [1, 2, 3]


# -- a metastore that is older than the tables
@pytest.fixture
def behind(prod: Path, request: pytest.FixtureRequest) -> Iterator[Session]:
    """A session on the metastore of before the last writes."""
    file, old = prod / ".acidsql" / "metastore.db", prod.with_name("old.db")
    shutil.copy(file, old)
    with acidsql.connect(str(prod)) as session:
        for statement in request.param:
            session.execute(statement)
        session.compactor.run_once()
    shutil.copy(old, file)
    with acidsql.connect(str(prod)) as session:
        yield session


LATER = (
    ("INSERT INTO t VALUES (4)",),
    ("UPDATE t SET id = 5 WHERE id = 1",),
    ("DELETE FROM t WHERE id = 1",),
    ("TRUNCATE TABLE t",),
    ("INSERT INTO t VALUES (4)", "INSERT INTO t VALUES (5)"),
)


@pytest.mark.parametrize("behind", [*LATER, ("ALTER TABLE t COMPACT 'major' AND WAIT",)], indirect=True)
def test_a_metastore_that_is_older_than_its_table_neither_reads_nor_writes_it(behind: Session, prod: Path) -> None:
    before = sorted(path for path in (prod / "t").rglob("*") if path.is_file())
    for statement in (
        "INSERT INTO t VALUES (6)",
        "UPDATE t SET id = 6 WHERE id = 2",
        "TRUNCATE TABLE t",
        "INSERT OVERWRITE TABLE t VALUES (6)",
        "ALTER TABLE t COMPACT 'major' AND WAIT",
    ):
        with pytest.raises(AcidSqlError, match="CATALOG_BEHIND"):
            behind.execute(statement)
    with pytest.raises(AcidSqlError, match=r"CATALOG_BEHIND.*(delta|base)_0+"):
        values(behind)
    assert sorted(path for path in (prod / "t").rglob("*") if path.is_file()) == before


@pytest.mark.parametrize("restore", [os.replace, shutil.copy], ids=["another inode", "the same inode"])
def test_the_first_write_after_a_restore_looks_at_all_partitions(
    tmp_path: Path, restore: Callable[[Path, Path], object]
) -> None:
    """Its write ID would make the other metastore's directories in other partitions valid."""
    place, old = tmp_path / "w", tmp_path / "old.db"
    file = place / ".acidsql" / "metastore.db"
    with acidsql.connect(str(place)) as session:
        session.execute(f"CREATE TABLE t (id INT) PARTITIONED BY (p STRING) {ACID}")
        for p in ("a", "b"):
            session.execute(f"INSERT INTO t PARTITION (p = '{p}') VALUES (1)")
    shutil.copy(file, old)
    with acidsql.connect(str(place)) as session:
        session.execute("INSERT INTO t PARTITION (p = 'a') VALUES (2)")
    restore(old, file)
    with acidsql.connect(str(place)) as session:
        for _ in range(2):
            with pytest.raises(AcidSqlError, match=r"CATALOG_BEHIND.*/p=a/delta_0000003_0000003_0000"):
                session.execute("INSERT INTO t PARTITION (p = 'b') VALUES (3)")
        shutil.rmtree(place / "t" / "p=a" / "delta_0000003_0000003_0000")
        session.claim_tables()
        session.execute("INSERT INTO t PARTITION (p = 'b') VALUES (3)")
        assert values(session) == [1, 1, 3]
    with SqliteMetastore(file, str(place)) as store:
        assert not store.is_unchecked(store.table("default", "t"))


@pytest.mark.parametrize("behind", LATER, indirect=True)
@pytest.mark.parametrize("how", ["", "OVERWRITE"])
def test_load_data_looks_at_the_directory_and_removes_nothing_of_another_metastore(
    behind: Session, prod: Path, how: str
) -> None:
    (prod / ".acidsql" / "metastore.db-issued").unlink()  # so that LOAD DATA alone looks
    before = sorted(path for path in (prod / "t").rglob("*") if path.is_file())
    orc.write_table(pa.table({"id": pa.array([6], pa.int32())}), prod.with_name("000000_0"))
    with pytest.raises(AcidSqlError, match="CATALOG_BEHIND"):
        behind.execute(f"LOAD DATA LOCAL INPATH '{prod.with_name('000000_0')}' {how} INTO TABLE t")
    assert sorted(path for path in (prod / "t").rglob("*") if path.is_file()) == before


def test_drop_partition_removes_nothing_of_another_metastore(tmp_path: Path) -> None:
    place, old = tmp_path / "w", tmp_path / "old.db"
    file = place / ".acidsql" / "metastore.db"
    with acidsql.connect(str(place)) as session:
        session.execute(f"CREATE TABLE t (id INT) PARTITIONED BY (p STRING) {ACID}")
        session.execute("INSERT INTO t VALUES (1, 'a')")
    shutil.copy(file, old)
    with acidsql.connect(str(place)) as session:
        session.execute("INSERT INTO t VALUES (2, 'a')")
    shutil.copy(old, file)
    file.with_name("metastore.db-issued").unlink()
    with acidsql.connect(str(place)) as session:
        with pytest.raises(AcidSqlError, match="CATALOG_BEHIND"):
            session.execute("ALTER TABLE t DROP PARTITION (p = 'a')")
        assert {path.name for path in (place / "t" / "p=a").glob("[bd]*")} == {
            "delta_0000001_0000001_0000",
            "delta_0000002_0000002_0000",
        }


@pytest.mark.parametrize("behind", [LATER[4]], indirect=True)
def test_the_rows_of_a_table_that_its_metastore_does_not_know_can_be_kept(behind: Session, prod: Path) -> None:
    with pytest.raises(AcidSqlError, match="CATALOG_BEHIND"):
        insert(behind, 6)
    assert behind.claim_tables(forget=True) == ["default.t"]
    behind.execute(f"CREATE TABLE t (id INT) {ACID[:14]} LOCATION '{prod}/t' {ACID[14:]}")
    assert values(behind) == [1, 2, 3, 4, 5]
    insert(behind, 6)
    assert values(behind) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("behind", [LATER[4]], indirect=True)
def test_the_state_that_an_older_metastore_knows_can_be_kept(behind: Session, prod: Path) -> None:
    with pytest.raises(AcidSqlError, match="CATALOG_BEHIND"):
        insert(behind, 6)
    for number in (4, 5):
        shutil.rmtree(prod / "t" / f"delta_000000{number}_000000{number}_0000")
    assert behind.claim_tables() == ["default.t"]
    insert(behind, 6)
    assert values(behind) == [1, 2, 3, 6]


@pytest.mark.parametrize("behind", [LATER[4]], indirect=True)
def test_what_was_found_stays_known_when_the_write_id_was_given_out(behind: Session) -> None:
    for _ in range(4):
        with pytest.raises(AcidSqlError, match="CATALOG_BEHIND"):
            insert(behind, 6)
        with pytest.raises(AcidSqlError, match="CATALOG_BEHIND"):
            values(behind)


@pytest.mark.parametrize("behind", LATER, indirect=True)
def test_a_stream_does_not_write_beside_directories_that_its_metastore_does_not_know(behind: Session) -> None:
    for size in (1, 5):
        with pytest.raises(AcidSqlError, match="CATALOG_BEHIND"):
            write_stream(behind, size)


def write_stream(session: Session, size: int) -> None:
    stream = session.stream("t", batch_size=size)
    try:
        stream.write([{"id": 6}])
        stream.commit()
    finally:
        with suppress(AcidSqlError):
            stream.close()


def test_directories_of_writers_that_run_are_no_sign_of_another_metastore(prod: Path) -> None:
    with acidsql.connect(str(prod)) as first, acidsql.connect(str(prod)) as second:
        with first.transaction():
            insert(first, 4)
            assert values(second) == [1, 2, 3]
            insert(second, 5)
            with second.stream("t") as stream:
                stream.write([{"id": 6}])
                stream.commit()
            insert(first, 7)
            assert values(first) == [1, 2, 3, 4, 7]
        assert values(second) == [1, 2, 3, 4, 5, 6, 7]


def test_the_command_claim_says_whose_the_tables_of_a_copy_are(
    tmp_path: Path, prod: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with acidsql.connect(str(prod)) as session:
        session.execute(f"CREATE TABLE far (id INT) {ACID[:14]} LOCATION '{tmp_path}/far' {ACID[14:]}")
    copy = prod.with_name("copy")
    shutil.copytree(prod, copy)
    assert main(["claim", "--forget", "--warehouse", str(copy)]) == 0
    assert capsys.readouterr().out == "default.far: forgotten\n"
    assert main(["claim", "--own", "--warehouse", str(copy)]) == 0
    assert capsys.readouterr().out == ""
    with acidsql.connect(str(copy)) as session:
        insert(session, 4)
