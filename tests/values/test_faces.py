"""What a column stores of a value, by each way into a table, held against what Hive 4.0.1 stores of the same literal
(tests/interop/test_hive_evaluates.py).

The ways are SQL by Spark, literals by the Arrow engine, the strict rule of methods, and streams (acidsql/values). A way
may leave a value to Spark or refuse it. What it stores is what Hive stores."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Final, TypeAlias

import numpy as np
import pytest
from pyspark.sql import SparkSession
from sqlglot import exp

from acidsql.acid.hive_types import Char, HiveType, parse_type
from acidsql.acid.table import Column
from acidsql.arrow.write.inserted_columns import stored_literals
from acidsql.errors import AcidSqlError
from acidsql.grammar.parser import parse
from acidsql.grammar.quoting import name_sql
from acidsql.grammar.statements import Query
from acidsql.planner.stored_values.stored_sql import does_not_fit
from acidsql.session import Session
from acidsql.values.literal_columns import Kind, literal
from acidsql.values.stored_values import Unfit, storing

REFUSED: Final = "refused when the statement is compiled"
NULL: Final = None
TYPES: Final = (
    *("tinyint", "smallint", "int", "bigint", "float", "double", "decimal(5,2)"),
    *("string", "varchar(3)", "char(3)", "boolean", "date", "timestamp"),
)
Stored: TypeAlias = str | None
HIVE: Final[dict[str, tuple[Stored, ...]]] = {
    "NULL": (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    "1": ("1", "1", "1", "1", "1.0", "1.0", "1.00", "1", "1", "1", "TRUE", REFUSED, REFUSED),
    "300": ("44", "300", "300", "300", "300.0", "300.0", "300.00", "300", "300", "300", "TRUE", REFUSED, REFUSED),
    "-40000": (
        "-64",
        "25536",
        "-40000",
        "-40000",
        "-40000.0",
        "-40000.0",
        NULL,
        "-40000",
        "-40",
        "-40",
        "TRUE",
        REFUSED,
        REFUSED,
    ),
    "3000000000": (
        "0",
        "24064",
        "-1294967296",
        "3000000000",
        "3.0E9",
        "3.0E9",
        NULL,
        "3000000000",
        "300",
        "300",
        "TRUE",
        REFUSED,
        REFUSED,
    ),
    "9223372036854775807": (
        "-1",
        "-1",
        "-1",
        "9223372036854775807",
        "9.223372E18",
        "9.223372036854776E18",
        NULL,
        "9223372036854775807",
        "922",
        "922",
        "TRUE",
        REFUSED,
        REFUSED,
    ),
    "1.5": ("1", "1", "1", "1", "1.5", "1.5", "1.50", "1.5", "1.5", "1.5", "TRUE", REFUSED, REFUSED),
    "12.345": ("12", "12", "12", "12", "12.345", "12.345", "12.35", "12.345", "12.", "12.", "TRUE", REFUSED, REFUSED),
    "999.995": (
        NULL,
        "999",
        "999",
        "999",
        "999.995",
        "999.995",
        NULL,
        "999.995",
        "999",
        "999",
        "TRUE",
        REFUSED,
        REFUSED,
    ),
    "-0.5": ("0", "0", "0", "0", "-0.5", "-0.5", "-0.50", "-0.5", "-0.", "-0.", "TRUE", REFUSED, REFUSED),
    "1.5D": ("1", "1", "1", "1", "1.5", "1.5", "1.50", "1.5", "1.5", "1.5", "TRUE", REFUSED, REFUSED),
    "1e40D": (
        "-1",
        "-1",
        "2147483647",
        "9223372036854775807",
        "Infinity",
        "1.0E40",
        NULL,
        "1.0E40",
        "1.0",
        "1.0",
        "TRUE",
        REFUSED,
        REFUSED,
    ),
    "true": (
        "1",
        "1",
        "1",
        "1",
        "1.0",
        "1.0",
        "1.00",
        "TRUE",
        "TRU",
        "TRU",
        "TRUE",
        REFUSED,
        "1970-01-01 00:00:00.001",
    ),
    "false": ("0", "0", "0", "0", "0.0", "0.0", "0.00", "FALSE", "FAL", "FAL", "FALSE", REFUSED, "1970-01-01 00:00:00"),
    "'12.345'": ("12", "12", "12", "12", "12.345", "12.345", "12.35", "12.345", "12.", "12.", "TRUE", NULL, NULL),
    "'abc'": (NULL, NULL, NULL, NULL, NULL, NULL, NULL, "abc", "abc", "abc", "TRUE", NULL, NULL),
    "'abcdef'": (NULL, NULL, NULL, NULL, NULL, NULL, NULL, "abcdef", "abc", "abc", "TRUE", NULL, NULL),
    "' 7 '": ("7", "7", "7", "7", "7.0", "7.0", "7.00", " 7 ", " 7 ", " 7", "TRUE", NULL, NULL),
    "'-3'": ("-3", "-3", "-3", "-3", "-3.0", "-3.0", "-3.00", "-3", "-3", "-3", "TRUE", NULL, NULL),
    "'1e2'": (NULL, NULL, NULL, NULL, "100.0", "100.0", "100.00", "1e2", "1e2", "1e2", "TRUE", NULL, NULL),
    "'2024-02-29'": (
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        "2024-02-29",
        "202",
        "202",
        "TRUE",
        "2024-02-29",
        "2024-02-29 00:00:00",
    ),
    "'2024-2-9'": (
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        "2024-2-9",
        "202",
        "202",
        "TRUE",
        "2024-02-09",
        "2024-02-09 00:00:00",
    ),
    "'2023-02-29'": (NULL, NULL, NULL, NULL, NULL, NULL, NULL, "2023-02-29", "202", "202", "TRUE", NULL, NULL),
    "'2024-02-29 10:11:12.123456'": (
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        "2024-02-29 10:11:12.123456",
        "202",
        "202",
        "TRUE",
        "2024-02-29",
        "2024-02-29 10:11:12.123456",
    ),
    "'true'": (NULL, NULL, NULL, NULL, NULL, NULL, NULL, "true", "tru", "tru", "TRUE", NULL, NULL),
    "'off'": (NULL, NULL, NULL, NULL, NULL, NULL, NULL, "off", "off", "off", "FALSE", NULL, NULL),
    "''": (NULL, NULL, NULL, NULL, NULL, NULL, NULL, "", "", "", "FALSE", NULL, NULL),
    "DATE '2024-02-29'": (
        REFUSED,
        REFUSED,
        REFUSED,
        REFUSED,
        REFUSED,
        REFUSED,
        REFUSED,
        "2024-02-29",
        "202",
        "202",
        REFUSED,
        "2024-02-29",
        "2024-02-29 00:00:00",
    ),
    "TIMESTAMP '2024-02-29 10:11:12.123456'": (
        REFUSED,
        REFUSED,
        REFUSED,
        REFUSED,
        REFUSED,
        REFUSED,
        NULL,
        "2024-02-29 10:11:12.123456",
        "202",
        "202",
        REFUSED,
        "2024-02-29",
        "2024-02-29 10:11:12.123456",
    ),
}
"""CAST(c AS STRING) of a column of each of TYPES after `INSERT INTO t SELECT literal FROM one_row`."""
CASES: Final = {(text, kind): stored for text, row in HIVE.items() for kind, stored in zip(TYPES, row, strict=True)}
NOT_STORED: Final = {("TIMESTAMP '2024-02-29 10:11:12.123456'", "decimal(5,2)")}
"""What acidsql refuses and Hive stores: seconds since 1970 as a DECIMAL, which are NULL here."""
ACID: Final = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def stored_by_hive(kind: str) -> dict[str, Stored]:
    stored = {text: stored for (text, of), stored in CASES.items() if of == kind and stored is not REFUSED}
    return {text: value for text, value in stored.items() if (text, kind) not in NOT_STORED}


def value_of(stored: Stored, hive_type: HiveType) -> object:
    """The Python value of what Hive shows."""
    if stored is None:
        return None
    match str(hive_type):
        case "tinyint" | "smallint" | "int" | "bigint":
            return int(stored)
        case "float":
            return float(np.float32(stored))
        case "double":
            return float(stored)
        case "boolean":
            return stored == "TRUE"
        case "date":
            return date.fromisoformat(stored)
        case "timestamp":
            return datetime.fromisoformat(stored)
        case text if text.startswith("decimal"):
            return Decimal(stored)
        case _:
            return stored.rstrip() if isinstance(hive_type, Char) else stored


def shown(value: object, kind: str) -> object:
    """A value without the padding of CHAR, and as a FLOAT has it."""
    if kind == "float" and isinstance(value, float):
        return float(np.float32(value))
    return value.rstrip() if kind.startswith("char") and isinstance(value, str) else value


def given(text: str) -> object:
    """The literal as a program gives it."""
    kind, value = literal(tree_of(text))
    assert kind is not Kind.OTHER
    return value


def tree_of(text: str) -> exp.Expr:
    query = parse(f"SELECT {text}")
    assert isinstance(query, Query)
    return query.tree.selects[0].unalias()


@pytest.fixture
def by_spark(session: Session) -> Session:
    session._engines.steering.may_use_arrow = False
    session.execute("CREATE TABLE one (i int)")
    session.execute("INSERT INTO one VALUES (1)")
    return session


def test_sql_by_spark_stores_what_hive_stores(by_spark: Session) -> None:
    expected = {(text, kind): stored for kind in TYPES for text, stored in stored_by_hive(kind).items()}
    columns = ", ".join(f"c{place} {kind}" for place, (_, kind) in enumerate(expected))
    by_spark.execute(f"CREATE TABLE t (id int, {columns}) {ACID}")
    by_spark.execute(f"INSERT INTO t SELECT i, {', '.join(text for text, _ in expected)} FROM one")
    shown = ", ".join(f"CAST(c{place} AS STRING)" for place in range(len(expected)))
    (found,) = by_spark.execute(f"SELECT {shown} FROM t").rows()
    assert dict(zip(expected, found, strict=True)) == expected


def test_what_hive_refuses_to_compile_is_refused(by_spark: Session) -> None:
    for kind in TYPES:
        by_spark.execute("DROP TABLE IF EXISTS t")
        by_spark.execute(f"CREATE TABLE t (c {kind}) {ACID}")
        for text in (text for (text, of), value in CASES.items() if of == kind and value is REFUSED):
            with pytest.raises(AcidSqlError) as caught:
                by_spark.execute(f"INSERT INTO t SELECT {text} FROM one")
            assert caught.value.condition == "INCOMPATIBLE_TYPE", (text, kind)


def test_the_arrow_engine_stores_what_hive_stores_or_leaves_it_to_spark() -> None:
    certain = {}
    for (text, kind), stored in CASES.items():
        found = stored_literals((tree_of(text),), Column("c", kind))
        if found is not None:
            assert stored is not REFUSED, (text, kind)
            certain[text, kind] = found
            assert shown(found[0].as_py(), kind) == value_of(stored, parse_type(kind)), (text, kind)
    assert len(certain) > 90


def test_the_strict_rule_of_sql_lets_pass_what_hive_stores_without_loss(spark: SparkSession) -> None:
    cases = [case for kind in TYPES for case in ((text, kind) for text in stored_by_hive(kind)) if case[0] != "NULL"]
    no_cast_of_spark = {("true", "timestamp"), ("false", "timestamp")}
    wanted = [case for case in cases if case not in no_cast_of_spark]
    tests = ", ".join(
        f"{does_not_fit(text, parse_type(kind))} AS {name_sql(f'c{place}')}"
        for place, (text, kind) in enumerate(wanted)
    )
    (row,) = spark.sql(f"SELECT {tests}").collect()
    passed = [case for case, fails in zip(wanted, row, strict=True) if not fails]
    lost = [case for case in passed if CASES[case] is None]
    assert lost == []
    assert len(passed) > 150


def test_a_stream_stores_what_hive_stores_or_refuses_it() -> None:
    passed = 0
    for (text, kind), stored in CASES.items():
        try:
            found = storing(parse_type(kind))(given(text))
        except Unfit:
            continue
        passed += 1
        if stored is not REFUSED:
            assert shown(found, kind) == value_of(stored, parse_type(kind)), (text, kind)
    assert passed > 90
