"""Hive 4.0.1 reads every type from files that acidsql wrote flat and nested by rewriting the footer."""

from __future__ import annotations

from typing import Final

import pytest

from acidsql.session import Session
from tests.interop.hive_client import READ_MODES, Hive, HiveRow
from tests.interop.shared_table import SharedTable, create_in_both, hive_rows
from tests.interop.typed_rows import COLUMNS, DDL, SPARK_SCHEMA, random_rows
from tests.interop.values import assert_same_rows, in_order, rows_of_spark

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

_ROWS: Final = 600
_PLACE: Final = {name: place for place, name in enumerate(COLUMNS)}
_PREDICATES: Final = (
    "k = 77",
    "k BETWEEN 590 AND 620",
    "last < -595 OR last = 0",
    "s = 'żółw' AND k > 300",
    "bi = -9223372036854775808",
    "dec1 > 99999.5",
    "ts < timestamp '1920-01-01 00:00:00'",
    "dt IS NULL AND c = 'abcde'",
    "vc IN ('a', 'tab\\tin') AND b",
    "st.x = 4 AND size(a) = 2",
)


def test_hive_reads_changes_and_compacts_every_type(hive: Hive, session: Session) -> None:
    table = create_in_both(
        session,
        hive,
        "every_type",
        f"({DDL}) STORED AS ORC TBLPROPERTIES ('transactional'='true', 'orc.bloom.filter.columns'='k,s,vc,bi',"
        " 'orc.row.index.stride'='1000')",
    )
    rows = insert_random_rows(table)
    assert_same_rows(in_order(row[1:] for row in table.assert_hive_reads_it()), rows, "inserted")
    rows = change_with_acidsql(table, rows)
    assert_same_rows(in_order(row[1:] for row in table.assert_hive_reads_it()), rows, "changed by acidsql")
    for predicate in _PREDICATES:
        assert_predicate(table, predicate)
    hive.run(f"UPDATE {table.name} SET ti = 1, s = 'by hive' WHERE k % 10 = 0")
    hive.run(f"DELETE FROM {table.name} WHERE last BETWEEN -29 AND -20")
    rows = [_with(row, ti=1, s="by hive") if number(row, "k") % 10 == 0 else row for row in rows]
    rows = in_order(row for row in rows if not -29 <= number(row, "last") <= -20)
    assert_same_rows(hive_rows(hive, table.name, "*"), rows, "changed by Hive")
    hive.compact(table.name, "minor")
    assert_same_rows(hive_rows(hive, table.name, "*"), rows, "minor")
    hive.compact(table.name, "major")
    for mode in READ_MODES:
        assert_same_rows(hive_rows(hive, table.name, "*", mode_name=mode.name), rows, f"major, {mode.name}")


def insert_random_rows(table: SharedTable) -> list[HiveRow]:
    frame = table.session.spark.createDataFrame(random_rows(4, _ROWS), SPARK_SCHEMA)
    table.write(f"INSERT INTO {table.name} SELECT * FROM {{rows}}", rows=frame)
    return rows_of_spark(frame.collect())


def change_with_acidsql(table: SharedTable, rows: list[HiveRow]) -> list[HiveRow]:
    table.write(f"UPDATE {table.name} SET s = 'changed', a = array(k, NULL), st = NULL WHERE k % 3 = 0")
    table.write(f"DELETE FROM {table.name} WHERE k % 7 = 1")
    table.write(f"INSERT INTO {table.name} (k) VALUES (1000)")
    changed = [
        _with(row, s="changed", a=[number(row, "k"), None], st=None) if number(row, "k") % 3 == 0 else row
        for row in rows
        if number(row, "k") % 7 != 1
    ]
    return in_order([*changed, [1000, *[None] * (len(COLUMNS) - 1)]])


def assert_predicate(table: SharedTable, predicate: str) -> None:
    """The row IDs and values behind a predicate, which Hive pushes down into the reader."""
    expected = table.rows("row__id, k, s, last", predicate)
    assert expected, f"no row has {predicate}"
    for mode in ("vectorized", "row reader"):
        found = hive_rows(table.hive, table.name, "row__id, k, s, last", predicate, mode)
        assert found == expected, f"{predicate}, {mode}"


def number(row: HiveRow, column: str) -> int:
    value = row[_PLACE[column]]
    # The row that has only `k` stays out of what is asked of the others.
    return value if isinstance(value, int) else 0


def _with(row: HiveRow, **values: object) -> HiveRow:
    """The row with other values in some columns."""
    changed = list(row)
    for name, value in values.items():
        changed[_PLACE[name]] = value  # type: ignore[call-overload]
    return changed
