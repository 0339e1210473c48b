"""DESCRIBE FORMATTED, DESCRIBE .. PARTITION and SHOW TABLE EXTENDED."""

from __future__ import annotations

from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def db(session: Session) -> Session:
    session.execute(
        "CREATE TABLE visit (id int NOT NULL, n bigint DEFAULT 5, tags array<smallint>, CONSTRAINT c CHECK (id > 0))"
        f" COMMENT 'of a shop' PARTITIONED BY (day date) CLUSTERED BY (id) INTO 2 BUCKETS {ACID}"
    )
    session.execute("INSERT INTO visit VALUES (1, 1, NULL, '2026-01-01'), (2, 2, NULL, '2026-01-02')")
    session.execute("CREATE TABLE value (b boolean, t tinyint, s struct<x:int>)")
    session.execute("CREATE VIEW visits AS SELECT id FROM visit")
    return session


def rows(session: Session, sql: str) -> list[tuple[object, ...]]:
    return list(session.execute(sql).rows())


def test_describe_formatted_tells_origin_storage_and_constraints(db: Session) -> None:
    shown = rows(db, "DESCRIBE FORMATTED visit")
    location = db.catalog.table("default", "visit").location
    for row in [
        ("Database:", "default", ""),
        ("OwnerType:", "USER", ""),
        ("Location:", location, ""),
        ("Table Type:", "MANAGED_TABLE", ""),
        ("", "comment", "of a shop"),
        ("", "transactional", "true"),
        ("SerDe Library:", "org.apache.hadoop.hive.ql.io.orc.OrcSerde", ""),
        ("InputFormat:", "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat", ""),
        ("Num Buckets:", "2", ""),
        ("Bucket Columns:", "[id]", ""),
        ("Not Null Constraint:", "id", ""),
        ("Default Constraint:", "n", "5"),
        ("Check Constraint:", "c", "id > 0"),
    ]:
        assert row in shown
    [created] = [str(value) for title, value, _ in shown if title == "CreateTime:"]
    assert created.split()[-1].isdecimal(), "the year comes last, as in Java's Date.toString"
    assert ("Table Type:", "VIRTUAL_VIEW", "") in rows(db, "DESCRIBE FORMATTED visits")


def test_a_partition_is_described_in_any_spelling_of_its_value(db: Session) -> None:
    shown = rows(db, "DESCRIBE FORMATTED visit PARTITION (day = '2026-01-01')")
    location = db.catalog.table("default", "visit").location
    assert ("Partition Value:", "[2026-01-01]", "") in shown
    assert ("Location:", f"{location}/day=2026-01-01", "") in shown
    plain = rows(db, "DESCRIBE visit PARTITION (day = date '2026-01-01')")
    assert plain == rows(db, "DESCRIBE visit")


@pytest.mark.parametrize(
    ("statement", "condition"),
    [
        ("DESCRIBE visit PARTITION (day = '2027-01-01')", "PARTITION_NOT_FOUND"),
        ("DESCRIBE visit PARTITION (month = 1)", "PARTITION_COLUMN_UNKNOWN"),
        ("DESCRIBE value PARTITION (day = 1)", "NOT_PARTITIONED"),
        ("DESCRIBE visits PARTITION (day = 1)", "NOT_PARTITIONED"),
        ("SHOW TABLE EXTENDED LIKE 'value' PARTITION (day = 1)", "NOT_PARTITIONED"),
        ("SHOW TABLE EXTENDED IN nowhere LIKE 'v'", "DATABASE_NOT_FOUND"),
    ],
)
def test_a_partition_that_is_not_there_is_an_error(db: Session, statement: str, condition: str) -> None:
    with pytest.raises(AcidSqlError) as raised:
        db.execute(statement)
    assert raised.value.condition == condition


def extended(session: Session, sql: str) -> list[dict[str, str]]:
    """The lines about each table, by their keys."""
    tables: list[dict[str, str]] = [{}]
    for (line,) in rows(session, sql):
        if not line:
            tables.append({})
        else:
            key, _, value = str(line).partition(":")
            tables[-1][key] = value
    return tables[:-1]


def test_show_table_extended_counts_the_files_of_all_partitions(db: Session) -> None:
    [shown] = extended(db, "SHOW TABLE EXTENDED LIKE 'visit'")
    location = Path(db.catalog.table("default", "visit").location)
    sizes = [path.stat().st_size for path in location.rglob("bucket_*") if not path.name.endswith(".crc")]
    assert shown["columns"] == "struct columns { i32 id, i64 n, list<i16> tags}"
    assert shown["partitionColumns"] == "struct partition_columns { date day}"
    assert shown["location"] == str(location)
    assert (shown["totalNumberFiles"], shown["totalFileSize"]) == (str(len(sizes)), str(sum(sizes)))
    assert (shown["maxFileSize"], shown["minFileSize"]) == (str(max(sizes)), str(min(sizes)))
    assert int(shown["lastUpdateTime"]) > 0
    [one] = extended(db, "SHOW TABLE EXTENDED LIKE visit PARTITION (day = '2026-01-02')")
    assert (one["totalNumberFiles"], one["location"]) == ("1", f"{location}/day=2026-01-02")


def test_show_table_extended_takes_patterns_views_and_empty_tables(db: Session) -> None:
    shown = extended(db, "SHOW TABLE EXTENDED IN default LIKE 'v*'")
    assert [table["tableName"] for table in shown] == ["value", "visit", "visits"]
    assert shown[0]["columns"] == "struct columns { bool b, byte t, struct<x:i32> s}"
    assert (shown[0]["partitioned"], shown[0]["totalNumberFiles"]) == ("false", "0")
    assert (shown[2]["location"], shown[2].get("totalNumberFiles")) == ("null", None)
    assert extended(db, "SHOW TABLE EXTENDED LIKE 'x*'") == []
