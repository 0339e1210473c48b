"""What front ends print: names and values cannot send commands to a terminal."""

from __future__ import annotations

import ast
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import acidsql.frontends
from acidsql.errors import AcidSqlError, Condition, visible, visible_json
from acidsql.frontends import terminal
from acidsql.frontends.cell_results import Lines, Message
from acidsql.frontends.html_results import html_lines, html_note, html_progress
from acidsql.frontends.inspect import Wanted, print_table
from acidsql.frontends.pager import show
from acidsql.frontends.render import Format, render
from acidsql.frontends.row_lives import print_rows
from acidsql.frontends.script import write_rows
from acidsql.session import Session
from acidsql.statements.log import as_json, as_text
from acidsql.statements.results import ResultColumn

HOSTILE = "a\x1b[31m\x9b2J\u202eb\u2066c"
SHOWN = r"a\x1b[31m\x9b2J\u202eb\u2066c"

_FOLDER = Path(acidsql.frontends.__file__).parent
_PRINTING = {"print", "write", "writelines", "print_exception", "print_exc", "display", "update", "Text"}
_SAFE = {
    ("cli.py", "sys.stdout.write(f\"{as_json({'time': utc, 'event': 'compactor', 'pid': os.getpid(),"
     " 'message': line})}\\n\")"): "as_json escapes control characters as JSON has it",
    ("terminal.py", "sys.stdout.write(visible(text, tabs=True) if sys.stdout.isatty() else text)"):
    "programs get values as they are",
    ("ingest_command.py", "self._stream.write([], offset=self._offset())"): "writes rows",
    ("ingest_command.py", "self._stream.write([])"): "writes rows",
    ("ingest_command.py", "self._stream.write(text.records, offset=self._offset())"): "writes rows",
    ("cell_progress.py", "self.place.display(shown, raw=True)"): "the test of notebooks below",
    ("cell_progress.py", "self.place.update(shown, raw=True)"): "the test of notebooks below",
    ("cell_progress.py", "shown.place.update(EMPTY, raw=True)"): "nothing is shown",
    ("cell_results.py", "display(shown, raw=True)"): "the test of notebooks below",
    ("cell_results.py", "place.update(shown, raw=True)"): "the test of notebooks below",
    ("pager.py", "process.stdin.writelines((visible(part, tabs=True) for part in parts))"): "each part is visible",
}  # fmt: skip
"""Calls that write something else than `visible(..)`, and why they may."""


def printing_calls() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted(_FOLDER.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if (name in _PRINTING and name != "update") or ast.unparse(node.func).endswith("place.update"):
                    yield path.name, node


def is_visible(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return is_visible(node.left) and is_visible(node.right)
    return isinstance(node, ast.Constant) or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "visible"
    )


def test_every_call_of_the_front_ends_that_writes_makes_control_characters_visible() -> None:
    calls = [(name, call) for name, call in printing_calls() if not all(map(is_visible, call.args))]
    found = {(name, ast.unparse(call)) for name, call in calls}
    assert found - set(_SAFE) == set()
    assert set(_SAFE) - found == set(), "these calls are no longer there"


def test_visible_leaves_only_what_a_terminal_does_not_obey() -> None:
    assert visible(HOSTILE + "\t\n") == SHOWN + "\\t\n"
    assert visible(HOSTILE + "\t\n", tabs=True) == SHOWN + "\t\n"
    assert visible("\ud800") == r"\ud800"
    assert visible("\u00e9\u00a0\u4e2d\U0001f600") == "\u00e9\u00a0\u4e2d\U0001f600"
    assert json.loads(visible_json(json.dumps(HOSTILE, ensure_ascii=False))) == HOSTILE


def test_messages_and_errors_are_visible(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.tell(HOSTILE)
    terminal.tell_part(HOSTILE + "\n")
    terminal.report(AcidSqlError(Condition.CANNOT_START, message=HOSTILE), place=HOSTILE)
    try:
        raise ValueError(HOSTILE)
    except ValueError as error:
        terminal.report(error, with_traceback=True)
    written = capsys.readouterr().err
    assert written.count(SHOWN) == 6
    assert not any(sign in written for sign in "\x1b\x9b\u202e\u2066")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("shape", [*Format])
def test_rows_on_a_terminal_are_visible_in_every_format(monkeypatch: pytest.MonkeyPatch, shape: Format) -> None:
    for write in (write_rows, lambda parts: show(parts, 100)):
        monkeypatch.setattr(sys, "stdout", screen := Terminal())
        write(render(shape, [ResultColumn(HOSTILE, "string")], [[HOSTILE], ["a\tb"]]))
        assert not any(sign in screen.getvalue() for sign in "\x1b\x9b\u202e\u2066")
        assert "b" in screen.getvalue()


def test_programs_get_values_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(render(Format.CSV, [ResultColumn("a", "string")], [[HOSTILE]]))
    assert capsys.readouterr().out == f"a\n{HOSTILE}\n"
    write_rows(render(Format.JSONL, [ResultColumn("a", "string")], [[HOSTILE]]))
    line = capsys.readouterr().out
    assert json.loads(line) == {"a": HOSTILE}
    assert "\x9b" not in line


def test_the_log_is_visible() -> None:
    values = {"time": "2026", "statement": HOSTILE, "files": "a\nb"}
    assert as_text(values) == f'2026 statement={SHOWN} files="a b"'
    assert json.loads(as_json(values)) == values
    assert as_json(values).isprintable()


def test_cells_of_notebooks_are_visible() -> None:
    message, lines = Message(HOSTILE, HOSTILE), Lines(((HOSTILE,),), is_plan=False)
    texts = [repr(message), message._repr_html_(), repr(lines), lines._repr_html_()]
    for text in (*texts, html_note(HOSTILE), html_lines([HOSTILE]), html_progress(HOSTILE, 1, 2)):
        assert SHOWN in text
        assert not any(sign in text for sign in "\x1b\x9b\u202e\u2066")


@pytest.mark.parametrize("shape", [None, *Format])
def test_the_life_of_a_row_is_visible(session: Session, monkeypatch: pytest.MonkeyPatch, shape: Format | None) -> None:
    session.execute(
        "CREATE TABLE t (id int, v string) PARTITIONED BY (d string) TBLPROPERTIES ('transactional'='true')"
    )
    session.execute("INSERT INTO t PARTITION (d = :d) VALUES (1, :d)", {"d": HOSTILE})
    monkeypatch.setattr(sys, "stdout", screen := Terminal())
    assert print_rows(session, "t", None, "id = 1", None, shape) == 0
    assert "9b2J" in screen.getvalue()
    assert not any(sign in screen.getvalue() for sign in "\x1b\x9b\u202e\u2066")


@pytest.mark.parametrize("is_terminal", [False, True])
def test_inspect_shows_names_of_directories_and_files(
    session: Session, monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    session.execute("CREATE TABLE t (id int) PARTITIONED BY (d string) TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO t PARTITION (d = :d) VALUES (1)", {"d": HOSTILE})
    (content,) = session.inspect("t").parts
    (Path(content.directory.removeprefix("file:")) / f"notes{HOSTILE}").write_text("")
    monkeypatch.setattr(sys, "stdout", screen := Terminal() if is_terminal else io.StringIO())
    for with_events in (False, True):
        print_table(session, "t", Wanted(with_events=with_events))
    assert r"\x9b2J\u202eb\u2066c" in screen.getvalue()
    assert not any(sign in screen.getvalue() for sign in "\x1b\x9b\u202e\u2066")
