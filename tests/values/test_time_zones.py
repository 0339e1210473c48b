"""A TIMESTAMP is wall-clock time in every zone, and an instant is shown in the session's, by every front end."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession

from acidsql.session import Session, connect
from acidsql.spark.session.time_zone import local_zone

_ACID: Final = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
_ZONE: Final = "spark.sql.session.timeZone"
_SKIPPED: Final = "2024-03-10 02:30:15"
"""A time that New York's clocks skip."""
_TEXTS: Final = {
    "date_format(ts, 'HH:mm')": "02:30",
    "CAST(date_trunc('minute', ts) AS string)": "2024-03-10 02:30:00",
    "CAST(date_trunc('minute', x) AS string)": "2024-03-10 02:30:00",
    "CAST(CAST(day AS timestamp) + INTERVAL '150' MINUTE AS string)": "2024-03-10 02:30:00",
    "CAST(day + INTERVAL '150' MINUTE AS string)": "2024-03-10 02:30:00",
    "CAST(to_utc_timestamp(ts, 'Asia/Tokyo') AS string)": "2024-03-09 17:30:15",
    "CAST(to_utc_timestamp(x, 'America/New_York') AS string)": "2024-03-10 07:30:15",
    "CAST(from_utc_timestamp(ts, 'Asia/Tokyo') AS string)": "2024-03-10 11:30:15",
    "hour(x)": "2",
    "months_between(ts, '2024-02-10 02:30:15')": "1.0",
    "CAST(greatest(ts, timestamp(x)) AS string)": _SKIPPED,
    "CAST(coalesce(ts, now()) AS string)": _SKIPPED,
}
"""What expressions give of times that the session's zone skips."""
_TIMES: Final = (
    "ts",
    "date_trunc('minute', ts)",
    "day + INTERVAL '1' HOUR",
    "to_utc_timestamp(ts, 'Asia/Tokyo')",
    "from_utc_timestamp(x, 'Asia/Tokyo')",
    "timestamp(x)",
    "current_timestamp()",
    "CURRENT_TIMESTAMP",
    "greatest(ts, now())",
)
"""Expressions that are TIMESTAMPs in Hive."""


@pytest.fixture
def eastern(spark: SparkSession, tmp_path: Path) -> Iterator[Session]:
    """A session whose zone is neither the JVM's nor that of the process."""
    user = spark.newSession()
    user.conf.set(_ZONE, "America/New_York")
    with connect(tmp_path / "warehouse", metastore=f"sqlite:///{tmp_path}/metastore.db", spark=user) as session:
        session.execute(f"CREATE TABLE t (id int, ts timestamp, day date, x string) {_ACID}")
        session.execute(f"INSERT INTO t VALUES (1, timestamp '{_SKIPPED}', date '2024-03-10', '{_SKIPPED}')")
        yield session


def test_wall_clock_time_has_every_hour(eastern: Session) -> None:
    (row,) = eastern.sql(f"SELECT {', '.join(e for e in _TEXTS if 'now' not in e)} FROM t").collect()
    assert list(map(str, row)) == [given for e, given in _TEXTS.items() if "now" not in e]
    (row,) = eastern.sql(
        "SELECT CAST(coalesce(ts, now()) AS string), to_utc_timestamp(ts, 'Asia/Tokyo') FROM t"
    ).collect()
    assert list(row) == [_SKIPPED, datetime.datetime(2024, 3, 9, 17, 30, 15)], "the time now is asked for"
    eastern.execute("UPDATE t SET x = date_format(ts, 'HH:mm'), ts = date_trunc('minute', ts)")
    assert [tuple(row) for row in eastern.sql("SELECT x, ts FROM t").collect()] == [
        ("02:30", datetime.datetime(2024, 3, 10, 2, 30))
    ]


def test_what_is_a_timestamp_in_hive_is_none_with_a_zone(eastern: Session) -> None:
    for times in (_TIMES[:6], _TIMES):
        frame = eastern.sql(f"SELECT {', '.join(f'{e} AS c{i}' for i, e in enumerate(times))} FROM t")
        assert {f.dataType.simpleString() for f in frame.schema if f.name not in ("c1", "c2")} == {"timestamp_ntz"}
    eastern.execute(f"CREATE TABLE c {_ACID} AS SELECT date_trunc('day', ts) AS d, day + INTERVAL '1' HOUR AS h FROM t")
    eastern.execute(f"CREATE TABLE n {_ACID} AS SELECT current_timestamp() AS d FROM t")
    kinds = [row for table in "cn" for row in eastern.execute(f"DESCRIBE {table}").rows()]
    assert [kind for _, kind, _ in kinds] == ["timestamp"] * 3


