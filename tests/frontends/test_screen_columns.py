"""SHOW COMPACTIONS, SHOW LOCKS and SHOW TRANSACTIONS on a screen of 100 columns, with times that people read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from acidsql.acid.write_ids import TxnId
from acidsql.frontends.column_widths import Screen
from acidsql.frontends.render import Format
from acidsql.frontends.screen_columns import for_screen
from acidsql.frontends.script import rendered
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.locks import Lock
from acidsql.session import connect
from acidsql.show.compaction_list import COMPACTION_COLUMNS
from acidsql.show.history_list import HISTORY_COLUMNS
from acidsql.show.lock_list import LOCK_COLUMNS, lock_row
from acidsql.statements.results import ResultColumn, RowsResult

NOON_OF_2001 = 978_350_400_000


def _shown(result: RowsResult) -> list[str]:
    screen = Screen(100)
    lines = "".join(rendered(result, result.rows(), Format.TABLE, screen=screen)).splitlines()
    assert max(map(len, lines)) <= 100
    assert not screen.is_vertical
    return lines


def _answer(operation: str, columns: Sequence[str], *rows: tuple[str | None, ...]) -> RowsResult:
    return RowsResult(operation, tuple(ResultColumn(name, "string") for name in columns), rows)


def test_locks_and_transactions_of_a_session_fit(tmp_path: Path) -> None:
    with connect(tmp_path / "w") as session:
        session.execute("CREATE TABLE t (a INT) PARTITIONED BY (p STRING) TBLPROPERTIES ('transactional'='true')")
        session.execute("START TRANSACTION")
        session.execute(f"INSERT INTO t PARTITION (p='{'x' * 100}') VALUES (1)")
        locks, transactions = session.execute("SHOW LOCKS"), session.execute("SHOW TRANSACTIONS")
        assert isinstance(locks, RowsResult)
        assert isinstance(transactions, RowsResult)
        assert locks.columns is not None
        assert [column.name for column in locks.columns] == list(LOCK_COLUMNS)
        header, *rows = [line for line in _shown(locks) if line.startswith("|")]
        assert header.replace(" ", "") == "|lock|table|state|type|txn|since|owner|"
        assert any("default.t/p=x" in row and re.search(r"\d\d:\d\d:\d\d", row) for row in rows)
        assert re.search(r"\| OPEN +\| \d\d:\d\d:\d\d \|", "\n".join(_shown(transactions)))


def test_a_waiting_lock_names_the_lock_that_it_waits_for() -> None:
    table = LockComponent("default", "t", LockType.EXCLUSIVE, Operation.NO_TXN)
    waiting = Lock(2, 1, TxnId(7), table, True, "ann", "host", blocked_by=(1, 1))
    assert "waits for" in _shown(_answer("SHOW LOCKS", LOCK_COLUMNS, lock_row(waiting)))[1]


def test_a_failed_compaction_of_an_earlier_day_fits() -> None:
    given = {"compactionid": "1", "dbname": "sales", "tabname": "orders", "partname": f"day={'9' * 50}"}
    given |= {"type": "MAJOR", "state": "did not initiate", "enqueuetime": str(NOON_OF_2001), "duration": "1234"}
    given |= {"errormessage": "a reason that is told at length " * 5}
    row = tuple(given.get(name) for name in COMPACTION_COLUMNS)
    text = "\n".join(_shown(_answer("SHOW COMPACTIONS", COMPACTION_COLUMNS, row)))
    assert "sales.orders" in text
    assert re.search(r"2001-01-0\d \d\d:\d\d", text)
    assert "1.2" in text


def test_a_history_has_its_counts_as_signs_and_fits_a_screen() -> None:
    given = {"version": "12", "timestamp": "2026-11-01 12:30:00.123Z", "txn_id": "40", "operation": "INSERT, DELETE"}
    given |= {"num_inserted_rows": "3", "num_updated_rows": "0", "num_deleted_rows": "2", "user": "ann"}
    row = tuple((given | {"readable": "false", "source": "metastore"}).get(name) for name in HISTORY_COLUMNS)
    header, shown = [line for line in _shown(_answer("DESCRIBE HISTORY", HISTORY_COLUMNS, row)) if line[0] == "|"]
    assert header.replace(" ", "") == "|version|committed|txn|operation|rows|user|readable|"
    assert "| 2026-11-01 12:30:00Z |  40 | INSERT, DELETE | +3 -2 | ann  | no       |" in shown
    unknown = tuple(
        None if name.startswith("num_") else value for name, value in zip(HISTORY_COLUMNS, row, strict=True)
    )
    assert "| NULL " in "".join(_shown(_answer("DESCRIBE HISTORY", HISTORY_COLUMNS, unknown)))
    no_rows = tuple("0" if name.startswith("num_") else value for name, value in zip(HISTORY_COLUMNS, row, strict=True))
    assert "| none |" in "".join(_shown(_answer("DESCRIBE HISTORY", HISTORY_COLUMNS, no_rows)))


def test_other_results_keep_their_columns() -> None:
    result = _answer("SHOW TABLES", ["tab_name"], ("t",))
    columns, rows = for_screen(result, result.rows())
    assert (columns, list(rows)) == (result.columns, [("t",)])
