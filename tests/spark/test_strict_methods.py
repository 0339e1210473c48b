"""The methods with frames and parameters refuse a value that does not fit its column; with strict=False they store it
as Hive does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest

from acidsql.results import Counts
from acidsql.session import Session
from tests.answers import fails, rows

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
