"""Insert-only tables stored as text: every value comes back, or is refused."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session

_TEXT = "STORED AS TEXTFILE TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"


def lines(session: Session) -> list[str]:
    root = Path(session.catalog.table("default", "t").location)
    return [line for path in sorted(root.rglob("0*_0")) for line in path.read_text().splitlines()]


def test_values_of_every_type_are_filed_as_hive_writes_them_and_read_back(session: Session) -> None:
    session.sql(
        "CREATE TABLE t (s STRING, c CHAR(3), b BINARY, f DOUBLE, d DECIMAL(8,2), t TIMESTAMP, day DATE, yes BOOLEAN)"
        f" {_TEXT}"
    )
    session.sql(
        "INSERT INTO t SELECT '  blanks\t', 'x', CAST(repeat('ab', 60) AS BINARY), 1e100, 1.5,"
        " timestamp '2024-02-29 12:34:56.5', date '1969-12-31', true"
        " UNION ALL SELECT '', 'y', CAST('' AS BINARY), -0.5, NULL, timestamp '0012-01-01 00:00:00', NULL, false"
        " UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL"
    )
    base64 = "YWJh" + "YmFi" + "YWJhYmFi" * 19  # longer than a line of MIME
    assert sorted(lines(session)) == sorted(
        [
            f"  blanks\t\x01x  \x01{base64}\x011.0E100\x011.50\x012024-02-29 12:34:56.5\x011969-12-31\x01true",
            "\x01y  \x01\x01-0.5\x01\\N\x010012-01-01 00:00:00\x01\\N\x01false",
            "\x01".join(["\\N"] * 8),
        ]
    )
    rows = [tuple(row) for row in session.sql("SELECT * FROM t ORDER BY f").collect()]
    stamp = datetime.datetime(2024, 2, 29, 12, 34, 56, 500000)
    assert rows == [
        (None,) * 8,
        ("", "y  ", b"", -0.5, None, datetime.datetime(12, 1, 1), None, False),
        ("  blanks\t", "x  ", b"ab" * 60, 1e100, Decimal("1.50"), stamp, datetime.date(1969, 12, 31), True),
    ]
    assert session.sql("SELECT length(c) FROM t WHERE c = 'x'").collect()[0][0] == 1


@pytest.mark.parametrize("value", ["a\\nb", "a\\rb", "a\\u0001b", "\\\\N"])
def test_a_text_that_could_not_be_read_back_is_refused(session: Session, value: str) -> None:
    session.sql(f"CREATE TABLE t (id INT, s STRING) {_TEXT}")
    session.sql("INSERT INTO t VALUES (1, 'fine')")
    with pytest.raises(AcidSqlError) as caught:
        session.sql(f"INSERT INTO t VALUES (2, '{value}')")
    assert caught.value.condition == "INVALID_STORE_VALUE"
    assert [tuple(row) for row in session.sql("SELECT * FROM t").collect()] == [(1, "fine")]


def test_types_whose_text_is_not_known_are_refused_before_anything_is_written(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id INT, a ARRAY<INT>) {_TEXT}")
    with pytest.raises(AcidSqlError) as caught:
        session.sql("INSERT INTO t SELECT 1, array(1, 2)")
    assert caught.value.condition == "NOT_YET_SUPPORTED"
    assert "array<int>" in str(caught.value)
    assert not list(Path(session.catalog.table("default", "t").location).rglob("*_*"))
