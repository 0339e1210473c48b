"""Adopted tables that Hive wrote: they are read as Hive reads them, changed, and read again."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

import pyorc
import pytest

from acidsql.session import Session
from tests.selection import core
from tests.spark.golden_model import Model, new_value, sql_literal
from tests.support.golden_cases import (
    GoldenTable,
    golden_tables,
    read_golden_rows,
    read_rows,
    sorted_golden_rows,
    sorted_rows,
)

TABLES = golden_tables()
READABLE = [t for t in TABLES if t.is_recorded]
FULL_ACID = [t for t in READABLE if t.is_full_acid]


def each(tables: list[GoldenTable], one_of: int = 1) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return pytest.mark.parametrize("golden", core(tables, lambda t: t.is_core, one_of), ids=lambda t: t.id)


def test_every_golden_table_is_read() -> None:
    assert len(TABLES) == 93
    assert {t.id for t in TABLES if not t.is_recorded} == {"timestamp_ltz/t"}


@each(READABLE)
def test_rows_row_ids_and_files_are_those_that_hive_reads(
    golden: GoldenTable, session: Session, tmp_path: Path
) -> None:
    table = golden.adopt(session, tmp_path)
    assert sorted_rows(read_rows(session, table)) == sorted_rows(golden.expected())
    assert counted(session, table) == len(golden.expected())
    expected = golden.expected_row_ids()
    assert (expected is not None) == golden.is_full_acid
    if expected is not None:
        found = read_golden_rows(session, table, tmp_path / golden.case / golden.name)
        assert sorted_golden_rows(found) == sorted_golden_rows(expected)


# ------------------------------------------------------------------------------------------------ changed afterwards


@pytest.mark.ci
@each(FULL_ACID, one_of=2)
def test_an_update_a_delete_and_a_merge_change_the_rows_as_the_model_does(
    golden: GoldenTable, session: Session, tmp_path: Path
) -> None:
    table = golden.adopt(session, tmp_path)
    before = golden.expected_row_ids()
    assert before is not None
    model = Model(golden, before)
    kinds = dict((*golden.columns, *golden.partition_columns))
    first, second = (new_value(kinds[model.value], number) for number in (1, 2))

    updated = session.execute(f"UPDATE {table} SET {model.value} = {sql_literal(first)} WHERE pmod({model.key}, 3) = 1")
    assert updated.counts is not None
    assert updated.counts.updated == model.update(lambda key: key % 3 == 1, first)

    deleted = session.execute(f"DELETE FROM {table} WHERE pmod({model.key}, 5) = 2")
    assert deleted.counts is not None
    assert deleted.counts.deleted == model.delete(lambda key: key % 5 == 2)

    keys = model.source_keys()
    others = {name: new_value(kind, 3) for name, kind in golden.partition_columns}
    merged = session.execute(
        f"MERGE INTO {table} t USING (VALUES {', '.join(f'({k})' for k in keys)}) AS s(k) ON t.{model.key} = s.k"
        " WHEN MATCHED AND pmod(s.k, 2) = 0 THEN DELETE"
        f" WHEN MATCHED THEN UPDATE SET {model.value} = {sql_literal(second)}"
        f" WHEN NOT MATCHED THEN INSERT ({', '.join(f'`{c}`' for c in [model.key, model.value, *others])})"
        f" VALUES ({', '.join(['s.k', *map(sql_literal, [second, *others.values()])])})"
    )
    assert merged.counts is not None
    counts = (merged.counts.deleted, merged.counts.updated, merged.counts.inserted)
    assert counts == model.merge(keys, lambda key: key % 2 == 0, second, others)

    found = read_golden_rows(session, table, tmp_path / golden.case / golden.name)
    model.check(found)
    assert counted(session, table) == len(found)


def counted(session: Session, table: str) -> int:
    """COUNT(*), which reads no file where footers and delete events tell it."""
    (row,) = session.sql(f"SELECT count(*) FROM {table}").collect()
    return int(row[0])


# ------------------------------------------------------------------------------------------------ what Hive cannot read

INSTANTS = next(t for t in TABLES if t.case == "timestamp_ltz")


def test_timestamps_with_local_time_zone_are_the_instants_in_the_files(session: Session, tmp_path: Path) -> None:
    """Hive 4.0.1 wrote 1970-01-01 00:00 UTC whatever the case.sql says, and cannot read even that: both files have the
    same bytes in their timestamp streams, and pyorc reads them so."""
    table = INSTANTS.adopt(session, tmp_path)
    rows = session.sql(f"SELECT k, unix_micros(ts) FROM {table} ORDER BY k").collect()
    assert [tuple(row) for row in rows] == [(1, 0), (2, 0)]
    filed = [row for path in sorted(INSTANTS.directory.glob("*/bucket_*")) for row in stored_rows(path)]
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    assert filed == [(1, epoch), (2, epoch)]


def stored_rows(path: Path) -> list[object]:
    """The rows of an ACID file as pyorc reads them."""
    with path.open("rb") as file:
        return [event[5] for event in pyorc.Reader(file) if isinstance(event, tuple)]
