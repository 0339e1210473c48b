"""The employee story through `acidsql shell`, as a new user would run it: real processes, real terminals."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from tests.crash.writers import PATIENCE, wait_for
from tests.frontends.java_gate import JavaGate
from tests.metastore.patience import eventually
from tests.support import employee

SHORT_LIVED = "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
COMMAND = [sys.executable, "-m", "acidsql", "shell", "--master", "local[2]", "--conf", SHORT_LIVED]


SLOW = "SELECT count(*) FROM range(1000000000000) r JOIN employee e ON r.id * 7 % 1000003 = e.id"
"""Takes minutes at least."""


def run(*arguments: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], cwd=cwd, input=stdin, capture_output=True, text=True, timeout=300, check=False
    )


def told(stderr: str) -> list[str]:
    """The counts in the messages, in order."""
    return re.findall(r"^(\d+ rows? affected .*) in \d+\.\d\d s$", stderr, re.MULTILINE)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with story.sql, and with a warehouse where it ran by `-f`, every check of that run made here."""
    place = tmp_path_factory.mktemp("story")
    (place / "story.sql").write_text(employee.SCRIPT)
    done = run("-f", "story.sql", "--output", "jsonl", cwd=place)
    assert done.returncode == 0, done.stderr
    employee.check_rows([json.loads(line) for line in done.stdout.splitlines()])
    assert told(done.stderr) == list(employee.COUNTS)
    assert "(3 rows) in " in done.stderr
    return place


@pytest.mark.ci
def test_the_story_leaves_hives_directories(place: Path) -> None:
    directories = {path.name for path in (place / "warehouse" / "employee").iterdir() if not path.name.startswith(".")}
    assert {
        "delta_0000001_0000001_0000",
        "delta_0000002_0000002_0000",
        "delete_delta_0000002_0000002_0000",
        "delta_0000003_0000003_0000",
        "delta_0000003_0000003_0001",
        "delete_delta_0000003_0000003_0001",
        "delete_delta_0000004_0000004_0000",
    } <= directories


@pytest.mark.nightly
def test_the_story_runs_from_standard_input_silently(tmp_path: Path) -> None:
    done = run("-S", cwd=tmp_path, stdin=employee.SCRIPT)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    header, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert header == ["row__id", "id", "name", "salary"]  # tsv where there is no terminal
    values = [dict(zip(header, row, strict=True)) for row in rows]
    employee.check_rows(
        [
            {**value, "row__id": json.loads(value["row__id"]), "id": int(value["id"]), "salary": int(value["salary"])}
            for value in values
        ]
    )


@pytest.mark.nightly
def test_a_statement_given_with_e_shows_its_rows_or_its_error(place: Path) -> None:
    done = run("-e", f"{employee.QUERY}\\G", "-e", "SELECT * FROM employe", "-e", "SELECT 'never'", cwd=place)
    assert done.returncode == 1
    assert done.stdout.splitlines()[2:5] == ["     id: 2", "   name: Tom", " salary: 7500"]
    assert "never" not in done.stdout
    assert "Did you mean employee" in done.stderr
    assert "1 | SELECT * FROM employe\n  |               ^^^^^^^\n" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.nightly
def test_standard_output_that_is_closed_ends_quietly(place: Path) -> None:
    query = "SELECT * FROM employee LATERAL VIEW explode(sequence(1, 10000)) x AS n"
    with subprocess.Popen(
        [*COMMAND, "-S", "-e", query], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "id\tname\tsalary\tn\n"
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=PATIENCE) == 0


