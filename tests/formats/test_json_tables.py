"""Tables with JsonSerDe. The expected values are those that Hive 4.0.1 read from the same lines."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from acidsql.session import Session
from tests.answers import fails, rows
from tests.selection import core
from tests.spark_versions import needs_spark

pytestmark = needs_spark(4, 0, "VARIANT")
_SERDE = "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.JsonSerDe'"
_COLUMNS = (
    "(ti tinyint, i int, b bigint, bo boolean, f float, d double, s string, bin binary, dt date, ts timestamp,"
    " de decimal(10,2), vc varchar(3), ch char(3), a array<int>, m map<string,int>, st struct<x:int,y:string>,"
    " mi map<int,date>)"
)
_READ = [
    ('{"TI":1,"I":2,"ti":7}', {"ti": 7, "i": 2}),
    ('{"ti":7,"TI":1}', {"ti": 1}),
    ('{"s":5}', {"s": "5"}),
    ('{"s":1.50}', {"s": "1.5"}),
    ('{"s":100.0}', {"s": "100.0"}),
    ('{"s":1e10}', {"s": "1.0E10"}),
    ('{"s":true}', {"s": "true"}),
    ('{"s":{"b":1.50, "a":[1, 2]}}', {"s": '{"b":1.5,"a":[1,2]}'}),
    ('{"S":[1, "x"]}', {"s": '[1,"x"]'}),
    ('{"i":" 12 "}', {"i": 12}),
    ('{"i":"abc"}', {"i": 0}),
    ('{"i":"1.7"}', {"i": 1}),
    ('{"i":-1.7}', {"i": -1}),
    ('{"i":3000000000}', {"i": -1294967296}),
    ('{"i":"3000000000"}', {"i": 0}),
    ('{"i":true}', {"i": 1}),
    ('{"i":"true"}', {"i": 0}),
    ('{"i":1e20}', {"i": 2147483647}),
    ('{"i":123456789012345678901234567890}', {"i": 1312754386}),
    ('{"ti":300}', {"ti": 44}),
    ('{"b":1e3}', {"b": 1000}),
    ('{"b":12345678901234567890}', {"b": -6101065172474983726}),
    ('{"b":"12345678901234567890"}', {"b": 0}),
    ('{"bo":1}', {"bo": True}),
    ('{"bo":0}', {"bo": False}),
    ('{"bo":"true"}', {"bo": True}),
    ('{"bo":"TRUE"}', {"bo": False}),
    ('{"bo":"1"}', {"bo": False}),
    ('{"bo":2.5}', {"bo": False}),
    ('{"d":"1.5","f":1e300}', {"d": 1.5, "f": float("inf")}),
    ('{"d":"x","f":"-Infinity"}', {"d": 0.0, "f": float("-inf")}),
    ('{"d":true}', {"d": 1.0}),
    ('{"bin":"AQID"}', {"bin": b"\x01\x02\x03"}),
    ('{"bin":5}', {}),
    ('{"dt":"2024-2-3"}', {"dt": datetime.date(2024, 2, 3)}),
    ('{"dt":" 2024-02-29 "}', {"dt": datetime.date(2024, 2, 29)}),
    ('{"dt":"2024-02-29T10:11:12"}', {"dt": datetime.date(2024, 2, 29)}),
    ('{"ts":"2024-02-29 12:34:56.789"}', {"ts": datetime.datetime(2024, 2, 29, 12, 34, 56, 789000)}),
    ('{"ts":"2024-02-29T12:34:56"}', {"ts": datetime.datetime(2024, 2, 29, 12, 34, 56)}),
    ('{"ts":"2024-2-3 1:2:3"}', {"ts": datetime.datetime(2024, 2, 3, 1, 2, 3)}),
    ('{"ts":"2024-02-29"}', {}),
    ('{"ts":"2024-02-30 12:34:56"}', {}),
    ('{"ts":1700000000000}', {}),
    ('{"de":1.235}', {"de": Decimal("1.24")}),
    ('{"de":"1.5"}', {"de": Decimal("1.50")}),
    ('{"de":1e3}', {"de": Decimal(1000)}),
    ('{"de":123456789012}', {}),
    ('{"de":"x"}', {}),
    ('{"de":true}', {}),
    ('{"vc":5.50,"ch":12345}', {"vc": "5.5", "ch": "123"}),
    ('{"vc":true,"ch":"z"}', {"vc": "tru", "ch": "z  "}),
    ('{"a":["1","x",2.5,null]}', {"a": [1, 0, 2, None]}),
    ('{"m":{"k":"5","n":null}}', {"m": {"k": 5, "n": None}}),
    ('{"m":{"a":1,"a":2}}', {"m": {"a": 2}}),
    ('{"st":{"X":"1"}}', {"st": (1, None)}),
    ('{"st":{"z":1}}', {"st": (None, None)}),
    ('{"mi":{"1":"2024-01-01","1.5":"2024-01-02"}}', {"mi": {1: datetime.date(2024, 1, 2)}}),
    ('{"i":1} trailing', {"i": 1}),
    ("null", {}),
    ('{"_col1":5}', {"i": 5}),
    ('{"unknown":{"a":[1]},"i":1}', {"i": 1}),
    ('{"s":null,"i":null,"a":null,"st":null}', {}),
    ('{"s":"\\u00e9\\ud83d\\ude00\\/"}', {"s": "é😀/"}),
    ('{"s":""}', {"s": ""}),
    ("{}", {}),
]
_REFUSED = [
    '{"i":[1]}',
    '{"i":{"a":1}}',
    '{"bin":"AQI"}',
    '{"dt":"2024-02-31"}',
    '{"dt":"x"}',
    '{"dt":20240229}',
    '{"vc":{"a":1}}',
    '{"a":"x"}',
    '{"m":[1]}',
    '{"st":[1]}',
    '{"st":"{}"}',
    '[{"i":1}]',
    '"x"',
    "{i:1}",
    "{'i':1}",
    '{"i":01}',
    '{"d":NaN}',
    '{"i":1',
    "   ",
    '{"s":"a\tb"}',
    "",
]


@pytest.mark.ci
def test_lines_are_read_as_hive_reads_them(session: Session, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "f").write_text("".join(f"{line}\n" for line, _ in _READ), encoding="utf-8")
    session.execute(f"CREATE EXTERNAL TABLE t {_COLUMNS} {_SERDE} LOCATION '{tmp_path}/in'")
    found = [
        {name: value for name, value in row.asDict().items() if value is not None}
        for row in session.sql("SELECT * FROM t").collect()
    ]
    assert [(line, row) for (line, _), row in zip(_READ, found, strict=True)] == _READ
    assert rows(session, "SELECT count(*), count(s) FROM t WHERE i = 1") == [(4, 0)]


@pytest.mark.nightly
@pytest.mark.parametrize("line", core(_REFUSED, lambda line: line in ("{i:1}", '{"dt":"x"}', '{"a":"x"}', "")))
def test_a_line_that_hive_refuses_is_an_error(session: Session, tmp_path: Path, line: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "f").write_text(f"{line}\n")
    session.execute(f"CREATE EXTERNAL TABLE t {_COLUMNS} {_SERDE} LOCATION '{tmp_path}/in'")
    column = next((name for name in ("bin", "dt", "vc", "a", "m", "st") if line.startswith(f'{{"{name}"')), "i")
    error = fails("INVALID_JSON_LINE", lambda: session.sql(f"SELECT {column} FROM t").collect())
    assert error.message.endswith(f": {line}")


def test_an_empty_line_is_a_row_of_nulls_where_the_table_says_so(session: Session, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "f").write_text('\n{"a":1}\n')
    properties = "WITH SERDEPROPERTIES ('text.null.empty.line'='true')"
    session.execute(f"CREATE EXTERNAL TABLE t (a int) {_SERDE} {properties} LOCATION '{tmp_path}/in'")
    assert rows(session, "SELECT * FROM t") == [(None,), (1,)]


_INSERT_ONLY = " TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"


@pytest.mark.nightly
@pytest.mark.parametrize("kind", core(["", _INSERT_ONLY], bool))
def test_written_values_are_read_back(session: Session, kind: str) -> None:
    session.execute(f"CREATE TABLE t {_COLUMNS} STORED AS JSONFILE{kind}")
    session.execute(
        "INSERT INTO t SELECT CAST(1 AS tinyint), 2, 3L, true, CAST(1.5 AS float), 0.1D, 'x\"y\\n\\té/',"
        " CAST('bin' AS binary), date '0001-01-01', timestamp '2024-02-29 12:34:56.5', 1.50, 'ab', 'a',"
        " array(1, NULL), map('k', 1, 'n', NULL), named_struct('x', 1, 'y', NULL), map(1, date '2024-01-01')"
    )
    session.execute("INSERT INTO t (i, f) VALUES (9, CAST('NaN' AS float))")
    root = Path(session.catalog.table("default", "t").location)
    lines = sorted(line for path in root.rglob("0*") if path.is_file() for line in path.read_text().splitlines())
    assert lines == [
        '{"ti":1,"i":2,"b":3,"bo":true,"f":1.5,"d":0.1,"s":"x\\"y\\n\\té/","bin":"Ymlu","dt":"0001-01-01",'
        '"ts":"2024-02-29 12:34:56.5","de":1.50,"vc":"ab","ch":"a  ","a":[1,null],"m":{"k":1,"n":null},'
        '"st":{"x":1,"y":null},"mi":{"1":"2024-01-01"}}',
        '{"ti":null,"i":9,"b":null,"bo":null,"f":"NaN","d":null,"s":null,"bin":null,"dt":null,"ts":null,"de":null,'
        '"vc":null,"ch":null,"a":null,"m":null,"st":null,"mi":null}',
    ]
    stamp = datetime.datetime(2024, 2, 29, 12, 34, 56, 500000)
    expected = (
        1,
        2,
        3,
        True,
        1.5,
        0.1,
        'x"y\n\té/',
        b"bin",
        datetime.date(1, 1, 1),
        stamp,
        Decimal("1.50"),
        "ab",
        "a  ",
    )
    nested = ([1, None], {"k": 1, "n": None}, (1, None), {1: datetime.date(2024, 1, 1)})
    assert rows(session, "SELECT * FROM t WHERE ti = 1") == [expected + nested]
    assert rows(session, "SELECT count(*) FROM t WHERE isnan(f) AND i = 9 AND s IS NULL") == [(1,)]


@pytest.mark.nightly
def test_a_json_table_is_shown_copied_and_partitioned(session: Session) -> None:
    session.execute("CREATE TABLE t (a int, b string) PARTITIONED BY (p int) STORED AS JSONFILE")
    shown = "\n".join(str(row[0]) for row in session.execute("SHOW CREATE TABLE t").rows())
    session.execute("DROP TABLE t")
    session.execute(shown)
    session.execute("CREATE TABLE u LIKE t")
    session.execute("INSERT INTO t VALUES (1, 'x', 1), (2, NULL, 2)")
    session.execute("INSERT INTO u SELECT * FROM t WHERE p = 1")
    assert rows(session, "SELECT * FROM u") == [(1, "x", 1)]
    session.execute("ALTER TABLE t ADD COLUMNS (c array<int>)")
    assert rows(session, "SELECT * FROM t WHERE p = 2") == [(2, None, None, 2)]
    session.execute("CREATE TABLE v STORED AS JSONFILE AS SELECT * FROM t")
    assert rows(session, "SELECT a, p FROM v ORDER BY a") == [(1, 1), (2, 2)]


@pytest.mark.parametrize(
    "clauses",
    [
        f"(a int) {_SERDE} WITH SERDEPROPERTIES ('timestamp.formats'='millis')",
        f"(a int) {_SERDE} TBLPROPERTIES ('json.binary.format'='rawstring')",
        f"(a timestamp with local time zone) {_SERDE}",
        f"(a map<array<int>,int>) {_SERDE}",
        f"(a int) {_SERDE} STORED AS ORC",
    ],
)
def test_what_acidsql_does_not_read_is_refused_at_create(session: Session, clauses: str) -> None:
    fails("NOT_YET_SUPPORTED", lambda: session.execute(f"CREATE TABLE t {clauses}"))
