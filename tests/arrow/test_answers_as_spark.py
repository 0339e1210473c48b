"""What is read without Spark is what Spark gives: conditions of every kind, and the text that the shell shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import date

import pytest
from pyspark.sql import SparkSession

from acidsql.arrow import scan_batches
from acidsql.errors import AcidSqlError
from acidsql.frontends.render import Format, render
from acidsql.session import Session, connect
from acidsql.statements.results import QueryResult, ScanResult

COLUMNS = """id INT, ti TINYINT, si SMALLINT, bi BIGINT, f FLOAT, x DOUBLE, d DECIMAL(9,2), e DECIMAL(38,0), s STRING,
 c CHAR(4), v VARCHAR(5), b BOOLEAN, dt DATE, ts TIMESTAMP, bin BINARY, a ARRAY<STRUCT<k:CHAR(3),t:TIMESTAMP,w:DATE>>,
 m MAP<STRING,FLOAT>, st STRUCT<x:INT,y:STRING>"""
ROWS = """
 (1, 1Y, 1S, 1L, 0.5, 0.1, 1.50, 1, 'ab', 'ab', 'ab', true, DATE '1969-12-31', TIMESTAMP '1969-12-31 23:59:58.5',
  unhex('00ff'), array(named_struct('k', 'x', 't', TIMESTAMP '1900-01-01 00:00:00', 'w', DATE '1500-03-01')),
  map('k', 0.1), named_struct('x', 1, 'y', NULL)),
 (2, -128Y, -32768S, -9223372036854775808L, -0.0, -0.0, -9999999.99, -99999999999999999999999999999999999999, '', '',
  '', false, DATE '0001-01-01', TIMESTAMP '1700-01-01 00:00:00.000001', unhex(''), array(), map(), NULL),
 (3, 127Y, 32767S, 9223372036854775807L, CAST('NaN' AS FLOAT), CAST('NaN' AS DOUBLE), 9999999.99,
  99999999999999999999999999999999999999, 'a%b_c', 'a ', 'a ', NULL, DATE '9999-12-31',
  TIMESTAMP '2200-12-31 23:59:59.999999', NULL, NULL, map('a', NULL), named_struct('x', NULL, 'y', 'q')),
 (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (5, 0Y, 0S, 9007199254740993L, 0.0, 1e300, 0.01, 0, 'Ż\\n|"', 'abcd', 'abcde', true, DATE '2024-02-29',
  TIMESTAMP '2024-02-29 00:00:00', unhex('61'), array(NULL), map('b', 1.5), named_struct('x', 5, 'y', ''))
"""
CONDITIONS = (
    *("ti = 1", "ti < 300", "ti > -129", "ti <> 200", "ti = 1.5", "ti < 1.5", "ti >= 0.5", "ti <=> NULL", "ti <=> 1"),
    *("si = '1'", "bi = 9007199254740993", "bi > 9007199254740992", "bi = 9223372036854775808", "bi <> 1", "-1 < bi"),
    *("f = 0", "f > 0", "f >= 0.5", "f < 1", "f <> 0.5", "x = 0", "x > 0", "x < 0.1", "x = 0.1", "x <> 1e300"),
    *("x > 1000", "x IN (0.1, 1e300, 0)", "f NOT IN (0.5)", "x NOT BETWEEN 0 AND 1"),
    *("d = 1.5", "d = 1.505", "d > 1.495", "d < 0", "d IN (1.5, 0.01, 7)", "d BETWEEN 0.005 AND 1.5", "d <> 1"),
    *("e > 0", "e = 1", "e < -1", "e IN (0, 1)", "e = 99999999999999999999999999999999999999"),
    *(
        "s = ''",
        "s > 'a'",
        "s <= 'ab'",
        "s LIKE 'a%'",
        "s LIKE 'a_'",
        "s LIKE '%_|%'",
        "s NOT LIKE ''",
        "s IN ('ab', '')",
    ),
    *("c = 'ab'", "c = 'ab  '", "c < 'abc'", "c LIKE 'a%'", "c BETWEEN 'a' AND 'b'", "c IN ('a', 'abcd')", "c = ''"),
    *(
        "v = 'a '",
        "v = 'a'",
        "v >= 'abc'",
        "b",
        "NOT b",
        "b = true",
        "b <> true",
        "b IS NULL",
        "b = false OR b IS NULL",
    ),
    *("dt = '1969-12-31'", "dt < '1970-01-01'", "dt >= DATE '2024-02-29'", "dt IN ('0001-01-01', '2024-02-29')"),
    *("dt BETWEEN '1900-01-01' AND '2030-01-01'", "dt = '9999-12-31'", "dt <> '2024-02-29'"),
    *("ts = '2024-02-29'", "ts > '1969-12-31 23:59:58.4'", "ts <= TIMESTAMP '1969-12-31 23:59:58.5'"),
    *("ts BETWEEN '1700-01-01 00:00:00' AND '1700-01-01 00:00:00.000001'", "ts < DATE '1970-01-01'"),
    *("bin IS NULL", "a IS NOT NULL", "st IS NULL", "m IS NULL", "ti = NULL", "ti IN (1, NULL)", "ti NOT IN (1, NULL)"),
    *("NOT (ti = 1 AND s = 'ab')", "ti = 1 OR (s = '' AND NOT b)", "NOT (ti > 0 OR ti IS NULL)", "true"),
    *("id % 3 = 1", "id % 2 <> 0", "2 > ti % 5", "ti % 1000 >= 1", "NOT bi % 7 = 3", "ti % 3 < 0 OR si % 4 <= 2"),
    *("id = 3 AND p = 1", "p = 2 OR id = 1", "p IS NULL", "p IN (1, 2)", "q = 'x'", "q LIKE '__HIVE%'", "p <> 1"),
    *("ID = 3", "t.id >= 3", "(id) = (3)", "3 = id", "id BETWEEN 2 AND 3.5", "id = +2", "id = - -2", "id <= 2L"),
)
NEEDS_SPARK = (
    "id + 1 = 2",
    "id % 0 = 1",
    "id % -3 = 0",
    "id % 3 = -1",
    "d % 2 = 1",
    "length(s) = 2",
    "id = ti",
    "s = 1",
    "dt = ts",
    "s RLIKE 'a'",
    "st.x = 1",
    "a[0] IS NULL",
)


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    place = tmp_path_factory.mktemp("answers")
    with connect(place / "warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark) as opened:
        opened.execute(
            f"CREATE TABLE t ({COLUMNS}) PARTITIONED BY (p INT, q STRING) STORED AS ORC"
            " TBLPROPERTIES ('transactional'='true')"
        )
        opened.execute(f"INSERT INTO t PARTITION (p = 1, q = 'x') VALUES {ROWS}")
        opened.execute(f"INSERT INTO t PARTITION (p = 2, q = 'y z') VALUES {ROWS}")
        opened.execute("INSERT INTO t (id, p, q) VALUES (9, NULL, NULL)")
        opened.execute("DELETE FROM t WHERE p = 2 AND id IN (2, 5)")
        opened.execute("UPDATE t SET s = 'ab', x = 0 WHERE p = 1 AND id = 5")
        yield opened


@pytest.mark.ci
def test_the_arrow_table_is_that_of_spark(tables: Session) -> None:
    read = tables.read_arrow("t").read_all()
    given = tables.sql("SELECT * FROM t").toArrow()
    assert read.schema.names == given.schema.names
    assert [f.type for f in read.schema] == [f.type for f in given.schema]
    assert sorted(map(repr, read.to_pylist())) == sorted(map(repr, given.to_pylist()))


def test_columns_come_in_any_order_with_row_ids(tables: Session) -> None:
    read = tables.read_arrow("default.t", ["v", "row__id", "ID", "p"], where="id = 1").read_all()
    given = tables.sql("SELECT v, row__id, ID, p FROM t WHERE id = 1").toArrow()
    assert [(f.name, f.type) for f in read.schema] == [(f.name, f.type) for f in given.schema]
    assert sorted(map(repr, read.to_pylist())) == sorted(map(repr, given.to_pylist()))


@pytest.mark.ci
def test_conditions_mean_what_they_mean_to_spark(tables: Session) -> None:
    counted = ", ".join(
        f"sort_array(collect_list(CASE WHEN {c} THEN concat(id, ':', coalesce(p, 0)) END)) AS c{i}"
        for i, c in enumerate(CONDITIONS)
    )
    (expected,) = tables.sql(f"SELECT {counted} FROM t").collect()
    for condition, wanted in zip(CONDITIONS, expected, strict=True):
        read = tables.read_arrow("t", ["id", "p"], condition).read_all().to_pylist()
        assert sorted(f"{row['id']}:{row['p'] or 0}" for row in read) == wanted, condition


@pytest.mark.ci
@pytest.mark.parametrize("condition", NEEDS_SPARK)
def test_a_condition_that_only_spark_computes_is_an_error_with_its_place(tables: Session, condition: str) -> None:
    with pytest.raises(AcidSqlError) as raised:
        tables.read_arrow("t", where=f"id > 0 AND {condition}")
    assert raised.value.condition == "NOT_YET_SUPPORTED"
    assert "toArrow" in str(raised.value)
    assert raised.value.span is not None
    result = tables.execute(f"SELECT id FROM t WHERE {condition}", rows_only=True)
    assert isinstance(result, QueryResult)
    result.close()


@pytest.mark.parametrize(
    ("columns", "where", "condition"),
    [
        (["nothing"], None, "COLUMN_NOT_FOUND"),
        (None, "nothing = 1", "COLUMN_NOT_FOUND"),
        (None, "id = 1 LIMIT 1", "NOT_YET_SUPPORTED"),
        (None, "id =", "PARSE_SYNTAX_ERROR"),
    ],
)
def test_errors_are_raised_before_anything_is_read(
    tables: Session, columns: list[str] | None, where: str | None, condition: str
) -> None:
    with pytest.raises(AcidSqlError) as raised:
        tables.read_arrow("t", columns, where)
    assert raised.value.condition == condition


def test_a_view_and_a_missing_table_are_errors(tables: Session) -> None:
    tables.execute("CREATE VIEW w AS SELECT id FROM t")
    with pytest.raises(AcidSqlError, match=r"the view default\.w without Spark"):
        tables.read_arrow("w")
    wrong: tuple[Sequence[str], ...] = ("id", [])
    for columns in wrong:
        with pytest.raises(AcidSqlError, match=r"INVALID_PARAMETER.*columns"):
            tables.read_arrow("t", columns)
    with pytest.raises(AcidSqlError, match=r"TABLE_NOT_FOUND"):
        tables.read_arrow("missing")


ORDERS = {
    **{order: order for order in ("ti, id, p", "bi NULLS FIRST, p DESC, id", "s, id, p", "b DESC, id, p", "T.ID, t.p")},
    **{order: order for order in ("d DESC NULLS LAST, id, p", "v DESC, id, p", "dt, id, p", "ts DESC, id DESC, p")},
    "q DESC, 1, p": "q DESC, id, p",
    "other, 2": "id, p",
    "2, 1 DESC": "p, id DESC",
}
"""ORDER BY, and the same with names of columns only."""
SORTED_BY_SPARK = ("f, id, p", "c, id, p", "id + 1, p", "length(s), id, p", "bin, id, p", "st, id, p")


@pytest.mark.ci
def test_rows_are_sorted_as_by_spark(tables: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    one = "SELECT {} AS number, row_number() OVER (ORDER BY {}) AS place, id, p, id AS other FROM t"
    found = tables.sql(" UNION ALL ".join(one.format(i, order) for i, order in enumerate(ORDERS.values()))).collect()
    for number, order in enumerate(ORDERS):
        expected = [tuple(row)[2:] for row in sorted(found, key=lambda row: row.place) if row.number == number]
        for limit in ("", " LIMIT 3"):
            query = f"SELECT id, p, id AS other FROM t ORDER BY {order}{limit}"
            with closing(tables.execute(query, rows_only=True)) as result:
                assert isinstance(result, ScanResult), order
                assert [tuple(row) for row in result.rows()] == expected[: 3 if limit else None], query
    monkeypatch.setattr(scan_batches, "MOST_SORTED_BYTES", 10)
    for order in (*SORTED_BY_SPARK, "id"):
        with closing(tables.execute(f"SELECT id, p FROM t ORDER BY {order}", rows_only=True)) as result:
            assert isinstance(result, QueryResult), order


AGGREGATES = (
    *("count(*)", "count(1)", "COUNT(*) AS n", "count(ti)", "count(m)", "count(a)", "count(p)", "count(k.q)"),
    *("max(DT)", "max(ts)", "min(ti)", "max(k.si)", "sum(ti)", "sum(si)", "sum(id)", "sum(p)", "min(s)", "max(s)"),
    *("max(V) AS v", "max(q)", "min(b)", "max(b)", "sum(d)", "min(d)", "max(d)", "min(e)", "max(e)", "max(bi)"),
    *("max(p)", "min(p)", "sum(P) AS `p`", "min(dt)", "min(v)", "min(bi)"),
)
AGGREGATED_BY_SPARK = ("sum(x)", "max(f)", "max(c)", "sum(e)", "count(DISTINCT id)", "avg(id)", "max(id) + 1", "max(a)")


@pytest.mark.ci
def test_aggregates_are_those_of_spark(tables: Session) -> None:
    for where in ("", " WHERE id < 4", " WHERE id > 100"):
        whole = tables.sql(f"SELECT {', '.join(AGGREGATES)} FROM t k{where}")
        (expected,) = whole.collect()
        for items in (slice(0, 1), slice(1, 8), slice(8, len(AGGREGATES))):
            query = f"SELECT {', '.join(AGGREGATES[items])} FROM t k{where}"
            with closing(tables.execute(query, rows_only=True)) as result:
                assert isinstance(result, ScanResult), query
                assert [column.name for column in result.columns] == whole.columns[items]
                assert list(result.rows()) == [tuple(expected)[items]], query
    others = [f"SELECT {items}, count(*) FROM t" for items in AGGREGATED_BY_SPARK]
    beyond = "SELECT sum(bi) FROM t WHERE id IN (3, 5)"  # beyond BIGINT: Spark says what becomes of it
    for query in (*others, "SELECT id, count(*) FROM t GROUP BY id", "SELECT count(*) FROM t LIMIT 0", beyond):
        with closing(tables.execute(query, rows_only=True)) as result:
            assert isinstance(result, QueryResult), query


OTHER_KINDS = (
    "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')",
    "STORED AS PARQUET",
    "STORED AS ORC TBLPROPERTIES ('transactional'='false')",
)


@pytest.mark.ci
def test_rows_of_every_kind_of_table_are_counted(tables: Session) -> None:
    for number, kind in enumerate(OTHER_KINDS):
        tables.execute(f"CREATE TABLE counted{number} (a INT, b STRING) {kind}")
        tables.execute(f"INSERT INTO counted{number} VALUES (1, 'x'), (2, NULL), (NULL, 'y')")
        for items, answer in (("count(*), sum(a), max(b)", (3, 3, "y")), ("count(*)", (3,)), ("count(b)", (2,))):
            with closing(tables.execute(f"SELECT {items} FROM counted{number}", rows_only=True)) as result:
                assert isinstance(result, ScanResult)
                assert list(result.rows()) == [answer], (kind, items)


QUERIES = (
    "SELECT * FROM t",
    "SELECT id, S, m, a, `st` AS `an alias` FROM t AS k WHERE k.id IN (1, 5)",
    "SELECT t.*, row__id FROM t WHERE p = 1",
    "SELECT f, f, x, d, e, bin, dt, ts FROM default.t WHERE ts IS NOT NULL",
    "SELECT id FROM t WHERE id = 9 LIMIT 1",
    "SELECT id FROM t LIMIT 0",
)


@pytest.mark.parametrize("query", QUERIES)
def test_the_shell_shows_the_same_text_with_and_without_spark(tables: Session, query: str) -> None:
    shown = []
    for rows_only in (True, False):
        result = tables.execute(query, rows_only=rows_only)
        assert isinstance(result, ScanResult if rows_only else QueryResult)
        rows = sorted(result.rows(), key=repr)
        result.close()
        assert result.columns is not None
        shown.append([sorted("".join(render(form, result.columns, rows)).splitlines()) for form in Format])
    assert shown[0] == shown[1]


@pytest.mark.ci
@pytest.mark.parametrize(
    ("condition", "args", "needs_spark"),
    [
        ("id = :a", {"a": 5}, False),
        ("id > :a AND id <= :b", {"a": -1, "b": 6}, False),
        ("id IN (:a)", {"a": [1, 5, 7]}, False),
        ("s <> :a", {"a": "it's \\ :b ? 'x'"}, False),
        ("t.dt > :a OR p = :b", {"a": date(1, 1, 1), "b": 1}, False),
        ("id = ?", (5,), False),
        ("id = :a", {"a": None}, False),
        ("id > :a", {"a": 1.5}, True),
        ("length(s) > :a", {"a": 1}, True),
    ],
)
def test_a_query_with_parameters_gives_what_spark_gives(
    tables: Session, condition: str, args: dict[str, object] | tuple[object, ...], needs_spark: bool
) -> None:
    found = []
    for rows_only in (True, False):
        result = tables.execute(f"SELECT id, s, dt FROM t WHERE {condition}", args, rows_only=rows_only)
        assert isinstance(result, ScanResult) == (rows_only and not needs_spark)
        found.append(sorted(result.rows(), key=repr))
        result.close()
    assert found[0] == found[1]
    assert needs_spark or found[0] or args == {"a": None}


def test_insert_only_parquet_and_plain_tables_are_read(tables: Session) -> None:
    for number, (form, properties) in enumerate(
        (
            ("PARQUET", "'transactional'='false'"),
            ("ORC", "'transactional'='false'"),
            ("PARQUET", "'transactional'='true', 'transactional_properties'='insert_only'"),
            ("ORC", "'transactional'='true', 'transactional_properties'='insert_only'"),
        )
    ):
        name = f"other{number}"
        tables.execute(f"CREATE TABLE {name} ({COLUMNS}) STORED AS {form} TBLPROPERTIES ({properties})")
        tables.execute(f"INSERT INTO {name} VALUES {ROWS}")
        read, given = tables.read_arrow(name).read_all(), tables.sql(f"SELECT * FROM {name}").toArrow()
        assert [f.type for f in read.schema] == [f.type for f in given.schema]
        assert sorted(map(repr, read.to_pylist())) == sorted(map(repr, given.to_pylist())), form


def test_the_files_of_an_altered_table_are_read_as_its_columns(tables: Session) -> None:
    tables.execute(
        "CREATE TABLE altered (`a b` INT, `c``d` DECIMAL(5,2), e FLOAT) TBLPROPERTIES ('transactional'='true')"
    )
    tables.execute("INSERT INTO altered VALUES (1, 1.25, 0.1), (NULL, NULL, NULL)")
    tables.execute("ALTER TABLE altered CHANGE COLUMN `a b` big BIGINT")
    tables.execute("ALTER TABLE altered CHANGE COLUMN e e DOUBLE")
    tables.execute("ALTER TABLE altered ADD COLUMNS (late STRING)")
    tables.execute("INSERT INTO altered VALUES (9000000000, 2.5, 0.25, 'x')")
    read, given = tables.read_arrow("altered").read_all(), tables.sql("SELECT * FROM altered").toArrow()
    assert [f.type for f in read.schema] == [f.type for f in given.schema]
    assert sorted(map(repr, read.to_pylist())) == sorted(map(repr, given.to_pylist()))
    assert tables.read_arrow("altered", ["big"], "big > 5 AND late = 'x'").read_all().to_pydict() == {
        "big": [9000000000]
    }


BROKEN_TEXTS = (
    "FF61",
    "61FF62",
    "F09F61",
    "EDA08061",
    "C38A",
    "C3",
    "E282AC20",
    "80808080",
    "F5F561",
    "6F6B",
    "EFBFBD61",
)
"""Bytes of texts, of which most are not UTF-8."""
LIKE_PATTERNS = (
    "%a",
    "_a",
    "a%b",
    "a_b",
    "%\ufffd%",
    "\ufffd%",
    "\ufffda",
    "__",
    "%",
    "%_\ufffd%",
    "ok",
    "o%k%",
    "__a",
)


def test_text_that_is_not_utf_8_is_what_it_is_for_spark(session: Session) -> None:
    session.execute(
        "CREATE TABLE t (id INT, s STRING, c CHAR(3), v VARCHAR(3), a ARRAY<CHAR(3)>, m MAP<STRING,STRUCT<x:STRING>>)"
        " TBLPROPERTIES ('transactional'='true')"
    )
    values = ", ".join(f"({n}, X'{text}')" for n, text in enumerate(BROKEN_TEXTS))
    session.execute(
        "INSERT INTO t SELECT n, s, s, s, array(s), map(s, named_struct('x', s))"
        f" FROM (SELECT n, CAST(b AS STRING) s FROM VALUES {values} AS q(n, b)) q"
    )
    conditions = [f"{column} LIKE '{pattern}'" for pattern in LIKE_PATTERNS for column in ("s", "c")]
    conditions += ["NOT s LIKE '_a'", "c = 'ok'", "v > 'z'", "s IN ('\ufffda', 'ok')"]
    counted = ", ".join(f"sort_array(collect_list(CASE WHEN {condition} THEN id END))" for condition in conditions)
    (expected,) = session.sql(f"SELECT {counted} FROM t").collect()
    for condition, wanted in zip(conditions, expected, strict=True):
        found = session.read_arrow("t", ["id"], condition).read_all().column("id").to_pylist()
        assert sorted(found) == wanted, condition
    shown = []
    for rows_only in (True, False):
        result = session.execute("SELECT * FROM t", rows_only=rows_only)
        assert isinstance(result, ScanResult if rows_only else QueryResult)
        shown.append(sorted(result.rows(), key=lambda row: str(row[0])))
        result.close()
    assert shown[0] == shown[1]


def test_a_partition_value_that_only_spark_reads_does_not_matter_where_nobody_wants_it(session: Session) -> None:
    session.execute(
        "CREATE TABLE floats (k int) PARTITIONED BY (p int, f float)"
        " STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    )
    session.execute("INSERT INTO floats VALUES (1, 1, 0.5), (2, 2, 0.5)")
    assert session.read_arrow("floats", ["k"], "p = 2").read_all().to_pylist() == [{"k": 2}]
    with pytest.raises(AcidSqlError, match="partition column f of type float"):
        session.read_arrow("floats", where="p = 2")
    found = session.execute("SELECT k, f FROM floats WHERE p = 2", rows_only=True)
    assert [tuple(row) for row in found.rows()] == [(2, 0.5)]
