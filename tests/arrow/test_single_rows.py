"""Rows that are looked up one by one are those that whole stripes give."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from acidsql.arrow.scan import live_rows, orc_columns
from acidsql.arrow.scan.orc_single_rows import single_rows
from acidsql.session import Session, connect
from tests.arrow.test_golden_scans import READABLE, rows_of
from tests.selection import core
from tests.support.golden_cases import GoldenTable

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lets every row be looked up, however small its stripe is. Gives the numbers of the rows."""
    numbers: list[int] = []

    def counted(path: str, some: list[int], names: list[str], kinds: list[pa.DataType]) -> list[pa.Array] | None:
        found = single_rows(path, some, names, kinds)
        if found is not None:
            numbers.extend(some)
        return found

    monkeypatch.setattr(live_rows, "ROWS_PER_LOOKUP", 0)
    monkeypatch.setattr(orc_columns, "single_rows", counted)
    return numbers


FEW = [table for table in READABLE if table.case != "large"]  # each of its rows takes a millisecond


@pytest.mark.parametrize("golden", core(FEW, lambda t: t.is_core), ids=lambda t: t.id)
def test_rows_of_hive(golden: GoldenTable, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    with connect(tmp_path / "warehouse", metastore=f"sqlite:///{tmp_path}/m.db") as session:
        table = golden.adopt(session, tmp_path)
        names = [name for name, _ in (*golden.columns, *golden.partition_columns)]
        columns = ["row__id", "input__file__name", *names]
        where = f"`{golden.columns[-1][0]}` IS NOT NULL"
        whole = rows_of(session, table, columns, where)
        request.getfixturevalue("looked_up")
        assert repr(rows_of(session, table, columns, where)) == repr(whole), "repr: NaN is not equal to itself"


@pytest.mark.ci
def test_rows_of_all_types(session: Session, request: pytest.FixtureRequest) -> None:
    chance = random.Random(7)
    types = {
        "id": "bigint", "b": "boolean", "y": "tinyint", "s": "smallint", "i": "int", "f": "float", "n": "double",
        "c": "decimal(38,10)", "e": "decimal(9,2)", "t": "string", "v": "varchar(9)", "h": "char(9)", "x": "binary",
        "d": "date", "w": "timestamp",
    }  # fmt: skip
    session.execute(f"CREATE TABLE t ({', '.join(f'{name} {kind}' for name, kind in types.items())}) {ACID}")
    rows = [
        {
            "id": number, "b": chance.random() < 0.5, "y": chance.randint(-128, 127), "s": chance.randint(-(2**15), 5),
            "i": chance.randint(-(2**31), 2**31 - 1), "f": chance.choice((0.5, -1e30, float("nan"))), "n": -0.0,
            "c": Decimal(chance.randint(-(10**38) + 1, 10**38 - 1)).scaleb(-10), "e": Decimal(number - 9).scaleb(-2),
            "t": chance.choice(("", "ż\u0000", "x" * 5000)), "v": " v ", "h": "h  ", "x": chance.randbytes(4),
            "d": date(1, 1, 1) + timedelta(chance.randint(0, 3_000_000)),
            "w": datetime(1700, 1, 1) + timedelta(microseconds=chance.randint(0, 2**53)),
        }
        for number in range(3000)
    ]  # fmt: skip
    missing = [{name: None if name != "id" else 3000 + number for name in types} for number in range(3)]
    session.insert("t", pa.Table.from_pylist([*rows, *missing], pa.schema(_arrow_types())))
    session.execute("DELETE FROM t WHERE id % 7 = 3")
    where = "id < 40 OR id > 2980 OR id = 1500"
    whole = rows_of(session, "t", ["row__id", *types], where)
    numbers = request.getfixturevalue("looked_up")
    looked_up = rows_of(session, "t", ["row__id", *types], where)
    assert repr(looked_up) == repr(whole)
    assert len(numbers) > 60
    session.execute("UPDATE t SET i = 1 WHERE id = 1500")
    (updated,) = rows_of(session, "t", ["i", "c", "w", "x"], "id = 1500")
    source = rows[1500]
    assert updated == (1, source["c"], source["w"], source["x"])


def _arrow_types() -> dict[str, pa.DataType]:
    return {
        "id": pa.int64(), "b": pa.bool_(), "y": pa.int8(), "s": pa.int16(), "i": pa.int32(), "f": pa.float32(),
        "n": pa.float64(), "c": pa.decimal128(38, 10), "e": pa.decimal128(9, 2), "t": pa.string(), "v": pa.string(),
        "h": pa.string(), "x": pa.binary(), "d": pa.date32(), "w": pa.timestamp("us"),
    }  # fmt: skip


def test_a_file_that_cannot_be_looked_up_in_is_read_by_stripes(session: Session, looked_up: list[int]) -> None:
    """Its names are none that pyarrow can select by."""
    session.execute(f"CREATE TABLE t (id int, `a b` string) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    assert rows_of(session, "t", ["a b"], "id = 2") == [("b",)]
    assert not looked_up
