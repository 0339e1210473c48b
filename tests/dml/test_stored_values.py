"""Store assignment of what a query computes. Hive 4.0.1 stores the same (tests/interop/test_hive_evaluates.py)."""

from __future__ import annotations

from typing import Final

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session

ACID: Final = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
SOURCE: Final = "(t string, b boolean, f float, d decimal(20,10), i int)"
SOURCE_ROW: Final = "'off', true, 23.4, 0.0000001, 300"
STORED: Final = {
    ("b", "string"): "TRUE",
    ("(NOT b)", "varchar(3)"): "FAL",
    ("b", "char(5)"): "TRUE",
    ("b", "timestamp"): "1970-01-01 00:00:00.001",
    ("d", "string"): "0.0000001000",
    ("-d", "varchar(20)"): "-0.0000001000",
    ("f", "decimal(20,10)"): "23.4000000000",
    ("f", "double"): "23.399999618530273",
    ("t", "boolean"): "FALSE",
    ("concat(t, 'x')", "boolean"): "TRUE",
    ("substr(t, 9)", "boolean"): "FALSE",
    ("concat('202', '4')", "date"): None,
    ("concat('2024-01-31', t)", "date"): "2024-01-31",
    ("concat('2024-02-', '30')", "date"): None,
    ("concat('2024', '-01')", "timestamp"): None,
    ("concat('2024-01-01 10:60:00', t)", "timestamp"): "2024-01-01 00:00:00",
    ("concat('2024-1-2 3:4:', '5')", "timestamp"): "2024-01-02 03:04:05",
    ("concat('na', 'n')", "double"): None,
    ("concat('Na', 'N')", "float"): "NaN",
    ("i", "tinyint"): "44",
    ("i + 0.5", "tinyint"): None,
    ("i", "string"): "300",
}
"""What is stored of an expression over the source's row in a column of a type, as text."""
NAMES: Final = [f"c{place}" for place in range(len(STORED))]
TARGET: Final = ", ".join(f"{name} {kind}" for name, (_, kind) in zip(NAMES, STORED, strict=True))
EXPRESSIONS: Final = [expression for expression, _ in STORED]
SHOWN: Final = ", ".join(f"CAST({name} AS STRING)" for name in NAMES)
CHANGES: Final = {
    "INSERT": f"INSERT INTO target SELECT 1, {', '.join(EXPRESSIONS)} FROM source",
    "INSERT OVERWRITE": f"INSERT OVERWRITE TABLE target SELECT 1, {', '.join(EXPRESSIONS)} FROM source",
    "multi-insert": f"FROM source INSERT INTO target SELECT 1, {', '.join(EXPRESSIONS)} INSERT INTO other SELECT i",
    "MERGE that inserts": "MERGE INTO target USING source ON target.id = source.i"
    f" WHEN NOT MATCHED THEN INSERT VALUES (1, {', '.join(EXPRESSIONS)})",
    "MERGE that updates": "MERGE INTO target USING source ON target.id = source.i - 300"
    " WHEN MATCHED THEN UPDATE SET id = 1, "
    + ", ".join(f"{name} = {of}" for name, of in zip(NAMES, EXPRESSIONS, strict=True)),
}


TABLES: Final = (
    f"CREATE TABLE source {SOURCE} {ACID}",
    f"INSERT INTO source VALUES ({SOURCE_ROW})",
    f"CREATE TABLE target (id int, {TARGET}) {ACID}",
    f"CREATE TABLE other (id int) {ACID}",
    "INSERT INTO target (id) VALUES (0)",
)


def make(session: Session) -> None:
    for statement in TABLES:
        session.execute(statement)


@pytest.mark.ci
@pytest.mark.parametrize("change", CHANGES)
def test_values_of_a_query_are_stored_as_hive_casts_them(change: str, session: Session) -> None:
    make(session)
    session.execute(CHANGES[change])
    (found,) = session.execute(f"SELECT {SHOWN} FROM target WHERE id = 1").rows()
    assert dict(zip(STORED, found, strict=True)) == STORED


def test_an_update_stores_values_of_its_own_row_as_hive_casts_them(session: Session) -> None:
    session.execute(f"CREATE TABLE t (b boolean, f float, s string, d decimal(20,10)) {ACID}")
    session.execute("INSERT INTO t VALUES (true, 23.4, 'x', 1), (false, 0.1, NULL, 2)")
    session.execute("UPDATE t SET s = b, d = f, b = s WHERE f > 0")
    found = sorted(session.execute("SELECT CAST(b AS STRING), s, CAST(d AS STRING) FROM t").rows(), key=str)
    assert found == [("TRUE", "TRUE", "23.4000000000"), (None, "FALSE", "0.1000000000")]


def test_strict_store_assignment_refuses_text_that_hive_would_convert(session: Session) -> None:
    make(session)
    session.execute("SET acidsql.store.assignment=ansi")
    for column, expression in ((NAMES[9], "concat(t, 'x')"), (NAMES[12], "concat('2024-01-31', t)")):
        with pytest.raises(AcidSqlError) as caught:
            session.execute(f"INSERT INTO target (id, {column}) SELECT 1, {expression} FROM source")
        assert caught.value.condition == "INVALID_STORE_VALUE"
    session.execute(f"INSERT INTO target (id, {NAMES[0]}, {NAMES[6]}) SELECT 1, b, f FROM source")
    (found,) = session.execute(f"SELECT {NAMES[0]}, CAST({NAMES[6]} AS STRING) FROM target WHERE id = 1").rows()
    assert found == ("TRUE", "23.4000000000")
