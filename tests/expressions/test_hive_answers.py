"""Answers of Hive 4.0.1 that Spark alone would give otherwise: functions of a star, NOT IN, bytes as text, SUBSTR."""

from __future__ import annotations

from typing import Final

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session

WIDE: Final = (
    "(id int, b boolean, t tinyint, s smallint, i int, l bigint, f float, d double, de decimal(15,2),"
    " d2 decimal(38,10), st string, vc varchar(10), ch char(5), bi binary, dt date, ts timestamp, ar array<int>,"
    " mp map<string,int>, sr struct<a:int,b:string>, ad array<decimal(5,2)>, ac array<char(3)>)"
    " STORED AS ORC TBLPROPERTIES ('transactional'='true')"
)
ROW: Final = (
    "1, true, CAST(5 AS TINYINT), CAST(-300 AS SMALLINT), 70000, 5000000000, CAST(1.5 AS FLOAT), 2.25D, 12.50,"
    " 123.4500000000, 'abc', 'xy ', 'q', CAST('bin' AS BINARY), DATE '2024-02-29', TIMESTAMP '2024-02-29 10:11:12.345',"
    " array(1, 2), map('k', 7), named_struct('a', 3, 'b', 'z'),"
    " array(CAST(1.50 AS DECIMAL(5,2)), CAST(-2.25 AS DECIMAL(5,2))), array(CAST('a' AS CHAR(3)))"
)
STARS: Final = {
    "SELECT id, hash(*), hash(w.*), hash(ac) FROM w": [(1, 207090522, 207090522, 128), (3, 634052739, 634052739, 0)],
    "SELECT sum(hash(*)) FROM (SELECT i, de FROM w) x": [(2173876,)],
    "SELECT hash(x.*) FROM (SELECT id, de, ch FROM w) x JOIN w ON x.id = w.id": [(2883,), (121261,)],
}
NOT_IN: Final = {
    "k NOT IN (SELECT k FROM b)": [3, 4, 5],
    "k NOT IN (SELECT b.k FROM b WHERE b.v = a.k)": [3, 4, 5],
    "v NOT IN (SELECT b.v FROM b WHERE b.v = a.k)": [3, 4, 5],
    "v NOT IN (SELECT m FROM b)": [4, 5],
    "v IN (SELECT m FROM b)": [1, 2],
    "k NOT IN (SELECT b.m FROM b WHERE b.m > a.k)": [1, 2, 3, 4, 5],
}
"""The keys of the rows for which a condition is true: text that is not a number equals none, and is not NULL."""
VALUES: Final = {
    "hex(CAST(unhex('61ff62') AS STRING))": "61EFBFBD62",
    "hex(CAST(unhex('f0908d') AS STRING))": "EFBFBD",
    "hex(CAST(unhex('c0af') AS STRING))": "EFBFBDEFBFBD",
    "hex(concat(unhex('c5'), unhex('bc')))": "EFBFBDEFBFBD",
    "hex(concat(unhex('61'), 'b', unhex('ff')))": "6162EFBFBD",
    "unhex('ff') || 'a'": "\ufffda",
    "CAST(unhex('ff') AS STRING) = CAST(unhex('fe') AS STRING)": True,
    "length(concat('a', unhex('00'), 'b'))": 3,
    "substr('abcdef', 2, 5000000000)": None,
    "substring('abcdef', 5000000000)": None,
    "mid('abcdef', 2, 5000000000)": None,
    "substr('abcdef', 2L)": "bcdef",
    "substr('abcdef', -3, 2147483647)": "def",
}


@pytest.mark.nightly
def test_a_star_in_a_function_stands_for_the_columns(session: Session) -> None:
    session.execute(f"CREATE TABLE w {WIDE}")
    session.execute(f"INSERT INTO w SELECT {ROW}")
    session.execute("INSERT INTO w (id) VALUES (3)")
    for query, rows in STARS.items():
        assert sorted(tuple(row) for row in session.sql(query).collect()) == rows, query


def test_a_star_that_stands_for_two_columns_of_one_name_is_refused(session: Session) -> None:
    session.execute("CREATE TABLE w (i int) STORED AS ORC")
    with pytest.raises(AcidSqlError) as caught:
        session.execute("SELECT hash(*) FROM w a JOIN w b ON a.i = b.i")
    assert caught.value.condition == "NOT_YET_SUPPORTED"


@pytest.mark.ci
def test_not_in_of_another_type_keeps_the_rows_that_hive_keeps(session: Session) -> None:
    session.execute("CREATE TABLE a (k int, v string) STORED AS ORC")
    session.execute("INSERT INTO a VALUES (1, '1'), (2, '2'), (3, NULL), (4, '04'), (5, 'x')")
    session.execute("CREATE TABLE b (k string, v int, m bigint) STORED AS ORC")
    session.execute("INSERT INTO b VALUES ('1', 1, 1), ('2', 2, 2), ('y', 5, 9)")
    for condition, keys in NOT_IN.items():
        rows = session.sql(f"SELECT k FROM a WHERE {condition} ORDER BY k").collect()
        assert [row.k for row in rows] == keys, condition


def test_values_are_those_that_hive_gives(session: Session) -> None:
    (values,) = session.sql(f"SELECT {', '.join(VALUES)}").collect()
    assert dict(zip(VALUES, values, strict=True)) == VALUES
    assert session.sql("SELECT a, grouping(a) AS g FROM (SELECT 1 AS a) t GROUP BY ROLLUP(a)").dtypes[1][1] == "bigint"
