"""ORC's own tools read values that Python has no dates, timestamps or decimals for, as acidsql wrote them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from acidsql.session import Session
from tests.interop.maven import class_path, java
from tests.selection import every

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

_POM: Final = Path(__file__).parent / "orctools" / "pom.xml"
_NINES: Final = "9" * 38
_DATES: Final = {
    "-4712-01-01": "4713-01-01",
    "-0044-03-15": "0045-03-15",
    "0000-12-31": "0001-12-31",
    "1582-10-04": "1582-10-04",
    "9999-12-31": "9999-12-31",
    "+10000-01-02": "0000-01-02",
    "+123456-07-08": "3456-07-08",
}
"""Dates, and java.sql.Date's text of them: the year of its era, its last four digits."""
_TIMESTAMPS: Final = {
    "-290000-12-21 19:59:06.25": "290001-12-21 19:59:06.25",
    "-0044-03-15 12:00:00": "0045-03-15 12:00:00.0",
    "0000-01-01 00:00:00.000001": "0001-01-01 00:00:00.000001",
    "1582-10-04 23:59:59.999999": "1582-10-04 23:59:59.999999",
    "+10000-01-01 00:00:00": "10000-01-01 00:00:00.0",
    "+294247-01-10 04:00:54.775807": "294247-01-10 04:00:54.775807",
}
"""Timestamps, and java.sql.Timestamp's text of them."""


@pytest.mark.parametrize("properties", every(2, ["", ", 'transactional_properties'='insert_only'"]))
def test_values_beyond_pythons_are_the_same_in_orcs_own_reader(session: Session, properties: str) -> None:
    session.sql(
        "CREATE TABLE t (k INT, d DATE, t TIMESTAMP, whole DECIMAL(38,0), part DECIMAL(38,38), a ARRAY<DATE>,"
        f" s STRUCT<t:TIMESTAMP>) STORED AS ORC TBLPROPERTIES ('transactional'='true'{properties})"
    )
    for number, (day, stamp) in enumerate(_pairs()):
        sign = "-" if number % 2 else ""
        session.sql(
            f"INSERT INTO t SELECT {number}, date '{day}', timestamp '{stamp}', {sign}{_NINES}, {sign}0.{_NINES},"
            f" array(date '{day}', NULL), named_struct('t', timestamp '{stamp}')"
        )
    texts = "k, CAST(d AS STRING), CAST(t AS STRING), CAST(whole AS STRING), CAST(part AS STRING)"
    back = [tuple(row) for row in session.sql(f"SELECT {texts} FROM t ORDER BY k").collect()]
    signs = ["-" if number % 2 else "" for number in range(len(back))]
    assert back == [
        (number, day, stamp, f"{signs[number]}{_NINES}", f"{signs[number]}0.{_NINES}")
        for number, (day, stamp) in enumerate(_pairs())
    ]
    assert sorted(_read(session), key=lambda row: int(row["k"])) == [
        {
            "k": number,
            "d": _DATES[day],
            "t": _TIMESTAMPS[stamp],
            "whole": f"{signs[number]}{_NINES}",
            "part": f"{signs[number]}0.{_NINES}",
            "a": [_DATES[day], None],
            "s": {"t": _TIMESTAMPS[stamp]},
        }
        for number, (day, stamp) in enumerate(_pairs())
    ]


def _pairs() -> list[tuple[str, str]]:
    stamps = [*_TIMESTAMPS, "1582-10-04 23:59:59.999999"]
    return list(zip(_DATES, stamps, strict=True))


def _read(session: Session) -> list[dict[str, Any]]:
    """The rows of the table's data files as `orc-tools data` prints them."""
    root = Path(session.catalog.table("default", "t").location)
    files = [str(path) for path in root.rglob("*_0*") if path.is_file() and not path.name.startswith(("_", "."))]
    tools = [java("java"), "-Duser.timezone=UTC", "-cp", class_path(_POM), "org.apache.orc.tools.Driver", "data"]
    done = subprocess.run([*tools, *files], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [row.get("row", row) for row in rows]
