"""Tables with RegexSerDe. The expected values are those that Hive 4.0.1 read from the same lines."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from acidsql.session import Session
from tests.answers import fails, rows

_SERDE = "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.RegexSerDe'"
_VALUES: list[tuple[str, list[tuple[str, object]]]] = [
    ("tinyint", [("1", 1), ("+1", 1), ("1.0", None), (" 1", None), ("200", None), ("", None)]),
    ("int", [("7", 7), ("x", None), ("99999999999", None)]),
    ("float", [("1.5", 1.5), ("1e400", float("inf")), ("x", None), (" 1 ", 1.0)]),
    ("boolean", [("true", True), ("TRUE", True), ("1", False), ("t", False), ("", False)]),
    (
        "timestamp",
        [
            ("2024-02-29 12:34:56.7", datetime.datetime(2024, 2, 29, 12, 34, 56, 700000)),
            ("2024-02-29", None),
            ("2024-02-29T01:02:03", datetime.datetime(2024, 2, 29, 1, 2, 3)),
            ("2024-2-3 1:2:3", datetime.datetime(2024, 2, 3, 1, 2, 3)),
            ("2024-02-30 00:00:00", None),
        ],
    ),
    (
        "date",
        [
            ("2024-2-3", datetime.date(2024, 2, 3)),
            ("2024-02-30", None),
            ("2024-02-29 01:02:03", datetime.date(2024, 2, 29)),
            ("x", None),
        ],
    ),
    ("decimal(5,2)", [("1.235", Decimal("1.24")), ("x", None), ("12345", None), (" 1 ", Decimal(1))]),
    ("varchar(2)", [("abc", "ab"), ("", "")]),
    ("char(3)", [("a", "a  "), ("abcd", "abc")]),
    ("string", [(" a ", " a "), ("", "")]),
]


def create(session: Session, tmp_path: Path, columns: str, regex: str, lines: str, more: str = "") -> None:
    (tmp_path / "in").mkdir(exist_ok=True)
    (tmp_path / "in" / "f").write_text(lines)
    session.execute(
        f"CREATE EXTERNAL TABLE t ({columns}) {_SERDE} WITH SERDEPROPERTIES ('input.regex'='{regex}'{more})"
        f" LOCATION '{tmp_path}/in'"
    )


@pytest.mark.ci
def test_values_of_every_type_are_read_as_hive_reads_them(session: Session, tmp_path: Path) -> None:
    for kind, values in _VALUES:
        create(session, tmp_path, f"a {kind}", "x(.*)", "".join(f"x{text}\n" for text, _ in values))
        assert (kind, rows(session, "SELECT * FROM t")) == (kind, [(value,) for _, value in values])
        session.execute("DROP TABLE t")


def test_a_line_that_does_not_match_and_a_group_that_does_not_take_part_are_null(
    session: Session, tmp_path: Path
) -> None:
    create(session, tmp_path, "a string, b int, c string", "x(.*)|y([0-9]+)(z*)", "xa\ny5\ny5zz\nx\n\nnope\n")
    assert rows(session, "SELECT * FROM t") == [
        ("a", None, None),
        (None, 5, ""),
        (None, 5, "zz"),
        ("", None, None),
        (None, None, None),
        (None, None, None),
    ]
    session.execute("DROP TABLE t")
    any_case = ", 'input.regex.case.insensitive'='true'"
    create(session, tmp_path, "a tinyint, b char(3)", "([0-9]*?)-([A-Z])", "1-a\nx-b\n-C\n", any_case)
    assert rows(session, "SELECT * FROM t") == [(1, "a  "), (None, None), (None, "C  ")]


def test_a_table_with_a_regex_cannot_be_written_to(session: Session, tmp_path: Path) -> None:
    create(session, tmp_path, "a string", "(.*)", "x\n")
    fails("SERDE_READS_ONLY", lambda: session.execute("INSERT INTO t VALUES ('a')"))
    made = f"CREATE TABLE u {_SERDE} WITH SERDEPROPERTIES ('input.regex'='(.*)') AS SELECT * FROM t"
    fails("SERDE_READS_ONLY", lambda: session.execute(made))
    assert rows(session, "SELECT * FROM t") == [("x",)]
    fails("INVALID_TABLE_PROPERTIES", lambda: session.execute("ALTER TABLE t ADD COLUMNS (c array<int>)"))


@pytest.mark.parametrize(
    ("columns", "properties"),
    [
        ("a array<int>", "'input.regex'='(.*)'"),
        ("a binary", "'input.regex'='(.*)'"),
        ("a int", "'input.regex.case.insensitive'='true'"),
    ],
)
def test_a_table_that_hive_refuses_is_refused(session: Session, columns: str, properties: str) -> None:
    clauses = f"({columns}) {_SERDE} WITH SERDEPROPERTIES ({properties})"
    fails("INVALID_TABLE_PROPERTIES", lambda: session.execute(f"CREATE TABLE t {clauses}"))


@pytest.mark.parametrize("regex", ["(.*)-(.*)", "(.*"])
def test_a_regex_that_does_not_fit_the_columns_is_an_error(session: Session, tmp_path: Path, regex: str) -> None:
    create(session, tmp_path, "a string", regex, "x\n")
    fails("INVALID_TABLE_PROPERTIES", lambda: session.sql("SELECT * FROM t").collect())
