"""The methods with frames and parameters refuse a value that does not fit its column; with strict=False they store it
as Hive does."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest

from acidsql.session import Session
from acidsql.statements.results import Counts
from tests.answers import fails, rows
from tests.spark_versions import needs_spark

TOO_LARGE: Final = 2**32 + 1
"""It wraps around to 1 as an INT."""
CALLS: Final[dict[str, Callable[[Session, bool], Counts]]] = {
    "insert of pandas": lambda s, strict: s.insert("t", pd.DataFrame({"id": [5, TOO_LARGE]}), strict=strict),
    "insert of Arrow": lambda s, strict: s.insert("t", pa.table({"id": [5, TOO_LARGE]}), strict=strict),
    "insert of dicts": lambda s, strict: s.insert("t", [{"id": 5}, {"id": TOO_LARGE}], strict=strict),
    "insert of Spark": lambda s, strict: s.insert("t", s.spark.range(TOO_LARGE, TOO_LARGE + 1), strict=strict),
    "insert of text": lambda s, strict: s.insert("t", [{"id": "5"}, {"id": "2x"}], strict=strict),
    "text for a date": lambda s, strict: s.insert("t", [{"d": "2024-02-30"}], strict=strict),
    "a long CHAR": lambda s, strict: s.insert("t", pa.table({"c": ["abcd"]}), strict=strict),
    "a long VARCHAR": lambda s, strict: s.insert("t", pa.table({"v": ["abcd"]}), strict=strict),
    "a large DECIMAL": lambda s, strict: s.insert("t", [{"n": "1234.5"}], strict=strict),
    "upsert": lambda s, strict: s.upsert("t", [_row(id=TOO_LARGE)], on="id", strict=strict),
    "upsert by text": lambda s, strict: s.upsert("t", [_row(c="abcd")], on="c", strict=strict),
    "update": lambda s, strict: s.update("t", {"id": ":id"}, "id = 1", {"id": TOO_LARGE}, strict=strict),
    "update of text": lambda s, strict: s.update("t", {"c": ":c"}, "id = 1", {"c": "abcd"}, strict=strict),
    "merge": lambda s, strict: (
        s.merge("t", [{"key": 1, "new": TOO_LARGE}], on="target.id = source.key", strict=strict)
        .when_matched()
        .update({"id": "source.new"})
        .execute()
    ),
}


def _row(**values: object) -> dict[str, Any]:
    return dict.fromkeys(("id", "c", "v", "d", "n")) | values


def test_a_value_that_does_not_fit_is_refused_before_anything_is_written(session: Session) -> None:
    session.execute("CREATE TRANSACTIONAL TABLE t (id int, c char(3), v varchar(3), d date, n decimal(4,1))")
    session.execute("INSERT INTO t VALUES (1, 'a', 'b', NULL, 1)")
    before = rows(session, "SELECT *, row__id FROM t")
    for name, call in CALLS.items():
        error = fails("INVALID_STORE_VALUE", lambda call=call: call(session, True))  # type: ignore[misc]
        assert "strict=False" in error.hint, name
        assert rows(session, "SELECT *, row__id FROM t") == before, name
    for name, call in CALLS.items():
        session.execute("START TRANSACTION")
        assert call(session, False).affected > 0, name
        session.execute("ROLLBACK")


@pytest.mark.parametrize(
    "frame", [[{"id": 1, "c": "a"}, {"id": 7, "c": "abcd"}], pa.table({"id": [1, 7], "c": ["a", "abcd"]})]
)
def test_the_error_names_column_row_and_value(session: Session, frame: object) -> None:
    session.execute("CREATE TRANSACTIONAL TABLE t (id int, c char(3))")
    error = fails("INVALID_STORE_VALUE", lambda: session.insert("t", frame))
    assert error.message == "The value abcd cannot be stored in column c of type char(3)."
    assert error.hint.startswith("It is in row 2 of the frame: id = 7, c = 'abcd'.")


_NESTED = pa.struct([("a", pa.list_(pa.int64())), ("v", pa.string()), ("m", pa.map_(pa.string(), pa.float64()))])
UNFIT: Final[dict[str, tuple[str, pa.Array]]] = {
    "text that only Spark reads as false": ("boolean", pa.array(["n"])),
    "text that only Spark reads as a date": ("date", pa.array(["2024"])),
    "text that only Spark reads as a time": ("timestamp", pa.array(["2024"])),
    "a time of day without seconds, which Hive loses": ("timestamp", pa.array(["2024-02-29 10:00"])),
    "a number beyond FLOAT": ("float", pa.array([1e300])),
    "a day that the calendar of Hive's files lacks": ("date", pa.array([date(1582, 10, 10)])),
    "a time on such a day": ("timestamp", pa.array([datetime(1582, 10, 14, 23, 59, 59)])),
    "a number in an array": ("struct<a:array<int>,v:string,m:map<string,double>>", pa.array([{"a": [2**40]}], _NESTED)),
    "a text in a struct": ("struct<a:array<int>,v:varchar(2),m:map<string,double>>", pa.array([{"v": "abc"}], _NESTED)),
    "a number in a map": (
        "struct<a:array<int>,v:string,m:map<string,float>>",
        pa.array([{"m": [("a", 1e300)]}], _NESTED),
    ),
    "a text beside what is always NULL": ("struct<x:int,v:char(1)>", pa.array([{"x": None, "v": "ab"}])),
    "a day in an array": ("array<date>", pa.array([[date(1582, 10, 5)]])),
}


@pytest.mark.parametrize("name", UNFIT)
def test_a_value_that_would_become_another_one_is_refused(session: Session, name: str) -> None:
    kind, values = UNFIT[name]
    session.execute(f"CREATE TRANSACTIONAL TABLE t (x {kind})")
    fails("INVALID_STORE_VALUE", lambda: session.insert("t", pa.table({"x": values})))


def test_values_inside_of_others_fit(session: Session) -> None:
    session.execute("CREATE TRANSACTIONAL TABLE t (s struct<a:array<int>,v:varchar(2),m:map<string,float>>)")
    values = [None, {"a": None}, {"a": [], "v": "ab ", "m": []}, {"a": [None, 1], "v": None, "m": [("k", None)]}]
    assert session.insert("t", pa.table({"s": pa.array(values, _NESTED)})).inserted == 4
    assert rows(session, "SELECT count(s), sum(size(s.a)), max(s.v) FROM t") == [(3, 0, "ab")]


def test_a_decimal_is_cut_to_an_integer_by_all_of_its_digits(session: Session) -> None:
    session.execute("CREATE TRANSACTIONAL TABLE t (x int)")
    values = pa.table({"x": pa.array([Decimal("5.99999999999999999999")], pa.decimal128(38, 20))})
    for strict in (True, False):
        session.insert("t", values, strict=strict)
    assert rows(session, "SELECT x FROM t") == [(5,), (5,)]


@needs_spark(4, 1, "the type TIME")
def test_a_time_of_day_is_no_timestamp(session: Session) -> None:
    session.execute("CREATE TRANSACTIONAL TABLE t (x timestamp)")
    fails("INCOMPATIBLE_TYPE", lambda: session.insert("t", pa.table({"x": pa.array([time(10)])}), strict=False))


def test_blanks_and_rounding_fit(session: Session) -> None:
    session.execute("CREATE TRANSACTIONAL TABLE t (c char(3), v varchar(3), f float, n decimal(4,1))")
    frame = {"c": ["ab     "], "v": ["abc  "], "f": [0.1], "n": [1.25]}
    assert session.insert("t", pa.table(frame)).inserted == 1
    assert session.insert("t", pd.DataFrame(frame)).inserted == 1
    assert rows(session, "SELECT count(DISTINCT c, v, f, n) FROM t") == [(1,)]


def test_the_setting_makes_texts_that_are_too_long_errors_in_sql(session: Session) -> None:
    session.execute("CREATE TRANSACTIONAL TABLE t (v varchar(3))")
    session.execute("INSERT INTO t VALUES ('abcd')")
    session.execute("SET acidsql.store.assignment=ansi")
    for statement in ("INSERT INTO t VALUES ('abcd')", "INSERT INTO t SELECT 'abcd'", "UPDATE t SET v = 'abcd'"):
        fails("INVALID_STORE_VALUE", lambda statement=statement: session.execute(statement))  # type: ignore[misc]
    session.execute("INSERT INTO t VALUES ('abc ')")
    assert rows(session, "SELECT * FROM t ORDER BY v") == [("abc",), ("abc",)]
