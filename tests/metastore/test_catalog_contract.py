"""What every metastore must do, whatever keeps it: the contract of `acidsql.metastore.client.Catalog`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest

from acidsql.acid.table import Check, Column, Constraints, Table
from acidsql.acid.writeids import WriteId
from acidsql.errors import AcidSqlError
from acidsql.metastore.client import (
    Database,
    Metastore,
    Partition,
)
from tests.metastore.tables import partitioned_table, plain_table


@pytest.fixture
def table(store: Metastore) -> Table:
    store.create_table(made := plain_table())
    return made


def fails(condition: str, call: Callable[[], object]) -> AcidSqlError:
    with pytest.raises(AcidSqlError) as caught:
        call()
    assert caught.value.condition == condition
    return caught.value


# -- databases
def test_the_database_default_lies_in_the_warehouse(store: Metastore, tmp_path: Path) -> None:
    assert store.database("default") == Database("default", str(tmp_path))


def test_a_database_is_kept_as_it_was_given(store: Metastore) -> None:
    sales = Database("sales", "/elsewhere/sales.db", "what was sold", {"owner": "Zoë", "a": "b"})
    store.create_database(sales)
    assert store.database("sales") == sales
    assert [d.name for d in store.databases()] == ["default", "sales"]


def test_a_database_is_made_once(store: Metastore) -> None:
    fails("DATABASE_ALREADY_EXISTS", lambda: store.create_database(Database("default", "/x")))


def test_a_missing_database_is_named_with_the_nearest_one(store: Metastore) -> None:
    error = fails("DATABASE_NOT_FOUND", lambda: store.database("defualt"))
    assert error.message == "Database does not exist: defualt Did you mean default?"
    fails("DATABASE_NOT_FOUND", lambda: store.tables("nowhere"))
    fails("DATABASE_NOT_FOUND", lambda: store.table("nowhere", "t"))
    fails("DATABASE_NOT_FOUND", lambda: store.drop_database("nowhere"))
    fails("DATABASE_NOT_FOUND", lambda: store.create_table(plain_table(database="nowhere")))
    assert store.find_table("nowhere", "t") is None


def test_only_an_empty_database_is_dropped(store: Metastore) -> None:
    store.create_database(Database("sales", "/s"))
    store.create_table(plain_table(database="sales"))
    fails("DATABASE_NOT_EMPTY", lambda: store.drop_database("sales"))
    store.drop_table("sales", "t")
    store.drop_database("sales")
    fails("DATABASE_NOT_FOUND", lambda: store.database("sales"))


def test_the_default_database_stays(store: Metastore) -> None:
    fails("CANNOT_DROP_DEFAULT_DATABASE", lambda: store.drop_database("default"))


# -- tables
def test_every_field_of_a_table_is_kept(store: Metastore) -> None:
    full = Table(
        database="default",
        name="everything",
        columns=(Column("id", "int", "the key"), Column("s", "struct<a:int,b:array<string>>"), Column("ü", "string")),
        location="hdfs://nn/warehouse/everything",
        partition_columns=(Column("p", "string"), Column("d", "date", "a day")),
        bucket_columns=("id",),
        bucket_count=4,
        sort_columns=("id", "s"),
        file_format="parquet",
        properties={"transactional": "TRUE", "orc.compress": "SNAPPY", "comment": 'it\'s "quoted"\n'},
        constraints=Constraints(
            frozenset({"id", "s"}), {"id": "1 + 1"}, (Check(None, "id > 0"), Check("named", "s.a <> 'x'"))
        ),
        external=True,
        comment="all of it",
        owner="me",
        created=1_700_000_000,
    )
    bare = Table("d", "t", (), "/")
    assert all(getattr(full, f.name) != getattr(bare, f.name) for f in fields(Table)), "a field is not tried"
    store.create_table(full)
    assert store.table("default", "everything") == full
    assert store.find_table("default", "everything") == full


def test_tables_are_listed_by_name_in_their_database(store: Metastore) -> None:
    store.create_database(Database("sales", "/s"))
    for made in (plain_table("zoo"), plain_table("ant"), plain_table("elsewhere", database="sales")):
        store.create_table(made)
    assert list(store.tables("default")) == ["ant", "zoo"]


def test_a_missing_table_is_named_with_the_nearest_one(store: Metastore) -> None:
    store.create_table(plain_table("employee"))
    error = fails("TABLE_NOT_FOUND", lambda: store.table("default", "employe"))
    assert error.message == "Table not found 'default.employe' Did you mean employee?"
    assert store.find_table("default", "employe") is None
    fails("TABLE_NOT_FOUND", lambda: store.drop_table("default", "employe"))
    fails("TABLE_NOT_FOUND", lambda: store.alter_table(plain_table("employe"), plain_table("x")))
    fails("TABLE_NOT_FOUND", lambda: store.valid_write_ids(plain_table("employe"), store.valid_txns()))


def test_a_table_is_made_once(store: Metastore, table: Table) -> None:
    fails("TABLE_ALREADY_EXISTS", lambda: store.create_table(plain_table()))


def test_a_failed_create_leaves_nothing(store: Metastore, table: Table) -> None:
    before = store.table("default", "t")
    fails("TABLE_ALREADY_EXISTS", lambda: store.create_table(replace(plain_table(), location="/other")))
    assert store.table("default", "t") == before


def test_altering_a_table_replaces_its_definition(store: Metastore, table: Table) -> None:
    wider = replace(table, columns=(*table.columns, Column("name", "string")), properties={"a": "b"})
    store.alter_table(table, wider)
    assert store.table("default", "t") == wider


def test_renaming_keeps_partitions_and_write_ids(store: Metastore) -> None:
    old = partitioned_table("old")
    store.create_table(old, partitions=[Partition(("a", "1"), "/w/a")])
    txn = store.open_txn()
    assert store.allocate_write_id(txn, old) == 1
    store.commit(txn)
    new = replace(old, name="new")
    store.alter_table(old, new)
    assert list(store.tables("default")) == ["new"]
    assert list(store.partitions(new)) == [Partition(("a", "1"), "/w/a")]
    assert store.allocate_write_id(store.open_txn(), new) == 2


def test_altering_a_table_replaces_partitions_by_their_values(store: Metastore) -> None:
    table = partitioned_table()
    one, two = Partition(("a", "1"), "/w/a"), Partition((None, "2"), "/w/null")
    store.create_table(table, partitions=[one, two])
    moved, renamed = Partition((None, "2"), "/elsewhere"), Partition(("b", "1"), "/w/a")
    wider = replace(table, properties={"x": "y"})
    store.alter_table(table, wider, partitions={two.values: moved, one.values: renamed})
    assert list(store.partitions(table)) == [moved, renamed]
    assert store.table("default", table.name) == wider


def test_altering_a_table_fails_as_a_whole(store: Metastore) -> None:
    table = partitioned_table()
    one, two = Partition(("a", "1"), "/w/a"), Partition(("b", "1"), "/w/b")
    store.create_table(table, partitions=[one, two])
    changed = {one.values: replace(one, values=two.values)}
    wider = replace(table, name="other", properties={"x": "y"})
    fails("PARTITION_ALREADY_EXISTS", lambda: store.alter_table(table, wider, partitions=changed))
    assert list(store.partitions(table)) == [one, two]
    assert list(store.tables("default")) == [table.name]


def test_write_ids_of_a_converted_table_begin_above_those_that_count_as_committed(store: Metastore) -> None:
    table = plain_table()
    store.create_table(replace(table, properties={}))
    store.alter_table(table, table, committed_up_to=WriteId(10_000_000))
    seen = store.valid_write_ids(table, store.valid_txns())
    assert (seen.high_watermark, seen.open, seen.aborted) == (10_000_000, frozenset(), frozenset())
    assert store.allocate_write_id(store.open_txn(), table) == 10_000_001
    store.alter_table(table, table, committed_up_to=WriteId(1))
    assert store.allocate_write_id(store.open_txn(), table) == 10_000_002


def test_renaming_onto_another_table_fails(store: Metastore, table: Table) -> None:
    store.create_table(plain_table("other"))
    fails("TABLE_ALREADY_EXISTS", lambda: store.alter_table(table, replace(table, name="other")))
    assert list(store.tables("default")) == ["other", "t"]


def test_a_dropped_and_remade_table_starts_its_write_ids_again(store: Metastore, table: Table) -> None:
    txn = store.open_txn()
    store.allocate_write_id(txn, table)
    store.commit(txn)
    store.drop_table("default", "t")
    assert list(store.tables("default")) == []
    store.create_table(table)
    seen = store.valid_write_ids(table, store.valid_txns())
    assert (seen.high_watermark, seen.open, seen.aborted) == (0, frozenset(), frozenset())
    assert store.allocate_write_id(store.open_txn(), table) == 1


# -- partitions
def test_partitions_are_kept_by_values(store: Metastore) -> None:
    table = partitioned_table()
    first, null, last = (
        Partition(("a", "1"), "/w/p=a/q=1"),
        Partition((None, "1"), "/w/p=__HIVE_DEFAULT_PARTITION__/q=1"),
        Partition(("b/=ü", None), "/w/b"),
    )
    store.create_table(table, partitions=[last])
    store.add_partitions(table, [first, null])
    assert list(store.partitions(table)) == [null, first, last]
    store.drop_partitions(table, [(None, "1"), ("not", "there")])
    assert list(store.partitions(table)) == [first, last]


def test_a_partition_that_is_there_already_stays_as_it_is(store: Metastore) -> None:
    table = partitioned_table()
    store.create_table(table, partitions=[Partition(("a", "1"), "/first")])
    store.add_partitions(table, [Partition(("a", "1"), "/second")])
    assert list(store.partitions(table)) == [Partition(("a", "1"), "/first")]


def test_a_remade_table_has_no_partitions(store: Metastore) -> None:
    table = partitioned_table()
    store.create_table(table, partitions=[Partition(("a", "1"), "/first")])
    store.drop_table("default", table.name)
    store.create_table(table)
    assert list(store.partitions(table)) == []
