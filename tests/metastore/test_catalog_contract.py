"""The contract of `acidsql.metastore.catalog.Catalog`, which every metastore fulfils."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from acidsql.acid.csv_format import CSV_SERDE
from acidsql.acid.table import (
    Check,
    Column,
    ConstraintKind,
    ConstraintName,
    Constraints,
    PrincipalKind,
    Table,
    View,
)
from acidsql.acid.write_ids import WriteId
from acidsql.metastore.catalog import Database, Partition
from acidsql.metastore.client import Metastore
from acidsql.metastore.partition_changes import ChangeKind
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from tests.answers import fails
from tests.metastore import tables
from tests.metastore.tables import database, partition, partitioned_table, plain_table


@pytest.fixture
def table(store: Metastore) -> Table:
    store.create_table(made := plain_table())
    return made


# -- databases
def test_the_database_default_lies_in_the_warehouse(store: Metastore, tmp_path: Path) -> None:
    assert store.database("default") == Database("default", str(tmp_path))


def test_a_database_is_read_back_unchanged(store: Metastore, tmp_path: Path) -> None:
    sales = Database("sales", f"{tmp_path}/elsewhere/sales.db", "what was sold", {"owner": "Zoë", "a": "b"})
    store.create_database(sales)
    assert store.database("sales") == sales
    assert {d.name for d in store.databases()} >= {"default", "sales"}


def test_a_database_that_exists_cannot_be_created(store: Metastore) -> None:
    fails("DATABASE_ALREADY_EXISTS", lambda: store.create_database(database("default")))


def test_a_missing_database_is_an_error_that_suggests_the_nearest_name(store: Metastore) -> None:
    error = fails("DATABASE_NOT_FOUND", lambda: store.database("defualt"))
    assert error.message == "Database does not exist: defualt Did you mean default?"
    fails("DATABASE_NOT_FOUND", lambda: store.tables("nowhere"))
    fails("DATABASE_NOT_FOUND", lambda: store.table("nowhere", "t"))
    fails("DATABASE_NOT_FOUND", lambda: store.drop_database("nowhere"))
    fails("DATABASE_NOT_FOUND", lambda: store.create_table(plain_table(database="nowhere")))
    assert store.find_table("nowhere", "t") is None


def test_the_locations_of_all_tables_are_listed(store: Metastore) -> None:
    store.create_database(database("sales"))
    store.create_table(plain_table(database="sales"))
    store.create_table(parted := partitioned_table())
    store.add_partitions(parted, [Partition(("a", "1"), f"{parted.location}-aside"), partition(parted, "b", "2")])
    told = {p.location: p.table for p in store.places()}
    assert told[store.table("sales", "t").location] == ("sales", "t")
    assert told[parted.location] == ("default", parted.name)
    # A Hive Metastore would have to be asked table by table.
    of_embedded = {f"{parted.location}-aside", *(where for where, table in told.items() if table is None)}
    if isinstance(store, SqliteMetastore):
        assert len(of_embedded) == 2
        assert told.keys() == of_embedded | {parted.location, store.table("sales", "t").location}


def test_a_database_gets_other_properties(store: Metastore) -> None:
    store.create_database(made := replace(database("sales"), properties={"a": "1", "b": "2"}, comment="sold"))
    store.alter_database(replace(made, properties={"a": "3", "c": "4"}))
    found = store.database("sales")
    assert (dict(found.properties), found.comment) == ({"a": "3", "c": "4"}, "sold")
    assert found.location == made.location
    fails("DATABASE_NOT_FOUND", lambda: store.alter_database(database("nothing")))


def test_a_database_gets_an_owner_and_other_directories(store: Metastore) -> None:
    store.create_database(made := database("sales"))
    moved = replace(
        made, location="/elsewhere/sales", managed_location="/managed", owner="Zoë", owner_kind=PrincipalKind.ROLE
    )
    store.alter_database(moved)
    found = store.database("sales")
    assert found == moved
    assert (found.owner, found.owner_kind) == ("Zoë", PrincipalKind.ROLE)


def test_the_storage_and_the_owner_of_a_table_change(store: Metastore) -> None:
    text = replace(plain_table(), file_format="textfile", row_format={"field.delim": ","}, properties={}, external=True)
    store.create_table(text)
    old = store.table("default", text.name)
    bucketed = replace(old, file_format="parquet", row_format={"a": "b"}, bucket_columns=("id",), bucket_count=3)
    changed = replace(bucketed, sort_columns=("id",), owner="admins", owner_kind=PrincipalKind.GROUP)
    store.alter_table(old, changed)
    assert store.table("default", text.name) == changed
    store.alter_table(changed, replace(changed, bucket_columns=(), bucket_count=None, sort_columns=()))
    assert store.table("default", text.name).bucket_count is None


def test_statistics_are_true_until_the_next_write(store: Metastore, table: Table) -> None:
    before = store.table("default", table.name)
    numbers = {"numRows": "3", "numFiles": "1", "totalSize": "700"}
    txn = store.open_txn()
    store.set_statistics(txn, table, {(): numbers}, accurate=True)
    store.commit(txn)
    assert store.statistics(table) == {**numbers, "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}
    assert store.table("default", table.name) == before
    txn = store.open_txn()
    store.forget_statistics(txn, table, [()])
    store.commit(txn)
    assert store.statistics(table) == numbers
    store.set_statistics(None, table, {(): {"numFiles": "2"}}, accurate=None)
    assert store.statistics(table) == {**numbers, "numFiles": "2"}


def test_only_an_empty_database_is_dropped(store: Metastore) -> None:
    store.create_database(database("sales"))
    store.create_table(plain_table(database="sales"))
    fails("DATABASE_NOT_EMPTY", lambda: store.drop_database("sales"))
    store.drop_table("sales", "t")
    store.drop_database("sales")
    fails("DATABASE_NOT_FOUND", lambda: store.database("sales"))


def test_the_default_database_cannot_be_dropped(store: Metastore) -> None:
    fails("CANNOT_DROP_DEFAULT_DATABASE", lambda: store.drop_database("default"))


# -- tables
def test_the_serde_of_a_csv_table_is_read_back(store: Metastore) -> None:
    csv = replace(plain_table(), columns=(Column("a", "string"),), file_format="textfile", serde=CSV_SERDE)
    store.create_table(replace(csv, row_format={"separatorChar": ";"}, properties={}, external=True))
    found = store.table("default", csv.name)
    assert (found.serde, found.file_format, found.columns) == (CSV_SERDE, "textfile", csv.columns)
    assert found.row_format == {"separatorChar": ";"}


def test_every_field_of_a_table_is_read_back(store: Metastore) -> None:
    full = Table(
        database="default",
        name="everything",
        columns=(Column("id", "int", "the key"), Column("s", "struct<a:int,b:array<string>>"), Column("ü", "string")),
        location="hdfs://nn/warehouse/everything",
        partition_columns=(Column("p", "string"), Column("d", "date", "a day")),
        bucket_columns=("id",),
        bucket_count=4,
        sort_columns=("id", "s"),
        file_format="textfile",
        row_format={"field.delim": "|", "escape.delim": "\\", "serialization.null.format": ""},
        properties={"transactional": "TRUE", "orc.compress": "SNAPPY", "comment": 'it\'s "quoted"\n'},
        constraints=Constraints(
            frozenset({"id", "s"}), {"id": "1 + 1"}, (Check(None, "id > 0"), Check("named", "s.a <> 'x'"))
        ),
        external=True,
        comment="all of it",
        owner="me",
        created=1_700_000_000,
        owner_kind=PrincipalKind.ROLE,
    )
    bare = Table("d", "t", (), "/")
    # The next test has a table with a SerDe, and test_session_metastore_contract.py has temporary ones. The metastore
    # gives the number.
    tried = (f.name for f in fields(Table) if f.name not in ("serde", "temporary", "id"))
    assert all(getattr(full, name) != getattr(bare, name) for name in tried), "a field is not tried"
    store.create_table(full)
    assert store.table("default", "everything") == full
    assert store.find_table("default", "everything") == full


@pytest.mark.parametrize("external", [False, True])
@pytest.mark.parametrize("file_format", ["orc", "parquet", "textfile"])
def test_a_table_is_read_back_unchanged(store: Metastore, file_format: str, external: bool) -> None:
    insert_only = {**tables.ACID, "transactional_properties": "insert_only" if file_format != "orc" else "default"}
    given = replace(
        plain_table("everything"),
        columns=(Column("id", "int", "the key"), Column("s", "struct<a:int,b:array<string>>"), Column("ü", "string")),
        partition_columns=(Column("p", "string"), Column("d", "date", "a day")),
        bucket_columns=("id",),
        bucket_count=4,
        sort_columns=("id", "s") if external else (),
        file_format=file_format,
        properties={"orc.compress": "SNAPPY", "x": 'it\'s "quoted"', **(insert_only if not external else {})},
        constraints=Constraints(
            frozenset({"id", "s"}), {"id": "1 + 1"}, (Check(None, "id > 0"), Check("named", "s.a <> 'x'"))
        ),
        external=external,
        comment="all of it",
    )
    store.create_table(given)
    assert same(store.table("default", "everything"), given)


def same(found: Table, expected: Table) -> bool:
    """Compares all but the time of creation, which a Hive Metastore sets itself, and the order of checks."""

    def comparable(table: Table) -> Table:
        checks = sorted(table.constraints.checks, key=lambda check: check.condition)
        return replace(table, created=0, constraints=replace(table.constraints, checks=tuple(checks)))

    return comparable(found) == comparable(expected)


def test_constraints_are_changed_with_the_table(store: Metastore) -> None:
    old = replace(
        plain_table(),
        columns=(Column("id", "int"), Column("s", "string")),
        constraints=Constraints(frozenset({"id"}), {"s": "'x'"}, (Check(None, "id > 0"), Check("named", "id < 9"))),
    )
    store.create_table(old)
    constraints = Constraints(frozenset({"s"}), {"s": "'y'", "id": "1"}, (Check("named", "id < 10"),))
    new = replace(old, constraints=constraints)
    store.alter_table(old, new)
    assert same(store.table("default", "t"), new)
    store.alter_table(new, plainest := replace(new, constraints=Constraints()))
    assert same(store.table("default", "t"), plainest)


def test_names_of_constraints_are_kept_with_the_table(store: Metastore) -> None:
    primary = ConstraintName("pk", ConstraintKind.PRIMARY_KEY, ("id", "s"))
    unique = ConstraintName("uk", ConstraintKind.UNIQUE, ("s",))
    null = ConstraintName("nn", ConstraintKind.NOT_NULL, ("id",))
    default = ConstraintName("df", ConstraintKind.DEFAULT, ("s",))
    off = ConstraintName("off", ConstraintKind.CHECK, condition="id > 7")
    columns = (Column("id", "int"), Column("s", "string"))
    constraints = Constraints(frozenset({"id"}), {"s": "'x'"}, (Check("ck", "id > 0"),), (default, null, off, primary))
    parent = replace(plain_table("parent"), columns=columns, constraints=constraints)
    store.create_table(parent)
    assert same(store.table("default", "parent"), parent)
    foreign = ConstraintName("zk", ConstraintKind.FOREIGN_KEY, ("a", "b"), "default.parent", ("id", "s"))
    child = replace(plain_table("child"), columns=(Column("a", "int"), Column("b", "string")))
    store.create_table(child)
    store.alter_table(child, new_child := replace(child, constraints=Constraints(names=(foreign,))))
    assert same(store.table("default", "child"), new_child)
    fewer = replace(constraints, not_null=frozenset(), names=(default, primary, unique))
    store.alter_table(parent, new_parent := replace(parent, constraints=fewer))
    assert same(store.table("default", "parent"), new_parent)
    store.alter_table(new_child, child)
    assert same(store.table("default", "child"), child)


def test_tables_are_listed_by_name_in_their_database(store: Metastore) -> None:
    store.create_database(database("sales"))
    for made in (plain_table("zoo"), plain_table("ant"), plain_table("elsewhere", database="sales")):
        store.create_table(made)
    assert list(store.tables("default")) == ["ant", "zoo"]


def test_a_missing_table_is_an_error_that_suggests_the_nearest_name(store: Metastore) -> None:
    store.create_table(plain_table("employee"))
    error = fails("TABLE_NOT_FOUND", lambda: store.table("default", "employe"))
    assert error.message == "Table not found 'default.employe' Did you mean employee?"
    assert store.find_table("default", "employe") is None
    fails("TABLE_NOT_FOUND", lambda: store.drop_table("default", "employe"))
    fails("TABLE_NOT_FOUND", lambda: store.alter_table(plain_table("employe"), plain_table("x")))
    fails("TABLE_NOT_FOUND", lambda: store.valid_write_ids(plain_table("employe"), store.valid_txns()))


def test_a_table_that_exists_cannot_be_created(store: Metastore, table: Table) -> None:
    fails("TABLE_ALREADY_EXISTS", lambda: store.create_table(plain_table()))


def test_a_failed_create_table_leaves_no_table(store: Metastore, table: Table) -> None:
    before = store.table("default", "t")
    fails(
        "TABLE_ALREADY_EXISTS", lambda: store.create_table(replace(plain_table(), location=f"{tables.WAREHOUSE}/other"))
    )
    assert store.table("default", "t") == before


def test_altering_a_table_replaces_its_definition(store: Metastore, table: Table) -> None:
    wider = replace(
        table,
        columns=(*table.columns, Column("name", "string", "new")),
        properties={**tables.ACID, "a": "b"},
        comment="wider",
        owner="you",
    )
    store.alter_table(table, wider)
    assert same(store.table("default", "t"), wider)
    other = replace(wider, properties={**tables.ACID, "c": "d"}, comment=None)
    store.alter_table(wider, other)
    assert same(store.table("default", "t"), other)


def test_renaming_keeps_partitions_and_write_ids(store: Metastore) -> None:
    old = partitioned_table("old")
    store.create_table(old, partitions=[partition(old, "a", "1", at="p=a/q=1")])
    txn = store.open_txn()
    assert store.allocate_write_id(txn, old) == 1
    store.commit(txn)
    new = replace(old, name="new")
    store.alter_table(old, new)
    assert list(store.tables("default")) == ["new"]
    assert [p.values for p in store.partitions(new)] == [("a", "1")]
    assert store.allocate_write_id(store.open_txn(), new) == 2


def test_altering_a_table_replaces_partitions_by_their_values(store: Metastore) -> None:
    table = partitioned_table()
    one, two = partition(table, "a", "1", at="p=a/q=1"), partition(table, None, "2")
    store.create_table(table, partitions=[one, two])
    moved, renamed = partition(table, None, "2", at="elsewhere"), replace(one, values=("b", "1"))
    wider = replace(table, properties={**tables.ACID, "x": "y"})
    store.alter_table(table, wider, partitions={two.values: moved, one.values: renamed})
    found = store.partitions(table)
    assert found[0] == moved
    assert [p.values for p in found] == [moved.values, renamed.values]
    assert same(store.table("default", table.name), wider)


def test_an_alter_table_that_fails_changes_nothing(store: Metastore) -> None:
    table = partitioned_table()
    one, two = partition(table, "a", "1"), partition(table, "b", "1")
    store.create_table(table, partitions=[one, two])
    changed = {one.values: replace(one, values=two.values)}
    wider = replace(table, name="other", properties={**tables.ACID, "x": "y"})
    fails("PARTITION_ALREADY_EXISTS", lambda: store.alter_table(table, wider, partitions=changed))
    assert list(store.partitions(table)) == [one, two]
    assert list(store.tables("default")) == [table.name]


def test_write_ids_of_a_converted_table_begin_above_those_that_count_as_committed(store: Metastore) -> None:
    table = plain_table()
    store.create_table(plain := replace(table, properties={}))
    store.alter_table(plain, table, committed_up_to=WriteId(10_000_000))
    seen = store.valid_write_ids(table, store.valid_txns())
    assert (seen.high_watermark, seen.open, seen.aborted) == (10_000_000, frozenset(), frozenset())
    assert store.allocate_write_id(store.open_txn(), table) == 10_000_001
    store.alter_table(table, table, committed_up_to=WriteId(1))
    assert store.allocate_write_id(store.open_txn(), table) == 10_000_002


def test_renaming_onto_another_table_fails(store: Metastore, table: Table) -> None:
    store.create_table(plain_table("other"))
    fails("TABLE_ALREADY_EXISTS", lambda: store.alter_table(table, replace(table, name="other")))
    assert list(store.tables("default")) == ["other", "t"]


def test_a_table_that_is_dropped_and_created_again_starts_with_write_id_1(store: Metastore, table: Table) -> None:
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
def test_a_table_has_a_number_by_which_another_one_of_its_name_is_told_from_it(store: Metastore) -> None:
    """Both are made within the same second, with one definition."""
    store.create_table(plain_table())
    old = store.table("default", "t")
    assert old.id is not None
    store.alter_table(old, renamed := replace(old, name="t_old"))
    store.create_table(plain_table())
    new = store.table("default", "t")
    assert store.table("default", "t_old").id == old.id != new.id
    assert not new.may_be(old)
    fails("TABLE_CHANGED", lambda: store.alter_table(old, replace(old, comment="c")))
    store.alter_table(renamed, replace(renamed, comment="c"))
    assert store.table("default", "t_old").comment == "c"


def test_a_metastore_that_records_changes_of_partitions_tells_those_that_went_or_were_found(store: Metastore) -> None:
    store.create_table(table := partitioned_table())
    one, two, three = (partition(table, name, "1", at=f"p={name}/q=1") for name in "abc")
    store.add_partitions(table, [one, two])
    store.add_partitions(table, [three], found=True)
    store.allocate_write_id(store.open_txn(), table)
    store.drop_partitions(table, [one.values])
    renamed = replace(two, values=("d", "1"))
    store.alter_table(table, table, partitions={two.values: renamed})
    changes = store.partition_changes(table)
    if changes is None:  # a Hive Metastore
        return
    assert {(change.values, change.kind, change.write_id) for change in changes} == {
        (one.values, ChangeKind.ADDED, 0),
        (two.values, ChangeKind.ADDED, 0),
        (three.values, ChangeKind.FOUND, 0),
        (one.values, ChangeKind.DROPPED, 1),
        (two.values, ChangeKind.DROPPED, 1),
        (renamed.values, ChangeKind.DROPPED, 1),
    }


def test_partitions_are_read_back_by_their_values(store: Metastore) -> None:
    table = partitioned_table()
    first, null, last = (
        partition(table, "a", "1", at="p=a/q=1"),
        partition(table, None, "1", at="p=__HIVE_DEFAULT_PARTITION__/q=1"),
        partition(table, "b/=ü", None, at="p=b%2F%3Dü"),
    )
    store.create_table(table, partitions=[last])
    store.add_partitions(table, [first, null])
    assert list(store.partitions(table)) == [null, first, last]
    store.drop_partitions(table, [(None, "1"), ("not", "there")])
    assert list(store.partitions(table)) == [first, last]


def test_the_values_of_partitions_are_read_without_them(store: Metastore) -> None:
    table = partitioned_table()
    texts = ("a%2Fb", "a/b=c", "x y ", "01", "1", "É'\"\\", "{}[]:*?#^\x7f\x01", None)
    store.create_table(table, partitions=[partition(table, text, "1", at=f"at{n}") for n, text in enumerate(texts)])
    values = store.partition_values(table)
    assert sorted(values, key=str) == sorted([(text, "1") for text in texts], key=str)
    assert list(values) == [p.values for p in store.partitions(table)]
    assert {p.values for p in store.partitions_named(table, values)} == set(values)


def test_partitions_are_found_by_their_values(store: Metastore) -> None:
    table = partitioned_table()
    first = partition(table, "a", "1", at="elsewhere")
    null = partition(table, None, "1", at="p=__HIVE_DEFAULT_PARTITION__/q=1")
    store.create_table(table, partitions=[first, null, partition(table, "b/=ü", None, at="p=b%2F%3Dü")])
    found = store.partitions_named(table, [("a", "1"), ("not", "there"), (None, "1")])
    assert {each.values: each for each in found} == {first.values: first, null.values: null}
    assert list(store.partitions_named(table, [])) == []


def test_adding_a_partition_that_exists_does_not_change_it(store: Metastore) -> None:
    table = partitioned_table()
    first = partition(table, "a", "1", at="first")
    store.create_table(table, partitions=[first])
    store.add_partitions(table, [partition(table, "a", "1", at="second"), new := partition(table, "b", "1")])
    assert list(store.partitions(table)) == [first, new]


def test_a_table_that_is_dropped_and_created_again_has_no_partitions(store: Metastore) -> None:
    table = partitioned_table()
    store.create_table(table, partitions=[partition(table, "a", "1")])
    store.drop_table("default", table.name)
    store.create_table(table)
    assert list(store.partitions(table)) == []


# -- views
VIEW = View(
    "default",
    "v",
    (Column("id", "int", "the key"), Column("name", "varchar(5)")),
    "SELECT *\nFROM t",
    "SELECT `t`.`id`, `t`.`näme` AS name, `t`.`p`\nFROM `default`.`t`",
    partition_columns=(Column("p", "string"),),
    properties={"made by": "me", "bucketing_version": "2"},
    comment="what is seen",
    owner="me",
    created=1_700_000_000,
)


def kept(store: Metastore, database: str, name: str) -> View:
    """The view as the store has it. A Hive Metastore sets the time of its creation itself."""
    found = store.find(database, name)
    assert isinstance(found, View)
    assert found.created >= VIEW.created
    return replace(found, created=VIEW.created)


def test_every_field_of_a_view_is_kept(store: Metastore) -> None:
    store.create_view(VIEW)
    assert kept(store, "default", "v") == VIEW
    plain = replace(VIEW, name="w", partition_columns=(), comment=None)
    store.create_view(plain)
    assert kept(store, "default", "w") == plain
    assert {f.name for f in fields(View) if getattr(VIEW, f.name) in (None, (), {}, 0)} == {"temporary"}


def test_a_view_is_no_table(store: Metastore, table: Table) -> None:
    store.create_view(VIEW)
    assert store.find_table("default", "v") is None
    assert isinstance(store.find("default", table.name), Table)
    fails("NOT_A_TABLE", lambda: store.table("default", "v"))
    assert list(store.tables("default")) == [table.name, "v"]
    assert list(store.views("default")) == ["v"]
    assert ("default", "v") not in [place.table for place in store.places()]
    fails("DATABASE_NOT_FOUND", lambda: store.views("nowhere"))


def test_a_name_is_that_of_one_table_or_view(store: Metastore, table: Table) -> None:
    store.create_view(VIEW)
    taken = replace(VIEW, name=table.name)
    fails("TABLE_ALREADY_EXISTS", lambda: store.create_view(VIEW))
    fails("TABLE_ALREADY_EXISTS", lambda: store.create_view(taken))
    fails("TABLE_ALREADY_EXISTS", lambda: store.alter_view(VIEW, taken))
    fails("TABLE_ALREADY_EXISTS", lambda: store.create_table(plain_table("v")))
    fails("TABLE_ALREADY_EXISTS", lambda: store.alter_table(table, replace(table, name="v")))
    fails("DATABASE_NOT_FOUND", lambda: store.create_view(replace(VIEW, database="nowhere")))
    assert kept(store, "default", "v") == VIEW
    assert isinstance(store.find("default", table.name), Table)


def test_a_view_is_changed_and_renamed(store: Metastore) -> None:
    store.create_view(VIEW)
    changed = replace(
        VIEW, columns=(Column("n", "bigint"),), expanded="SELECT 1", properties={"bucketing_version": "2"}, comment=None
    )
    store.alter_view(VIEW, changed)
    assert kept(store, "default", "v") == changed
    store.create_database(database("sales"))
    store.alter_view(changed, replace(changed, database="sales", name="seen"))
    assert store.find("default", "v") is None
    assert kept(store, "sales", "seen") == replace(changed, database="sales", name="seen")


def test_a_dropped_view_is_gone(store: Metastore, table: Table) -> None:
    store.create_view(VIEW)
    store.drop_view(VIEW)
    assert store.find("default", "v") is None
    fails("TABLE_NOT_FOUND", lambda: store.drop_view(VIEW))
    fails("TABLE_NOT_FOUND", lambda: store.alter_view(VIEW, VIEW))
    fails("TABLE_NOT_FOUND", lambda: store.drop_view(replace(VIEW, name=table.name)))
    assert isinstance(store.find("default", table.name), Table)


def test_a_database_with_a_view_is_not_empty(store: Metastore) -> None:
    store.create_database(database("sales"))
    store.create_view(view := replace(VIEW, database="sales"))
    fails("DATABASE_NOT_EMPTY", lambda: store.drop_database("sales"))
    store.drop_view(view)
    store.drop_database("sales")
