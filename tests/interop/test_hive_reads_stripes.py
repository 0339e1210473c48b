"""Hive 4.0.1 reads, changes and compacts 200,000 rows that acidsql wrote to files of several stripes and row groups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pyorc
import pytest

from acidsql.session import Session
from tests.interop.hive_client import READ_MODES, Hive, HiveRow
from tests.interop.shared_table import SharedTable, create_in_both, hive_rows
from tests.interop.values import assert_same_rows

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

_COUNT: Final = 200_000
_COLUMNS: Final = (
    "(id bigint, tags array<int>, name string, info struct<a:int,b:string>, amount decimal(12,2), at timestamp)"
)
_PROPERTIES: Final = (
    "'transactional'='true', 'orc.stripe.size'='300000', 'orc.row.index.stride'='2000',"
    " 'orc.bloom.filter.columns'='id,name'"
)
_GENERATED: Final = (
    "id",
    "IF(id % 11 = 0, NULL, array(CAST(id % 3 AS int), NULL, CAST(id % 5 AS int))) AS tags",
    "IF(id % 13 = 0, NULL, concat('name ', id * 7919 % 200000)) AS name",
    "IF(id % 17 = 0, NULL, named_struct('a', CAST(id % 100 AS int), 'b', IF(id % 2 = 0, NULL, 'odd'))) AS info",
    "CAST(id / 100 AS decimal(12,2)) AS amount",
    "timestamp_ntz '2020-01-01 00:00:00' + make_dt_interval(0, 0, 0, id) AS at",
)
_SUMS: Final = (
    "count(*), sum(id), sum(size(tags)), sum(tags[2]), sum(length(name)), sum(info.a), count(info.b),"
    " CAST(sum(amount) * 100 AS bigint), CAST(max(at) AS string)"
)
_ROW_ID_SUMS: Final = (
    "sum(row__id.writeid * (id % 997)), sum(row__id.bucketid * (id % 991)), sum(row__id.rowid * (id % 983))"
)
_BY_BLOOM_FILTER: Final = "name = 'name 158380'"
"""The names of every row group range over all names: only a bloom filter tells which has this one."""
_PREDICATES: Final = (
    "id BETWEEN 123450 AND 123460",
    _BY_BLOOM_FILTER,
    "id IN (7, 100007, 199999) OR name IN ('name 5', 'changed')",
    "amount > 1999.5 AND at < timestamp '2020-01-03 08:00:00'",
    "at = timestamp '2020-01-02 00:00:00'",
    "name IS NULL AND id < 100",
)


@dataclass(frozen=True, slots=True)
class Expected:
    """A row, as far as the sums look at it."""

    id: int
    tag: int | None
    name: str | None
    info_a: int | None
    has_b: bool


def generated(number: int) -> Expected:
    """What _GENERATED makes of a number."""
    name = None if number % 13 == 0 else f"name {number * 7919 % 200_000}"
    has_info = number % 17 != 0
    tag = None if number % 11 == 0 else number % 5
    return Expected(number, tag, name, number % 100 if has_info else None, has_info and number % 2 == 1)


def sums(rows: Iterable[Expected]) -> HiveRow:
    """_SUMS over rows. Hive's size(NULL) is -1."""
    live = list(rows)
    last = max(row.id for row in live)
    return [
        len(live),
        sum(row.id for row in live),
        sum(-1 if row.tag is None else 3 for row in live),
        sum(row.tag or 0 for row in live),
        sum(len(row.name or "") for row in live),
        sum(row.info_a or 0 for row in live),
        sum(row.has_b for row in live),
        sum(row.id for row in live),
        f"2020-01-{1 + last // 86400:02d} {last // 3600 % 24:02d}:{last // 60 % 60:02d}:{last % 60:02d}",
    ]


