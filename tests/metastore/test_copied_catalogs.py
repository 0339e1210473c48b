"""Files of the embedded metastore that were moved or copied: where their tables are, and whose."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from acidsql.acid.compaction_scope import CompactionType
from acidsql.acid.table import MOVING, Column, Table
from acidsql.acid.write_ids import WriteId
from acidsql.errors import AcidSqlError
from acidsql.metastore.catalog import Database, Partition
from acidsql.metastore.compactions import CompactionRequest, CompactionState
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.partition_changes import ChangeKind, PartitionChange
from acidsql.metastore.sqlite.locations import Locations, resolved_warehouse, stored_warehouse
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from tests.metastore.older_files import make_version_8

READ = LockComponent("default", "t", LockType.SHARED_READ, Operation.SELECT)
INSERT = LockComponent("default", "t", LockType.SHARED_READ, Operation.INSERT)


def opened(warehouse: Path) -> SqliteMetastore:
    return SqliteMetastore(warehouse / ".acidsql" / "metastore.db", str(warehouse))


def table(location: str, name: str = "t") -> Table:
    columns = (Column("id", "int"),)
    return Table("default", name, columns, location, (Column("p", "string"),), properties={"transactional": "true"})


def copy(source: Path, target: Path) -> Path:
    shutil.copytree(source, target)
    return target


def move(source: Path, target: Path) -> Path:
    return Path(shutil.move(source, target))


# -- locations
@pytest.mark.parametrize(
    ("location", "stored"),
    [
        ("/w", "."),
        ("/w/t", "./t"),
        ("/w/a b/./x", "./a b/./x"),
        ("/wide/t", "/wide/t"),
        ("file:///w/t", "file://./t"),
        ("file:/w", "file:."),
        ("file:///w/a%20b", "file:///w/a%20b"),
        ("s3a://bucket/w/t", "s3a://bucket/w/t"),
    ],
)
def test_a_location_below_the_warehouse_is_stored_relative_to_it(location: str, stored: str) -> None:
    locations = Locations("/w")
    assert locations.stored(location) == stored
    assert locations.absolute(stored) == location
    assert Locations("/v").absolute(stored) == (location if stored == location else location.replace("/w", "/v", 1))


@pytest.mark.parametrize("warehouse", ["s3a://bucket/w", "hdfs://host:1/w", "file:///w"])
def test_a_warehouse_elsewhere_keeps_its_location(warehouse: str) -> None:
    file = Path("/catalogs/m.db")
    assert resolved_warehouse(file, stored_warehouse(file, warehouse)) == warehouse
    assert Locations(warehouse).stored(f"{warehouse}/t") in ("./t", "file://./t")
    assert Locations(warehouse).absolute(Locations(warehouse).stored(f"{warehouse}/t")) == f"{warehouse}/t"


def test_a_warehouse_is_where_the_file_in_it_is() -> None:
    stored = stored_warehouse(Path("/w/.acidsql/metastore.db"), "/w")
    assert stored == ".."
    assert resolved_warehouse(Path("/v/.acidsql/metastore.db"), stored) == "/v"
    as_uri = stored_warehouse(Path("/w/.acidsql/metastore.db"), "file:///w")
    assert resolved_warehouse(Path("/v/.acidsql/metastore.db"), as_uri) == "file:///v"


# -- a warehouse with everything in it
def fill(warehouse: Path) -> None:
    with opened(warehouse) as store:
        store.create_database(Database("sales", f"{warehouse}/sales.db", managed_location=f"{warehouse}/managed"))
        moving = {MOVING: f'["{warehouse}/t", "{warehouse}/u"]', "transactional": "true"}
        store.create_table(replace(table(f"{warehouse}/t"), properties=moving))
        store.add_partitions(table(f"{warehouse}/t"), [Partition(("a",), f"{warehouse}/t/p=a")])
        store.add_partitions(table(f"{warehouse}/t"), [Partition(("b",), f"{warehouse}/odd/b")])


def check_is_in(warehouse: Path) -> None:
    with opened(warehouse) as store:
        assert [d.location for d in store.databases()] == [str(warehouse), f"{warehouse}/sales.db"]
        assert store.database("sales").managed_location == f"{warehouse}/managed"
        found = store.table("default", "t")
        assert found.location == f"{warehouse}/t"
        assert found.properties[MOVING] == f'["{warehouse}/t", "{warehouse}/u"]'
        assert [p.location for p in store.partitions(found)] == [f"{warehouse}/t/p=a", f"{warehouse}/odd/b"]
        assert [p.location for p in store.partitions_named(found, [("b",)])] == [f"{warehouse}/odd/b"]
        assert {p.location for p in store.places()} >= {f"{warehouse}/t", f"{warehouse}/odd/b"}
        txn = store.open_txn()
        store.lock(txn, [INSERT])
        store.allocate_write_id(txn, found)
        store.abort(txn)
        assert [left.table.location for left in store.leftovers()] == [f"{warehouse}/t"]
        store.forget_leftovers(txn)


@pytest.mark.parametrize("change", [copy, move])
@pytest.mark.parametrize("version", [8, 9])
def test_a_moved_or_copied_warehouse_has_its_tables_in_its_own_directory(
    tmp_path: Path, change: Callable[[Path, Path], Path], version: int
) -> None:
    old = tmp_path / "old"
    fill(old)
    if version == 8:
        make_version_8(old / ".acidsql" / "metastore.db", str(old))
    new = change(old, tmp_path / "new")
    check_is_in(new)
    if old.exists():
        check_is_in(old)


def test_an_older_file_whose_first_database_is_elsewhere_keeps_all_locations(tmp_path: Path) -> None:
    warehouse, elsewhere = tmp_path / "w", tmp_path / "elsewhere"
    elsewhere.mkdir()
    with opened(warehouse) as store:
        store.create_table(table(f"{elsewhere}/t"))
        store.create_table(table(f"{warehouse}/u", "u"))
        store.alter_database(replace(store.database("default"), location=str(elsewhere)))
    make_version_8(warehouse / ".acidsql" / "metastore.db", str(warehouse))
    with opened(warehouse) as store:
        assert store.database("default").location == str(elsewhere)
        assert store.table("default", "t").location == f"{elsewhere}/t"
        assert (newer := store.table("default", "u")).location == f"{warehouse}/u"
        assert store.partition_changes(newer) == [PartitionChange(None, ChangeKind.DROPPED, WriteId(0))]


def test_what_was_under_way_in_the_original_has_ended_in_its_copy(tmp_path: Path) -> None:
    place = table(f"{tmp_path}/old/t")
    with opened(tmp_path / "old") as store:
        store.create_table(place)
        claim = store.claim_stream(place, "s")
        writer = store.open_txn()
        store.lock(writer, [replace(INSERT, lock_type=LockType.EXCLUSIVE)])
        store.enqueue_compaction(CompactionRequest("default", "t", None, CompactionType.MAJOR))
        assert store.take_compaction("w") is not None
        copy(tmp_path / "old", tmp_path / "new")
        with opened(tmp_path / "new") as copied:
            copied.lock(copied.open_txn(), [INSERT])
            with pytest.raises(AcidSqlError, match=r"TRANSACTION_ABORTED.*copied or moved while it was open"):
                copied.commit(writer)
            copied.claim_stream(table(f"{tmp_path}/new/t"), "s")
            assert [c.state for c in copied.compactions()] == [CompactionState.INITIATED]
        store.keep_claim(claim)
        store.commit(writer)


def test_a_file_that_is_renamed_while_processes_use_it_ends_nothing(tmp_path: Path) -> None:
    with opened(tmp_path / "old") as store:
        writer = store.open_txn()
        os.symlink(tmp_path / "old", tmp_path / "link")
        os.link(tmp_path / "old" / ".acidsql" / "metastore.db", tmp_path / "old" / ".acidsql" / "other.db")
        with opened(tmp_path / "link") as same:
            assert same.valid_txns().open == {writer}
        store.commit(writer)


# -- tables elsewhere
@pytest.fixture
def divided(tmp_path: Path) -> Path:
    """The copy of a warehouse whose table `t` lies outside of it, and `u` inside."""
    with opened(tmp_path / "old") as store:
        store.create_table(table(f"{tmp_path}/outside/t"))
        store.create_table(table(f"{tmp_path}/old/u", "u"))
        store.create_table(replace(table(f"{tmp_path}/outside/x", "x"), external=True, properties={}))
    return copy(tmp_path / "old", tmp_path / "new")


CHANGES: dict[str, Callable[[SqliteMetastore, Table], object]] = {
    "a lock of a writer": lambda store, t: store.lock(store.open_txn(), [INSERT]),
    "a lock of DDL": lambda store, t: store.lock(
        store.open_txn(), [LockComponent("default", None, LockType.SHARED_READ, Operation.NO_TXN)]
    ),
    "a write ID": lambda store, t: store.allocate_write_id(store.open_txn(), t),
    "write IDs": lambda store, t: store.allocate_write_ids(store.open_txns(2), t),
    "a new table": lambda store, t: store.create_table(replace(t, name="new")),
    "a dropped table": lambda store, t: store.drop_table("default", "t"),
    "another definition": lambda store, t: store.alter_table(t, replace(t, comment="c")),
    "a new partition": lambda store, t: store.add_partitions(t, [Partition(("a",), f"{t.location}/p=a")]),
    "a new database": lambda store, t: store.create_database(Database("d", "/d")),
    "a stream": lambda store, t: store.claim_stream(t, "s"),
    "a request for a compaction": lambda store, t: store.enqueue_compaction(
        CompactionRequest("default", "t", None, CompactionType.MAJOR)
    ),
    "a worker": lambda store, t: store.take_compaction("w"),
    "a cleaner": lambda store, t: store.ready_for_cleaning(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_copy_whose_tables_lie_outside_reads_and_changes_nothing(divided: Path, change: str) -> None:
    with opened(divided) as store:
        place = store.table("default", "t")
        reader = store.open_txn(read_only=True)
        store.lock(reader, [READ])
        store.valid_write_ids(place, store.valid_txns())
        store.heartbeat(reader)
        store.commit(reader)
        with pytest.raises(AcidSqlError) as caught:
            CHANGES[change](store, place)
    told = caught.value
    assert told.condition == "CATALOG_MOVED"
    assert f"last used as {divided.parent}/old/.acidsql/metastore.db" in str(told)
    assert "(default.t)" in str(told)
    assert "acidsql claim --own" in str(told)


def test_a_copy_removes_no_files_of_dead_writers_outside(tmp_path: Path) -> None:
    place = table(f"{tmp_path}/outside/t")
    with opened(tmp_path / "old") as store:
        store.create_table(place)
        txn = store.open_txn()
        store.allocate_write_id(txn, place)
        store.abort(txn)
        copy(tmp_path / "old", tmp_path / "new")
        assert len(store.leftovers()) == 1
    with opened(tmp_path / "new") as store:
        assert store.leftovers() == ()
        store.claim_tables()
        assert len(store.leftovers()) == 1


@pytest.mark.parametrize("forgets", [False, True])
def test_a_claim_ends_the_refusal_for_every_process(divided: Path, forgets: bool) -> None:
    with opened(divided) as waiting:
        with opened(divided) as store:
            assert store.claim_tables(forgets=forgets) == ["default.t"]
        waiting.create_database(Database("d", "/d"))
        assert waiting.tables("default") == (["u", "x"] if forgets else ["t", "u", "x"])
    with opened(divided) as store:
        store.create_database(Database("e", "/e"))


def test_a_claim_finds_the_tables_of_a_metastore_beside_its_warehouse(tmp_path: Path) -> None:
    with SqliteMetastore(tmp_path / "old" / "m.db", f"{tmp_path}/old/w") as store:
        store.create_table(table(f"{tmp_path}/old/w/t"))
    copy(tmp_path / "old", tmp_path / "new")
    with SqliteMetastore(tmp_path / "new" / "m.db", f"{tmp_path}/new/w") as store:
        assert store.table("default", "t").location == f"{tmp_path}/old/w/t"
        with pytest.raises(AcidSqlError, match="CATALOG_MOVED"):
            store.drop_table("default", "t")
        store.claim_tables(warehouse=f"{tmp_path}/new/w")
        assert store.table("default", "t").location == f"{tmp_path}/new/w/t"
        assert store.database("default").location == f"{tmp_path}/new/w"
        store.drop_table("default", "t")


def test_a_file_that_is_restored_at_its_own_place_is_at_home(tmp_path: Path) -> None:
    with opened(tmp_path / "old") as store:
        store.create_table(table(f"{tmp_path}/outside/t"))
    copy(tmp_path / "old", tmp_path / "backup")
    shutil.rmtree(tmp_path / "old")
    copy(tmp_path / "backup", tmp_path / "old")
    with opened(tmp_path / "old") as store:
        store.drop_table("default", "t")


def test_a_renamed_directory_needs_no_claim(tmp_path: Path) -> None:
    with opened(tmp_path / "old") as store:
        store.create_table(table(f"{tmp_path}/outside/t"))
    os.rename(tmp_path / "old", tmp_path / "new")
    with opened(tmp_path / "new") as store:
        store.drop_table("default", "t")


def test_a_file_that_was_restored_in_place_is_known_by_the_last_transaction_of_a_writer(tmp_path: Path) -> None:
    made, file = table(f"{tmp_path}/t"), tmp_path / ".acidsql" / "metastore.db"
    with opened(tmp_path) as store:
        store.create_table(made)
        store.commit(store.open_txn())
    shutil.copy(file, tmp_path / "old.db")
    link = tmp_path / "link.db"
    link.symlink_to(file)
    with opened(tmp_path) as store:
        store.commit(store.open_txn(read_only=True))
        assert store.open_txn() == 3
        assert not store.is_unchecked(made)
    shutil.copy(tmp_path / "old.db", file)
    with SqliteMetastore(link, str(tmp_path)) as store:
        store.open_txn(read_only=True)
        assert not store.is_unchecked(made)
        store.open_txn()
        assert store.is_unchecked(made)
        store.note_checked(made)
        store.open_txns(2)
        assert not store.is_unchecked(made)


def test_a_number_that_cannot_be_read_or_written_hinders_nobody(tmp_path: Path) -> None:
    place = tmp_path / ".acidsql" / "metastore.db-issued"
    place.parent.mkdir()
    place.write_text("?")
    with opened(tmp_path) as store:
        assert [store.open_txn(), store.open_txn()] == [1, 2]
        assert int(place.read_text()) == 2
        place.unlink()
        place.mkdir()
        assert store.open_txn() == 3
