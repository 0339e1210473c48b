"""NOT NULL, CHECK and DEFAULT: in INSERT, UPDATE and MERGE, on the row as it is stored."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from tests.answers import counts, rows


@pytest.fixture(scope="module")
def db(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A session for the whole file; each test makes tables of its own."""
    place = tmp_path_factory.mktemp("constraints")
    with connect(place / "warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark) as session:
        yield session


def violated(session: Session, sql: str, detail: str) -> None:
    with pytest.raises(AcidSqlError) as raised:
        session.sql(sql)
    assert raised.value.condition == "CONSTRAINT_VIOLATED"
    assert raised.value.message == (
        f"DataConstraintViolationError: Either CHECK or NOT NULL constraint violated! ({detail})"
    )


@pytest.mark.ci
def test_a_column_without_a_value_gets_its_default(db: Session) -> None:
    db.sql(
        "CREATE TRANSACTIONAL TABLE d (id int, name string DEFAULT 'it\\'s', n int DEFAULT 1 + 2,"
        " born date DEFAULT CAST('2020-01-01' AS date), free int)"
    )
    db.sql("INSERT INTO d (id) VALUES (1)")
    db.sql("INSERT INTO d (free, id, n) SELECT 5, 2, NULL")
    db.sql("INSERT INTO d VALUES (3, DEFAULT, DEFAULT, NULL, DEFAULT), (4, 'x', 9, DEFAULT, 1)")
    text = "SELECT id, name, n, CAST(born AS string), free FROM d ORDER BY id"
    assert rows(db, text) == [
        (1, "it's", 3, "2020-01-01", None),
        (2, "it's", None, "2020-01-01", 5),
        (3, "it's", 3, None, None),
        (4, "x", 9, "2020-01-01", 1),
    ]
    db.sql("UPDATE d SET name = DEFAULT, n = n + 1, free = DEFAULT WHERE id = 4")
    db.sql(
        "MERGE INTO d USING (VALUES (2), (7)) s(k) ON d.id = s.k WHEN MATCHED THEN UPDATE SET n = DEFAULT"
        " WHEN NOT MATCHED THEN INSERT (id, free, name) VALUES (k, DEFAULT, DEFAULT)"
    )
    assert rows(db, text)[1:] == [
        (2, "it's", 3, "2020-01-01", 5),
        (3, "it's", 3, None, None),
        (4, "it's", 10, "2020-01-01", None),
        (7, "it's", 3, "2020-01-01", None),
    ]


@pytest.mark.ci
def test_not_null_holds_for_every_way_to_write(db: Session) -> None:
    db.sql("CREATE TRANSACTIONAL TABLE n (id int NOT NULL, v string)")
    db.sql("INSERT INTO n VALUES (1, NULL), (2, 'b')")
    for sql in (
        "INSERT INTO n (v) VALUES ('x')",
        "INSERT INTO n VALUES (3, 'c'), (NULL, 'd')",
        "INSERT INTO n VALUES ('no number', 'd')",
        "UPDATE n SET id = NULL WHERE v = 'b'",
        "UPDATE n SET id = CAST(v AS int)",
        "MERGE INTO n USING (VALUES (1)) s(k) ON n.id = s.k WHEN MATCHED THEN UPDATE SET id = NULL",
        "MERGE INTO n USING (VALUES (9)) s(k) ON n.id = s.k WHEN NOT MATCHED THEN INSERT (v) VALUES (k)",
        "MERGE INTO n USING (VALUES (9)) s(k) ON n.id = s.k WHEN NOT MATCHED BY SOURCE THEN UPDATE SET id = NULL",
    ):
        violated(db, sql, "NOT NULL on column id")
    assert rows(db, "SELECT * FROM n ORDER BY id") == [(1, None), (2, "b")]


@pytest.mark.ci
def test_check_passes_on_null_and_sees_the_whole_new_row(db: Session) -> None:
    db.sql("CREATE TRANSACTIONAL TABLE c (low int, high int, CONSTRAINT ordered CHECK (low <= high), CHECK (high < 9))")
    db.sql("INSERT INTO c VALUES (1, 2), (NULL, 1), (5, NULL), (NULL, NULL)")
    violated(db, "INSERT INTO c VALUES (3, 2)", "CHECK ordered")
    violated(db, "INSERT INTO c VALUES (1, 9)", "CHECK high < 9")
    violated(db, "UPDATE c SET low = 3 WHERE low = 1", "CHECK ordered")
    # Neither half alone would pass, both together do; right sides see the old row.
    assert counts(db, "UPDATE c SET low = 7, high = high + 6 WHERE low = 1") == (1, 1, 0, 0)
    assert counts(db, "UPDATE c SET high = NULL WHERE low = 7") == (1, 1, 0, 0)
    assert sorted(rows(db, "SELECT * FROM c"), key=str) == [(5, None), (7, None), (None, 1), (None, None)]


def test_check_sees_the_value_as_it_is_stored(db: Session) -> None:
    db.sql(
        "CREATE TRANSACTIONAL TABLE s (code char(4) CHECK (code <> 'no'), short varchar(2) CHECK (short <> 'ab'),"
        " small tinyint CHECK (small > 0))"
    )
    db.sql("INSERT INTO s VALUES ('yes', 'cd', 1)")
    violated(db, "INSERT INTO s (code) VALUES ('no')", "CHECK code <> 'no'")
    violated(db, "INSERT INTO s (code) VALUES ('no  ')", "CHECK code <> 'no'")
    violated(db, "INSERT INTO s (short) VALUES ('abc')", "CHECK short <> 'ab'")
    violated(db, "UPDATE s SET small = 200", "CHECK small > 0")
    assert rows(db, "SELECT * FROM s") == [("yes ", "cd", 1)]


def test_a_row_that_a_statement_deletes_is_not_checked(db: Session) -> None:
    db.sql("CREATE TRANSACTIONAL TABLE k (id int NOT NULL, v int CHECK (v > 0))")
    db.sql("INSERT INTO k VALUES (1, 1), (2, 2), (3, 3)")
    merged = counts(
        db,
        "MERGE INTO k USING (VALUES (1, -1), (2, 5), (4, NULL)) s(id, v) ON k.id = s.id"
        " WHEN MATCHED AND s.v < 0 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v) WHEN NOT MATCHED BY SOURCE THEN DELETE",
    )
    assert merged == (4, 1, 2, 1)
    assert rows(db, "SELECT * FROM k ORDER BY id") == [(2, 5), (4, None)]
    assert counts(db, "DELETE FROM k") == (2, 0, 2, 0)


def test_a_violation_in_one_row_of_many_undoes_the_statement(db: Session) -> None:
    db.sql("CREATE TRANSACTIONAL TABLE m (id bigint NOT NULL CHECK (id <> 19999))")
    violated(db, "INSERT INTO m SELECT id FROM range(20000)", "CHECK id <> 19999")
    assert rows(db, "SELECT count(*) FROM m") == [(0,)]
    assert counts(db, "INSERT INTO m SELECT id FROM range(19999)") == (19999, 0, 0, 19999)
