"""A value of a parameter means what its literal means: in comparisons, lists and DML, through every interface."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest
from pyspark.sql import SparkSession

from acidsql import dbapi
from acidsql.errors import AcidSqlError
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.parser import parse
from acidsql.grammar.placeholders import name_placeholders
from acidsql.grammar.statements import Query
from acidsql.session import Session
from tests.expressions.test_hive_expressions import VALUES
from tests.fuzz.comparisons import LITERALS
from tests.fuzz.parameters import with_parameters
from tests.queries.test_hive_families import FAMILIES

LEAP: Final = datetime(2024, 2, 29)
CONDITIONS: Final[dict[str, tuple[str, dict[str, object], list[int]]]] = {
    "a CHAR as it is read": ("c = :x", {"x": "ab  "}, [1]),
    "a list of CHARs": ("c IN (:x)", {"x": ["ab  ", "q   "]}, [1]),
    "no CHAR of a list": ("c NOT IN (:x, :y)", {"x": "ab  ", "y": "cd  "}, [3]),
    "no CHAR of one list": ("c NOT IN (:x)", {"x": ["ab  ", "cd  ", "ef  "]}, []),
    "a FLOAT and a decimal": ("f = :x", {"x": Decimal("0.1")}, [1]),
    "a FLOAT and a float": ("f = :x", {"x": 0.1}, [1]),
    "a FLOAT and floats": ("f IN (:x)", {"x": [0.1, 5.0]}, [1]),
    "a FLOAT and a NumPy float": ("f = :x", {"x": np.float64(0.1)}, [1]),
    "a DECIMAL and texts": ("de IN (:x)", {"x": ["1.5"]}, [1]),
    "a TIMESTAMP and a text": ("ts IN (:x)", {"x": "2024-02-29"}, [1]),
    "no TIMESTAMP of a text": ("ts NOT IN (:x)", {"x": "2024-02-29"}, [2]),
    "a TIMESTAMP and a datetime": ("ts = :x", {"x": LEAP}, [1]),
    "a TIMESTAMP and one of pandas": ("ts = :x", {"x": pd.Timestamp(LEAP)}, [1]),
    "a TIMESTAMP and NaT": ("ts <=> :x", {"x": pd.NaT}, [3]),
    "a TIMESTAMP and a date": ("ts = :x", {"x": date(2024, 2, 29)}, [1]),
    "a DATE and a short text": ("d IN (:x)", {"x": "2024-2-29"}, [1]),
    "a DATE and a datetime": ("d = :x", {"x": LEAP}, [1]),
    "a BOOLEAN as text": ("concat(:x, 'z') = 'TRUEz' AND id = 2", {"x": True}, [2]),
    "an operator on a BOOLEAN": ("(:x || 'z') = 'TRUEz' AND id = 2", {"x": True}, [2]),
    "a text in BETWEEN": ("s BETWEEN :x AND :y", {"x": "a\\b", "y": "a\\c"}, [2]),
    "a pattern": ("s LIKE :x", {"x": "it's%"}, [1]),
    "bytes": ("b = :x", {"x": b"\x00'\xff"}, [1]),
    "a negative number": ("id - :x = 4", {"x": -3}, [1]),
    "an element of a list": ("array_contains(:x, id)", {"x": [1, 3]}, [1, 3]),
}
"""Conditions with parameters, their values, and the rows for which they are true."""


@pytest.fixture(name="cursor", scope="module")
def _cursor(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dbapi.Cursor]:
    place = tmp_path_factory.mktemp("parameters")
    with dbapi.connect(place / "warehouse", spark=spark) as connection:
        cursor = connection.cursor()
        cursor.execute(
            "CREATE TRANSACTIONAL TABLE t (id int, c char(4), f float, de decimal(5,2), ts timestamp, d date, s string,"
            " b binary)"
        )
        cursor.execute(
            "INSERT INTO t VALUES (1, 'ab', 0.1, 1.5, timestamp '2024-02-29 00:00:00', date '2024-02-29', 'it\\'s',"
            " unhex('0027ff')),"
            " (2, 'cd', 0.2, 2.5, timestamp '2024-03-01 00:00:00', date '2024-03-01', 'a\\\\b', NULL),"
            " (3, 'ef', NULL, NULL, NULL, NULL, NULL, NULL)"
        )
        yield cursor


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_value_finds_the_rows_that_its_literal_finds(cursor: dbapi.Cursor, name: str) -> None:
    condition, args, found = CONDITIONS[name]
    cursor.execute(f"SELECT id FROM t WHERE {condition}", args)
    assert sorted(cursor.fetchall()) == [(number,) for number in found]


def test_dml_changes_the_rows_that_literals_change(cursor: dbapi.Cursor) -> None:
    wanted = {name: found for name, (_, _, found) in CONDITIONS.items()}
    changed = {}
    for name, (condition, args, _) in CONDITIONS.items():
        cursor.execute("START TRANSACTION")
        cursor.execute(f"DELETE FROM t WHERE {condition}", args)
        cursor.execute("SELECT id FROM t")
        left = {row[0] for row in cursor.fetchall()}
        changed[name] = [number for number in (1, 2, 3) if number not in left]
        cursor.execute("ROLLBACK")
    assert changed == wanted


def test_what_sqlalchemy_read_and_keeps_is_not_deleted(spark: SparkSession, tmp_path: Any) -> None:
    sa = pytest.importorskip("sqlalchemy")
    engine = sa.create_engine(f"acidsql:///{tmp_path}/warehouse", connect_args={"spark": spark})
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TRANSACTIONAL TABLE t (c char(4))")
        connection.exec_driver_sql("INSERT INTO t VALUES ('a'), ('bc'), ('d')")
        table = sa.Table("t", sa.MetaData(), autoload_with=connection)
        keep = [row.c for row in connection.execute(sa.select(table))]
        connection.execute(sa.delete(table).where(table.c.c.notin_(keep)))
        assert connection.execute(sa.select(sa.func.count()).select_from(table)).scalar() == 3
    engine.dispose()


def test_methods_bind_values_as_literals(session: Session) -> None:
    session.execute("CREATE TRANSACTIONAL TABLE t (id int, c char(4), f float)")
    session.execute("INSERT INTO t VALUES (1, 'ab', 0.1), (2, 'cd', 0.2)")
    assert session.update("t", {"f": ":f"}, where="c = :c", args={"f": 1.5, "c": "ab  "}).updated == 1
    assert session.delete("t", where="c NOT IN (:keep)", args={"keep": ["ab  ", "cd  "]}).deleted == 0
    assert session.delete("t", where="f IN (:f)", args={"f": [0.2]}).deleted == 1


# ------------------------------------------------------------------------------------------------ without a session


def _bound(text: str, args: dict[str, object]) -> str:
    statement, _ = name_placeholders(parse(text), args)
    assert isinstance(statement, Query)
    return to_spark(statement.tree)


def _written(text: str) -> str:
    """The text without what tells the types of literals that look alike."""
    found = re.sub(r"\b([0-9.]+(?:e[+-]?[0-9]+)?)(?:BD|D)\b", lambda m: str(float(m[1])), text, flags=re.IGNORECASE)
    found = re.sub(r"\b[0-9]+\.[0-9]*(?:e[+-]?[0-9]+)?\b", lambda m: str(float(m[0])), found, flags=re.IGNORECASE)
    return re.sub(r"\b[0-9]+e[+-]?[0-9]+\b", lambda m: str(float(m[0])), found).replace("TIMESTAMP_NTZ", "TIMESTAMP")


QUERIES: Final = (
    *(f"SELECT {expression} FROM t" for expression in VALUES),
    *(query for family in FAMILIES.values() for query in family),
    *(f"SELECT {literal} = c FROM t" for literals in LITERALS for literal in literals),
)


def test_a_statement_with_parameters_becomes_the_statement_with_literals() -> None:
    tried = 0
    for query in QUERIES:
        given = with_parameters(query, random.Random(0))
        if given is not None:
            tried += 1
            statement = parse(query)
            assert isinstance(statement, Query)
            assert _written(_bound(*given)) == _written(to_spark(statement.tree)), given
    assert tried > 190


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (Decimal("1E+3"), "1000BD"),
        (Decimal("-0.10"), "-0.10BD"),
        (-0.0, "-0.0D"),
        (1e-7, "1e-07D"),
        (np.float32(0.5), "0.5D"),
        (np.int64(-5), "-5"),
        (np.bool_(True), "TRUE"),
        (pd.NaT, "NULL"),
        (2**63, "9223372036854775808"),
        (date(1, 1, 1), "DATE '0001-01-01'"),
        (datetime(2024, 1, 1, 2, 3, 4, 5), "TIMESTAMP_NTZ '2024-01-01 02:03:04.000005'"),
        (b"\x00'", "X'0027'"),
        (["a'b\\", None], "array('a\\'b\\\\', NULL)"),
        # These have no literal. Spark gets the value as a parameter.
        (float("inf"), ":v"),
        (float("nan"), ":v"),
        (datetime(2024, 1, 1, tzinfo=UTC), ":v"),
        ({"a": 1}, ":v"),
        (10**38, ":v"),
        ([], ":v"),
        ("\ud800", ":v"),
        (Decimal("1E+40"), ":v"),
        (Decimal("NaN"), ":v"),
    ],
)
def test_the_literal_has_the_type_and_the_value(value: object, literal: str) -> None:
    assert _bound("SELECT :v", {"v": value}) == f"SELECT {literal}"


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW v AS SELECT :v AS a",
        "CREATE TABLE n (a int DEFAULT :v)",
        "CREATE TABLE n (a int, CHECK (a > :v))",
        "CREATE TEMPORARY MACRO m(a int) a + :v",
    ],
)
def test_a_definition_keeps_no_value_of_a_parameter(session: Session, statement: str) -> None:
    with pytest.raises(AcidSqlError) as caught:
        session.execute(statement, {"v": 1})
    assert caught.value.condition.startswith("INVALID_")
    assert caught.value.span is not None
