"""`%acidsql` and `%%acidsql`: the first line's options, what a cell shows, and its errors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy
import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from pyspark.sql import DataFrame, SparkSession

import acidsql
from acidsql.errors import AcidSqlError
from acidsql.frontends.cell_results import CellError, Lines, Message, Rows
from acidsql.frontends.magic import load_ipython_extension
from acidsql.frontends.magic_line import Order, frames_in, parse_line, values_in
from tests.support import employee


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


def test_values_are_names_with_a_colon_and_plain_python() -> None:
    text = "SELECT ':a', :b -- :c\nFROM t WHERE x IN (:d) AND y = CAST(m AS map<string:e>) AND z::f = :unknown"
    given = {**{name: name.upper() for name in "abcef"}, "d": numpy.array([1, 2]), "b": numpy.int64(3)}
    found = values_in(text, given)
    assert found == {"b": 3, "d": [1, 2]}
    assert type(found["b"]) is int


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


def completions(shell: InteractiveShell, text: str) -> list[str]:
    """What completes the text at its end."""
    with provisionalcompleter():
        return [one.text for one in shell.Completer.completions(text, len(text))]


@pytest.fixture(scope="module")
def ipython(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[InteractiveShell]:
    """IPython with the magic loaded and the story run, each statement in a cell of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("acidsql.connection._default", None)
        shell = InteractiveShell.instance()
        load_ipython_extension(shell)
        shell.user_ns["warehouse"] = tmp_path_factory.mktemp("magic")
        assert cell(shell, "%acidsql --warehouse {warehouse}") is None
        shown = [cell(shell, f"%%acidsql\n{statement};") for statement in employee.STATEMENTS]
        messages = [one.text for one in shown if isinstance(one, Message)]
        assert [text for text in messages if "affected" in text] == list(employee.COUNTS)
        yield shell
        InteractiveShell.clear_instance()


def test_a_query_cell_shows_a_table(ipython: InteractiveShell) -> None:
    shown = cell(ipython, f"%%acidsql\n{employee.QUERY}")
    assert isinstance(shown, Rows)
    names = [column.name for column in shown.columns]
    values = [dict(zip(names, row, strict=True)) for row in shown.rows]
    employee.check_rows([{**value, "row__id": value["row__id"].asDict()} for value in values])  # type: ignore[attr-defined]
    assert "<td" in shown._repr_html_()
    assert "3 rows in " in shown._repr_html_()
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
    assert "(the first 2 rows in " in repr(shown)
    assert repr(shown).endswith("; --limit N shows more, name << binds all)")


