"""Tables that Hive made, adopted: read as Hive reads them, then changed, and read again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from tests.spark.golden_cases import (
    GoldenTable,
    golden_tables,
    read_golden_rows,
    read_rows,
    sorted_golden_rows,
    sorted_rows,
)
from tests.spark.golden_model import Model, new_value, sql_literal

NOT_YET = {
    "timestamp_ltz/t",
}
"""Tables that cannot be read yet: take one out of here when it can."""

TABLES = golden_tables()
READABLE = [t for t in TABLES if t.id not in NOT_YET and t.is_recorded]
FULL_ACID = [t for t in READABLE if t.is_full_acid]


def each(tables: list[GoldenTable]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return pytest.mark.parametrize("golden", tables, ids=lambda t: t.id)


def test_every_golden_table_is_read_or_known_not_to_be() -> None:
    assert {t.id for t in TABLES} >= NOT_YET
    assert len(TABLES) == 61
    assert {t.id for t in TABLES if not t.is_recorded} == {"timestamp_ltz/t"}


@each(READABLE)
def test_rows_row_ids_and_files_are_those_that_hive_reads(
    golden: GoldenTable, session: Session, tmp_path: Path
) -> None:
    table = golden.adopt(session, tmp_path)
    assert sorted_rows(read_rows(session, table)) == sorted_rows(golden.expected())
    expected = golden.expected_row_ids()
    assert (expected is not None) == golden.is_full_acid
    if expected is not None:
        found = read_golden_rows(session, table, tmp_path / golden.case / golden.name)
        assert sorted_golden_rows(found) == sorted_golden_rows(expected)


@each([t for t in TABLES if t.id in NOT_YET])
def test_a_table_that_cannot_be_read_yet_says_so(golden: GoldenTable, session: Session, tmp_path: Path) -> None:
    with pytest.raises(AcidSqlError) as caught:
        read_rows(session, golden.adopt(session, tmp_path))
    assert caught.value.condition == "NOT_YET_SUPPORTED"


# ------------------------------------------------------------------------------------------------ changed afterwards


@each(FULL_ACID)
def test_an_update_a_delete_and_a_merge_give_what_they_give_on_plain_rows(
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
        f" WHEN NOT MATCHED THEN INSERT ({', '.join([model.key, model.value, *others])})"
        f" VALUES ({', '.join(['s.k', *map(sql_literal, [second, *others.values()])])})"
    )
    assert merged.counts is not None
    counts = (merged.counts.deleted, merged.counts.updated, merged.counts.inserted)
    assert counts == model.merge(keys, lambda key: key % 2 == 0, second, others)

    model.check(read_golden_rows(session, table, tmp_path / golden.case / golden.name))


# ------------------------------------------------------------------------------------------------ what Hive cannot read

INSTANTS = next(t for t in TABLES if t.case == "timestamp_ltz")


@pytest.mark.skipif(INSTANTS.id in NOT_YET, reason="not read yet: test_a_table_that_cannot_be_read_yet_says_so")
def test_timestamps_with_local_time_zone_are_the_instants_that_were_written(session: Session, tmp_path: Path) -> None:
    """The instants are those of the case.sql: Hive cannot read this table back."""
    table = INSTANTS.adopt(session, tmp_path)
    rows = session.sql(f"SELECT k, unix_micros(ts) FROM {table} ORDER BY k").collect()
    new_york = 5 * 3600 * 1_000_000  # 1969-12-31 23:59:59.999999 in New York is 5 h later in UTC
    assert [tuple(row) for row in rows] == [(1, 1_709_210_096_123_456), (2, new_york - 1)]
