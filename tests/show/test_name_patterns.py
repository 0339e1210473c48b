"""Patterns of SHOW: which names they match."""

from __future__ import annotations

import pytest

from acidsql.session import Session

NAMES = ("a", "a1b", "a_b", "a__b", "ab", "b")


@pytest.fixture
def db(session: Session) -> Session:
    for name in NAMES:
        session.execute(f"CREATE TABLE {name} (id int)")
    session.execute(f"CREATE TABLE of_columns ({', '.join(f'{name} int' for name in NAMES)})")
    return session


@pytest.mark.parametrize(
    ("pattern", "tables", "columns"),
    [
        ("a_b", "a1b a_b", "a_b"),
        (r"a\_b", "a_b", "a_b"),
        ("a__b", "a__b", "a__b"),
        ("_", "a b", ""),
        ("A%", "a a1b a_b a__b ab", "a a1b a_b a__b ab"),
        ("a*b", "a1b a_b a__b ab", "a1b a_b a__b ab"),
        (r"a\%", "", ""),
        ("ab|b", "ab b", "ab b"),
        ("a?b", "", ""),
        ("[ab]", "", ""),
    ],
)
def test_a_wildcard_of_a_pattern_means_what_it_means_in_hive(
    db: Session, pattern: str, tables: str, columns: str
) -> None:
    def shown(statement: str) -> str:
        names = {str(row[0]) for row in db.execute(f"{statement} LIKE '{pattern}'").rows()}
        return " ".join(name for name in NAMES if name in names)

    assert shown("SHOW TABLES") == tables
    assert shown("SHOW COLUMNS IN of_columns") == columns


def test_a_pattern_for_databases_is_one_for_tables(db: Session) -> None:
    for name in ("d_1", "d11"):
        db.execute(f"CREATE DATABASE {name}")
    assert [row[0] for row in db.execute("SHOW DATABASES LIKE 'd_1'").rows()] == ["d11", "d_1"]
    assert [row[0] for row in db.execute(r"SHOW DATABASES LIKE 'd\_1'").rows()] == ["d_1"]
