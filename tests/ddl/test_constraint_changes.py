"""ADD and DROP CONSTRAINT, and CHANGE COLUMN with constraints, as Hive 4.0.1 does them."""

from __future__ import annotations

from functools import partial

import pytest

from acidsql.acid.table import Check
from acidsql.session import Session
from tests.answers import fails

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def t(session: Session) -> Session:
    session.execute(f"CREATE TABLE t (id INT, name STRING) {ACID}")
    session.execute("INSERT INTO t VALUES (0, NULL)")
    return session


def rows(session: Session) -> list[tuple[object, ...]]:
    return sorted((tuple(row) for row in session.sql("SELECT * FROM t").collect()), key=str)


def test_a_check_holds_for_new_rows_until_it_is_dropped(t: Session) -> None:
    t.execute("ALTER TABLE t ADD CONSTRAINT Positive CHECK (id > 0 AND name <> 'q') ENABLE NOVALIDATE")
    for statement in ("INSERT INTO t VALUES (0, 'x')", "INSERT INTO t VALUES (1, 'q')", "UPDATE t SET name = 'y'"):
        fails("CONSTRAINT_VIOLATED", partial(t.execute, statement))
    t.execute("INSERT INTO t VALUES (1, 'x')")
    t.execute("ALTER TABLE t CHANGE name title STRING")
    fails("CONSTRAINT_VIOLATED", lambda: t.execute("INSERT INTO t VALUES (1, 'q')"))
    t.execute("ALTER TABLE t DROP CONSTRAINT POSITIVE")
    t.execute("INSERT INTO t VALUES (-1, 'q')")
    assert rows(t) == [(-1, "q"), (0, None), (1, "x")]


def test_a_column_gets_its_constraints_by_change_and_keeps_those_that_it_has(t: Session) -> None:
    t.execute("ALTER TABLE t CHANGE COLUMN name name STRING CONSTRAINT nn NOT NULL ENABLE")
    fails("CONSTRAINT_VIOLATED", lambda: t.execute("INSERT INTO t VALUES (1, NULL)"))
    t.execute("ALTER TABLE t CHANGE name name STRING CONSTRAINT df DEFAULT 'new'")
    t.execute("INSERT INTO t (id) VALUES (1)")
    t.execute("ALTER TABLE t CHANGE id id INT CHECK (id < 100)")
    fails("CONSTRAINT_VIOLATED", lambda: t.execute("INSERT INTO t (id) VALUES (100)"))
    fails("CONSTRAINT_VIOLATED", lambda: t.execute("INSERT INTO t VALUES (1, NULL)"))
    t.execute("ALTER TABLE t DROP CONSTRAINT nn")
    t.execute("INSERT INTO t VALUES (2, NULL)")
    t.execute("ALTER TABLE t DROP CONSTRAINT df")
    t.execute("INSERT INTO t (id) VALUES (3)")
    assert rows(t) == [(0, None), (1, "new"), (2, None), (3, None)]


def test_keys_are_informational_and_can_be_dropped(t: Session) -> None:
    t.execute(f"CREATE TABLE u (a INT CONSTRAINT uk UNIQUE DISABLE, CONSTRAINT pk PRIMARY KEY (a) DISABLE) {ACID}")
    t.execute("ALTER TABLE t ADD CONSTRAINT fk FOREIGN KEY (id) REFERENCES u (a) DISABLE NOVALIDATE RELY")
    t.execute("ALTER TABLE t ADD CONSTRAINT off CHECK (id > 100) DISABLE NOVALIDATE")
    t.execute("INSERT INTO t VALUES (0, 'twice')")
    names = {n.name: (n.kind.value, n.columns) for n in t.catalog.table("default", "u").constraints.names}
    assert names == {"uk": ("UNIQUE", ("a",)), "pk": ("PRIMARY KEY", ("a",))}
    for table, name in (("t", "fk"), ("t", "off"), ("u", "pk"), ("u", "uk")):
        t.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        assert name not in {n.name for n in t.catalog.table("default", table).constraints.names}


@pytest.mark.ci
@pytest.mark.parametrize(
    ("statement", "condition", "code"),
    [
        ("ADD CONSTRAINT pk PRIMARY KEY (id)", "INVALID_CONSTRAINT", 10326),
        ("ADD CONSTRAINT ck CHECK (id > 1) ENABLE VALIDATE", "INVALID_CONSTRAINT", 10326),
        ("ADD CONSTRAINT first CHECK (id > 1)", "CONSTRAINT_ALREADY_EXISTS", None),
        ("ADD CONSTRAINT ck CHECK (nope > 1)", "COLUMN_NOT_FOUND", 10002),
        ("ADD CONSTRAINT ck CHECK (count(*) > 1)", "INVALID_CONSTRAINT", 10326),
        ("ADD CONSTRAINT ck CHECK (id IN (SELECT 1))", "INVALID_CONSTRAINT", 10326),
        ("ADD CONSTRAINT ck UNIQUE (nope) DISABLE", "COLUMN_NOT_FOUND", 10002),
        ("ADD CONSTRAINT again PRIMARY KEY (id) DISABLE", "INVALID_CONSTRAINT", 10326),
        ("DROP CONSTRAINT frist", "CONSTRAINT_NOT_FOUND", None),
        ("CHANGE name title STRING CHECK (name <> 'q')", "COLUMN_NOT_FOUND", 10002),
        ("CHANGE name name STRING DEFAULT id", "INVALID_DEFAULT", 10326),
        ("ADD COLUMNS (z INT NOT NULL)", "NOT_YET_SUPPORTED", None),
    ],
)
def test_a_constraint_that_cannot_be_is_refused_and_changes_nothing(
    t: Session, statement: str, condition: str, code: int | None
) -> None:
    t.execute("ALTER TABLE t ADD CONSTRAINT first CHECK (id >= 0)")
    t.execute("ALTER TABLE t ADD CONSTRAINT pk0 PRIMARY KEY (id) DISABLE")
    before = t.catalog.table("default", "t")
    assert before.constraints.checks == (Check("first", "id >= 0"),)
    error = fails(condition, lambda: t.execute(f"ALTER TABLE t {statement}"))
    assert error.hive_code == code
    assert t.catalog.table("default", "t") == before