def test_the_time_now_is_that_of_the_sessions_zone(eastern: Session) -> None:
    eastern.execute("UPDATE t SET ts = current_timestamp(), x = from_unixtime(unix_timestamp(current_timestamp()))")
    ((ts, x),) = eastern.execute("SELECT ts, x FROM t").rows()
    assert isinstance(ts, datetime.datetime)
    there = datetime.datetime.now(datetime.UTC).replace(tzinfo=None) - ts
    assert datetime.timedelta(hours=3.5) < there < datetime.timedelta(hours=5.5)
    assert x == str(ts.replace(microsecond=0))
    (row,) = eastern.sql(
        "SELECT unix_timestamp(timestamp '2024-07-01 08:00:00'), unix_timestamp('2024-07-01 08:00:00')"
        ", unix_timestamp(x, 'yyyy') IS NULL FROM t"
    ).collect()
    assert tuple(row) == (1719835200, 1719835200, True)


def test_instants_are_fetched_in_the_sessions_zone(eastern: Session) -> None:
    eastern.execute(f"CREATE TABLE z (at timestamp with local time zone) {_ACID}")
    eastern.execute("INSERT INTO z VALUES ('2024-07-01 12:34:56'), (timestamp_ltz '2024-01-01 12:00:00 UTC')")
    query = "SELECT at, array(at), named_struct('m', map('k', at)) FROM z ORDER BY at DESC"
    summer = datetime.datetime(2024, 7, 1, 12, 34, 56)
    assert next(eastern.execute(query).rows()) == (summer, [summer], ({"k": summer},))
    assert eastern.execute(query).columns[0].type == "timestamp"  # type: ignore[index]
    assert [row[0] for row in eastern.sql("SELECT CAST(at AS string) FROM z").collect()] == [
        "2024-07-01 12:34:56.0 America/New_York",
        "2024-01-01 07:00:00.0 America/New_York",
    ]


@pytest.mark.parametrize(
    ("zone", "name"),
    [("America/New_York", "America/New_York"), (":Europe/Paris", "Europe/Paris"), ("Zulu", "UTC"), ("nowhere", "UTC")],
)
def test_the_local_zone_has_the_name_of_the_environment(monkeypatch: pytest.MonkeyPatch, zone: str, name: str) -> None:
    monkeypatch.setenv("TZ", zone)
    assert local_zone() == name


def test_the_local_zone_has_the_name_of_the_machines_clock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TZ", raising=False)
    rules = tmp_path / "zoneinfo" / "Asia" / "Tokyo"
    rules.parent.mkdir(parents=True)
    rules.write_bytes(b"")
    (tmp_path / "localtime").symlink_to(rules)
    (tmp_path / "timezone").write_text("Asia/Kolkata\n")
    assert local_zone(tmp_path / "localtime", tmp_path / "timezone") == "Asia/Tokyo"
    assert local_zone(tmp_path / "none", tmp_path / "timezone") == "Asia/Kolkata"
    assert local_zone(tmp_path / "none", tmp_path / "none") == "UTC"


@pytest.mark.nightly
def test_front_ends_show_the_same_on_a_machine_of_another_zone(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.values.in_new_york", str(tmp_path)],
        env=os.environ | {"TZ": "America/New_York"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found.pop("zone") == "America/New_York"
    assert found.pop("is now")
    noon = "2024-07-01 12:34:56"
    given = {expression: set(shown.values()) for expression, shown in found.items()}
    assert given == {
        "wall": {noon},
        "at": {noon},
        "date_trunc('hour', wall)": {"2024-07-01 12:00:00"},
        "date_trunc('hour', at)": {"2024-07-01 12:00:00"},
        "coalesce(wall, current_timestamp())": {noon},
        "to_utc_timestamp(wall, 'America/New_York')": {"2024-07-01 16:34:56"},
        "from_utc_timestamp(wall, 'Asia/Tokyo')": {"2024-07-01 21:34:56"},
        "named_struct('at', array(at))": {f'{{"at":["{noon}"]}}'},
        "CAST(at AS timestamp)": {noon},
        "CAST(wall AS timestamp with local time zone)": {noon},
        "CAST(at AS string)": {f"{noon}.0 America/New_York"},
        "day + INTERVAL '1' HOUR": {"2024-07-01 01:00:00"},
        "unix_timestamp(wall)": {"1719851696"},
        "from_unixtime(0)": {"1969-12-31 19:00:00"},
        "given": {_SKIPPED},
        "framed": {_SKIPPED},
        "aware": {noon},
    }