@pytest.mark.soak  # a minute and a half
def test_hive_reads_changes_and_compacts_files_of_several_stripes(hive: Hive, session: Session) -> None:
    table = create_in_both(session, hive, "stripes", f"{_COLUMNS} STORED AS ORC TBLPROPERTIES ({_PROPERTIES})")
    frame = session.spark.range(0, _COUNT, 1, 2).selectExpr(*_GENERATED)
    table.write(f"INSERT INTO {table.name} SELECT * FROM {{rows}}", rows=frame)
    live = [generated(number) for number in range(_COUNT)]
    assert_several_stripes(table.directory)
    table.write(f"UPDATE {table.name} SET name = 'changed', tags = array(1, 2, 3) WHERE id % 10 = 3")
    table.write(f"DELETE FROM {table.name} WHERE id % 7 = 5")
    live = [replace(row, name="changed", tag=3) if row.id % 10 == 3 else row for row in live if row.id % 7 != 5]
    assert_sums(table, live)
    assert_every_row_id(table)
    for predicate in _PREDICATES:
        assert_predicate(table, predicate)
    hive_changes_and_compacts(table, live)


def assert_several_stripes(directory: Path) -> None:
    files = sorted(directory.rglob("bucket_*"))
    assert len(files) == 2
    for path in files:
        with path.open("rb") as file:
            assert pyorc.Reader(file).num_of_stripes > 2


def assert_sums(table: SharedTable, live: Iterable[Expected]) -> None:
    """Sums over all columns, and over row IDs: whole files in one split, and files cut at stripes, where Hive finds
    the rows and the delete events of a split by hive.acid.key.index."""
    expected = [sums(live)]
    assert table.rows(_SUMS) == expected
    row_ids = table.rows(_ROW_ID_SUMS)
    for cut in (("hive.exec.orc.split.strategy=BI",), _CUT_AT_STRIPES):
        table.hive.set(*cut)
        for mode in ("vectorized", "row reader"):
            found = hive_rows(table.hive, table.name, f"{_SUMS}, {_ROW_ID_SUMS}", mode_name=mode)
            assert found == [[*expected[0], *row_ids[0]]], f"{mode}, {cut}"
    table.hive.set("hive.exec.orc.split.strategy=HYBRID", "mapreduce.input.fileinputformat.split.maxsize=256000000")


_CUT_AT_STRIPES: Final = ("hive.exec.orc.split.strategy=ETL", "mapreduce.input.fileinputformat.split.maxsize=100000")


def assert_every_row_id(table: SharedTable) -> None:
    assert_same_rows(hive_rows(table.hive, table.name, "row__id, id"), table.rows("row__id, id"), "fetch task")


def assert_predicate(table: SharedTable, predicate: str) -> None:
    """The rows behind a predicate; Hive's reader skips row groups by the statistics and bloom filters of the files."""
    expected = table.rows("row__id, *", predicate)
    assert 0 < len(expected) < _COUNT / 5, f"{predicate} proves nothing"
    for mode in READ_MODES[:2]:  # the fetch task is the row reader in another place
        with table.hive.logged() as log:
            found = hive_rows(table.hive, table.name, "row__id, *", predicate, mode.name)
        assert_same_rows(found, expected, f"{predicate}, {mode.name}")
        spared = sum(line.endswith("is not included.") for line in log)
        assert spared > (0 if predicate != _BY_BLOOM_FILTER else 50), f"{predicate}, {mode.name}"


def hive_changes_and_compacts(table: SharedTable, live: list[Expected]) -> None:
    hive = table.hive
    hive.run(f"UPDATE {table.name} SET name = 'by hive' WHERE id % 100 = 50")
    hive.run(f"DELETE FROM {table.name} WHERE id % 9 = 4")
    live = [replace(row, name="by hive") if row.id % 100 == 50 else row for row in live if row.id % 9 != 4]
    expected = [sums(live)]
    assert hive_rows(hive, table.name, _SUMS, mode_name="vectorized") == expected
    row_ids = hive_rows(hive, table.name, _ROW_ID_SUMS)
    for kind in ("minor", "major"):
        hive.compact(table.name, kind)
        for mode in ("vectorized", "row reader"):
            found = hive_rows(hive, table.name, f"{_SUMS}, {_ROW_ID_SUMS}", mode_name=mode)
            assert found == [[*expected[0], *row_ids[0]]], f"{mode}, after the {kind} compaction"
