"""Functions and operators that Hive computes in another way than Spark. The values are those of Hive 4.0.1."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Final

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from tests.selection import core

TABLE: Final = "(id int, name string, wage double, hired date, at timestamp, tags array<string>)"
ROWS: Final = (
    "SELECT 1, 'xAbx', -4D, date '2024-02-29', timestamp '2024-02-29 23:59:58.75', array('a', NULL)",
    "SELECT 2, 'y_1', 9D, date '2024-01-30', timestamp '1960-05-05 12:00:00', cast(NULL AS array<string>)",
)
TEXTS: Final[dict[str, object]] = {
    "trim(name, 'x')": "Ab",
    "ltrim(name, 'x')": "Abx",
    "rtrim('abcba', 'ab')": "abc",
    "substr(name, -9)": "",
    "substr(name, -2, 1)": "b",
    "substr(name, id - 3, 1)": "b",
    "mid(name, 2, 2)": "Ab",
    "lpad(name, 6, '')": None,
    "ascii('\u00e9') * 2": -122,
    "ascii('')": 0,
    "split('ab', '')": ["a", "b", ""],
    "split(name, 'A')": ["x", "bx"],
    "replace('ab', '', '$')": "$a$b$",
    "concat_ws('-', array('a', NULL), 'b', NULL)": "a-null-b",
    "concat_ws('-', tags, name)": "a-null-xAbx",
    "regexp_extract('abc', '(x)?abc', 1)": None,
    "regexp_extract('abc', '(x*)abc', 1)": "",
    "regexp_extract(name, '(A)|(q)', 1)": "A",
    "soundex('123')": "",
    "hex(1.5)": "312E35",
    "hex(17)": "11",
    "field(name, 'q', 'xAbx')": 2,
    "field(id, '1', 1)": 2,
    "field(NULL, 'a')": 0,
    "mask_first_n('AbC-1234', 3)": "XxX-1234",
    "mask_last_n('AbC-1234')": "AbC-nnnn",
    "mask_show_first_n('AbC-1234', 3)": "AbC-nnnn",
    "mask_show_last_n('AbC-1234', 2, 'U', 'l', '#', '.')": "UlU.##34",
    "mask('aX1', 'X', -1)": "aXn",
    "mask(12345)": 11111,
    "mask_first_n(-1234567, 2)": -1134567,
    "mask_show_first_n(cast(1234567 AS bigint), 2)": 1211111,
    "cast(mask(hired) AS string)": "0000-01-01",
    "mask(wage)": None,
    "mask_hash(id)": None,
    "name LIKE ANY ('x%', NULL)": None,
    "quote(true)": "'TRUE'",
    "name LIKE 'xA%' AND name NOT LIKE ANY ('x%', 'q%')": False,
    "name NOT LIKE ALL ('x%', 'q%')": True,
    "'a\\\\b' LIKE 'a\\\\b'": True,
    "'a\\\\b' LIKE 'a\\\\\\\\b'": False,
    "'a_c' LIKE 'a\\_c'": True,
    "name RLIKE ''": False,
    "aes_decrypt(aes_encrypt('ABC', '1234567890123456'), '1234567890123456')": bytearray(b"ABC"),
}
NUMBERS: Final[dict[str, object]] = {
    "sqrt(wage)": None,
    "sqrt(-wage)": 2.0,
    "sqrt(sqrt(wage) + 1)": None,
    "asin(2)": None,
    "log(1, 5)": None,
    "log(2, 8)": 3.0,
    "pmod(7, -3)": -2,
    "pmod(-7, 3)": 2,
    "trunc(1234, -2)": 1200,
    "hash(1, 'a')": 128,
    "hash(NULL)": 0,
    "hash(true)": 1,
    "hash(5000000000)": 705032705,
    "hash(1.50)": 466,
    "hash(1.5D)": 1073217536,
    "hash(cast(23.4 AS float))": 1102787379,
    "hash(date '2024-01-31')": 19753,
    "hash(timestamp '2024-01-01 00:00:00')": 426016800,
    "hash('\u017c\u00f3\u0142w')": 1466386227,
    "hash(cast('a' AS char(5)))": 128,
    "hash(map('a', 1))": 96,
    "hash(struct(1, 'a'))": 128,
    "hash()": 0,
    "hash(tags)": 3007,
    "hash(array(tags), named_struct('x', 1, 'w', 'z'))": 93370,
    "hash(cast('ab ' AS varchar(5)))": 126078,
    "md5(5)": "e4da3b7fbbce2345d7772b0674a318d5",
    "crc32(5)": 2226203566,
    "abs(cast(0.1 AS float))": 0.10000000149011612,
    "true > 0": True,
    "cast(at AS decimal(12,2))": Decimal("1709251198.75"),
    "cast(cast(true AS timestamp) AS string)": "1970-01-01 00:00:00.001",
    "murmur_hash(1)": 1321152925,
    "murmur_hash('a')": 1086686554,
    "murmur_hash(1, 'a')": -907245731,
}
TIMES: Final[dict[str, object]] = {
    "add_months(hired, 1)": "2024-03-31",
    "add_months(hired, 12)": "2025-02-28",
    "add_months('2024-01-31 10:30:00', 1, 'yyyy-MM-dd HH:mm:ss')": "2024-02-29 10:30:00",
    "trunc(hired, 'MM')": "2024-02-01",
    "trunc(hired, 'month')": None,
    "extract(second FROM at)": 58,
    "day(interval '2 03:04:05' day to second)": 2,
    "floor(at TO month)": datetime(2024, 2, 1),
    "floor_week(at)": datetime(2024, 2, 26),
    "hired + interval '1' day": datetime(2024, 3, 1),
    "hired - interval (id) hours": datetime(2024, 2, 28, 23),
    "hired + interval '1' year": date(2025, 2, 28),
    "hired + 2 days": datetime(2024, 3, 2),
    "cast(interval '1' day AS string)": "1 00:00:00.000000000",
    "cast(interval '1-2' year to month AS string)": "1-2",
    "cast(hired AS string FORMAT 'yyyy/mm/dd')": "2024/02/29",
    "cast('01/02/2024' AS date FORMAT 'mm/dd/yyyy')": date(2024, 1, 2),
    "date_format(hired, 'u')": "2024",
    "trunc(hired, 'Q')": "2024-01-01",
    "unix_timestamp('2024-01-01')": None,
    "unix_timestamp('2024-01-01T00:00:00.5') > 0": True,
    "date_format('2024-05-06abc', 'yyyy')": "2024",
    "to_date('2024-01')": None,
    "cast(at - hired AS string)": "0 23:59:58.750000000",
    "date_format(date '2024-12-30', \"w 'of' YYYY\")": "1 of 2025",
    "from_utc_timestamp('2024-01-01 00:00:00', 'xx')": datetime(2024, 1, 1),
    "from_utc_timestamp(1704067200000, 'Asia/Tokyo')": datetime(2024, 1, 1, 9),
    "to_unix_timestamp('2024', 'yyyy')": None,
    "from_utc_timestamp('2024-01-01 00:00:00', '+02:00')": datetime(2024, 1, 1),
}
COLLECTIONS: Final[dict[str, object]] = {
    "array_contains(tags, 'z')": False,
    "array_contains(tags, 'a')": True,
    "array_slice(array(1, 2, 3, 4), 2, 2)": [3, 4],
    "array_slice(array(1, 2), 1, 2)": [],
    "sort_array_by(array(struct(1, 'a'), struct(2, 'b')), 'col1', 'DESC')[0].col2": "b",
    "struct(id, name).col2": "xAbx",
    "map('a', 1, 'a', 2)['a']": 2,
    "str_to_map('a:1,a:2')['a']": "2",
    "size(str_to_map('a:1,,b,,'))": 3,
    "str_to_map('', ',', ':')['']": None,
    'get_json_object(\'{"a":[{"b":1},{"b":2}]}\', \'$.a.b\')': "[1,2]",
    "get_json_object('{\"a\":{\"b\":1}}', '$.a.b')": "1",
    "get_json_object('1', '$')": None,
    "id > ALL (SELECT 0)": True,
    "id > ANY (SELECT cast(NULL AS int))": None,
    "id = ANY (SELECT 1 UNION ALL SELECT 2)": True,
    "id <> ALL (SELECT 5)": True,
    "id < ALL (SELECT 1 WHERE 1 = 0)": True,
    "id < ANY (SELECT 1 WHERE 1 = 0)": False,
}
VALUES: Final = {"text": TEXTS, "numbers": NUMBERS, "times": TIMES, "collections": COLLECTIONS}
X: Final = "(SELECT 1 AS x UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT cast(NULL AS int)) t"
QUERIES: Final[dict[str, list[tuple[object, ...]]]] = {
    f"SELECT percentile_approx(x, 0.5), percentile_cont(x, 0.25), approx_distinct(x) FROM {X}": [(1.5, 1.5, 3)],
    f"SELECT percentile_disc(x, 0.5), histogram_numeric(x, 3)[2].x FROM {X}": [(2.0, 3.0)],
    f"SELECT percentile_approx(x, array(0.5, 0.9)) FROM {X}": [([1.5, 2.7],)],
    f"SELECT rank(2) WITHIN GROUP (ORDER BY x), cume_dist(2) WITHIN GROUP (ORDER BY x DESC) FROM {X}": [(2, 0.8)],
    "SELECT sum(at), avg(at) FROM (SELECT timestamp '1970-01-01 00:00:01.5' AS at) t": [(1.5, 1.5)],
    f"SELECT DISTINCT count(DISTINCT x) OVER (), rank() OVER () FROM {X}": [(3, 1)],
    "SELECT 1 AS x UNION ALL SELECT 2 INTERSECT SELECT 2": [(2,)],
    f"SELECT x, grouping__id FROM {X} WHERE x = 1 GROUP BY x GROUPING SETS (x, x, ()) ORDER BY grouping__id": [
        (1, 0),
        (None, 1),
    ],
    "SELECT max(y) FROM TABLE(VALUES (1, 'a'), (2, NULL)) AS v(x, y)": [("a",)],
    "SELECT h, k FROM (SELECT 'http://a.org/p?k=v' AS url) t LATERAL VIEW parse_url_tuple(url, 'HOST', 'QUERY:k') p"
    " AS h, k": [("a.org", "v")],
}
REFUSED: Final = {
    "ngrams(sentences(name), 2, 10)": ("NOT_YET_SUPPORTED", "The function ngrams"),
    "sqrtt(1)": ("INVALID_FUNCTION", "Did you mean sqrt"),
}


@pytest.fixture(name="table")
def _table(session: Session) -> Session:
    session.execute(f"CREATE TRANSACTIONAL TABLE t {TABLE} STORED AS ORC")
    session.execute(f"INSERT INTO t {' UNION ALL '.join(ROWS)}")
    return session


@pytest.mark.ci
@pytest.mark.parametrize("family", VALUES)
def test_a_function_gives_the_value_that_it_has_in_hive(table: Session, family: str) -> None:
    wanted = VALUES[family]
    (row,) = table.sql(f"SELECT {', '.join(wanted)} FROM t WHERE id = 1").collect()
    assert dict(zip(wanted, row, strict=True)) == wanted


@pytest.mark.parametrize("query", core(QUERIES, lambda query: "INTERSECT" in query or "grouping__id" in query))
def test_a_query_gives_the_rows_that_it_has_in_hive(session: Session, query: str) -> None:
    assert [tuple(row) for row in session.sql(query).collect()] == QUERIES[query]


@pytest.mark.parametrize("expression", REFUSED)
def test_a_function_that_spark_lacks_is_refused_by_its_name(table: Session, expression: str) -> None:
    condition, text = REFUSED[expression]
    with pytest.raises(AcidSqlError) as raised:
        table.sql(f"SELECT {expression} FROM t").collect()
    assert raised.value.condition == condition
    assert text in str(raised.value)


def test_statements_act_on_the_rows_that_hive_would_choose(table: Session) -> None:
    updated = table.execute(
        "UPDATE t SET name = trim(name, 'x'), wage = sqrt(wage) WHERE name NOT LIKE ANY ('q%', 'y%')"
    )
    assert updated.counts.updated == 1  # type: ignore[union-attr]
    assert table.execute("DELETE FROM t WHERE name NOT LIKE ALL ('A%', '%b')").counts.deleted == 1  # type: ignore[union-attr]
    assert [tuple(row) for row in table.sql("SELECT id, name, wage FROM t").collect()] == [(1, "Ab", None)]


@pytest.mark.ci
def test_an_argument_may_be_an_aggregate_a_window_or_a_key_of_the_group(table: Session) -> None:
    rows = table.sql(
        "SELECT sqrt(max(wage)), hash(min(name)) > 0, substr(name, id - 9) FROM t GROUP BY substr(name, id - 9), name"
    )
    assert sorted(tuple(row) for row in rows.collect() if row[0] is not None) == [(3.0, True, "")]
    rows = table.sql("SELECT sqrt(sqrt(sum(wage) OVER ())) AS s FROM t")
    assert [row.s for row in rows.collect()] == pytest.approx([5**0.25] * 2)
    rows = table.sql("SELECT sqrt(sqrt(id)) AS k, count(*) AS n FROM t GROUP BY sqrt(sqrt(id)) ORDER BY k")
    assert [row.n for row in rows.collect()] == [1, 1]


def test_a_check_and_a_default_mean_what_they_mean_in_hive(session: Session) -> None:
    columns = "(id int, name string DEFAULT trim('--a--', '-'), CHECK (sqrt(id) IS NULL OR trim(name, 'x') <> ''))"
    session.execute(f"CREATE TRANSACTIONAL TABLE t {columns} STORED AS ORC")
    session.execute("INSERT INTO t VALUES (-1, 'x'), (4, DEFAULT)")
    with pytest.raises(AcidSqlError) as raised:
        session.execute("INSERT INTO t VALUES (4, 'xx')")
    assert raised.value.condition == "CONSTRAINT_VIOLATED"
    assert sorted(tuple(row) for row in session.sql("SELECT * FROM t").collect()) == [(-1, "x"), (4, "a")]
