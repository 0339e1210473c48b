"""INSERT, UPDATE, DELETE and MERGE on real files: rows, counts, directories and types afterwards."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from tests.answers import counts, rows
from tests.spark_versions import SPARK_VERSION


@pytest.fixture(scope="module")
def db(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A session for the whole file; each test makes tables of its own."""
    place = tmp_path_factory.mktemp("dml")
    with connect(place / "warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark) as session:
        yield session


def directories(session: Session, table: str) -> list[str]:
    return sorted(p.name for p in Path(session.warehouse, table).iterdir() if p.is_dir())


def make(session: Session, name: str, *values: str) -> None:
    session.sql(f"CREATE TRANSACTIONAL TABLE {name} (id int, name string, n int)")
    if values:
        session.sql(f"INSERT INTO {name} VALUES {', '.join(values)}")


def test_the_right_sides_of_set_see_the_old_row(db: Session) -> None:
    make(db, "swap", "(1, '10', 2)", "(2, NULL, 5)")
    assert counts(db, "UPDATE swap s SET id = n, s.n = s.id, name = concat(id, '/', n)") == (2, 2, 0, 0)
    assert rows(db, "SELECT * FROM swap ORDER BY id") == [(2, "1/2", 1), (5, "2/5", 2)]


@pytest.mark.ci
def test_subqueries_on_the_target_read_the_state_before_the_statement(db: Session) -> None:
    make(db, "own", "(1, 'a', 1)", "(2, 'a', 5)", "(3, 'b', 7)", "(4, NULL, NULL)")
    changed = "UPDATE own SET n = (SELECT max(n) FROM own) + n WHERE n < (SELECT max(x.n) FROM own x WHERE x.id <> 0)"
    assert counts(db, changed) == (2, 2, 0, 0)
    assert rows(db, "SELECT id, n FROM own ORDER BY id") == [(1, 8), (2, 12), (3, 7), (4, None)]
    correlated = "UPDATE own o SET n = (SELECT sum(x.n) FROM own x WHERE x.name = o.name)"
    assert counts(db, correlated) == (4, 4, 0, 0)
    assert rows(db, "SELECT id, n FROM own ORDER BY id") == [(1, 20), (2, 20), (3, 7), (4, None)]
    older = "DELETE FROM own o WHERE EXISTS (SELECT 1 FROM own x WHERE x.name = o.name AND x.id > o.id)"
    assert counts(db, older) == (1, 0, 1, 0)
    assert counts(db, "DELETE FROM own WHERE id NOT IN (SELECT max(id) FROM own GROUP BY name)") == (0, 0, 0, 0)
    assert counts(db, "INSERT INTO own SELECT id + 10, name, n FROM own") == (3, 0, 0, 3)
    assert rows(db, "SELECT id FROM own ORDER BY id") == [(2,), (3,), (4,), (12,), (13,), (14,)]


def test_where_and_set_may_use_other_tables_frames_and_ctes(db: Session) -> None:
    make(db, "target", "(1, 'a', 1)", "(2, 'b', 2)", "(3, 'c', 3)")
    make(db, "other", "(2, 'B', 20)", "(3, 'C', NULL)")
    frame = pd.DataFrame({"k": [1, 3]})
    value = "o.n" if SPARK_VERSION >= (4, 0) else "max(o.n)"  # Spark 3.5 asks for an aggregate
    one = f"SELECT {value} FROM other o WHERE o.id = target.id"
    changed = f"UPDATE target SET n = ({one}) WHERE id IN (SELECT k FROM {{f}})"
    assert counts(db, changed, f=frame) == (2, 2, 0, 0)
    assert rows(db, "SELECT id, n FROM target ORDER BY id") == [(1, None), (2, 2), (3, None)]
    best = "WITH best AS (SELECT max(id) AS m FROM other) DELETE FROM target WHERE id >= (SELECT m FROM best)"
    assert counts(db, best) == (1, 0, 1, 0)
    shadow = "WITH target AS (SELECT 1 AS id) UPDATE target SET name = 'cte' WHERE id IN (SELECT id FROM target)"
    assert counts(db, shadow) == (1, 1, 0, 0)
    assert rows(db, "SELECT id, name FROM target ORDER BY id") == [(1, "cte"), (2, "b")]


@pytest.mark.ci
def test_merge_takes_every_kind_of_source(db: Session, spark: SparkSession) -> None:
    make(db, "sink", "(1, 'a', 1)", "(2, 'b', 2)")
    rest = "ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    frame = pa.table({"n": [10, 30], "name": ["f", "g"], "id": [1, 3]})
    assert counts(db, f"MERGE INTO sink t USING {{x}} s {rest}", x=frame) == (2, 1, 0, 1)
    own = "MERGE INTO sink t USING sink s ON t.id = s.n WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *"
    assert counts(db, own) == (3, 0, 1, 2)
    assert rows(db, "SELECT * FROM sink ORDER BY id, n") == [(1, "f", 10), (1, "f", 10), (3, "g", 30), (3, "g", 30)]
    values = "MERGE INTO sink t USING (VALUES (3, 5)) v(k, w) ON t.id = k WHEN MATCHED THEN UPDATE SET n = w"
    assert counts(db, values) == (2, 2, 0, 0)
    cte = "WITH c AS (SELECT 9 AS id) MERGE INTO sink t USING c ON t.id = c.id WHEN NOT MATCHED BY SOURCE THEN DELETE"
    assert counts(db, cte) == (4, 0, 4, 0)
    spark.createDataFrame([(5, "v", 6)], "id int, name string, n int").createOrReplaceTempView("merge_view")
    try:
        assert counts(db, f"MERGE INTO sink t USING merge_view s {rest}") == (1, 0, 0, 1)
    finally:
        spark.catalog.dropTempView("merge_view")
    db.sql("CREATE TABLE plain_source (id int, name string, n int)")
    db.sql("INSERT INTO plain_source VALUES (5, 'p', 7), (6, 'q', 8)")
    assert counts(db, f"MERGE INTO default.sink t USING default.plain_source s {rest}") == (2, 1, 0, 1)
    assert rows(db, "SELECT * FROM sink ORDER BY id") == [(5, "p", 7), (6, "q", 8)]


@pytest.mark.ci
def test_the_source_of_merge_may_be_pivoted_or_unpivoted(db: Session) -> None:
    db.sql("CREATE TRANSACTIONAL TABLE turned (a int, b int)")
    db.sql("INSERT INTO turned VALUES (1, 1), (2, 2), (3, 3)")
    db.sql("CREATE TABLE to_turn (a int, b int)")
    db.sql("INSERT INTO to_turn VALUES (1, 2), (2, 7)")
    pivot = (
        "MERGE INTO turned x USING (SELECT a, b FROM to_turn) PIVOT (count(b) FOR a IN (1 AS p)) AS s"
        " ON x.a = s.p WHEN MATCHED THEN UPDATE SET b = s.p + 10"
    )
    assert counts(db, pivot) == (1, 1, 0, 0)
    unpivot = (
        "MERGE INTO turned x USING to_turn UNPIVOT (v FOR n IN (a, b)) AS s ON x.a = s.v AND s.n = 'b'"
        " WHEN MATCHED THEN UPDATE SET b = -1 WHEN NOT MATCHED AND s.n = 'b' THEN INSERT VALUES (s.v, 100)"
        " WHEN NOT MATCHED BY SOURCE AND x.a = 3 THEN DELETE"
    )
    assert counts(db, unpivot) == (3, 1, 1, 1)
    assert rows(db, "SELECT * FROM turned ORDER BY a") == [(1, 11), (2, -1), (7, 100)]


def test_merge_matches_nulls_only_where_on_says_so(db: Session) -> None:
    make(db, "nulls", "(NULL, 'a', 1)", "(2, 'b', 2)")
    source = "(SELECT CAST(NULL AS int) AS k)"
    plain = f"MERGE INTO nulls t USING {source} s ON t.id = s.k WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT"
    assert counts(db, f"{plain} (n) VALUES (9)") == (1, 0, 0, 1)
    null_safe = (
        f"MERGE INTO nulls t USING {source} s ON t.id <=> s.k WHEN MATCHED AND t.n = 1 THEN UPDATE SET name = 'hit'"
        " WHEN NOT MATCHED THEN INSERT (n) VALUES (99)"
    )
    assert counts(db, null_safe) == (1, 1, 0, 0)
    assert rows(db, "SELECT id, name, n FROM nulls ORDER BY n") == [(None, "hit", 1), (2, "b", 2), (None, None, 9)]


def test_merge_reads_row_ids_of_both_sides(db: Session) -> None:
    make(db, "left_side", "(1, 'a', 1)", "(2, 'b', 2)", "(3, 'c', 3)")
    make(db, "right_side", "(1, 'x', 1)", "(2, 'y', 2)")
    merged = (
        "MERGE INTO left_side USING default.right_side ON left_side.row__id = default.right_side.row__id"
        " WHEN MATCHED AND default.right_side.row__id.rowid = 1 THEN UPDATE SET n = right_side.row__id.rowid + 10"
        " WHEN NOT MATCHED BY SOURCE AND row__id.writeid = 1 THEN DELETE"
    )
    assert counts(db, merged) == (2, 1, 1, 0)
    assert rows(db, "SELECT id, n FROM left_side ORDER BY id") == [(1, 1), (2, 11)]


def test_the_cardinality_check_can_be_turned_off(db: Session) -> None:
    make(db, "loose", "(1, 'a', 1)")
    sql = "MERGE INTO loose t USING (VALUES (1), (1)) s(k) ON t.id = s.k WHEN MATCHED THEN UPDATE SET n = 2"
    with pytest.raises(AcidSqlError, match="Cardinality Violation"):
        db.sql(sql)
    db.sql("SET hive.merge.cardinality.check=false")
    try:
        db.sql(sql)
    finally:
        db.sql("SET hive.merge.cardinality.check=true")
    assert rows(db, "SELECT DISTINCT n FROM loose") == [(2,)]


def test_a_statement_that_matches_nothing_commits_and_writes_no_directory(db: Session) -> None:
    make(db, "idle", "(1, 'a', 1)")
    before = directories(db, "idle")
    for sql in (
        "UPDATE idle SET n = 2 WHERE id = 9",
        "DELETE FROM idle WHERE id = NULL",
        "INSERT INTO idle SELECT * FROM idle WHERE id = 9",
        "MERGE INTO idle t USING idle s ON t.id = s.id AND t.n > 5 WHEN MATCHED THEN DELETE",
    ):
        assert counts(db, sql) == (0, 0, 0, 0)
        assert db.last_result is not None
        assert db.last_result.txn_id is not None
        assert list(db.last_result.write_ids) == ["default.idle"]
        assert directories(db, "idle") == before
    txns = db._metastore.valid_txns()
    write_ids = db._metastore.valid_write_ids(db.catalog.table("default", "idle"), txns)
    assert (write_ids.high_watermark, set(write_ids.open), set(write_ids.aborted)) == (5, set(), set())


def test_a_failed_statement_leaves_no_file_and_its_write_id_is_aborted(db: Session) -> None:
    make(db, "failing", "(1, 'a', 1)", "(2, 'b', 2)")
    before = directories(db, "failing")
    with pytest.raises(AcidSqlError, match="on purpose"):
        db.sql("UPDATE failing SET n = CASE WHEN id = 2 THEN raise_error('on purpose') ELSE 5 END")
    assert directories(db, "failing") == before
    assert rows(db, "SELECT n FROM failing ORDER BY id") == [(1,), (2,)]
    assert counts(db, "UPDATE failing SET n = 7") == (2, 2, 0, 0)
    assert directories(db, "failing")[-1] == "delta_0000003_0000003_0000"


@pytest.mark.ci
def test_store_assignment_is_hives_unless_the_setting_is_ansi(db: Session) -> None:
    db.sql("CREATE TRANSACTIONAL TABLE assigned (i int, t tinyint, d date, m decimal(4,1), s string, b boolean)")
    db.sql("INSERT INTO assigned SELECT 'x', 300, '2020-02-30', 12345, 1.50, 'yes'")
    db.sql("INSERT INTO assigned VALUES (3000000000, '7', '2020-02-29 10:00:00', 1.25, DATE '2020-01-01', 0)")
    assert rows(db, "SELECT i, t, CAST(d AS string), m, s, b FROM assigned ORDER BY t") == [
        (-1294967296, 7, "2020-02-29", Decimal("1.3"), "2020-01-01", False),
        (None, 44, None, None, "1.5", True),
    ]
    db.sql("SET acidsql.store.assignment=ansi")
    try:
        for sql, message in (
            ("INSERT INTO assigned (i) VALUES ('x')", "The value x cannot be stored in column i of type int."),
            ("INSERT INTO assigned (t) SELECT 300", "The value 300 cannot be stored in column t of type tinyint."),
            ("UPDATE assigned SET m = 12345", "The value 12345 cannot be stored in column m of type decimal(4,1)."),
            (
                "MERGE INTO assigned a USING (VALUES (7)) v(k) ON a.t = v.k WHEN MATCHED THEN UPDATE SET d = 'never'",
                "The value never cannot be stored in column d of type date.",
            ),
        ):
            with pytest.raises(AcidSqlError) as raised:
                db.sql(sql)
            assert (raised.value.condition, raised.value.message) == ("INVALID_STORE_VALUE", message)
        assert counts(db, "UPDATE assigned SET i = '5', s = NULL WHERE t = 7") == (1, 1, 0, 0)
    finally:
        db.sql("SET acidsql.store.assignment=hive")
    assert rows(db, "SELECT i, s FROM assigned WHERE t = 7") == [(5, None)]
    assert rows(db, "SELECT count(*) FROM assigned") == [(2,)]


def test_strings_stand_beside_other_values_in_values(db: Session) -> None:
    make(db, "mixed")
    assert counts(db, "INSERT INTO mixed VALUES ('7', 8, 1.9), (7.5, 'x', '2'), (NULL, DATE '2020-01-01', NULL)") == (
        3,
        0,
        0,
        3,
    )
    assert rows(db, "SELECT * FROM mixed ORDER BY name") == [(None, "2020-01-01", None), (7, "8", 1), (7, "x", 2)]


def test_parameters_reach_values_set_where_and_merge(db: Session) -> None:
    make(db, "params")
    assert counts(db, "INSERT INTO params VALUES (?, ?, ?), (2, 'b', 3)", [1, "it's", None]) == (2, 0, 0, 2)
    assert counts(db, "UPDATE params SET name = ?, n = ? WHERE id = ?", ["new", 5, 1]) == (1, 1, 0, 0)
    merge = (
        "MERGE INTO params t USING (SELECT ? AS k) s ON t.id = s.k WHEN MATCHED AND t.n = ? THEN UPDATE SET n = ?"
        " WHEN NOT MATCHED THEN INSERT VALUES (k, ?, 0)"
    )
    assert counts(db, merge, [2, 3, 33, "never"]) == (1, 1, 0, 0)
    assert rows(db, "SELECT * FROM params ORDER BY id") == [(1, "new", 5), (2, "b", 33)]
    assert counts(db, "DELETE FROM params WHERE id IN (?, ?)", [1, 2]) == (2, 0, 2, 0)


def test_columns_may_have_the_names_of_the_acid_columns(db: Session) -> None:
    db.sql(
        "CREATE TRANSACTIONAL TABLE odd (operation int, bucket string, `row` int, rowId bigint,"
        " originalTransaction int, currentTransaction date, `select` string, `A b` int, `@id` int, UPPER int, _c0 int)"
    )
    db.sql("INSERT INTO odd VALUES (1, 'b', 2, 3, 4, DATE '2020-01-01', 's', 5, 6, 7, 8)")
    changed = "UPDATE odd SET operation = Operation + 1, `Select` = upper(`select`), `a B` = `@id` * 2, rowid = NULL"
    assert counts(db, f"{changed} WHERE `row` = 2 AND bucket = 'b'") == (1, 1, 0, 0)
    expected = (2, "b", 2, None, 4, datetime.date(2020, 1, 1), "S", 12, 6, 7, 8)
    assert rows(db, "SELECT * FROM odd") == [expected]
    merged = "MERGE INTO odd USING odd o ON odd.bucket = o.bucket WHEN MATCHED THEN UPDATE SET *"
    assert counts(db, merged) == (1, 1, 0, 0)
    assert rows(db, "SELECT * FROM odd") == [expected]
    assert db.sql("SELECT * FROM odd").columns[6:8] == ["select", "a b"]
    assert counts(db, "DELETE FROM odd WHERE `@id` = 6 AND currentTransaction IS NOT NULL") == (1, 0, 1, 0)


def test_values_of_columns_with_the_names_of_acid_columns_hide_no_rows(db: Session) -> None:
    """ORC looks for what is pushed down to an ACID file among the table's columns."""
    names = ("operation", "originalTransaction", "bucket", "rowId", "currentTransaction")
    db.sql(f"CREATE TRANSACTIONAL TABLE negative ({', '.join(f'{n} bigint' for n in names)}, v int)")
    for value in ("-5", "NULL"):
        db.sql(f"INSERT INTO negative SELECT {', '.join([value] * 5)}, 1")
    assert counts(db, "UPDATE negative SET v = 2 WHERE bucket = -5") == (1, 1, 0, 0)
    expected = [(-5,) * 5 + (2,), (None,) * 5 + (1,)]
    assert rows(db, "SELECT * FROM negative ORDER BY v DESC") == expected
    known = rows(db, "SELECT row__id.writeid, row__id.bucketid, row__id.rowid, v FROM negative ORDER BY v")
    for *row_id, v in known:
        where = " AND ".join(
            f"row__id.{n} = {i}" for n, i in zip(("writeid", "bucketid", "rowid"), row_id, strict=True)
        )
        assert rows(db, f"SELECT v FROM negative WHERE {where}") == [(v,)]
    assert counts(db, f"DELETE FROM negative WHERE row__id.writeid = {known[0][0]}") == (1, 0, 1, 0)


EVERY_TYPE = (
    "a tinyint, b smallint, c int, d bigint, e float, f double, g decimal(38,18), h string, i varchar(3), j char(4),"
    " k boolean, l binary, m date, n timestamp, o array<struct<x:int,y:varchar(2)>>, p map<string,decimal(5,2)>,"
    " q struct<a:array<int>,t:timestamp>, marker int"
)
EVERY_VALUE = (
    "SELECT -128, 32767, -2147483648, 9223372036854775807, 1.5, -1e308, -99999999999999999999.999999999999999999,"
    " 'ü\\n\\t', 'abcdef', 'ab', true, X'00FF', DATE '0001-01-01', TIMESTAMP '1900-01-01 00:00:00.123456',"
    " array(named_struct('x', 1, 'y', 'long'), NULL), map('k', 1.25), "
    " named_struct('a', array(1, NULL), 't', TIMESTAMP '9999-12-31 23:59:59.999999'), 0"
)
EVERY_ROW = (
    -128,
    32767,
    -2147483648,
    9223372036854775807,
    1.5,
    -1e308,
    Decimal("-99999999999999999999.999999999999999999"),
    "ü\n\t",
    "abc",
    "ab  ",
    True,
    b"\x00\xff",
    datetime.date(1, 1, 1),
    datetime.datetime(1900, 1, 1, 0, 0, 0, 123456),
    [(1, "lo"), None],
    {"k": Decimal("1.25")},
    ([1, None], datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)),
)


