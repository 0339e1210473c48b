"""Hive 4.0.1 reads every other kind of table that acidsql writes: partitioned, bucketed, insert-only, overwritten."""

from __future__ import annotations

from typing import Final

import pytest

from acidsql.session import Session
from tests.interop.hive_client import Hive, HiveRow
from tests.interop.shared_table import SharedTable, create_in_both, hive_rows
from tests.interop.values import assert_same_rows, in_order
from tests.selection import core

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

_ACID: Final = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
_BUCKETS: Final = 4


def test_hive_reads_partitions_that_acidsql_made_and_moved_rows_between(hive: Hive, session: Session) -> None:
    table = create_in_both(session, hive, "parted", f"(k int, v string) PARTITIONED BY (p int, q string) {_ACID}")
    table.write(
        f"INSERT INTO {table.name} VALUES (1, 'a', 1, 'x'), (2, 'b', 1, 'y z/%=:'), (3, 'c', 2, 'x'), (4, 'd', 2, NULL)"
    )
    table.assert_hive_reads_it()
    table.write(f"UPDATE {table.name} SET v = upper(v), p = p + 10 WHERE k IN (1, 2)")
    table.write(f"INSERT INTO {table.name} PARTITION (p = 2, q = 'x') VALUES (5, 'e'), (6, 'f')")
    table.write(f"DELETE FROM {table.name} WHERE k = 3")
    table.write(
        f"INSERT OVERWRITE TABLE {table.name} PARTITION (p, q) SELECT k, 'over', p, q FROM {table.name} WHERE k = 2"
    )
    read = table.assert_hive_reads_it()
    expected: list[HiveRow] = [
        [1, "A", 11, "x"],
        [2, "over", 11, "y z/%=:"],
        [4, "d", 2, "__HIVE_DEFAULT_PARTITION__"],  # what Hive makes of NULL in a partition column of text
        [5, "e", 2, "x"],
        [6, "f", 2, "x"],
    ]
    assert in_order(row[1:] for row in read) == in_order(expected)
    hive.run(f"UPDATE {table.name} SET v = 'hive' WHERE k = 6", f"DELETE FROM {table.name} WHERE k = 5")
    hive.compact(table.name, "major", "p = 2, q = 'x'")
    assert hive_rows(hive, table.name, "k, v", "p = 2 AND q = 'x'", "vectorized") == [[6, "hive"]]


def test_hive_prunes_and_compacts_buckets_that_acidsql_wrote(hive: Hive, session: Session) -> None:
    table = create_in_both(
        session, hive, "bucketed", f"(k int, s string, v int) CLUSTERED BY (k, s) INTO {_BUCKETS} BUCKETS {_ACID}"
    )
    rows = ", ".join(f"({k}, 'ż{k}', {k})" for k in range(40))
    table.write(f"INSERT INTO {table.name} VALUES {rows}")
    table.write(f"UPDATE {table.name} SET v = v + 100 WHERE k % 2 = 0")
    table.write(f"DELETE FROM {table.name} WHERE k % 5 = 0")
    table.write(f"UPDATE {table.name} SET s = concat(s, '!') WHERE k % 7 = 0")
    assert_one_row_a_key(table)
    hive.run(f"UPDATE {table.name} SET v = -1 WHERE k = 11", f"DELETE FROM {table.name} WHERE k = 12")
    expected = hive_rows(hive, table.name)
    for kind in ("minor", "major"):
        hive.compact(table.name, kind)
        assert_same_rows(hive_rows(hive, table.name, mode_name="vectorized"), expected, kind)


def assert_one_row_a_key(table: SharedTable) -> None:
    """A query for one key reads only the bucket in which Hive expects it (hive.tez.bucket.pruning)."""
    rows = table.assert_hive_reads_it()
    assert {int(str(row[1])) for row in rows} == {k for k in range(40) if k % 5}
    table.hive.set("hive.tez.bucket.pruning=true")
    for row in rows[::6]:
        found = hive_rows(table.hive, table.name, "row__id, *", f"k = {row[1]} AND s = '{row[2]}'", "vectorized")
        assert found == [row]


