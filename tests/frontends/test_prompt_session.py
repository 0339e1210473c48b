"""What the prompt promises of its session: transactions that outlive a typo, questions, settings, plans for people."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark import SparkContext

from acidsql.errors import AcidSqlError
from acidsql.frontends.prompt_actions import confirms
from acidsql.session import Session, connect
from acidsql.spark.session import started_spark


def refused(session: Session, statement: str) -> AcidSqlError:
    with pytest.raises(AcidSqlError) as raised:
        session.execute(statement)
    return raised.value


def rows(session: Session, query: str) -> list[tuple[object, ...]]:
    return list(session.execute(query).rows())


@pytest.mark.ci
def test_a_refused_statement_leaves_the_transaction_open_at_the_prompt_only(session: Session) -> None:
    session.execute("CREATE TABLE t (id int, v int NOT NULL) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.keeps_transaction = True
    session.execute("START TRANSACTION")
    session.execute("INSERT INTO t VALUES (1, 10)")
    open_one = session.transaction_id
    for statement in (
        "SELEC 1",
        "SELECT nothing FROM t",
        "SELECT * FROM nowhere",
        "UPDATE t SET w = 1",
        "UPDATE t SET v = no_function(v)",
        "INSERT INTO t SELECT nothing, 1 FROM t",
    ):
        error = refused(session, statement)
        assert f"Transaction {open_one} is still open." in str(error), statement
    session.execute("UPDATE t SET v = v + 1 WHERE id = 1")
    session.execute("COMMIT")
    assert rows(session, "SELECT * FROM t") == [(1, 11)]
    names = os.listdir(session.catalog.table("default", "t").location)
    assert not [name for name in names if "staging" in name]

    session.execute("START TRANSACTION")
    session.execute("INSERT INTO t VALUES (2, 20)")
    assert "was rolled back" in str(refused(session, "INSERT INTO t VALUES (3, NULL)"))  # a row failed, not the text
    session.keeps_transaction = False
    session.execute("START TRANSACTION")
    assert "was rolled back" in str(refused(session, "SELEC 1"))
    assert rows(session, "SELECT * FROM t") == [(1, 11)]


def test_the_prompt_asks_before_every_row_is_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    asked: list[str] = []

    def answering(answer: str) -> Callable[[str], str]:
        def ask(question: str) -> str:
            asked.append(question)
            return answer

        return ask

    monkeypatch.setattr(sys, "stdin", Terminal())
    with connect(tmp_path / "warehouse") as embedded:
        embedded.execute("CREATE DATABASE d")
        for name in ("t", "d.t"):
            embedded.execute(f"CREATE TABLE {name} (v int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
        embedded.execute("INSERT INTO d.t VALUES (1), (2), (3)")
        for statement in ("UPDATE t SET v = 1", "delete from d.t", "WITH s AS (SELECT 1) DELETE FROM t"):
            for answer, outcome in (
                ("y", (True, "")),
                ("n", (False, "")),
                ("", (False, "")),
                ("SELECT 42;", (False, "SELECT 42;\n")),
            ):
                assert confirms(statement, embedded, answering(answer)) == outcome
        assert asked[0] == "There is no WHERE: this changes every row of t, which has 0 rows. Run it? (y/N) "
        assert asked[4] == "There is no WHERE: this changes every row of d.t, which has 3 rows. Run it? (y/N) "
        del asked[:]
        for statement in (
            "UPDATE t SET v = 1 WHERE v = 2",
            "SELECT 1",
            "UPDATE t SETT",
            "DELETE FROM t WHERE true",
            "DELETE FROM nowhere",  # what is refused is refused without a question
            "UPDATE t SET w = 1",
        ):
            assert confirms(statement, embedded, answering("n")) == (True, "")
        assert not asked
        embedded.execute("DELETE FROM d.t WHERE v = 2")
        embedded.execute("SET AUTOCOMMIT FALSE")
        assert confirms("DELETE FROM d.t", embedded, answering("n")) == (False, "")
        assert asked == ["There is no WHERE: this changes every row of d.t, which has about 2 rows. Run it? (y/N) "]
        assert embedded.transaction_id is None  # the question has begun none
        embedded.execute("SET acidsql.shell.confirm.all.rows=false")
        assert confirms("DELETE FROM t", embedded, answering("n")) == (True, "")


def test_unknown_settings_of_transactions_are_refused_and_those_of_spark_are_shown(session: Session) -> None:
    error = refused(session, "SET hive.txn.xlock.wrote=false")
    assert (error.condition, "Did you mean hive.txn.xlock.write" in str(error)) == ("UNKNOWN_SETTING", True)
    session.execute("SET hive.txn.strict.locking.mode=true")
    assert rows(session, "SET spark.sql.shuffle.partitions")[0][1] == session.spark.conf.get(
        "spark.sql.shuffle.partitions"
    )
    assert rows(session, "SET spark.no.such") == [("spark.no.such", "<undefined>")]


def test_explain_is_for_people_and_formatted_has_the_plan_of_spark(session: Session) -> None:
    session.execute("CREATE TABLE t (id int, v int NOT NULL) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO t VALUES (1, 10)")
    for statement in ("UPDATE t SET v = 2 WHERE id = 1", "SELECT count(v) FROM t", "INSERT INTO t VALUES (2, 3)"):
        plain = session.explain(statement)
        assert "raise_error" not in plain
        assert ":branch" not in plain
        extended = session.explain(f"EXPLAIN EXTENDED {statement}")
        assert "SELECT" in extended
        formatted = session.explain(f"EXPLAIN FORMATTED {statement}")
        assert formatted.startswith(plain)
        assert "  == Physical Plan ==" in formatted
    assert rows(session, "SELECT id FROM t") == [(1,)]
    assert session.execute("EXPLAIN SELECT 1").is_text  # type: ignore[union-attr]


def test_spark_is_stopped_by_its_last_user(session: Session) -> None:
    context = SparkContext.__new__(SparkContext)  # none that runs
    assert not started_spark.join(context, 1, started=False)  # somebody else has started it
    assert started_spark.join(context, 1, started=True)
    assert started_spark.join(context, 2, started=False)
    assert not started_spark.leave(context, 1)
    assert started_spark.leave(context, 2)
    assert not started_spark.join(context, 3, started=False)
    assert session.cancelled_tasks() == 0