@pytest.mark.nightly
def test_without_standard_output_the_statements_run(place: Path) -> None:
    script = f"exec {shlex.join([*COMMAND, '-e', 'SHOW TABLES', '-e', 'CREATE TABLE unseen (a INT)'])} >&-"
    done = subprocess.run(["sh", "-c", script], cwd=place, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "unseen" in run("-e", "SHOW TABLES", cwd=place).stdout


@pytest.mark.ci
def test_an_interrupt_cancels_the_statement_and_exits_130(place: Path, tmp_path: Path) -> None:
    logged = ("--conf", "spark.eventLog.enabled=true", "--conf", f"spark.eventLog.dir={tmp_path.as_uri()}")
    plain_text = ("--conf", "spark.eventLog.compress=false")
    statements = ("-e", "SELECT count(*) AS n FROM employee", "-e", SLOW, "-e", "SELECT 'never'")
    command = [*COMMAND, *logged, *plain_text, *statements]
    with subprocess.Popen(
        command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert [process.stdout.readline() for _ in range(2)] == ["n\n", "3\n"]
        wait_for(lambda: runs(SLOW, tmp_path), process)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to every process in front
        assert process.wait(timeout=PATIENCE) == 130
        assert process.stdout.read() == ""
        shown = process.stderr.read()
    assert "Interrupted" in shown
    assert "Traceback" not in shown


def runs(statement: str, log: Path) -> bool:
    """Whether a job of the statement has started, by the event log of Spark."""
    texts = [file.read_text(errors="replace") for file in log.rglob("*") if file.is_file()]
    return any("SparkListenerJobStart" in line and statement in line for text in texts for line in text.splitlines())


# ------------------------------------------------------------------------------------------------ the REPL

PROMPT = "acidsql>"


def repl(cwd: Path, state: Path, **env: str) -> pexpect.spawn:
    variables = {**os.environ, "XDG_STATE_HOME": str(state), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", **env}
    return pexpect.spawn(
        COMMAND[0], COMMAND[1:], cwd=str(cwd), env=variables, encoding="utf-8", timeout=240, dimensions=(40, 120)
    )


def plain(text: str) -> str:
    """What a terminal wrote, without its control sequences."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


@pytest.mark.ci
def test_the_story_in_the_repl(tmp_path: Path) -> None:
    child = repl(tmp_path, tmp_path / "state")
    child.expect(PROMPT)
    assert "WARN" not in child.before
    for statement in employee.STATEMENTS:
        child.send(statement.replace("\n", " ") + ";\r")
        child.expect(r"(?:affected .*|CREATE TABLE) in \d+\.\d\d s")
    child.send("SELECT name,\rsalary FROM employee\rORDER BY id;\r")  # Enter goes on until the statement is complete
    child.expect(r"\(3 rows\) in ")
    assert "| Kate |   6000 |" in plain(child.before)
    child.send("SELECT name FROM employee WHERE id = 4\\G\r")
    child.expect(r"name: Mary")
    child.send("SELECT salary FROM employe;\r")
    child.expect(r"Did you mean employee")
    child.expect(PROMPT)
    child.send(".tables\r")
    child.expect(r"\| employee_update \|")
    child.send("\\x\r")
    child.expect("one below the other")
    child.send("\\d employee\r")
    child.expect(r"col_name: id")
    child.send("\\x\r")
    child.expect(PROMPT)
    child.send("DELETE FROM employee;\r")
    child.expect(r"Run it\? \(y/N\)")
    child.send("n\r")
    child.expect("Not run")
    child.expect(PROMPT)
    child.send("half a line\x03")  # Ctrl-C clears it
    child.expect(PROMPT)
    child.send(f"{SLOW};\r")
    child.expect(r"Ctrl-C cancels")
    child.sendintr()  # the statement ends, the session goes on
    child.expect("Cancelled")
    child.expect(PROMPT)
    child.send("SELECT sum(id) + 33 AS answer FROM employee;\r")
    child.expect(r"\|     42 \|")
    child.send("quit\r")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    history = tmp_path / "state" / "acidsql" / "history"
    assert "+SELECT name,\n+salary FROM employee\n+ORDER BY id;\n" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0


@pytest.mark.nightly
def test_exit_ends_at_once_while_spark_starts(tmp_path: Path) -> None:
    java = JavaGate(tmp_path)
    try:
        child = repl(tmp_path, tmp_path / "state", JAVA_HOME=str(java.home))
        child.expect(PROMPT)
        eventually(java.is_waited_for)
        child.send("exit\r")
        child.expect(pexpect.EOF)
    finally:
        java.open()
    child.close()
    assert child.exitstatus == 0
    assert "Traceback" not in child.before


def leave(child: pexpect.spawn) -> None:
    """Ctrl-D until it is heard: between its prompt and its reading, a program that sets its terminal loses a key."""
    for _ in range(12):
        child.send("\x04")
        if child.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=20) == 0:
            return
    pytest.fail("the shell does not end")


@pytest.mark.nightly
def test_the_repl_works_on_a_dumb_terminal_and_leaves_with_ctrl_d(place: Path, tmp_path: Path) -> None:
    child = repl(place, tmp_path, TERM="dumb")
    child.expect(PROMPT)
    child.send("SHOW TABLES;\r")
    child.expect("employee_update")
    child.expect(PROMPT)
    child.send("help\r")
    child.expect("leave")
    child.expect(PROMPT)
    leave(child)
    child.close()
    assert child.exitstatus == 0
    assert "\x1b[31m" not in child.before


@pytest.mark.ci
def test_the_repl_without_java_says_so_in_one_line_and_exits_2(tmp_path: Path) -> None:
    child = repl(tmp_path, tmp_path, PATH=str(tmp_path), JAVA_HOME="")
    child.expect(r"\[JAVA_NOT_FOUND\]")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 2
    assert "Traceback" not in child.before
