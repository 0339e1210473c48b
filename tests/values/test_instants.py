"""TIMESTAMP WITH LOCAL TIME ZONE: instants, in files as ORC's TIMESTAMP_INSTANT, whatever zone they are shown in."""

from __future__ import annotations

import datetime
import zoneinfo
from pathlib import Path

import pyorc
import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from acidsql.storage.footer_cache import read_file_tail
from acidsql.storage.local_files import LocalFiles
from tests.selection import every

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
SCHEMA = (
    "struct<operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,currentTransaction:bigint,"
    "row:struct<id:int,at:timestamp with local time zone>>"
)
UTC = datetime.UTC
SUMMER = datetime.datetime(2024, 7, 1, 12, 0, 0, 123456, UTC)
OLD = datetime.datetime(1815, 6, 18, 11, 35, 0, 0, UTC)
BEFORE_1970 = datetime.datetime(1969, 12, 31, 23, 59, 58, 999999, UTC)


def data_files(session: Session) -> list[Path]:
    root = Path(session.catalog.table("default", "t").location)
    return sorted(p for p in root.rglob("*") if p.name.startswith(("bucket_", "0")) and p.is_file())


def micros(session: Session, column: str = "at") -> list[int | None]:
    return [row[0] for row in session.sql(f"SELECT unix_micros({column}) FROM t ORDER BY id").collect()]


def text_of_instant(session: Session) -> object:
    return session.sql("SELECT CAST(at AS STRING) FROM t").collect()[0][0]


def as_micros(moment: datetime.datetime) -> int:
    return (moment - datetime.datetime(1970, 1, 1, tzinfo=UTC)) // datetime.timedelta(microseconds=1)


@pytest.mark.ci
@pytest.mark.parametrize("kind", [ACID, INSERT_ONLY])
def test_instants_are_stored_as_instants_and_read_back(session: Session, spark: SparkSession, kind: str) -> None:
    session.sql(
        "CREATE TABLE t (id INT, at TIMESTAMP WITH LOCAL TIME ZONE, wall TIMESTAMP,"
        f" deep STRUCT<m: MAP<STRING, ARRAY<TIMESTAMP WITH LOCAL TIME ZONE>>>) {kind}"
    )
    moments = [SUMMER, OLD, BEFORE_1970]
    values = [(i, m, m.replace(tzinfo=None)) for i, m in enumerate(moments)]
    frame = spark.createDataFrame(values, "id INT, at TIMESTAMP, wall TIMESTAMP_NTZ")
    session.sql("INSERT INTO t SELECT id, at, wall, named_struct('m', map('k', array(at, NULL))) FROM {f}", f=frame)
    session.sql("INSERT INTO t (id) VALUES (9)")
    assert micros(session) == [*map(as_micros, moments), None]
    assert micros(session, "deep.m['k'][0]") == [*map(as_micros, moments), None]
    assert session.sql("SELECT at FROM t WHERE id = 0").schema[0].dataType.simpleString() == "timestamp"
    in_july = "timestamp_ltz '2024-07-01 00:00:00 UTC'"
    assert session.sql(f"SELECT id, wall FROM t WHERE at > {in_july}").collect() == [(0, SUMMER.replace(tzinfo=None))]
    filed = 0
    tails = [read_file_tail(LocalFiles(), str(path), path.stat().st_size) for path in data_files(session)]
    assert not any(tail.has_unnamed_instants for tail in tails), "Spark reads them without a copy"
    for path in data_files(session):
        with path.open("rb") as file:
            reader = pyorc.Reader(file)
            assert str(reader.schema).count("timestamp with local time zone") == 2
            for row in reader:
                assert isinstance(row, tuple)
                columns = row[-1] if kind == ACID else row
                if columns[0] != 9:
                    assert columns[1] == moments[columns[0]]
                    filed += 1
    assert filed == 3


def test_instants_do_not_depend_on_the_session_zone(session: Session, spark: SparkSession) -> None:
    session.sql(f"CREATE TABLE t (id INT, at TIMESTAMP WITH LOCAL TIME ZONE) {ACID}")
    zone = spark.conf.get("spark.sql.session.timeZone")
    assert zone is not None
    try:
        spark.conf.set("spark.sql.session.timeZone", "America/New_York")
        session.sql("INSERT INTO t SELECT 1, CAST('2024-07-01 08:00:00.123456' AS TIMESTAMP_LTZ)")
        assert micros(session) == [as_micros(SUMMER)]
        assert text_of_instant(session) == "2024-07-01 08:00:00.123456 America/New_York"
        spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
        assert micros(session) == [as_micros(SUMMER)]
        assert text_of_instant(session) == "2024-07-01 17:30:00.123456 Asia/Kolkata"
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


