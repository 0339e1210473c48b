"""Dates and timestamps of Parquet tables: in the files as Hive has them, and read back whoever wrote them."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from acidsql.session import Session
from tests.answers import rows

_INSERT_ONLY = "STORED AS PARQUET TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
_DAYS_1582_10_04 = -141428
"""The day before 1582-10-15, which is day -141427, in the hybrid Julian calendar."""


@pytest.mark.ci
def test_dates_and_instants_are_filed_in_hives_calendar(session: Session) -> None:
    session.sql(f"CREATE TABLE t (k INT, d DATE, t TIMESTAMP, a ARRAY<TIMESTAMP>) {_INSERT_ONLY}")
    session.sql(
        "INSERT INTO t SELECT 1, date '1582-10-04', timestamp '1582-10-04 12:00:00',"
        " array(timestamp '0001-01-01 00:00:00')"
        " UNION ALL SELECT 2, date '0001-01-01', timestamp '1969-12-31 23:59:59.5', NULL"
    )
    location = Path(session.catalog.table("default", "t").location)
    files = [parquet.ParquetFile(path) for path in location.rglob("0*_0")]
    filed = [
        row for file in files for row in file.read(["k", "d"]).cast(pa.schema({"k": "int32", "d": "int32"})).to_pylist()
    ]
    assert {row["k"]: row["d"] for row in filed} == {1: _DAYS_1582_10_04, 2: -719164}
    assert {file.schema.column(2).physical_type for file in files} == {"INT96"}
    noon = datetime.datetime(1582, 10, 4, 12)
    assert rows(session, "SELECT * FROM t ORDER BY k") == [
        (1, datetime.date(1582, 10, 4), noon, [datetime.datetime(1, 1, 1)]),
        (2, datetime.date(1, 1, 1), datetime.datetime(1969, 12, 31, 23, 59, 59, 500000), None),
    ]
    assert rows(session, "SELECT k FROM t WHERE d < date '1582-10-05' AND t = timestamp '1582-10-04 12:00:00'") == [
        (1,)
    ]
    session.sql("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert rows(session, "SELECT d FROM t WHERE k = 1") == [(datetime.date(1582, 10, 4),)]


@pytest.mark.ci
def test_a_setting_of_the_users_session_changes_no_file(session: Session) -> None:
    session.sql("SET spark.sql.parquet.outputTimestampType=TIMESTAMP_MICROS")
    try:
        session.sql(f"CREATE TABLE t (t TIMESTAMP) {_INSERT_ONLY}")
        session.sql("INSERT INTO t VALUES (timestamp '2024-02-29 12:34:56')")
    finally:
        session.sql("SET spark.sql.parquet.outputTimestampType=INT96")
    location = Path(session.catalog.table("default", "t").location)
    files = [parquet.ParquetFile(path) for path in location.rglob("0*_0")]
    assert {file.schema.column(0).physical_type for file in files} == {"INT96"}
