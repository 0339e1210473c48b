"""Arguments, streams and exit statuses of the command, with statements that need no Spark."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from acidsql.frontends.cli import main

CREATE = "CREATE TABLE {} (id int) STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to work in, which holds the default warehouse."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ACIDSQL_WAREHOUSE", raising=False)
    monkeypatch.delenv("ACIDSQL_METASTORE", raising=False)
    return tmp_path


def in_subprocess(*arguments: str, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "acidsql", *arguments],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        check=False,
    )


# ------------------------------------------------------------------------------------------------ arguments


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-x"], "unrecognized arguments: -x"),
        (["nothing"], "invalid choice: 'nothing'"),
        (["shell", "--output", "xml"], "invalid choice: 'xml'"),
        (["shell", "--hivevar", "day"], "'day' is not KEY=VALUE"),
        (["shell", "--conf", "=x"], "'=x' is not KEY=VALUE"),
        (["shell", "-e"], "argument -e: expected one argument"),
        (["shell", "--ware", "x"], "unrecognized arguments: --ware x"),
        (["inspect"], "required: TABLE"),
    ],
)
def test_bad_usage_exits_2_and_prints_no_rows(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert complaint in printed.err
    assert printed.err.startswith("usage: acidsql")


def test_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"acidsql {version('acidsql')}\n"


def test_help_names_every_option_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["shell", "--help"])
    shown = capsys.readouterr().out
    options = (
        "--warehouse --metastore -e -f -i -S -v --database --hivevar --hiveconf --conf --master --output --no-header"
        " --force --dry-run"
    )
    assert [option for option in options.split() if f"\n  {option}" not in shown] == []
    assert "table,vertical,csv,tsv,json,jsonl,markdown" in shown


@pytest.mark.parametrize("option", ["-f", "-i"])
def test_a_file_that_cannot_be_read_exits_2_before_anything_runs(
    option: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["shell", "-e", CREATE.format("t"), option, "missing.sql"]) == 2
    assert capsys.readouterr().err == "[CANNOT_START] Cannot read missing.sql: No such file or directory\n"
    assert list(place.iterdir()) == []


def test_a_database_that_is_not_there_exits_2(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell", "--database", "nope", "-e", "SHOW TABLES"]) == 2
    assert "[DATABASE_NOT_FOUND]" in capsys.readouterr().err


def test_a_setting_that_is_not_there_exits_2(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell", "--hiveconf", "acidsql.nope=1", "-e", "SHOW TABLES"]) == 2
    assert "[UNKNOWN_SETTING]" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------ running


def test_sources_run_in_the_order_given_after_the_init_file(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "init.sql").write_text("CREATE DATABASE d; USE d;")
    (place / "second.sql").write_text(f"-- comment; only\n{CREATE.format('b')};")
    arguments = ["-e", CREATE.format("a"), "-f", "second.sql", "-e", "SHOW TABLES", "-i", "init.sql"]
    assert main(["shell", "--no-header", *arguments]) == 0
    printed = capsys.readouterr()
    assert [line.split("\t")[0] for line in printed.out.splitlines()] == ["a", "b"]
    assert (place / "warehouse" / "d.db" / "a").parent.is_dir()


def test_only_rows_go_to_standard_output(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell", "-v", "-e", CREATE.format("t"), "-e", "SHOW DATABASES"]) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines()[1:] == ["default"]
    assert "CREATE TABLE t" in printed.err  # -v
    assert "CREATE TABLE in " in printed.err
    assert "(1 row) in " in printed.err


def test_silent_prints_nothing_but_rows(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell", "-S", "-e", CREATE.format("t"), "-e", "SHOW DATABASES", "--output", "csv"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.splitlines()[1:] == ["default"]


def test_the_first_error_stops_and_exits_1(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell", "-e", "SELECT 1 FROM nope; CREATE DATABASE d", "-e", "CREATE DATABASE e"]) == 1
    assert main(["shell", "-S", "--no-header", "-e", "SHOW DATABASES"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "default\n"
    assert "[TABLE_NOT_FOUND]" in printed.err
    assert "1 | SELECT 1 FROM nope; CREATE DATABASE d\n  |               ^^^^\n" in printed.err


def test_force_goes_on_and_still_exits_1(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell", "--force", "-e", "USE nope; CREATE DATABASE d", "-e", "SHOW DATABASES", "--no-header"]) == 1
    assert capsys.readouterr().out.split() == ["d", "default"]


def test_an_error_in_a_file_names_file_line_and_column(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "bad.sql").write_text("SHOW DATABASES;\n\nSELECT 1\n  FROM nope;\n")
    assert main(["shell", "-f", "bad.sql"]) == 1
    printed = capsys.readouterr().err
    assert "bad.sql:4:8: [TABLE_NOT_FOUND]" in printed
    assert "4 |   FROM nope;\n  |        ^^^^\n" in printed


def test_an_open_quote_is_an_error_before_anything_runs(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell", "-e", "CREATE DATABASE d; SELECT 'x"]) == 1
    assert "[PARSE_SYNTAX_ERROR]" in capsys.readouterr().err
    assert main(["shell", "--no-header", "-e", "SHOW DATABASES"]) == 0
    assert capsys.readouterr().out == "default\n"


def test_statements_come_from_standard_input(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("CREATE DATABASE\n  d; -- ;\nCREATE DATABASE e;SHOW\nDATABASES"))
    assert main(["shell", "--no-header"]) == 0
    assert capsys.readouterr().out.split() == ["d", "default", "e"]


@pytest.mark.ci
def test_a_statement_of_standard_input_runs_as_soon_as_it_is_there(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "acidsql", "shell", "--no-header"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("SHOW\nDATABASES;\n")
        process.stdin.flush()
        assert process.stdout.readline() == "default\n"
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def test_backslash_g_shows_rows_vertically(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell", "-e", r"SHOW DATABASES\G"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "*************************** 1. row ***************************"
    assert shown[1].endswith(": default")


def test_a_statement_of_a_file_ends_in_backslash_g_too(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "SHOW DATABASES\\G\nSHOW DATABASES LIKE 'd\\\\G*';\nSHOW DATABASES \\G -- as rows\n"
    (place / "g.sql").write_text(script)
    assert main(["shell", "--no-header", "-f", "g.sql"]) == 0
    shown = capsys.readouterr().out
    assert shown == "database_name: default\n" * 2
    monkeypatch.setattr(sys, "stdin", io.StringIO(script))
    assert main(["shell", "--no-header"]) == 0
    assert capsys.readouterr().out == shown


def test_a_script_runs_another_one_by_source(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "outer.sql").write_text("CREATE DATABASE d;\nsource inner.sql;\nSHOW DATABASES;\n")
    (place / "inner.sql").write_text("USE d;\nCREATE DATABASE e;\n")
    (place / "loop.sql").write_text("source loop.sql;")
    assert main(["shell", "--no-header", "-f", "outer.sql"]) == 0
    assert capsys.readouterr().out.split() == ["d", "default", "e"]
    assert main(["shell", "-f", "loop.sql"]) == 1
    assert "the files run each other without end" in capsys.readouterr().err
    assert main(["shell", "-e", "source missing.sql; SHOW DATABASES"]) == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", "[STORAGE_FAILED] missing.sql: No such file or directory\n")
    assert main(["shell", "-e", "!ls; SHOW DATABASES"]) == 1
    assert "a command of the prompt" in capsys.readouterr().err


def test_a_script_with_a_command_of_the_prompt_is_told_the_statement(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for script, line, hint in (
        ("SHOW DATABASES;\n\\d t\nSHOW TABLES;", 2, "Write DESCRIBE t;"),
        ("\\d+ t;", 1, "Write DESCRIBE FORMATTED t;"),
        ("\\x\nSHOW TABLES;", 1, "A script runs SQL, and source FILE;"),
    ):
        (place / "prompt.sql").write_text(script)
        assert main(["shell", "-f", "prompt.sql"]) == 1
        error = capsys.readouterr().err
        assert f"prompt.sql:{line}:1: [PARSE_SYNTAX_ERROR]" in error
        assert hint in error


def test_without_a_command_it_is_the_shell(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-S", "--no-header", "-e", "SHOW DATABASES"]) == 0
    assert capsys.readouterr().out == "default\n"


def test_a_plan_and_a_definition_are_plain_text(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell", "--output", "table", "-e", CREATE.format("t"), "-e", "EXPLAIN DROP TABLE t"]) == 0
    assert capsys.readouterr().out.startswith("DROP TABLE default.t\nlocks\n  default -> SHARED_READ\n")
    assert main(["shell", "--output", "table", "-e", "SHOW CREATE TABLE t"]) == 0
    assert capsys.readouterr().out.startswith("CREATE TABLE")


@pytest.mark.parametrize(
    ("shape", "shown"),
    [
        ("table", "+---------------+\n| database_name |\n+---------------+\n| default       |\n+---------------+\n"),
        ("vertical", f"{'*' * 27} 1. row {'*' * 27}\ndatabase_name: default\n"),
        ("csv", "database_name\ndefault\n"),
        ("tsv", "database_name\ndefault\n"),
        ("json", '[\n{"database_name":"default"}\n]\n'),
        ("jsonl", '{"database_name":"default"}\n'),
        ("markdown", "| database_name |\n| ------------- |\n| default       |\n"),
    ],
)
def test_output_chooses_the_format(shape: str, shown: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell", "--output", shape, "-e", "SHOW DATABASES"]) == 0
    assert capsys.readouterr().out == shown


def test_dry_run_prints_plans_and_changes_nothing(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell", "-e", CREATE.format("t")]) == 0
    before = sorted((place / "warehouse").rglob("*"))
    assert main(["shell", "--dry-run", "-e", "USE default; DELETE FROM t WHERE id = 1"]) == 0
    assert "t" in capsys.readouterr().out
    assert [path for path in sorted((place / "warehouse").rglob("*")) if ".acidsql" not in path.parts] == [
        path for path in before if ".acidsql" not in path.parts
    ]
    assert not list((place / "warehouse").rglob("delete_delta*"))


def test_hivevar_reaches_the_statement(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--hivevar", "db=d", "-e", "CREATE DATABASE ${hivevar:db}; SHOW DATABASES LIKE '${db}'"]
    assert main(["shell", "--no-header", *arguments]) == 0
    assert capsys.readouterr().out == "d\n"


def test_a_note_about_a_statement_goes_to_standard_error(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell", "-e", "SET hive.exec.paralel=true; REFRESH TABLE t"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "Did you mean hive.exec.parallel?" in err
    assert "Nothing was done" in err


def test_hiveconf_is_a_set_statement(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    setting = "hive.merge.cardinality.check"
    assert main(["shell", "--hiveconf", f"{setting}=false", "--no-header", "-e", f"SET {setting}"]) == 0
    assert capsys.readouterr().out == f"{setting}\tfalse\n"


# ------------------------------------------------------------------------------------------------ no Java


@pytest.mark.ci
def test_without_java_one_clear_line_and_exit_2(tmp_path: Path) -> None:
    env = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"} | {"PATH": str(tmp_path)}
    done = in_subprocess("shell", "-e", "SELECT 1", cwd=tmp_path, env=env)
    assert done.returncode == 2
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith("[JAVA_NOT_FOUND] Java 17 or 21 was not found")


def test_dry_run_names_statements_without_a_plan_and_goes_on(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell", "-e", CREATE.format("t")]) == 0
    script = "START TRANSACTION; SHOW TABLES; RESET; DESCRIBE t; DELETE FROM t WHERE id = 1; COMMIT; DROP TABLE t"
    assert main(["shell", "--dry-run", "-e", script]) == 0
    shown = capsys.readouterr().out
    assert [line for line in shown.splitlines() if "no plan" in line] == [
        f"{name} (it has no plan)" for name in ("START TRANSACTION", "SHOW TABLES", "DESCRIBE T", "COMMIT")
    ]
    assert "DELETE default.t" in shown
    assert "DROP TABLE default.t" in shown
    assert (place / "warehouse" / "t").exists()


@pytest.mark.parametrize("value", ["x -- y", "jdbc:derby:;create=true", "it's x", '"', "/* a", "a=b"])
def test_hiveconf_takes_a_value_as_it_is(value: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell", "--no-header", "--hiveconf", f"a={value}", "--output", "json", "-e", "SET a"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"key": "a", "value": value}]


def test_hiveconf_replaces_variables(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHERE", "here")
    assert main(["shell", "--no-header", "--hiveconf", "a=it is ${env:WHERE}", "-e", "SET a"]) == 0
    assert capsys.readouterr().out == "a\tit is here\n"


@pytest.mark.nightly
@pytest.mark.parametrize("arguments", ["shell", "shell -f -"])
def test_closed_standard_input_has_no_statements(arguments: str, place: Path) -> None:
    command = f"exec {sys.executable} -m acidsql {arguments} <&-"
    run = subprocess.run(command, shell=True, cwd=place, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