@pytest.mark.ci
@pytest.mark.parametrize("most", every(2, ["0", "1048576"]))
def test_rows_with_instants_are_changed_and_compacted_like_others(session: Session, most: str) -> None:
    """Both Spark and the driver write them."""
    session.execute(f"SET acidsql.driver.write.max.bytes={most}")
    session.sql(f"CREATE TABLE t (id INT, at TIMESTAMP WITH LOCAL TIME ZONE) {ACID}")
    session.sql("INSERT INTO t SELECT id, timestamp_micros(id) FROM (SELECT explode(sequence(1, 6)) AS id) s")
    session.execute("UPDATE t SET at = timestamp_micros(-1000001) WHERE id % 2 = 0")
    session.execute("DELETE FROM t WHERE id = 3")
    session.execute(
        "MERGE INTO t USING (VALUES (1), (7)) AS s(id) ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET at = NULL WHEN NOT MATCHED THEN INSERT VALUES (s.id, timestamp_micros(77))"
    )
    for kind in ("minor", "major", "rebalance"):
        assert micros(session) == [None, -1000001, -1000001, 5, -1000001, 77]
        session.execute(f"ALTER TABLE t COMPACT '{kind}' AND WAIT")
    assert micros(session) == [None, -1000001, -1000001, 5, -1000001, 77]


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMP WITH LOCAL TIME ZONE"])
def test_a_fraction_of_the_last_second_before_1970_is_refused(session: Session, kind: str) -> None:
    """ORC would give it back as one of the second after it, but for fractions of less than a millisecond."""
    literal = "timestamp '{}'" if kind == "TIMESTAMP" else "timestamp_ltz '{} UTC'"
    session.sql(f"CREATE TABLE t (id INT, at {kind}) {ACID}")
    for good in ("1969-12-31 23:59:59", "1969-12-31 23:59:59.000999"):
        session.sql(f"INSERT INTO t SELECT 1, {literal.format(good)}")
        assert session.sql(f"SELECT id FROM t WHERE at = {literal.format(good)}").collect() == [(1,)]
    for bad in ("1969-12-31 23:59:59.001", "1969-12-31 23:59:59.999999"):
        with pytest.raises(AcidSqlError) as caught:
            session.sql(f"INSERT INTO t SELECT 3, {literal.format(bad)}")
        assert caught.value.condition == "INVALID_STORE_VALUE"


def test_a_plain_table_has_instants_too_and_keeps_them_when_it_is_converted(session: Session) -> None:
    session.sql("CREATE TABLE t (id INT, at TIMESTAMP WITH LOCAL TIME ZONE) STORED AS ORC")
    session.sql("INSERT INTO t SELECT 1, timestamp_micros(1) UNION ALL SELECT 2, timestamp_micros(-5000000)")
    assert micros(session) == [1, -5000000]
    session.sql("ALTER TABLE t SET TBLPROPERTIES ('transactional'='true')")
    session.execute("UPDATE t SET at = timestamp_micros(7) WHERE id = 2")
    assert micros(session) == [1, 7]


def test_instants_of_another_writer_are_read_whatever_zone_it_had(session: Session, tmp_path: Path) -> None:
    """Its files do not have Spark's attribute; the table's own are left as they are."""
    delta = tmp_path / "t" / "delta_0000001_0000001_0000"
    delta.mkdir(parents=True)
    path = delta / "bucket_00000"
    with path.open("wb") as file, pyorc.Writer(file, SCHEMA, timezone=zoneinfo.ZoneInfo("America/New_York")) as writer:
        for number, moment in enumerate([SUMMER, OLD, BEFORE_1970]):
            writer.write((0, 1, 1 << 29, number, 1, (number, moment)))
    before = path.read_bytes()
    session.sql(
        "CREATE TABLE t (id INT, at TIMESTAMP WITH LOCAL TIME ZONE) STORED AS ORC"
        f" LOCATION '{tmp_path / 't'}' TBLPROPERTIES ('transactional'='true')"
    )
    assert micros(session) == [as_micros(m) for m in (SUMMER, OLD, BEFORE_1970)]
    assert session.sql("SELECT DISTINCT INPUT__FILE__NAME FROM t").collect()[0][0] == f"file:{path}"
    session.execute("UPDATE t SET at = timestamp_micros(1) WHERE id = 0")
    assert micros(session) == [1, as_micros(OLD), as_micros(BEFORE_1970)]
    assert path.read_bytes() == before
