"""Hive 4.0.1 and acidsql read the same rows from lines of JSON and of regular expressions, and write the same lines of
INSERT OVERWRITE DIRECTORY, on one metastore."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession

from acidsql.session import Session, connect
from tests.interop.hive_client import Hive
from tests.interop.values import assert_same_rows, rows_of_acidsql, rows_of_hive

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

_DATABASE: Final = "text_formats"
_COLUMNS: Final = (
    "(k int, b bigint, bo boolean, f float, d double, s string, bin binary, dt date, ts timestamp, de decimal(10,2),"
    " vc varchar(3), ch char(3), a array<int>, m map<string,date>, st struct<x:int,y:string>)"
)
_LINES: Final = r"""{"K":1,"b":2,"bo":true,"f":1.5,"d":2.5,"bin":"AQID","dt":"2024-2-3","ts":"2024-2-9 1:34:56.7"}
{"k":"2","b":"x","bo":1,"f":"1.5","d":true,"s":1.50,"bin":5,"dt":"2024-02-29T10:11:12","ts":"2024-02-29T12:34:56"}
{"k":3,"b":12345678901234567890,"bo":"1","f":1e300,"d":"x","s":{"b":1.50,"a":[1]},"ts":"2024-02-30 00:00:00"}
{"k":4,"de":1.235,"vc":5.50,"ch":12345,"a":["1","x",2.5,null],"m":{"k":"2024-01-01","n":null},"st":{"X":"1","z":2}}
{"_col0":5,"s":null,"a":null,"st":null,"unknown":{"a":[1]}} trailing
"""
_VALUES: Final = (
    "SELECT 7, 8L, true, CAST(1.5 AS float), 0.1D, 'x\"y\\n\\té/', CAST('bin' AS binary), date '0001-01-01',"
    " timestamp '2024-02-29 12:34:56.5', 1.25, CAST('ab' AS varchar(3)), CAST('a' AS char(3)),"
    " array(1, CAST(NULL AS int)), map('k', date '2024-01-01'), named_struct('x', 1, 'y', CAST(NULL AS string))"
)


@pytest.fixture
def session(hive: Hive, spark: SparkSession) -> Iterator[Session]:
    clean = f"DROP DATABASE IF EXISTS {_DATABASE} CASCADE"
    hive.run("USE default", clean, f"CREATE DATABASE {_DATABASE}")
    with connect(metastore=hive.metastore_uri, spark=spark) as opened:
        yield opened
    hive.run(clean)


def assert_same(session: Session, hive: Hive, query: str) -> int:
    expected = rows_of_hive(hive.rows(query))
    assert_same_rows(rows_of_acidsql(session, query), expected, query)
    return len(expected)


@pytest.mark.nightly
def test_text_formats_are_read_and_written_alike(hive: Hive, session: Session, tmp_path: Path) -> None:
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "f").write_text(_LINES, encoding="utf-8")
    table = f"{_DATABASE}.j"
    session.execute(f"CREATE EXTERNAL TABLE {table} {_COLUMNS} STORED AS JSONFILE LOCATION '{tmp_path}/json'")
    assert assert_same(session, hive, f"SELECT * FROM {table}") == 5
    insert_only = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
    hive.run(f"CREATE TABLE {_DATABASE}.w {_COLUMNS} STORED AS JSONFILE {insert_only}")
    hive.run(f"INSERT INTO {_DATABASE}.w {_VALUES}")
    session.execute(f"INSERT INTO {_DATABASE}.w {_VALUES}")
    session.execute(f"INSERT INTO {_DATABASE}.w (k) VALUES (9)")
    assert assert_same(session, hive, f"SELECT * FROM {_DATABASE}.w") == 3
    assert_the_same_files(session, hive, tmp_path)
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines" / "f").write_text("1-a-2024-01-01\nnope\n300-b-x\n-C-2024-02-30\n")
    session.execute(
        f"CREATE EXTERNAL TABLE {_DATABASE}.r (a tinyint, b char(3), c date)"
        " ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.RegexSerDe'"
        " WITH SERDEPROPERTIES ('input.regex'='(.*?)-([A-Z])-(.*)', 'input.regex.case.insensitive'='true')"
        f" LOCATION '{tmp_path}/lines'"
    )
    assert assert_same(session, hive, f"SELECT * FROM {_DATABASE}.r") == 4


def assert_the_same_files(session: Session, hive: Hive, tmp_path: Path) -> None:
    for number, clauses in enumerate(("", "ROW FORMAT DELIMITED FIELDS TERMINATED BY ','", "STORED AS JSONFILE")):
        columns = "k, b, bo, f, d, bin, dt, ts, de, vc, ch, a, m, st"
        query = f"{clauses} SELECT {columns} FROM {_DATABASE}.w"
        hive.run(f"INSERT OVERWRITE LOCAL DIRECTORY '{tmp_path}/hive{number}' {query}")
        session.execute(f"INSERT OVERWRITE LOCAL DIRECTORY '{tmp_path}/acidsql{number}' {query}")
        assert lines(tmp_path / f"acidsql{number}") == lines(tmp_path / f"hive{number}")


def lines(directory: Path) -> list[str]:
    texts = (path.read_text(encoding="utf-8") for path in directory.iterdir() if path.name.startswith("0"))
    return sorted(line for text in texts for line in text.splitlines())
