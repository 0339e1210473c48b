"""What the front ends are fed that is no text, and what they show of it: errors of acidsql, and no escapes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.frontends.cell_results import CellError, Rows
from acidsql.frontends.cli import main
from acidsql.frontends.html_results import html_table
from acidsql.frontends.render import Format, render
from acidsql.frontends.script import Manner, Runner
from acidsql.session import connect
from acidsql.statements.results import ResultColumn
from tests.fuzz.statements import limited

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\x00\u202e"
PARSED = "EXPLAIN DROP TABLE IF EXISTS x;"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to work in, which holds the default warehouse."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ACIDSQL_WAREHOUSE", raising=False)
    monkeypatch.delenv("ACIDSQL_METASTORE", raising=False)
    return tmp_path


def is_harmless(text: str) -> bool:
    return all(sign.isprintable() or sign == "\n" for sign in text)


def fed(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))


# ------------------------------------------------------------------------------------------------ files and streams


@pytest.mark.ci
@pytest.mark.parametrize("through", ["-f -", "standard input"])
@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"\xef\xbb\xbf" + PARSED.encode(), 0),
        (PARSED.replace(" ", "\r\n").encode() + b"\r\n", 0),
        (b"", 0),
        (b" -- nothing\n;;;\n", 0),
        (b"SELECT '\xff';", 1),
        (b"SELECT 1\xff;", 1),
        (b"\xff\xfeS\0E\0L\0", 1),
        (b"\0\0\0", 1),
        (b"SELECT '" + b"a" * 100_000, 1),
        (b"SELECT " + b"(" * 100_000, 1),
        (b"\x80" * 1000, 1),
    ],
)
def test_any_bytes_are_statements_or_an_error(
    content: bytes, status: int, through: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fed(monkeypatch, content)
    assert main(["shell", *(["-f", "-"] if through == "-f -" else [])]) == status
    shown = capsys.readouterr().err
    assert "Traceback" not in shown
    assert ("[PARSE_SYNTAX_ERROR]" in shown) is (status == 1)
    assert is_harmless(shown)
    assert len(shown) < 5_000


def test_a_file_that_is_no_text_is_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "a\x1b[31mb.sql"
    (place / name).write_bytes(b"SELECT '\xff'")
    assert main(["shell", "-f", name]) == 2
    (place / name).write_bytes(b"SELEC 1")
    assert main(["shell", "-f", name]) == 1
    shown = capsys.readouterr().err
    assert r"a\x1b[31mb.sql:1:1: [PARSE_SYNTAX_ERROR]" in shown
    assert is_harmless(shown)


def test_text_of_an_argument_that_is_no_text_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell", "-e", "SELECT '\udcff'"]) == 1
    assert main(["shell", "--hivevar", "x=\udcff", "-e", "SELECT '${x}'"]) == 1
    assert capsys.readouterr().err.count("is half a character") == 2


def test_many_lines_of_one_statement_are_read_once_or_a_few_times(capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["SELEC '\n", *["a; b;\n"] * 100_000, "';\n", PARSED + "\n"]
    with connect("w") as session, limited(120):
        runner = Runner(session, Manner(Format.TSV, force=True))
        assert runner.run_lines(lines)
    assert runner.status == 1
    assert capsys.readouterr().err.count("did you mean SELECT?") == 1


# ------------------------------------------------------------------------------------------------ what is shown


def test_verbose_and_dry_runs_show_no_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    statement = f"SELECT '{ESCAPES}', '<b>'"
    assert main(["shell", "-v", "--dry-run", "-e", statement]) == 0
    output = capsys.readouterr()
    assert "owned" in output.err
    assert is_harmless(output.out)
    assert is_harmless("\n".join(line for line in output.err.splitlines() if "owned" in line))


COLUMNS = [ResultColumn(f"<i>{ESCAPES}", "string"), ResultColumn("n", "array<string>")]
ROWS = [(f"<script>alert(1)</script>{ESCAPES}", [f"&{ESCAPES}"]), (None, None)]


@pytest.mark.parametrize("shape", [Format.TABLE, Format.VERTICAL, Format.MARKDOWN])
def test_formats_for_eyes_show_no_escapes(shape: Format) -> None:
    shown = "".join(render(shape, COLUMNS, ROWS))
    assert is_harmless(shown)
    assert r"\x1b]0;owned" in shown.replace("\\\\", "\\")


@pytest.mark.parametrize("shape", [Format.TSV, Format.CSV])
def test_formats_for_programs_keep_every_character_but_their_own(shape: Format) -> None:
    assert ESCAPES in "".join(render(shape, COLUMNS, ROWS))


def test_a_notebook_shows_values_and_names_as_text() -> None:
    for shown in (html_table(COLUMNS, ROWS).html, Rows(COLUMNS, ROWS, complete=True)._repr_html_()):
        assert "<script" not in shown
        assert "<i>\x1b" not in shown
        assert "&lt;script&gt;" in shown
        assert "&amp;" in shown
    assert is_harmless(repr(Rows(COLUMNS, ROWS, complete=True)))


def test_an_error_of_a_cell_shows_no_escapes() -> None:
    text = f"SELECT `{ESCAPES}` FROM t"
    error = AcidSqlError(Condition.COLUMN_NOT_FOUND, span=Span(text, 7, 9), column=ESCAPES, suggestion="")
    shown = CellError.showing(error)
    assert isinstance(shown, CellError)
    assert all(is_harmless(line) for line in shown._render_traceback_())
