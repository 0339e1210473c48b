"""A place without a warehouse: what reads makes none and says so, and the first statement that writes makes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.frontends.cli import main
from acidsql.session import Session, connect

LISTS = ["SHOW TABLES", "SHOW DATABASES", "SHOW LOCKS", "SHOW COMPACTIONS", "SHOW TRANSACTIONS", "SHOW STREAMS"]
OF_A_TABLE = ["SELECT * FROM t", "DESCRIBE t", "EXPLAIN DELETE FROM t", "INSERT INTO t VALUES (1)", "TRUNCATE TABLE t"]
OTHERS = ["SET", "USE default", "DROP TABLE IF EXISTS t", "DESCRIBE DATABASE default", "EXPLAIN CREATE TABLE t (a INT)"]


def _failure(session: Session, sql: str) -> AcidSqlError:
    with pytest.raises(AcidSqlError) as caught:
        session.execute(sql)
    return caught.value


def test_what_reads_makes_no_warehouse(tmp_path: Path) -> None:
    with connect(tmp_path / "w") as session:
        for sql in (sql for sql in LISTS if sql != "SHOW DATABASES"):
            assert list(session.execute(sql).rows()) == []
        assert list(session.execute("SHOW DATABASES").rows()) == [("default",)]
        for sql in OTHERS:
            session.execute(sql)
        for sql in OF_A_TABLE:
            assert f"There is no warehouse at {tmp_path}/w yet" in _failure(session, sql).hint
        calls: list[Callable[[], object]] = [
            lambda: session.explain("SELECT * FROM t"),
            lambda: session.inspect("t"),
            lambda: session.stream("t"),
            lambda: session.read_arrow("t"),
        ]
        for call in calls:
            with pytest.raises(AcidSqlError, match=f"There is no warehouse at {tmp_path}/w yet"):
                call()
        assert [database.name for database in session.catalog.databases()] == ["default"]
        session.metrics()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sql", LISTS)
def test_the_shell_says_of_a_list_that_there_is_no_warehouse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], sql: str
) -> None:
    assert main(["shell", "--warehouse", str(tmp_path / "w"), "-e", sql]) == 0
    assert f"There is no warehouse at {tmp_path}/w yet: CREATE TABLE" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["inspect", "t"], ["ingest", "t", "--id", "x"], ["compactor", "--once"]])
def test_commands_make_no_warehouse(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    assert main([*command, "--warehouse", str(tmp_path / "w")]) == 1
    assert "[WAREHOUSE_NOT_FOUND]" in capsys.readouterr().err
    assert main([*command, "--warehouse", str(tmp_path), "--metastore", f"sqlite:///{tmp_path}/m.db"]) == 1
    assert f"sqlite:///{tmp_path}/m.db does not exist" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sql", ["CREATE TABLE t (a INT)", "CREATE DATABASE d"])
def test_the_first_statement_that_creates_makes_the_warehouse(tmp_path: Path, sql: str) -> None:
    with connect(tmp_path / "w") as session:
        session.execute(sql)
        session.execute("SHOW TABLES")
        assert session.last_result is not None
        assert session.last_result.note == ""
    assert (tmp_path / "w" / ".acidsql" / "metastore.db").is_file()


def test_a_session_sees_the_warehouse_that_another_one_makes(tmp_path: Path) -> None:
    with connect(tmp_path / "w") as early, connect(tmp_path / "w") as other:
        assert list(early.execute("SHOW TABLES").rows()) == []
        other.execute("CREATE TABLE t (a INT)")
        assert list(early.execute("SHOW TABLES").rows()) == [("t",)]
        early.execute("CREATE TABLE u (a INT)")
        assert list(other.execute("SHOW TABLES").rows()) == [("t",), ("u",)]


def test_a_warehouse_that_cannot_be_made_is_asked_for_again(tmp_path: Path) -> None:
    with connect(tmp_path / "w") as session:
        (tmp_path / "w").write_text("in the way")
        assert _failure(session, "CREATE TABLE t (a INT)").condition == "METASTORE_UNAVAILABLE"
        assert list(session.execute("SHOW TABLES").rows()) == []
        (tmp_path / "w").unlink()
        session.execute("CREATE TABLE t (a INT)")
        assert list(session.execute("SHOW TABLES").rows()) == [("t",)]
