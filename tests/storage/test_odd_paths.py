"""Characters in paths that have a meaning in Hadoop, Spark or a URI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from acidsql.session import Session
from tests.answers import rows

_ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
_INSERT_ONLY = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
_ODD = "a[b]{c,d}*?\\e%20f+g}"


@pytest.mark.ci
@pytest.mark.parametrize(
    "rest", [_ACID, f"STORED AS PARQUET {_INSERT_ONLY}", f"STORED AS TEXTFILE {_INSERT_ONLY}", "STORED AS ORC"]
)
def test_a_location_may_contain_the_characters_of_a_pattern(session: Session, tmp_path: Path, rest: str) -> None:
    stored, word, properties = rest.partition("TBLPROPERTIES")
    location = str(tmp_path / _ODD).replace("\\", "\\\\")
    session.sql(f"CREATE TABLE t (k INT) {stored} LOCATION '{location}' {word}{properties}")
    session.sql("INSERT INTO t VALUES (1), (2)")
    session.sql("INSERT INTO t VALUES (3)")
    session.sql("INSERT INTO t VALUES (4)")
    assert rows(session, "SELECT k FROM t ORDER BY k") == [(1,), (2,), (3,), (4,)]
    assert list((tmp_path / _ODD).iterdir())


def test_partitions_with_special_characters_are_read_changed_and_compacted(session: Session) -> None:
    values = ["}", "{x}[y]", "a b", "100%", "c+d", "ż日", "%20", "*?", "a\\\\b", "#;,", " lead", "trail "]
    session.sql(f"CREATE TABLE t (k INT, v INT) PARTITIONED BY (`p q` STRING) {_ACID}")
    listed = ", ".join(f"({k}, 0, '{p}')" for k, p in enumerate(values))
    session.sql(f"INSERT INTO t VALUES {listed}")
    session.sql("UPDATE t SET v = 1 WHERE k % 2 = 0")
    session.sql("DELETE FROM t WHERE k % 3 = 2")
    kept = [(k, 1 - k % 2, p.replace("\\\\", "\\")) for k, p in enumerate(values) if k % 3 != 2]
    assert rows(session, "SELECT * FROM t ORDER BY k") == kept
    session.sql("ALTER TABLE t PARTITION (`p q` = '}') COMPACT 'major' AND WAIT")
    assert rows(session, "SELECT * FROM t ORDER BY k") == kept


def test_input_file_name_is_a_path_as_in_hive(session: Session) -> None:
    session.sql(f"CREATE TABLE t (k INT) PARTITIONED BY (p STRING) {_ACID}")
    session.sql("INSERT INTO t VALUES (1, 'a b+c'), (2, 'd%e')")
    location = session.catalog.table("default", "t").location
    found = rows(session, "SELECT k, INPUT__FILE__NAME FROM t ORDER BY k")
    delta = "delta_0000001_0000001_0000/bucket_00000"
    assert [(k, str(name).rpartition("_")[0]) for k, name in found] == [
        (1, f"file:{location}/p=a b+c/{delta}".rpartition("_")[0]),
        (2, f"file:{location}/p=d%25e/{delta}".rpartition("_")[0]),
    ]


_IN_LOCALE_C = """
import sys, acidsql
from acidsql.errors import AcidSqlError
from pyspark.sql import SparkSession

given = SparkSession.builder.master("local[1]").getOrCreate() if sys.argv[2] == "given" else None
with acidsql.connect(sys.argv[1], spark=given) as session:
    session.execute("CREATE TABLE t (k INT) PARTITIONED BY (p STRING) STORED AS ORC"
                    " TBLPROPERTIES ('transactional'='true')")
    for most, value in ((32 << 20, "\\u017c"), (0, "\\u65e5")):
        session.execute(f"SET acidsql.driver.write.max.bytes={most}")
        try:
            session.execute(f"INSERT INTO t VALUES (1, '{value}'), (2, 'x')")
        except AcidSqlError as error:
            print("INSERT", error.condition)
    try:
        print("READ", ascii(sorted(tuple(r) for r in session.sql("SELECT * FROM t").collect())))
    except AcidSqlError as error:
        print("SELECT", error.condition)
"""


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("whose", "said"),
    [
        ("own", ["READ [(1, '\\u017c'), (1, '\\u65e5'), (2, 'x'), (2, 'x')]"]),
        ("given", ["INSERT QUERY_FAILED", "SELECT UNSAFE_FILE_NAMES"]),
    ],
)
def test_a_locale_without_unicode_makes_no_row_disappear(tmp_path: Path, whose: str, said: list[str]) -> None:
    run = [sys.executable, "-c", _IN_LOCALE_C, str(tmp_path / "warehouse"), whose]
    environment = {**os.environ, "LC_ALL": "C"}
    if whose == "given":
        environment["JAVA_TOOL_OPTIONS"] = "-Duser.timezone=UTC"
    done = subprocess.run(run, env=environment, capture_output=True, text=True, cwd=Path.cwd(), check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == said