@pytest.mark.parametrize("file_format", core(["ORC", "PARQUET", "TEXTFILE"], lambda name: name == "PARQUET"))
def test_hive_reads_insert_only_tables(hive: Hive, session: Session, file_format: str) -> None:
    columns = "(k int, v string, d decimal(8,2), t timestamp, b binary, f double, day date)"
    properties = "'transactional'='true', 'transactional_properties'='insert_only'"
    rest = f"{columns} STORED AS {file_format} TBLPROPERTIES ({properties})"
    table = create_in_both(session, hive, f"insert_only_{file_format}".lower(), rest)
    stamp = "timestamp '2024-02-29 12:34:56.5'"
    table.write(
        f"INSERT INTO {table.name} VALUES (1, 'ż', 1.5, {stamp}, 'bin', 1e100, date '1582-10-04'), (2{', NULL' * 6})"
    )
    table.write(
        f"INSERT INTO {table.name} VALUES (3, '', -0.01, timestamp '0001-01-01 00:00:00', '', -0.5, date '0001-01-01'),"
        f" (4, 'a\\\\b \\t\"', 0, {stamp}, 'x', 2, NULL)"
    )
    read = table.assert_hive_reads_it("*")
    assert [row[1] for row in read] == ["ż", None, "", 'a\\b \t"']
    table.write(f"INSERT OVERWRITE TABLE {table.name} SELECT k + 10, v, d, t, b, f, day FROM {table.name} WHERE k < 3")
    assert [row[0] for row in table.assert_hive_reads_it("*")] == [11, 12]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "row_format"),
    [
        ("usual", ""),
        ("given", "ROW FORMAT DELIMITED FIELDS TERMINATED BY '|' ESCAPED BY '\\\\' COLLECTION ITEMS TERMINATED BY ','"),
    ],
)
def test_hive_reads_nested_text_in_any_row_format(hive: Hive, session: Session, name: str, row_format: str) -> None:
    properties = "'transactional'='true', 'transactional_properties'='insert_only'"
    columns = "(k int, v string, a array<string>, m map<string,array<int>>, s struct<d:date,t:timestamp,b:binary>)"
    rest = f"{columns} {row_format} STORED AS TEXTFILE TBLPROPERTIES ({properties})"
    table = create_in_both(session, hive, f"nested_text_{name}", rest)
    table.write(
        f"INSERT INTO {table.name} SELECT 1, 'ż\"q', array('x', NULL, ''), map('k', array(1, NULL), 'n', array()),"
        " named_struct('d', date '1582-10-04', 't', timestamp '2024-02-29 12:34:56.5', 'b', CAST('bytes' AS BINARY))"
    )
    table.write(f"INSERT INTO {table.name} (k) VALUES (2)")
    if row_format:
        table.write(f"INSERT INTO {table.name} (k, v, a) SELECT 3, 'a|b,c\\\\d\\ne\\rf', array('x,y', '|', '\\\\')")
    assert len(table.assert_hive_reads_it("*")) == 2 + bool(row_format)


def test_hive_reads_overwritten_and_truncated_tables(hive: Hive, session: Session) -> None:
    table = create_in_both(session, hive, "overwritten", f"(k int, v string) {_ACID}")
    table.write(f"INSERT INTO {table.name} VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    table.write(f"DELETE FROM {table.name} WHERE k = 1")
    table.write(f"INSERT OVERWRITE TABLE {table.name} SELECT k * 10, v FROM {table.name}")
    table.write(f"UPDATE {table.name} SET v = 'u' WHERE k = 20")
    assert [row[1:] for row in table.assert_hive_reads_it()] == [[30, "c"], [20, "u"]]
    table.write(f"INSERT OVERWRITE TABLE {table.name} SELECT k, v FROM {table.name} WHERE k = 77")
    assert table.assert_hive_reads_it() == []
    table.write(f"INSERT INTO {table.name} VALUES (4, 'd')")
    table.write(f"TRUNCATE TABLE {table.name}")
    assert table.assert_hive_reads_it() == []
    table.write(f"INSERT INTO {table.name} VALUES (5, 'e')")
    expected = table.assert_hive_reads_it()
    assert [row[1:] for row in expected] == [[5, "e"]]
    hive.compact(table.name, "major")
    assert hive_rows(hive, table.name) == expected
