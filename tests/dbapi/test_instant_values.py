"""TIMESTAMP WITH LOCAL TIME ZONE through DB-API: datetimes in UTC, whatever the zones of session and process are."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from pyspark.sql import SparkSession

from acidsql import dbapi

FALL = datetime(2026, 11, 1, 5, 30, 0, 123456, UTC)
"""01:30 in New York, for the first time of that night."""
INSTANTS = [FALL + timedelta(hours=1), FALL, datetime(1815, 6, 18, 11, 35, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)]


@pytest.fixture
def cursor(spark: SparkSession, tmp_path: Path) -> Iterator[dbapi.Cursor]:
    zone = spark.conf.get("spark.sql.session.timeZone")
    assert zone is not None
    with dbapi.connect(tmp_path / "warehouse", spark=spark) as opened:
        yield opened.cursor()
    spark.conf.set("spark.sql.session.timeZone", zone)  # SET of a spark.* setting changes the session of all tests


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_an_instant_is_a_datetime_in_utc_also_in_the_hour_that_comes_twice(cursor: dbapi.Cursor, zone: str) -> None:
    cursor.execute("CREATE TABLE t (at TIMESTAMP WITH LOCAL TIME ZONE) STORED AS ORC")
    cursor.executemany("INSERT INTO t VALUES (:at)", [{"at": instant} for instant in INSTANTS])
    cursor.execute(f"SET spark.sql.session.timeZone={zone}")
    cursor.execute("SELECT at FROM t ORDER BY at DESC")
    assert cursor.description is not None
    assert cursor.description[0][1] == "timestamp with local time zone"
    assert cursor.description[0][1] == dbapi.DATETIME
    rows = cursor.fetchall()
    assert rows == [(instant,) for instant in INSTANTS]
    assert {value.tzinfo for (value,) in rows if isinstance(value, datetime)} == {UTC}


def test_instants_in_nested_values_are_datetimes_in_utc_and_others_stay_as_they_are(cursor: dbapi.Cursor) -> None:
    local = FALL.astimezone(ZoneInfo("Asia/Tokyo"))
    cursor.execute(
        "SELECT array(:at, NULL), map(:at, named_struct('a', :at, 'n', 1)), named_struct('a', :at, 'l', array(:at)),"
        " TIMESTAMP '2026-01-02 03:04:05', array(DATE '2026-01-02'), NULL, :at",
        {"at": local},
    )
    wall = datetime(2026, 1, 2, 3, 4, 5)
    assert cursor.fetchall() == [
        ([FALL, None], {FALL: {"a": FALL, "n": 1}}, {"a": FALL, "l": [FALL]}, wall, [wall.date()], None, FALL)
    ]


def test_an_instant_that_python_does_not_have_is_an_error(cursor: dbapi.Cursor) -> None:
    cursor.execute("SELECT timestamp_micros(-90000000000000000)")
    with pytest.raises(dbapi.OperationalError, match="no Python form"):
        cursor.fetchall()


def test_an_instant_that_was_fetched_finds_its_row_again(cursor: dbapi.Cursor) -> None:
    cursor.execute("CREATE TABLE t (at TIMESTAMP WITH LOCAL TIME ZONE) STORED AS ORC")
    cursor.execute("INSERT INTO t VALUES (:at)", {"at": FALL.astimezone(timezone(timedelta(hours=-8)))})
    fetched = cursor.execute("SELECT at FROM t").fetchone()
    assert fetched is not None
    assert cursor.execute("SELECT count(*) FROM t WHERE at = :at", {"at": fetched[0]}).fetchone() == (1,)
