"""Tables that Hive made, adopted and changed by acidsql: Hive 4.0.1 reads them as acidsql does, and compacts them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from acidsql.session import Session
from tests.interop.hive_client import Hive, Transaction
from tests.interop.shared_table import DATABASE, SharedTable, hive_rows
from tests.interop.values import assert_same_rows
from tests.support.golden_cases import GoldenTable, golden_tables

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

_CASES: Final = (
    "originals_bucketed.converted/t",
    "schema_evolution/t",
)
_MORE_CASES: Final = (
    "aborted_open/t",
    "load_data/t",
    "minor_compacted.before_clean/t",
    "all_types/t",
    "bucketed_string/t",
    "employee_merge/employee",
    "major_compacted/t",
    "multi_writer/t",
    "originals.changed/t",
    "update_no_split/t",
)
"""By `make soak`: they take a quarter of a minute each."""
_AFTER_ORIGINALS: Final = 10_000_001
"""The first write ID of a table that Hive converted (AcidUtils: original files have the IDs below)."""
_VISIBILITY: Final = re.compile(r"_v\d{7,}$")


def _tables() -> list[Any]:
    found = {table.id: table for table in golden_tables()}
    often = [pytest.param(found[name], id=name) for name in _CASES]
    return often + [pytest.param(found[name], id=name, marks=pytest.mark.soak) for name in _MORE_CASES]


@pytest.mark.parametrize("golden", _tables())
def test_hive_reads_its_own_table_after_acidsql_changed_it(
    golden: GoldenTable, hive: Hive, session: Session, tmp_path: Path
) -> None:
    session.sql(f"CREATE DATABASE {DATABASE}")
    session.sql(f"USE {DATABASE}")
    name = golden.adopt(session, tmp_path)
    table = SharedTable(session, hive, f"{DATABASE}.{name}", tmp_path / golden.case / golden.name)
    with in_hive(table, golden):
        first = golden.columns[0][0]
        table.write(f"UPDATE {table.name} SET {first} = NULL WHERE row__id.rowid % 2 = 0")
        table.write(f"INSERT INTO {table.name} SELECT * FROM {table.name}")
        table.write(f"DELETE FROM {table.name} WHERE row__id.rowid % 3 = 1")
        expected = table.assert_hive_reads_it()
        assert expected, "an empty table proves nothing"
    hive.compact(table.name, "major")
    assert_same_rows(hive_rows(hive, table.name), expected, "compacted")


@contextmanager
def in_hive(table: SharedTable, golden: GoldenTable) -> Iterator[None]:
    """The table in Hive's metastore: its files as they were, its write IDs committed, aborted or (for now) open."""
    columns = ", ".join(f"`{name}` {kind}" for name, kind in golden.columns)
    buckets = f"CLUSTERED BY ({', '.join(golden.bucket_columns)}) INTO {golden.buckets} BUCKETS"
    clustered = buckets if golden.bucket_columns else ""
    properties = "TBLPROPERTIES ('transactional'='true')"
    table.hive.run(f"CREATE TABLE {table.name} ({columns}) {clustered} STORED AS ORC {properties}")
    opened: list[Transaction] = []
    try:
        first = _AFTER_ORIGINALS if golden.last_write_id >= _AFTER_ORIGINALS - 1 else 1
        if first > 1:
            table.hive.start_write_ids_at(table.name, first)
        for write_id in range(first, golden.last_write_id + 1):
            given = table.hive.begin(table.name)
            assert given.write_id == write_id
            settle(table.hive, given, golden, opened)
        place(golden, table)
        yield
    finally:
        for transaction in opened:
            table.hive.abort(transaction.txn)


def settle(hive: Hive, given: Transaction, golden: GoldenTable, opened: list[Transaction]) -> None:
    if given.write_id in golden.open:
        opened.append(given)
    elif given.write_id in golden.aborted:
        hive.abort(given.txn)
    else:
        hive.commit(given.txn)


def place(golden: GoldenTable, table: SharedTable) -> None:
    """Copies the directories; the transaction of a compactor is named by one that this metastore committed."""
    committed = table.hive.begin(f"{DATABASE}.compactors")
    table.hive.commit(committed.txn)
    for path in golden.directory.iterdir():
        to = table.hive_directory / _VISIBILITY.sub(f"_v{committed.txn:07d}", path.name)
        if path.is_dir():
            shutil.copytree(path, to, copy_function=shutil.copyfile)
        else:  # an original file
            shutil.copyfile(path, to)
