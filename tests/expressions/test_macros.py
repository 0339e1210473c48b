"""Temporary macros, and functions that are registered in the Spark session, in queries and DML."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from pyspark.sql import SparkSession

from acidsql.session import Session
from tests.answers import counts, fails, rows

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def db(session: Session) -> Session:
    """A session with the table `t` and the macros `plus`, `greet` and `answer`."""
    session.execute(f"CREATE TABLE t (id int, v string, CHECK (id > 0)) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    session.execute("CREATE TEMPORARY MACRO plus(x int, y int) x + y")
    session.execute("CREATE TEMPORARY MACRO greet(name string) concat('hi ', name)")
    session.execute("CREATE TEMPORARY MACRO answer() 42")
    return session


@pytest.mark.ci
def test_a_macro_stands_wherever_an_expression_may(db: Session) -> None:
    assert rows(db, "SELECT plus(id, 10) * 2, greet(v), answer() FROM t WHERE plus(id, 1) > 3") == [(26, "hi c", 42)]
    assert counts(db, "UPDATE t SET v = greet(v) WHERE id = plus(0, 1)") == (1, 1, 0, 0)
    assert counts(db, "INSERT INTO t VALUES (plus(3, 1), greet('d'))") == (1, 0, 0, 1)
    merge = (
        "MERGE INTO t USING (SELECT answer() AS id) s ON t.id = plus(s.id, -40) WHEN MATCHED AND greet(t.v) = 'hi b'"
        " THEN UPDATE SET v = greet(greet('x')) WHEN NOT MATCHED THEN INSERT VALUES (plus(s.id, 0), 'n')"
    )
    assert counts(db, merge) == (1, 1, 0, 0)
    assert counts(db, "DELETE FROM t WHERE plus(id, id) = 6") == (1, 0, 1, 0)
    assert rows(db) == [(1, "hi a"), (2, "hi hi x"), (4, "hi d")]
    assert rows(db, "SELECT sum(plus(id, ?)) s, max(plus(id, ?)) FROM t GROUP BY plus(0, 0)", [1, 2]) == [(10, 6)]
    assert "greet" not in db.explain("EXPLAIN EXTENDED DELETE FROM t WHERE greet(v) = 'x'")


def test_arguments_are_cast_to_the_types_of_the_parameters(db: Session) -> None:
    assert rows(db, "SELECT plus('1', 2.7), plus('x', 1), greet(5)") == [(3, None, "hi 5")]
    db.execute("CREATE TEMPORARY MACRO field(s struct<a:int,b:string>, d decimal(4,1)) concat(s.b, d)")
    assert rows(db, "SELECT field(named_struct('a', 1, 'b', 'z'), 2.25)") == [("z2.3",)]
    assert rows(db, "SELECT plus(1 + 1, 2) * 3") == [(12,)]


@pytest.mark.ci
def test_a_macro_in_a_macro_is_bound_when_the_outer_one_is_created(db: Session) -> None:
    db.execute("CREATE TEMPORARY MACRO twice(x int) plus(x, x)")
    db.execute("CREATE TEMPORARY MACRO plus(x int, y int) x - y")
    assert rows(db, "SELECT twice(4), plus(4, 4)") == [(8, 0)]
    db.execute("CREATE TEMPORARY MACRO upper(x string) concat(upper(x), '!')")  # hides the function
    assert rows(db, "SELECT upper('a')") == [("A!",)]
    db.execute("DROP TEMPORARY MACRO upper")
    assert rows(db, "SELECT upper('a')") == [("A",)]


def test_what_a_table_keeps_is_the_body_of_the_macro(db: Session, open_session: Callable[[], Session]) -> None:
    db.execute(f"CREATE TABLE k (id int DEFAULT answer(), CHECK (plus(id, 1) > 1)) {ACID}")
    other = open_session()
    other.execute("INSERT INTO k VALUES (DEFAULT)")
    fails("CONSTRAINT_VIOLATED", lambda: other.execute("INSERT INTO k VALUES (0)"))
    assert rows(other, "SELECT id FROM k") == [(42,)]
    error = fails("INVALID_VIEW", lambda: db.execute("CREATE VIEW w AS SELECT greet(v) FROM t"))
    assert error.message == "View definition references temporary macro greet"


@pytest.mark.ci
@pytest.mark.parametrize(
    ("statement", "condition", "message"),
    [
        ("MACRO d.m(x int) x", "INVALID_MACRO", "Temporary macro cannot be created with a qualified name."),
        ("MACRO m(x int, y int) x", "INVALID_MACRO", "Expected columns [x, y] but found [x]"),
        ("MACRO m(x int) x + z", "INVALID_MACRO", "Expected columns [x] but found [x, z]"),
        ("MACRO m() z", "INVALID_MACRO", "Expected columns [] but found [z]"),
        (
            "MACRO m(x int, x int) x",
            "INVALID_MACRO",
            "At least one parameter name was used more than once [x, x]",
        ),
        ("MACRO m(x int) (SELECT x)", "NOT_YET_SUPPORTED", "A subquery in a macro is not yet supported by acidsql."),
        ("MACRO m(x int) no_such(x)", "INVALID_FUNCTION", "Invalid function no_such"),
    ],
)
def test_a_macro_that_breaks_a_rule_is_refused(db: Session, statement: str, condition: str, message: str) -> None:
    error = fails(condition, lambda: db.execute(f"CREATE TEMPORARY {statement}"))
    assert error.message == message
    assert rows(db, "SHOW FUNCTIONS LIKE 'm'") == []


def test_calls_and_drops_of_macros_are_checked(db: Session) -> None:
    error = fails("WRONG_ARGUMENT_COUNT", lambda: db.sql("SELECT 1, plus(1) FROM t"))
    assert error.message == "Arguments length mismatch: The macro plus accepts exactly 2 arguments."
    assert error.span is not None
    assert error.span.text == "plus"
    assert rows(db, "SHOW FUNCTIONS LIKE 'greet*'") == [("greet",)]
    assert rows(db, "DESCRIBE FUNCTION greet") == [("There is no documentation for function 'greet'",)]
    db.execute("DROP TEMPORARY MACRO greet")
    db.execute("DROP TEMPORARY MACRO IF EXISTS greet")
    db.execute("SET hive.exec.drop.ignorenonexistent=false")
    for dropped in ("MACRO greet", "FUNCTION greet"):
        fails("INVALID_FUNCTION", lambda text=dropped: db.execute(f"DROP TEMPORARY {text}"))  # type: ignore[misc]
    fails("INVALID_FUNCTION", lambda: db.sql("SELECT greet('a')"))


@pytest.fixture
def registered(db: Session, spark: SparkSession) -> Iterator[Session]:
    """A session whose Spark has functions of Python and of SQL."""
    spark.udf.register("py_shout", lambda text: f"{text}!", "string")
    spark.udf.register("py_twice", lambda number: 2 * number, "int")
    yield db
    for name in ("py_shout", "py_twice"):
        spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {name}")


@pytest.mark.ci
def test_functions_of_the_spark_session_are_called_in_every_statement(registered: Session) -> None:
    assert counts(registered, "UPDATE t SET v = py_shout(v) WHERE py_twice(id) = 4") == (1, 1, 0, 0)
    assert counts(registered, "INSERT INTO t VALUES (py_twice(5), py_shout('z'))") == (1, 0, 0, 1)
    merge = (
        "MERGE INTO t USING (VALUES (1), (py_twice(40))) s(id) ON t.id = s.id WHEN MATCHED AND py_twice(t.id) = 2"
        " THEN UPDATE SET v = py_shout(t.v)"
    )
    assert counts(registered, merge) == (1, 1, 0, 0)
    assert counts(registered, "DELETE FROM t WHERE py_shout(v) = 'c!'") == (1, 0, 1, 0)
    assert rows(registered) == [(1, "a!"), (2, "b!"), (10, "z!")]
    registered.execute("CREATE TEMPORARY MACRO loud(x string) upper(py_shout(x))")
    assert rows(registered, "WITH v(x) AS (VALUES (py_twice(2))) SELECT x, col1 FROM v, VALUES (py_twice(3))") == [
        (4, 6)
    ]
    assert rows(registered, "SELECT loud('a'), py_twice(count(*)) FROM t") == [("A!", 6)]
    assert ("py_shout",) in rows(registered, "SHOW FUNCTIONS LIKE 'py_*'")
    registered.execute("DROP TEMPORARY FUNCTION py_shout")
    fails("INVALID_FUNCTION", lambda: registered.sql("SELECT py_shout('a')"))
