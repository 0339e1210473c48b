"""DB-API 2.0: cursors, their rows, parameters and counts, transactions, and the exceptions of PEP 249."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from acidsql import dbapi
from acidsql.dbapi.exceptions import exception_class
from acidsql.errors import AcidSqlError, Condition
from tests.selection import core

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def connect(spark: SparkSession, tmp_path: Path) -> Iterator[Callable[..., dbapi.Connection]]:
    """Opens connections to one warehouse."""
    opened: list[dbapi.Connection] = []

    def open_one(*, autocommit: bool = True) -> dbapi.Connection:
        opened.append(dbapi.connect(tmp_path / "warehouse", spark=spark, autocommit=autocommit))
        return opened[-1]

    yield open_one
    for connection in opened:
        connection.close()


@pytest.fixture
def cursor(connect: Callable[..., dbapi.Connection]) -> dbapi.Cursor:
    return connect().cursor()


def open_transactions(connection: dbapi.Connection) -> int:
    return len(list(connection.session.execute("SHOW TRANSACTIONS").rows()))


def deltas(tmp_path: Path, table: str) -> int:
    return len(list((tmp_path / "warehouse" / table).glob("delta_*")))


# ------------------------------------------------------------------------------------------------ the module


def test_the_module_has_the_globals_of_pep_249() -> None:
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 2, "named")
    assert all(hasattr(dbapi, name) for name in dbapi.__all__)


def test_importing_the_module_imports_no_spark() -> None:
    code = "import sys; import acidsql.dbapi; sys.exit('pyspark' in sys.modules or 'pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_type_objects_equal_the_hive_types_of_their_kind() -> None:
    types = ["string", "char(3)", "binary", "decimal(5,2)", "int", "timestamp", "date", "array<string>"]
    objects = [dbapi.STRING, dbapi.BINARY, dbapi.NUMBER, dbapi.DATETIME, dbapi.ROWID]
    assert [[kind for kind in types if kind == found] for found in objects] == [
        ["string", "char(3)"],
        ["binary"],
        ["decimal(5,2)", "int"],
        ["timestamp", "date"],
        [],
    ]
    assert dbapi.Binary(b"a") == b"a"
    assert dbapi.TimestampFromTicks(0).date() == dbapi.DateFromTicks(0)
    assert dbapi.Time(1, 2, 3) != dbapi.TimeFromTicks(0)


# ------------------------------------------------------------------------------------------------ exceptions


@pytest.mark.parametrize("condition", Condition, ids=lambda condition: condition.name)
def test_every_condition_has_an_exception_of_pep_249(condition: Condition) -> None:
    kind = exception_class(condition)
    assert issubclass(kind, dbapi.InterfaceError | dbapi.DatabaseError)
    assert kind not in (dbapi.Error, dbapi.DatabaseError)


@pytest.mark.parametrize(
    ("condition", "kind"),
    [
        (Condition.PARSE_SYNTAX_ERROR, dbapi.ProgrammingError),
        (Condition.TABLE_NOT_FOUND, dbapi.ProgrammingError),
        (Condition.NOT_YET_SUPPORTED, dbapi.NotSupportedError),
        (Condition.INVALID_STORE_VALUE, dbapi.DataError),
        (Condition.CONSTRAINT_VIOLATED, dbapi.IntegrityError),
        (Condition.WRITE_CONFLICT, dbapi.OperationalError),
        (Condition.METASTORE_UNAVAILABLE, dbapi.OperationalError),
        (Condition.TRANSACTION_ABORTED, dbapi.InternalError),
        (Condition.SESSION_CLOSED, dbapi.InterfaceError),
    ],
)
def test_the_exception_of_a_condition_is_the_one_that_pep_249_describes(
    condition: Condition, kind: type[dbapi.Error]
) -> None:
    assert exception_class(condition) is kind


def test_an_exception_has_the_condition_the_codes_and_the_caret(cursor: dbapi.Cursor) -> None:
    with pytest.raises(dbapi.ProgrammingError) as caught:
        cursor.execute("SELECT 1 FROM absent")
    error = caught.value
    assert isinstance(error, AcidSqlError)
    assert (error.condition, error.sqlstate, error.hive_code) == ("TABLE_NOT_FOUND", "42P01", 10001)
    assert error.span is not None
    assert error.span.text == "absent"
    assert "1 | SELECT 1 FROM absent\n  |               ^^^^^^" in str(error)


def test_an_error_of_a_running_query_is_raised_by_the_fetch(cursor: dbapi.Cursor) -> None:
    cursor.execute("SELECT assert_true(id < 3) FROM VALUES (1), (5) v(id)")
    with pytest.raises(dbapi.OperationalError, match="is not true"):
        cursor.fetchall()


def test_a_metastore_that_cannot_be_opened_is_an_operational_error(tmp_path: Path) -> None:
    with pytest.raises(dbapi.OperationalError, match="METASTORE_UNAVAILABLE"):
        dbapi.connect(tmp_path, "nothing://")


# ------------------------------------------------------------------------------------------------ rows


def test_rows_are_python_values_and_the_description_has_hive_types(cursor: dbapi.Cursor) -> None:
    cursor.execute(
        "SELECT 1 AS id, 1.50BD AS price, DATE '2026-01-02' AS day, TIMESTAMP '2026-01-02 03:04:05' AS at,"
        " X'00ff' AS raw, array(named_struct('a', 1)) AS l, map('k', named_struct('b', array(1))) AS m, NULL AS n"
    )
    assert cursor.description is not None
    assert [(column[0], column[1]) for column in cursor.description] == [
        ("id", "int"),
        ("price", "decimal(2,1)"),
        ("day", "date"),
        ("at", "timestamp"),
        ("raw", "binary"),
        ("l", "array<struct<a:int>>"),
        ("m", "map<string,struct<b:array<int>>>"),
        ("n", "void"),
    ]
    assert cursor.description[1][4:6] == (2, 1)
    values = (1, Decimal("1.50"), date(2026, 1, 2), datetime(2026, 1, 2, 3, 4, 5), b"\x00\xff")
    assert cursor.fetchall() == [(*values, [{"a": 1}], {"k": {"b": [1]}}, None)]


def test_rows_are_fetched_one_by_one_in_parts_or_all(cursor: dbapi.Cursor) -> None:
    cursor.execute("SELECT id FROM VALUES (1), (2), (3), (4), (5), (6), (7) v(id)")
    assert cursor.rowcount == -1
    assert cursor.fetchone() == (1,)
    assert cursor.fetchmany() == [(2,)]
    cursor.arraysize = 2
    assert cursor.fetchmany() == [(3,), (4,)]
    assert next(cursor) == (5,)
    assert cursor.fetchall() == [(6,), (7,)]
    assert (cursor.fetchone(), cursor.fetchmany(3), cursor.fetchall(), list(cursor)) == (None, [], [], [])


def test_show_and_describe_return_rows(cursor: dbapi.Cursor) -> None:
    cursor.execute("CREATE TABLE t (id INT)")
    assert (cursor.description, cursor.rowcount) == (None, -1)
    assert cursor.execute("SHOW TABLES").fetchall() == [("t",)]


def test_a_cursor_without_rows_or_that_was_closed_cannot_be_fetched_from(
    connect: Callable[..., dbapi.Connection],
) -> None:
    connection = connect()
    cursor = connection.cursor()
    with pytest.raises(dbapi.InterfaceError, match="no statement was run"):
        cursor.fetchone()
    with cursor:
        cursor.execute("SELECT 1")
    with pytest.raises(dbapi.InterfaceError, match="INVALID_CURSOR"):
        cursor.fetchone()
    connection.close()
    connection.close()
    with pytest.raises(dbapi.InterfaceError, match="SESSION_CLOSED"):
        connection.cursor()


def test_a_query_holds_its_snapshot_until_its_rows_are_fetched_or_the_cursor_is_closed(
    connect: Callable[..., dbapi.Connection],
) -> None:
    connection = connect()
    cursor = connection.cursor()
    cursor.execute(f"CREATE TABLE t (id INT) {ACID}")
    cursor.execute("INSERT INTO t VALUES (1), (2)")
    cursor.execute("SELECT id FROM t")
    assert open_transactions(connection) == 1
    connection.cursor().execute("DELETE FROM t")
    assert len(cursor.fetchall()) == 2
    assert open_transactions(connection) == 0
    cursor.execute("SELECT id FROM t")
    cursor.close()
    assert open_transactions(connection) == 0


# ------------------------------------------------------------------------------------------------ parameters, counts


def test_parameters_are_named_and_row_counts_are_those_of_the_statement(cursor: dbapi.Cursor) -> None:
    cursor.execute(f"CREATE TABLE t (id INT, v STRING) {ACID}")
    cursor.execute("INSERT INTO t VALUES (:a, :v), (:b, NULL)", {"a": 1, "b": 2, "v": "it's :b"})
    assert cursor.rowcount == 2
    assert cursor.execute("UPDATE t SET v = :v WHERE id <= :most", {"v": None, "most": 2}).rowcount == 2
    assert cursor.execute("DELETE FROM t WHERE id = :id", {"id": 7}).rowcount == 0
    assert cursor.execute("SELECT * FROM t WHERE id = ?", [2]).fetchall() == [(2, None)]
    assert cursor.lastrowid is None
    with pytest.raises(dbapi.ProgrammingError, match="UNBOUND_PARAMETER"):
        cursor.execute("SELECT :absent", {})
    given = {"l": [1, 2], "m": {"k": Decimal("1.5"), "n": Decimal("2.5")}, "d": [[date(2026, 1, 2)]]}
    assert cursor.execute("SELECT :l, :m, :d", given).fetchone() == tuple(given.values())


def test_executemany_of_lists_is_one_statement(cursor: dbapi.Cursor, tmp_path: Path) -> None:
    cursor.execute(f"CREATE TABLE t (l ARRAY<INT>) {ACID}")
    cursor.executemany("INSERT INTO t VALUES (:l)", [{"l": [1, 2]}, {"l": [None]}, {"l": []}, {"l": None}])
    assert deltas(tmp_path, "t") == 1
    assert sorted(map(str, cursor.execute("SELECT l FROM t").fetchall())) == [
        "(None,)",
        "([1, 2],)",
        "([None],)",
        "([],)",
    ]


def test_executemany_adds_up_the_counts(cursor: dbapi.Cursor) -> None:
    cursor.execute(f"CREATE TABLE t (id INT, v STRING) {ACID}")
    cursor.executemany("INSERT INTO t VALUES (:id, :v)", [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}])
    cursor.executemany("UPDATE t SET v = :v WHERE id = :id", [{"id": n, "v": "c"} for n in (1, 2, 3)])
    assert cursor.rowcount == 2
    cursor.executemany("DELETE FROM t WHERE id = :id", [])
    assert cursor.rowcount == 0


_EVERY_TYPE = (
    "i INT, s STRING, c CHAR(4), x DOUBLE, b BINARY, d DATE, ts TIMESTAMP, tz TIMESTAMP WITH LOCAL TIME ZONE,"
    " p DECIMAL(10,3), o BOOLEAN"
)
_ONE_KIND: dict[str, list[object]] = {
    "small": [1, -2, None],
    "large": [1, 1 << 33, None],
    "fraction": [1.5, float("nan"), None],
    "text": ["12", "it's \\ :a `b`", None],
    "truth": [True, False, None],
    "bytes": [b"ab", b"12", None],
    "day": [date(2026, 1, 2), date(1500, 3, 4), None],
    "time": [datetime(2026, 1, 2, 3, 4, 5, 678), datetime(1500, 1, 1), None],
    "instant": [datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=3))), None],
    "decimal": [Decimal("1.50"), Decimal("-7.25"), None],
}
_MIXED: dict[str, list[object]] = {
    "scales": [Decimal("1.5"), Decimal("1.25")],
    "kinds": [1, "b", 2.5],
    "wide": [1, 1 << 70],
    "zones": [datetime(2026, 1, 2), datetime(2026, 1, 2, tzinfo=UTC)],
}


@pytest.mark.ci
@pytest.mark.parametrize("kind", core(_ONE_KIND, lambda kind: kind == "text", one_of=2))
def test_many_rows_in_one_statement_are_the_rows_of_single_statements(
    connect: Callable[..., dbapi.Connection], tmp_path: Path, kind: str
) -> None:
    """For each column that takes the values at all."""
    cursor = connect().cursor()
    cursor.execute(f"CREATE TABLE one ({_EVERY_TYPE}) {ACID}")
    cursor.execute(f"CREATE TABLE many ({_EVERY_TYPE}) {ACID}")
    rows = [{"a": value} for value in _ONE_KIND[kind]]
    for column in [item.split()[0] for item in _EVERY_TYPE.split(", ")]:
        before = deltas(tmp_path, "many")
        try:
            for row in rows:
                cursor.execute(f"INSERT INTO one ({column}) VALUES (:a)", row)
        except dbapi.ProgrammingError as error:
            with pytest.raises(dbapi.ProgrammingError, match=error.condition):
                cursor.executemany(f"INSERT INTO many ({column}) VALUES (:a)", rows)
            cursor.execute(f"DELETE FROM one WHERE {column} IS NULL")
            cursor.execute("TRUNCATE TABLE one")
            cursor.execute("TRUNCATE TABLE many")
        else:
            cursor.executemany(f"INSERT INTO many ({column}) VALUES (:a)", rows)
            assert (cursor.rowcount, deltas(tmp_path, "many")) == (3, before + 1), column
    contents = [cursor.execute(f"SELECT * FROM {table}").fetchall() for table in ("one", "many")]
    assert sorted(map(repr, contents[0])) == sorted(map(repr, contents[1]))


@pytest.mark.parametrize("kind", _MIXED)
def test_rows_that_no_arrow_column_holds_exactly_are_inserted_one_by_one(cursor: dbapi.Cursor, kind: str) -> None:
    cursor.execute(f"CREATE TABLE t (s STRING) {ACID}")
    cursor.executemany("INSERT INTO t VALUES (:a)", [{"a": value} for value in _MIXED[kind]])
    cursor.execute(f"CREATE TABLE singly (s STRING) {ACID}")
    for value in _MIXED[kind]:
        cursor.execute("INSERT INTO singly VALUES (:a)", {"a": value})
    found, singly = (cursor.execute(f"SELECT s FROM {table}").fetchall() for table in ("t", "singly"))
    assert sorted(map(str, found)) == sorted(map(str, singly))
    assert cursor.rowcount == -1


def test_many_rows_are_one_write_also_with_constants_partitions_and_comments(
    cursor: dbapi.Cursor, tmp_path: Path
) -> None:
    cursor.execute(f"CREATE TABLE t (id INT, v STRING) PARTITIONED BY (d STRING) {ACID}")
    rows = [{"id": n, "part": "x"} for n in range(3)]
    cursor.executemany("INSERT INTO t PARTITION (d='p') -- values\nVALUES (:id, 'c')", rows)
    cursor.executemany("INSERT INTO t (d, v, id) VALUES (:part, upper('q'), :id);", rows)
    assert cursor.rowcount == 3
    cursor.executemany("INSERT INTO t PARTITION (d) VALUES (:id, concat('a', :id), :part)", rows)
    found = cursor.execute("SELECT d, v, count(*) FROM t GROUP BY d, v").fetchall()
    assert sorted(map(str, found)) == [
        "('p', 'c', 3)",
        "('x', 'Q', 3)",
        "('x', 'a0', 1)",
        "('x', 'a1', 1)",
        "('x', 'a2', 1)",
    ]
    assert [deltas(tmp_path, "t/d=p"), deltas(tmp_path, "t/d=x")] == [1, 4]


def test_an_error_of_many_rows_has_its_place_in_the_statement_of_the_user(cursor: dbapi.Cursor) -> None:
    cursor.execute(f"CREATE TABLE t (id INT, l ARRAY<INT>) {ACID}")
    with pytest.raises(dbapi.ProgrammingError) as caught:
        cursor.executemany("INSERT INTO t VALUES (:a, :b)", [{"a": 1, "b": 2}, {"a": 3, "b": 4}])
    assert str(caught.value).splitlines()[1] == "1 | INSERT INTO t VALUES (:a, :b)"
    with pytest.raises(dbapi.ProgrammingError, match="INSERT_COLUMN_COUNT"):
        cursor.executemany("INSERT INTO t VALUES (:a)", [{"a": 1}, {"a": 3}])
    assert cursor.execute("SELECT * FROM t").fetchall() == []


# ------------------------------------------------------------------------------------------------ transactions


def test_statements_commit_by_themselves_unless_a_transaction_is_begun(
    connect: Callable[..., dbapi.Connection],
) -> None:
    connection, other = connect(), connect().cursor()
    cursor = connection.cursor()
    cursor.execute(f"CREATE TABLE t (id INT) {ACID}")
    cursor.execute("INSERT INTO t VALUES (1)")
    connection.rollback()
    assert other.execute("SELECT id FROM t").fetchall() == [(1,)]
    cursor.execute("START TRANSACTION")
    cursor.execute("INSERT INTO t VALUES (2)")
    assert connection.in_transaction
    connection.rollback()
    assert not connection.in_transaction
    assert other.execute("SELECT id FROM t").fetchall() == [(1,)]


def test_without_autocommit_a_transaction_is_begun_by_the_first_statement(
    connect: Callable[..., dbapi.Connection],
) -> None:
    connection, other = connect(autocommit=False), connect().cursor()
    cursor = connection.cursor()
    cursor.execute(f"CREATE TABLE t (id INT) {ACID}")
    assert not connection.in_transaction
    cursor.execute("INSERT INTO t VALUES (1)")
    cursor.executemany("INSERT INTO t VALUES (:id)", [{"id": 2}, {"id": 3}])
    assert other.execute("SELECT count(*) FROM t").fetchall() == [(0,)]
    with pytest.raises(dbapi.ProgrammingError, match="IN_TRANSACTION"):
        connection.autocommit = True
    connection.commit()
    assert other.execute("SELECT count(*) FROM t").fetchall() == [(3,)]
    connection.autocommit = True
    cursor.execute("DELETE FROM t")
    assert other.execute("SELECT count(*) FROM t").fetchall() == [(0,)]


def test_after_an_error_a_transaction_must_be_rolled_back_before_it_goes_on(
    connect: Callable[..., dbapi.Connection],
) -> None:
    connection = connect(autocommit=False)
    cursor = connection.cursor()
    cursor.execute(f"CREATE TABLE t (id INT CHECK (id > 0) ENABLE) {ACID}")
    with pytest.raises(dbapi.IntegrityError):
        cursor.execute("INSERT INTO t VALUES (0)")
    cursor.execute("INSERT INTO t VALUES (1)")
    with pytest.raises(dbapi.IntegrityError):
        cursor.execute("INSERT INTO t VALUES (-1)")
    for going_on in (lambda: cursor.execute("INSERT INTO t VALUES (2)"), connection.commit):
        with pytest.raises(dbapi.InternalError, match="TRANSACTION_ABORTED"):
            going_on()
    connection.rollback()
    cursor.execute("INSERT INTO t VALUES (3)")
    connection.commit()
    assert cursor.execute("SELECT id FROM t").fetchall() == [(3,)]


def test_a_with_block_commits_or_rolls_back_and_closes(connect: Callable[..., dbapi.Connection]) -> None:
    with connect(autocommit=False) as connection:
        connection.cursor().execute(f"CREATE TABLE t (id INT) {ACID}")
        connection.cursor().execute("INSERT INTO t VALUES (1)")
    with pytest.raises(dbapi.ProgrammingError), connect(autocommit=False) as failing:
        failing.cursor().execute("INSERT INTO t VALUES (2)").execute("SELECT absent")
    assert connect().cursor().execute("SELECT id FROM t").fetchall() == [(1,)]


def test_threads_share_a_connection(connect: Callable[..., dbapi.Connection]) -> None:
    connection = connect()
    connection.cursor().execute(f"CREATE TABLE t (id INT) {ACID}")
    rows = [{"id": n} for n in range(10)]

    def insert() -> None:
        connection.cursor().executemany("INSERT INTO t VALUES (:id)", rows)

    threads = [threading.Thread(target=insert) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert connection.cursor().execute("SELECT count(*), sum(id) FROM t").fetchall() == [(30, 135)]


# ------------------------------------------------------------------------------- which statements begin transactions


def test_a_statement_behind_many_comments_does_not_take_exponential_time(
    connect: Callable[..., dbapi.Connection],
) -> None:
    connection = connect(autocommit=False)
    connection.cursor().execute(f"{'/* a line of a licence */ ' * 500} CREATE TABLE t (id INT) {ACID}")
    assert not connection.in_transaction


def test_a_statement_whose_verb_is_a_variable_begins_a_transaction(connect: Callable[..., dbapi.Connection]) -> None:
    connection = connect(autocommit=False)
    cursor = connection.cursor().execute(f"CREATE TABLE t (id INT) {ACID}")
    connection.session.set_variables({"verb": "INSERT INTO"})
    cursor.execute("${verb} t VALUES (1)")
    assert connection.in_transaction
    connection.rollback()
    assert cursor.execute("SELECT id FROM t").fetchall() == []


@pytest.mark.parametrize("text", ["WITH x AS (SELECT 1 AS id) INSERT OVERWRITE LOCAL DIRECTORY '{}' SELECT * FROM x"])
def test_a_statement_that_may_not_stand_in_a_transaction_begins_none(
    text: str, connect: Callable[..., dbapi.Connection], tmp_path: Path
) -> None:
    connection = connect(autocommit=False)
    connection.cursor().execute(text.format(tmp_path / "out"))
    assert not connection.in_transaction
    assert list((tmp_path / "out").iterdir()) != []


def test_a_statement_that_cannot_be_read_begins_no_transaction(connect: Callable[..., dbapi.Connection]) -> None:
    connection = connect(autocommit=False)
    with pytest.raises(dbapi.ProgrammingError):
        connection.cursor().execute("SELECT FROM WHERE")
    assert not connection.in_transaction
