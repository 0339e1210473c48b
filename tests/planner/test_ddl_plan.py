"""DDL plans as values: a statement and facts in, locks and steps out; no session, no Spark."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError
from acidsql.grammar.parser import parse
from acidsql.grammar.statements import CreateTable
from acidsql.metastore.catalog import Database, Partition
from acidsql.planner.ddl.ddl_plan import (
    Conversion,
    DdlFacts,
    DdlPlan,
    DdlStatement,
    LoadFiles,
    Move,
    MovePartition,
    MoveTable,
    RegisterPartitions,
    RegisterTable,
    RemoveDatabase,
    RemoveTable,
    UpdateProperties,
)
from acidsql.planner.ddl.ddl_planner import plan_ddl
from acidsql.planner.ddl.table_definition import defined_table
from tests.answers import fails

DEFAULT = Database("default", "/w")
OTHER = Database("other", "/w/other.db", managed_location="/managed/other.db")
DATABASES = {d.name: d for d in (DEFAULT, OTHER)}
ACID = "TRANSACTIONAL"


def table(columns: str = "(k INT)", kind: str = "", name: str = "t", database: Database = DEFAULT) -> Table:
    statement = parse(f"CREATE {kind} TABLE {name} {columns}")
    assert isinstance(statement, CreateTable)
    return defined_table(statement, database)


def plan(text: str, *tables: Table, partitions: tuple[Partition, ...] = ()) -> DdlPlan:
    statement = parse(text)
    assert isinstance(statement, get_args(DdlStatement))
    named = {t.qualified: t for t in tables}
    return plan_ddl(statement, DdlFacts("default", "/w", named, DATABASES, partitions, contents=tables))


def step(text: str, *tables: Table, partitions: tuple[Partition, ...] = ()) -> object:
    (only,) = plan(text, *tables, partitions=partitions).steps
    return only


@pytest.mark.parametrize(
    ("kind", "location", "move"),
    [
        ("", "/w/t", Move("/w/t", "/w/other.db/u")),
        (ACID, "/w/t", Move("/w/t", "/managed/other.db/u")),
        ("", "/elsewhere", None),
        ("EXTERNAL", "/w/t", None),
    ],
    ids=["plain", "transactional", "with a LOCATION", "external"],
)
def test_a_rename_moves_the_default_directory_of_a_managed_table(kind: str, location: str, move: Move | None) -> None:
    renamed = step("ALTER TABLE t RENAME TO other.u", replace(table(kind=kind), location=location))
    assert isinstance(renamed, MoveTable)
    assert (renamed.move, renamed.renamed.qualified, renamed.renamed.location) == (move, "other.u", location)


@pytest.mark.parametrize(
    ("kind", "properties", "conversion"),
    [
        ("", "'transactional'='true'", Conversion.FULL_ACID),
        ("", "'TRANSACTIONAL'='TRUE', 'transactional_properties'='insert_only'", Conversion.INSERT_ONLY),
        (ACID, "'transactional'='true'", None),
        ("", "'transactional'='false'", None),
        ("", "'a'='b'", None),
    ],
)
def test_setting_properties_converts_a_table(kind: str, properties: str, conversion: Conversion | None) -> None:
    updated = step(f"ALTER TABLE t SET TBLPROPERTIES ({properties})", table(kind=kind))
    assert isinstance(updated, UpdateProperties)
    assert updated.conversion is conversion


def test_load_data_finds_a_partition_whose_value_is_spelled_differently() -> None:
    known = Partition(("01",), "/odd")
    loaded = plan(
        "LOAD DATA INPATH '/in' INTO TABLE t PARTITION (p = 1)",
        table("(k INT) PARTITIONED BY (p INT)", ACID),
        partitions=(known,),
    )
    (found,) = loaded.steps
    assert isinstance(found, LoadFiles)
    assert (found.partition, found.is_new) == (known, False)
    assert [lock.partition for lock in loaded.locks] == ["p=01"]


def test_partitions_get_their_default_locations() -> None:
    of = table("(k INT) PARTITIONED BY (p INT, q STRING)")
    added = step("ALTER TABLE t ADD PARTITION (q = 'a/b', p = 1) PARTITION (p = 2, q = '') LOCATION '/x'", of)
    assert added == RegisterPartitions(
        of, (Partition(("1", "a/b"), "/w/t/p=1/q=a%2Fb"), Partition(("2", None), "/x")), if_not_exists=False
    )
    assert step("ALTER TABLE t PARTITION (p = 1, q = 'x') RENAME TO PARTITION (p = 2, q = 'x')", of) == MovePartition(
        of, ("1", "x"), ("2", "x")
    )


def test_a_cascade_removes_the_tables_before_their_database() -> None:
    one, two = (table(name=f"other.{name}", database=OTHER) for name in ("one", "two"))
    assert plan("DROP DATABASE other CASCADE", one, two).steps == (
        RemoveTable(one),
        RemoveTable(two),
        RemoveDatabase(OTHER),
    )
    assert plan("DROP DATABASE default CASCADE", table()).steps == (RemoveDatabase(DEFAULT),)


def test_a_table_has_the_properties_and_write_ids_of_its_statement() -> None:
    created = step("CREATE TABLE u LIKE t LOCATION '/x' TBLPROPERTIES ('acidsql.adopt.writeids'='7')", table(kind=ACID))
    assert isinstance(created, RegisterTable)
    assert (created.adopts, created.write_ids, created.table.created) == (True, "7", 0)
    assert created.table.is_full_acid
    assert "acidsql.adopt.writeids" not in created.table.properties


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("ALTER TABLE t RENAME TO t", "TABLE_ALREADY_EXISTS"),
        ("ALTER TABLE t ADD PARTITION (p = 1)", "NOT_PARTITIONED"),
        ("ALTER TABLE t SET LOCATION '/x'", "ALTER_REFUSED"),
        ("TRUNCATE TABLE t PARTITION (p = 1)", "NOT_PARTITIONED"),
        ("CREATE TEMPORARY TRANSACTIONAL TABLE u (k INT) LOCATION '/x'", "NOT_YET_SUPPORTED"),
        ("CREATE TABLE u (k INT, K INT)", "DUPLICATE_COLUMN"),
    ],
)
def test_a_statement_that_breaks_a_rule_has_no_plan(text: str, condition: str) -> None:
    fails(condition, lambda: plan(text, table(kind=ACID)))


@pytest.mark.parametrize(
    ("default", "place"),
    [
        ("other", "other"),
        ("concat('a', other)", "other"),
        ("CAST(other AS string)", "other"),
        ("(SELECT 1)", "1"),
        ("count(*)", "*"),
        ("rank() OVER w", "rank() OVER w"),
        ("?", "?"),
        (":value", ":value"),
    ],
)
def test_a_default_that_is_no_constant_and_no_function_of_constants_is_refused(default: str, place: str) -> None:
    with pytest.raises(AcidSqlError) as raised:
        table(f"(k STRING DEFAULT {default}, other STRING)")
    assert (raised.value.condition, raised.value.hive_code) == ("INVALID_DEFAULT", 10326)
    assert "DEFAULT only allows constant or function expressions" in raised.value.message
    assert raised.value.span is not None
    assert raised.value.span.text == place


def test_a_default_has_at_most_255_characters() -> None:
    longest = f"'{'x' * 253}'"
    assert table(f"(k STRING DEFAULT {longest})").constraints.defaults == {"k": longest}
    with pytest.raises(AcidSqlError, match="Maximum character length allowed is 255") as raised:
        table(f"(k STRING DEFAULT '{'x' * 254}')")
    assert raised.value.condition == "INVALID_DEFAULT"


@pytest.mark.parametrize(
    "default",
    [
        "-1",
        "NULL",
        "1 + 2 * 3",
        "CAST('2020-01-01' AS date)",
        "current_timestamp",
        "current_date()",
        "current_user",
        "upper('x')",
        "if(1 = 1, 2, 3)",
        "array(1, 2)[0]",
        "named_struct('a', 1).a",
        "transform(array(1), x -> x + 1)",
    ],
)
def test_a_constant_or_a_function_of_constants_is_a_default(default: str) -> None:
    assert table(f"(k STRING DEFAULT {default})").constraints.defaults.keys() == {"k"}
