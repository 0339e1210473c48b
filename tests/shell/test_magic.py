"""`%acidsql` and `%%acidsql`: the first line's options, what a cell shows, and its errors."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from pyspark.sql import DataFrame, SparkSession

from acidsql.errors import AcidSqlError
from acidsql.frontends.magic import CellError, Message, Order, Rows, frames_in, load_ipython_extension, parse_line
from tests.shell import employee


@pytest.mark.parametrize(
    ("line", "order"),
    [
        ("", Order()),
        ("SELECT 1", Order(sql="SELECT 1")),
        ("top <<", Order(name="top", show=False)),
        ("top=<< SELECT 1", Order(name="top", show=True, sql="SELECT 1")),
        ("-n 5 --pandas top <<", Order(limit=5, pandas=True, name="top", show=False)),
        ("top << --limit=5 SELECT 1 -- x", Order(limit=5, name="top", show=False, sql="SELECT 1 -- x")),
        ("--warehouse '/a b' --metastore sqlite:///m.db", Order(warehouse="/a b", metastore="sqlite:///m.db")),
        ('--warehouse "w"', Order(warehouse="w")),
        ("SELECT 1 << 2", Order(sql="SELECT 1 << 2")),
        ("-- a comment", Order(sql="-- a comment")),
    ],
)
def test_the_first_line_is_options_then_a_name_then_sql(line: str, order: Order) -> None:
    assert parse_line(line) == order


@pytest.mark.parametrize("line", ["--pandsa SELECT 1", "--limit", "--limit few", "-x", "-n SELECT"])
def test_a_wrong_option_is_an_error_and_no_comment(line: str) -> None:
    with pytest.raises(UsageError):
        parse_line(line)


def test_frames_are_names_in_braces_outside_of_quotes_and_comments() -> None:
    text = "SELECT '{a}', `{b}`, \"{c}\" -- {d}\nFROM {e} /* {f} */ JOIN {unknown}"
    assert frames_in(text, {name: name.upper() for name in "abcdefg"}) == {"e": "E"}


def test_a_variable_in_braces_is_no_frame() -> None:
    assert frames_in("SELECT ${a} FROM {b}", {"a": 1, "b": 2}) == {"b": 2}


# ------------------------------------------------------------------------------------------------ cells


def ran(shell: InteractiveShell, text: str) -> ExecutionResult:
    done: ExecutionResult = shell.run_cell(text)  # type: ignore[no-untyped-call]
    return done


def cell(shell: InteractiveShell, text: str) -> object:
    """What a cell with this text gives; raises its error."""
    done = ran(shell, text)
    done.raise_error()  # type: ignore[no-untyped-call]
    result: object = done.result
    return result


@pytest.fixture(scope="module")
def ipython(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[InteractiveShell]:
    """IPython with the magic loaded and the story run, each statement in a cell of its own."""
    shell = InteractiveShell.instance()
    load_ipython_extension(shell)
    shell.user_ns["warehouse"] = tmp_path_factory.mktemp("magic")
    assert cell(shell, "%acidsql --warehouse {warehouse}") is None
    shown = [repr(cell(shell, f"%%acidsql\n{statement};")) for statement in employee.STATEMENTS]
    assert [message for message in shown if "affected" in message] == list(employee.COUNTS)
    yield shell
    InteractiveShell.clear_instance()


def test_a_query_cell_shows_a_table(ipython: InteractiveShell) -> None:
    shown = cell(ipython, f"%%acidsql\n{employee.QUERY}")
    assert isinstance(shown, Rows)
    names = [column.name for column in shown.columns]
    values = [dict(zip(names, row, strict=True)) for row in shown.rows]
    employee.check_rows([{**value, "row__id": value["row__id"].asDict()} for value in values])  # type: ignore[attr-defined]
    assert "<td" in shown._repr_html_()
    assert "(3 rows)" in shown._repr_html_()
    assert "| Mary |   9000 |" in repr(shown)


def test_a_line_magic_shows_its_rows_and_keeps_braces(ipython: InteractiveShell) -> None:
    ipython.user_ns["new"] = cell(ipython, "import pandas; pandas.DataFrame({'id': [7], 'name': ['Ann']})")
    shown = cell(ipython, "%acidsql SELECT * FROM {new}")
    assert isinstance(shown, Rows)
    assert [tuple(row) for row in shown.rows] == [(7, "Ann")]


def test_a_name_binds_a_dataframe_and_shows_nothing(ipython: InteractiveShell) -> None:
    assert cell(ipython, "%%acidsql staff <<\nSELECT name FROM employee ORDER BY id") is None
    staff = ipython.user_ns["staff"]
    assert isinstance(staff, DataFrame)
    assert [row.name for row in staff.collect()] == ["Tom", "Kate", "Mary"]


def test_a_name_with_an_equals_sign_binds_and_shows(ipython: InteractiveShell) -> None:
    shown = cell(ipython, "%%acidsql --pandas -n 2 staff =<<\nSELECT name FROM employee ORDER BY id")
    assert list(ipython.user_ns["staff"]["name"]) == ["Tom", "Kate"]
    assert list(shown["name"]) == ["Tom", "Kate"]  # type: ignore[index]


def test_limit_says_that_there_is_more(ipython: InteractiveShell) -> None:
    shown = cell(ipython, "%acidsql -n 2 SELECT name FROM employee ORDER BY id")
    assert isinstance(shown, Rows)
    assert len(shown.rows) == 2
    assert repr(shown).endswith("(the first 2 rows; more with --limit)")


def test_several_statements_run_in_order_and_the_last_is_shown(ipython: InteractiveShell) -> None:
    text = "%%acidsql\nCREATE TABLE log (n int);\nINSERT INTO log VALUES (1), (2);\nDROP TABLE log"
    assert repr(cell(ipython, text)) == "DROP TABLE"
    assert isinstance(cell(ipython, "%acidsql CREATE DATABASE IF NOT EXISTS other"), Message)


def test_an_error_is_a_message_with_a_caret_in_the_cells_own_lines(
    ipython: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    done = ran(ipython, "%%acidsql\nSELECT 1;\nSELECT nam FROM employee")
    assert isinstance(done.error_in_exec, CellError)
    assert isinstance(done.error_in_exec, AcidSqlError)
    assert done.error_in_exec.condition == "COLUMN_NOT_FOUND"
    shown = "".join(capsys.readouterr())
    assert "3 | SELECT nam FROM employee\n  |        ^^^\n" in shown
    assert "Traceback" not in shown
    assert "magic.py" not in shown


def test_html_shows_data_as_text(ipython: InteractiveShell) -> None:
    shown = cell(ipython, "%acidsql SELECT '<script>' AS `<b>`")
    assert isinstance(shown, Rows)
    assert "&lt;script&gt;" in shown._repr_html_()
    assert "<script>" not in shown._repr_html_()


def test_nothing_to_run_tells_how_to_use_it(ipython: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError):
        cell(ipython, "%acidsql")