def test_each_of_several_statements_shows_its_result(
    ipython: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "%%acidsql\nCREATE TABLE log (n int);\nINSERT INTO log VALUES (7), (8);\nSELECT n FROM log;\nDROP TABLE log"
    last = cell(ipython, text)
    assert isinstance(last, Message)
    assert last.text == "DROP TABLE"
    shown = capsys.readouterr().out
    parts = ("CREATE TABLE in", "2 rows affected (2 inserted)", "| 7 |\n| 8 |", "(2 rows in", "DROP TABLE")
    places = [shown.index(part) for part in parts]
    assert places == sorted(places)


def test_the_results_before_an_error_are_shown(ipython: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    done = ran(ipython, "%%acidsql\nSELECT 41 + 1 AS answer;\nSELECT * FROM nowhere;\nDROP TABLE employee")
    assert isinstance(done.error_in_exec, CellError)
    shown = "".join(capsys.readouterr())
    assert "|     42 |" in shown, shown
    assert shown.index("|     42 |") < shown.index("3 | SELECT * FROM nowhere;\n  |               ^^^^^^^")
    assert isinstance(cell(ipython, "%acidsql SELECT count(*) FROM employee"), Rows)


def test_values_of_the_notebook_stand_for_names_with_a_colon(ipython: InteractiveShell) -> None:
    cell(ipython, "import numpy, pandas; who = 'Tom'; some = numpy.array([2, 3]); least = pandas.Series([1]).max()")
    text = "%%acidsql\nSELECT id FROM employee WHERE name = :who OR id IN (:some) AND id >= :least ORDER BY id"
    shown = cell(ipython, text)
    assert isinstance(shown, Rows)
    assert [tuple(row) for row in shown.rows] == [(2,), (3,)]


@pytest.mark.parametrize("name", [":no_such_value", "{no_such_frame}"])
def test_an_unknown_variable_is_an_error_that_says_so(ipython: InteractiveShell, name: str) -> None:
    text = f"%acidsql SELECT * FROM {name}" if name.startswith("{") else f"%acidsql SELECT {name}"
    error = ran(ipython, text).error_in_exec
    assert isinstance(error, CellError)
    assert error.condition == "UNBOUND_PARAMETER"
    assert "The notebook has no variable of this name." in str(error)


def test_a_frame_that_is_named_like_a_value_is_an_error_that_says_how_to_name_it(ipython: InteractiveShell) -> None:
    cell(ipython, "import pandas; a_frame = pandas.DataFrame({'id': [1]})")
    error = ran(ipython, "%acidsql SELECT * FROM employee WHERE id IN (:a_frame)").error_in_exec
    assert isinstance(error, CellError)
    assert error.condition == "INVALID_PARAMETER"
    assert "A statement names a frame as {a_frame}." in str(error)


def test_pandas_without_a_name_shows_the_first_rows_and_messages(ipython: InteractiveShell) -> None:
    assert len(cell(ipython, "%acidsql --pandas SELECT id FROM range(150)")) == 100  # type: ignore[arg-type]
    assert isinstance(cell(ipython, "%acidsql --pandas CREATE DATABASE IF NOT EXISTS other"), Message)


def test_explain_is_a_tree(ipython: InteractiveShell) -> None:
    shown = cell(ipython, "%acidsql EXPLAIN DELETE FROM employee WHERE id = 1")
    assert isinstance(shown, Lines)
    assert repr(shown).startswith("DELETE default.employee\nreads\n  default.employee")
    assert '<summary style="cursor: pointer"><b>reads</b></summary>' in shown._repr_html_()


def test_run_sql_and_the_magic_have_one_session(ipython: InteractiveShell) -> None:
    cell(ipython, "%acidsql CREATE TEMPORARY TABLE mine (n int)")
    assert acidsql.run_sql("SHOW TABLES LIKE 'mine'").count() == 1
    session = acidsql.default_session()
    cell(ipython, "%acidsql --warehouse {warehouse}")
    assert acidsql.default_session() is session, "a cell that runs again keeps the session and its temporary tables"


def test_a_failing_query_that_is_bound_as_pandas_is_an_error_without_a_trace(
    ipython: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    done = ran(ipython, "%acidsql --pandas p << SELECT assert_true(id < 3) FROM employee")
    assert isinstance(done.error_in_exec, CellError)
    assert "Traceback" not in "".join(capsys.readouterr())


def test_a_cell_completes_names_of_the_catalog_and_of_the_notebook(ipython: InteractiveShell) -> None:
    cell(ipython, "import pandas; staff_frame = pandas.DataFrame({'id': [1]}); staff_limit = 5")
    assert "salary" in completions(ipython, "%%acidsql\nSELECT 1;\nUPDATE employee SET sal")
    assert "employee_update" in completions(ipython, "%acidsql SELECT * FROM employee_u")
    assert completions(ipython, "%%acidsql\nSELECT * FROM {staff_") == ["staff_frame"]
    assert completions(ipython, "%%acidsql\nSELECT * FROM employee LIMIT :staff_") == ["staff_limit"]
    assert completions(ipython, "%%acidsql --wa") == ["--warehouse"]
    assert "salary" not in completions(ipython, "sal")


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


def test_a_cell_of_comments_does_nothing(ipython: InteractiveShell) -> None:
    assert cell(ipython, "%%acidsql\n-- SELECT 1") is None


def test_nothing_to_run_tells_how_to_use_it(ipython: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError):
        cell(ipython, "%acidsql")
