"""A few queries for each family of Hive's own query tests. The answers are those of Hive 4.0.1."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final

import pytest

from acidsql.session import Session
from tests.selection import core

COLUMNS: Final = (
    "(id int, region string, amount decimal(8,2), price double, day date, at timestamp, code char(4), note varchar(6),"
    " tags array<string>)"
)
ROWS: Final = (
    "SELECT 1, 'north', 10.50, 1.5D, date '2024-01-31', timestamp '2024-01-31 08:00:00', 'ab', 'x', array('p', 'q')",
    "SELECT 2, 'north', 20.25, NULL, date '2024-02-29', timestamp '2024-02-29 23:59:59.5', 'ab', 'x ', array('q')",
    "SELECT 3, 'south', -5.00, 2.5D, date '2023-12-31', timestamp '2023-12-31 00:00:00', 'c', '', NULL",
    "SELECT 4, NULL, NULL, 0D, NULL, NULL, NULL, NULL, array(CAST(NULL AS string))",
)
WINDOW: Final = (
    "SELECT sort_array(collect_list(concat(id, ':', nvl(cast(w as string), '-'))))"
    " FROM (SELECT id, {} AS w FROM sales) q"
)
FAMILIES: Final[dict[str, dict[str, object]]] = {
    "decimal": {
        "SELECT sum(amount) * 1.10 FROM sales": 28.325,
        "SELECT avg(amount) FROM sales": 8.583333,
        "SELECT sort_array(collect_list(amount / 3)) FROM sales WHERE id < 3": [3.5, 6.75],
        "SELECT sort_array(collect_list(round(amount, 1))) FROM sales": [-5, 10.5, 20.3],
        "SELECT sort_array(collect_list(amount % 7)) FROM sales": [-5, 3.5, 6.25],
        "SELECT sort_array(collect_list(cast(amount as decimal(3,1)))) FROM sales": [-5, 10.5, 20.3],
        "SELECT sort_array(collect_list(cast(amount as string))) FROM sales": ["-5.00", "10.50", "20.25"],
    },
    "udf": {
        "SELECT sort_array(collect_list(elt(id, 'a', region, note, 'd'))) FROM sales": ["", "a", "d", "north"],
        "SELECT sort_array(collect_list(find_in_set(region, 'south,north'))) FROM sales": [1, 2, 2],
        "SELECT sort_array(collect_list(regexp_extract(region, '(n)?o(r)?', 1))) FROM sales": ["n", "n"],
    },
    "udaf": {
        (
            "SELECT concat_ws('|', cast(count(price) as string), cast(sum(price) as string), "
            "cast(avg(price) as string), cast(stddev(price) as string), cast(var_samp(price) as "
            "string)) FROM sales"
        ): "3|4.0|1.3333333333333333|1.0274023338281628|1.5833333333333335",
        "SELECT percentile(id, array(0.0, 0.3, 1.0)) FROM sales": [1.0, 1.9, 4.0],
        "SELECT sort_array(collect_set(region)) FROM sales": ["north", "south"],
        "SELECT count(DISTINCT region, code) FROM sales": 2,
    },
    "windowing": {
        WINDOW.format("sum(amount) OVER (PARTITION BY region ORDER BY day)"): ["1:10.50", "2:30.75", "3:-5.00", "4:-"],
        WINDOW.format("avg(price) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)"): [
            "1:1.5",
            "2:2.0",
            "3:1.25",
            "4:1.25",
        ],
        WINDOW.format("rank() OVER (ORDER BY price)"): ["1:2", "2:4", "3:3", "4:1"],
        WINDOW.format("last_value(region) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"): [
            "1:north",
            "2:north",
            "3:south",
            "4:-",
        ],
        WINDOW.format("lead(day, 1, date '2030-01-01') OVER (ORDER BY day)"): [
            "1:2024-02-29",
            "2:-",
            "3:2024-01-31",
            "4:2030-01-01",
        ],
        WINDOW.format("count(*) OVER (CLUSTER BY region)"): ["1:2", "2:2", "3:1", "4:1"],
        WINDOW.format("ntile(3) OVER (ORDER BY id DESC)"): ["1:3", "2:2", "3:1", "4:1"],
        WINDOW.format("sum(id) OVER (ORDER BY price RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)"): [
            "1:4",
            "2:2",
            "3:4",
            "4:4",
        ],
        WINDOW.format("first_value(price) IGNORE NULLS OVER (PARTITION BY region ORDER BY id DESC)"): [
            "1:1.5",
            "2:-",
            "3:2.5",
            "4:0.0",
        ],
        WINDOW.format("percent_rank() OVER (PARTITION BY region ORDER BY id)"): ["1:0.0", "2:1.0", "3:0.0", "4:0.0"],
        WINDOW.format("sum(id) OVER (PARTITION BY region)"): ["1:3", "2:3", "3:3", "4:4"],
    },
    "subquery": {
        (
            "SELECT sort_array(collect_list(id)) FROM sales s WHERE amount > (SELECT avg(amount) "
            "FROM sales u WHERE u.region = s.region)"
        ): [2],
        (
            "SELECT sort_array(collect_list(id)) FROM sales WHERE region NOT IN (SELECT region FROM sales WHERE id = 3)"
        ): [
            1,
            2,
        ],
        (
            "SELECT sort_array(collect_list(id)) FROM sales WHERE region NOT IN (SELECT region FROM sales WHERE id > 2)"
        ): [],
        (
            "SELECT sort_array(collect_list(id)) FROM sales s WHERE EXISTS (SELECT 1 FROM sales u"
            " WHERE u.code = s.code AND u.id <> s.id)"
        ): [
            1,
            2,
        ],
        (
            "SELECT sort_array(collect_list(id)) FROM sales WHERE price >= ALL (SELECT price FROM"
            " sales WHERE price IS NOT NULL)"
        ): [3],
        ("SELECT sort_array(collect_list(id)) FROM sales WHERE id IN (SELECT max(id) FROM sales GROUP BY region)"): [
            2,
            3,
            4,
        ],
        ("SELECT sort_array(collect_list(id)) FROM sales WHERE id = SOME (SELECT 2 UNION ALL SELECT 9)"): [2],
    },
    "groupby": {
        (
            "SELECT sort_array(collect_list(concat(nvl(region, '-'), ':', n, ':', g))) FROM "
            "(SELECT region, count(*) AS n, grouping__id AS g FROM sales GROUP BY region WITH "
            "ROLLUP) q"
        ): [
            "-:1:0",
            "-:4:1",
            "north:2:0",
            "south:1:0",
        ],
        (
            "SELECT sort_array(collect_list(concat(nvl(region, '-'), ':', nvl(code, '-'), ':', "
            "n))) FROM (SELECT region, code, count(*) AS n FROM sales GROUP BY region, code "
            "GROUPING SETS ((region), (code), ())) q"
        ): [
            "-:-:1",
            "-:-:1",
            "-:-:4",
            "-:ab:2",
            "-:c:1",
            "north:-:2",
            "south:-:1",
        ],
        (
            "SELECT sort_array(collect_list(concat(nvl(cast(y as string), '-'), ':', n))) FROM "
            "(SELECT year(day) AS y, count(*) AS n FROM sales GROUP BY year(day) HAVING count(*) "
            "> 0) q"
        ): [
            "-:1",
            "2023:1",
            "2024:2",
        ],
        ("SELECT sort_array(collect_list(n)) FROM (SELECT count(DISTINCT code) AS n FROM sales GROUP BY region) q"): [
            0,
            1,
            1,
        ],
        "SELECT count(*) FROM (SELECT tags, count(*) FROM sales GROUP BY tags) q": 4,
    },
    "lateral_view": {
        ("SELECT sort_array(collect_list(concat(id, nvl(t, '-')))) FROM sales LATERAL VIEW explode(tags) e AS t"): [
            "1p",
            "1q",
            "2q",
            "4-",
        ],
        (
            "SELECT sort_array(collect_list(concat(id, nvl(t, '-')))) FROM sales LATERAL VIEW "
            "OUTER explode(tags) e AS t"
        ): [
            "1p",
            "1q",
            "2q",
            "3-",
            "4-",
        ],
        (
            "SELECT sort_array(collect_list(concat(id, a, t, b))) FROM sales LATERAL VIEW "
            "posexplode(tags) e AS a, t LATERAL VIEW explode(array(7, 8)) f AS b"
        ): [
            "10p7",
            "10p8",
            "11q7",
            "11q8",
            "20q7",
            "20q8",
        ],
        (
            "SELECT sort_array(collect_list(concat(id, k, v))) FROM sales LATERAL VIEW "
            "explode(map(region, note)) e AS k, v WHERE region IS NOT NULL"
        ): [
            "1northx",
            "2northx ",
            "3south",
        ],
        (
            "SELECT sort_array(collect_list(concat(id, x))) FROM sales LATERAL VIEW "
            "inline(array(named_struct('x', id * 2), named_struct('x', id * 3))) e AS x"
        ): [
            "12",
            "13",
            "24",
            "26",
            "36",
            "39",
            "412",
            "48",
        ],
    },
    "char": {
        "SELECT sort_array(collect_list(concat('[', code, ']'))) FROM sales": ["[ab]", "[ab]", "[c]"],
        "SELECT sort_array(collect_list(id)) FROM sales WHERE code = 'ab  '": [1, 2],
        "SELECT sort_array(collect_list(length(code))) FROM sales": [1, 2, 2],
        "SELECT sort_array(collect_list(id)) FROM sales WHERE code > 'ab '": [3],
        ("SELECT sort_array(collect_list(id)) FROM sales WHERE code LIKE 'ab%' AND code NOT LIKE 'ab_'"): [1, 2],
        "SELECT sort_array(collect_list(concat(cast(region as char(3)), '|'))) FROM sales": ["nor|", "nor|", "sou|"],
        "SELECT count(*) FROM sales a JOIN sales b ON a.code = b.note": 0,
    },
    "varchar": {
        "SELECT sort_array(collect_list(concat('[', note, ']'))) FROM sales": ["[]", "[x ]", "[x]"],
        "SELECT sort_array(collect_list(id)) FROM sales WHERE note = 'x'": [1],
        "SELECT count(DISTINCT note) FROM sales": 3,
        "SELECT sort_array(collect_list(cast(region as varchar(2)))) FROM sales": ["no", "no", "so"],
        "SELECT max(note) FROM sales": "x ",
        "SELECT sort_array(collect_list(id)) FROM sales WHERE note < 'x '": [1, 3],
    },
    "date": {
        "SELECT sort_array(collect_list(date_add(day, id))) FROM sales": ["2024-01-03", "2024-02-01", "2024-03-02"],
        "SELECT sort_array(collect_list(datediff(day, '2024-01-01'))) FROM sales": [-1, 30, 59],
        ("SELECT sort_array(collect_list(id)) FROM sales WHERE day BETWEEN '2024-01-01' AND '2024-12-31'"): [1, 2],
        "SELECT sort_array(collect_list(add_months(day, 1))) FROM sales": ["2024-01-31", "2024-02-29", "2024-03-31"],
        "SELECT sort_array(collect_list(date_format(day, 'EEE yyyy/MM'))) FROM sales": [
            "Sun 2023/12",
            "Thu 2024/02",
            "Wed 2024/01",
        ],
        "SELECT sort_array(collect_list(trunc(day, 'Q'))) FROM sales": ["2023-10-01", "2024-01-01", "2024-01-01"],
        "SELECT sort_array(collect_list(id)) FROM sales WHERE day < '2024-02'": [],
        (
            "SELECT sort_array(collect_list(concat(weekofyear(day), '.', quarter(day), '.', "
            "dayofweek(day)))) FROM sales"
        ): [
            "5.1.4",
            "52.4.1",
            "9.1.5",
        ],
    },
    "timestamp": {
        "SELECT sort_array(collect_list(cast(at as string))) FROM sales": [
            "2023-12-31 00:00:00",
            "2024-01-31 08:00:00",
            "2024-02-29 23:59:59.5",
        ],
        "SELECT sort_array(collect_list(id)) FROM sales WHERE at > '2024-01-31'": [1, 2],
        "SELECT sort_array(collect_list(unix_timestamp(at))) FROM sales": [1703980800, 1706688000, 1709251199],
        "SELECT sort_array(collect_list(hour(at) * 100 + second(at))) FROM sales": [0, 800, 2359],
        "SELECT sort_array(collect_list(to_utc_timestamp(at, 'America/New_York'))) FROM sales": [
            "2023-12-31 05:00:00",
            "2024-01-31 13:00:00",
            "2024-03-01 04:59:59.5",
        ],
        "SELECT sort_array(collect_list(cast(at as date))) FROM sales": ["2023-12-31", "2024-01-31", "2024-02-29"],
        "SELECT sort_array(collect_list(id)) FROM sales WHERE at = day": [3],
        "SELECT sort_array(collect_list(months_between(at, '2024-01-15'))) FROM sales": [
            -0.48387097,
            0.52688172,
            1.48387059,
        ],
        "SELECT sort_array(collect_list(cast(at as decimal(13,2)))) FROM sales": [1703980800, 1706688000, 1709251199.5],
    },
    "interval": {
        "SELECT sort_array(collect_list(day + interval '1' month)) FROM sales": [
            "2024-01-31",
            "2024-02-29",
            "2024-03-29",
        ],
        "SELECT sort_array(collect_list(day - interval '36' hour)) FROM sales": [
            "2023-12-29 12:00:00",
            "2024-01-29 12:00:00",
            "2024-02-27 12:00:00",
        ],
        "SELECT sort_array(collect_list(cast(at - day as string))) FROM sales": [
            "0 00:00:00.000000000",
            "0 08:00:00.000000000",
            "0 23:59:59.500000000",
        ],
        (
            "SELECT sort_array(collect_list(id)) FROM sales WHERE at - interval '1 00:00:00' day "
            "to second < timestamp '2024-01-30 12:00:00'"
        ): [
            1,
            3,
        ],
        "SELECT sort_array(collect_list(at + interval (id) day)) FROM sales": [
            "2024-01-03 00:00:00",
            "2024-02-01 08:00:00",
            "2024-03-02 23:59:59.5",
        ],
        "SELECT sort_array(collect_list(id)) FROM sales WHERE at - day > interval '10' hour": [2],
        "SELECT max(at) - min(at) FROM sales": 5270399.5,
    },
    "union": {
        (
            "SELECT sort_array(collect_list(cast(x as string))) FROM (SELECT id AS x FROM sales "
            "UNION ALL SELECT price FROM sales) q"
        ): [
            "0.0",
            "1.0",
            "1.5",
            "2.0",
            "2.5",
            "3.0",
            "4.0",
        ],
        "SELECT count(*) FROM (SELECT region AS x FROM sales UNION SELECT code FROM sales) q": 5,
        (
            "SELECT sort_array(collect_list(x)) FROM (SELECT code AS x FROM sales WHERE id < 3 "
            "UNION SELECT note FROM sales) q"
        ): [
            "",
            "ab",
            "x",
            "x ",
        ],
        ("SELECT sort_array(collect_list(x)) FROM (SELECT id AS x FROM sales EXCEPT SELECT 2 UNION ALL SELECT 4) q"): [
            1,
            3,
            4,
            4,
        ],
        (
            "SELECT sort_array(collect_list(x)) FROM (SELECT id AS x FROM sales INTERSECT SELECT "
            "y FROM (SELECT 3 AS y UNION ALL SELECT 8) z) q"
        ): [3],
        (
            "SELECT sort_array(collect_list(cast(x as string))) FROM (SELECT day AS x FROM sales "
            "WHERE id = 1 UNION ALL SELECT at FROM sales WHERE id = 2) q"
        ): [
            "2024-01-31 00:00:00",
            "2024-02-29 23:59:59.5",
        ],
    },
    "cte": {
        (
            "WITH q AS (SELECT region, sum(amount) AS a FROM sales GROUP BY region), r AS (SELECT"
            " max(a) AS m FROM q) SELECT q.region FROM q JOIN r ON q.a = r.m"
        ): "north",
        (
            "WITH q AS (SELECT id FROM sales WHERE id > 1), r AS (SELECT id FROM q WHERE id < 4) "
            "SELECT sort_array(collect_list(id)) FROM r"
        ): [
            2,
            3,
        ],
        "WITH q(a, b) AS (SELECT id, region FROM sales) SELECT max(b) FROM q WHERE a < 3": "north",
        (
            "WITH q AS (SELECT 1 AS x) SELECT count(*) FROM (WITH q AS (SELECT 2 AS x UNION ALL "
            "SELECT 3) SELECT x FROM q) z"
        ): 2,
    },
}


def shown(value: object) -> object:
    """A value as the table above has it."""
    match value:
        case list():
            return [shown(item) for item in value]
        case Decimal():
            return float(value)
        case datetime():
            return value.isoformat(sep=" ", timespec="microseconds").rstrip("0").rstrip(".")
        case date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case _:
            return value


@pytest.fixture(name="sales")
def _sales(session: Session) -> Session:
    session.execute(f"CREATE TRANSACTIONAL TABLE sales {COLUMNS} STORED AS ORC")
    session.execute(f"INSERT INTO sales {' UNION ALL '.join(ROWS)}")
    return session


@pytest.mark.ci
@pytest.mark.parametrize("family", core(FAMILIES, lambda family: family in ("decimal", "windowing", "char")))
def test_the_queries_of_a_family_give_what_they_give_in_hive(sales: Session, family: str) -> None:
    for query, answer in FAMILIES[family].items():
        (row,) = sales.sql(query).collect()
        assert shown(row[0]) == answer, query
