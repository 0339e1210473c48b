"""`acidsql diff` and `session.row_changes`: the changes between two versions, with both rows of an update."""

from __future__ import annotations

import csv
import io
import json
import sys
from functools import partial

import pytest

from acidsql.frontends.cli import main
from acidsql.frontends.diff import print_changes
from acidsql.frontends.render import Format
from acidsql.session import Session
from tests.answers import fails

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def filled(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int, v string, f float) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a', 0.1), (2, 'b', 0.2), (3, NULL, 0.3)")
    session.execute("UPDATE t SET v = 'x' WHERE id > 1")
    session.execute("DELETE FROM t WHERE id = 1")


@pytest.mark.ci
def test_changes_are_a_table_with_signs_and_colours_on_a_terminal(
    session: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    filled(session)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", screen := Terminal())
    print_changes(session, "t", 1, 3, None, None)
    lines = screen.getvalue().splitlines()
    assert lines[1] == "|   | version | id | v         | f   |"
    assert lines[3] == "\x1b[32m| + |       1 |  1 | a         | 0.1 |\x1b[0m"
    assert lines[6:9] == [
        "\x1b[33m| ~ |       2 |  2 | b -> x    | 0.2 |\x1b[0m",
        "\x1b[33m| ~ |       2 |  3 | NULL -> x | 0.3 |\x1b[0m",
        "\x1b[31m| - |       3 |  1 | a         | 0.1 |\x1b[0m",
    ]
    assert "(3 inserted, 2 updated, 1 deleted)\n" in capsys.readouterr().err
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stdout", screen := Terminal())
    session.execute("UPDATE t SET v = 'c\x1b[31md' WHERE id = 2")
    print_changes(session, "t", 4, None, None, None)
    assert r"x -> c\x1b[31md" in screen.getvalue()
    assert "\x1b" not in screen.getvalue()


@pytest.mark.ci
def test_programs_get_new_values_and_former_ones(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    filled(session)
    print_changes(session, "t", 2, 3, None, Format.JSONL)
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"change": "update", "version": 2, "id": 2, "v": "x", "f": 0.2, "former_values": {"v": "b"}},
        {"change": "update", "version": 2, "id": 3, "v": "x", "f": 0.3, "former_values": {"v": None}},
        {"change": "delete", "version": 3, "id": 1, "v": "a", "f": 0.1, "former_values": None},
    ]
    print_changes(session, "t", 3, 3, None, Format.CSV)
    assert list(csv.reader(io.StringIO(capsys.readouterr().out)))[1:] == [["delete", "3", "1", "a", "0.1", ""]]
    print_changes(session, "t", 1, None, 2, None)
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 3
    assert printed.err == (
        "(3 inserted, 2 updated, 1 deleted)\n"
        "The first 2 changes are shown. --limit N shows more, and --limit 0 all of them.\n"
    )


@pytest.mark.ci
def test_updates_whose_rows_are_not_told_are_two_rows(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int, v string) PARTITIONED BY (p int) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 2)")
    session.execute("UPDATE t SET p = 3 - p WHERE id < 3")
    session.execute("UPDATE t SET v = upper(v) WHERE id < 4")
    moved = session.row_changes("t", 2, 2)
    assert [(row.change, (row.old or row.new or ())[:3]) for row in moved.rows] == [
        ("update_preimage", (1, "a", 1)),
        ("update_preimage", (2, "b", 2)),
        ("update_postimage", (2, "b", 1)),
        ("update_postimage", (1, "a", 2)),
    ]
    assert (moved.inserted, moved.updated, moved.deleted) == (0, 2, 0)
    assert {(row.change, row.old, row.new) for row in session.row_changes("t", 3).rows} == {
        ("update", (1, "a", 2), (1, "A", 2)),
        ("update", (2, "b", 1), (2, "B", 1)),
        ("update", (3, "c", 2), (3, "C", 2)),
    }


def test_insert_only_tables_and_versions_that_are_gone(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID[:-1]}, 'transactional_properties'='insert_only')")
    session.execute("INSERT INTO t VALUES (1)")
    session.execute("INSERT INTO t VALUES (2)")
    assert [(row.change, row.version, row.new) for row in session.row_changes("t", 2).rows] == [("insert", 2, (2,))]
    session.execute("INSERT OVERWRITE TABLE t VALUES (3)")
    error = fails("NOT_ENOUGH_HISTORY", lambda: session.row_changes("t", 2))
    assert "CHANGES FROM VERSION 2" in str(error)


def test_there_is_nothing_behind_the_newest_version(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    filled(session)
    print_changes(session, "t", 4, None, None, None)
    assert capsys.readouterr() == (
        "change\tversion\tid\tv\tf\tformer_values\n",
        "(0 inserted, 0 updated, 0 deleted)\n",
    )
    for first, last in ((5, None), (4, 4)):
        error = fails("INVALID_PARAMETER", partial(print_changes, session, "t", first, last, None, None))
        assert f"The changes behind version {first - 1} begin with version {first}." in str(error)


def test_versions_must_be_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    for versions in (["5", "5"], ["5", "4"], ["x"], ["-1"]):
        with pytest.raises(SystemExit) as left:
            main(["diff", "t", *versions])
        assert left.value.code == 2
    assert "version B must be higher than version A" in capsys.readouterr().err