@pytest.mark.ci
def test_every_type_comes_back_from_insert_update_and_merge(db: Session) -> None:
    db.sql(f"CREATE TRANSACTIONAL TABLE types ({EVERY_TYPE})")
    db.sql(f"INSERT INTO types {EVERY_VALUE}")
    db.sql("INSERT INTO types (marker) VALUES (0)")
    nothing = (None,) * len(EVERY_ROW)
    for number, sql in enumerate(
        (
            "UPDATE types SET marker = 1",
            f"UPDATE types SET marker = 2, {', '.join(f'{c} = {c}' for c in 'abcdefghijklmnopq')}",
            "MERGE INTO types USING (SELECT * FROM types) s ON types.a <=> s.a WHEN MATCHED AND types.a IS NULL"
            " THEN UPDATE SET marker = 3 WHEN MATCHED THEN UPDATE SET a = s.a, g = s.g, o = s.o, marker = 3",
        ),
        start=1,
    ):
        assert rows(db, "SELECT * FROM types ORDER BY a") == [(*EVERY_ROW, number - 1), (*nothing, number - 1)]
        assert counts(db, sql) == (2, 2, 0, 0)
    assert rows(db, "SELECT * FROM types ORDER BY a") == [(*EVERY_ROW, 3), (*nothing, 3)]
    # CHAR compares and counts without its padding.
    assert rows(db, "SELECT j = 'ab', length(j), concat(j, '|'), m < DATE '0001-01-02' FROM types WHERE a < 0") == [
        (True, 2, "ab|", True)
    ]


@pytest.mark.ci
def test_a_statement_reads_all_its_tables_on_one_snapshot(db: Session) -> None:
    make(db, "account", "(1, 'x', 10)", "(2, 'y', 20)")
    moved = (
        "MERGE INTO account t USING (SELECT a.id, b.n AS other FROM account a JOIN account b ON a.id <> b.id) s"
        " ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = s.other"
    )
    for _ in range(2):
        assert counts(db, moved) == (2, 2, 0, 0)
    assert rows(db, "SELECT id, n FROM account ORDER BY id") == [(1, 10), (2, 20)]
