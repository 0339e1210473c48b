"""`acidsql ingest`: lines of files and of standard input become rows, each of them once."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from acidsql.frontends.cli import main
from acidsql.session import Session
from tests.crash.writers import PATIENCE


class Ingest:
    """Runs the command in a directory, on the warehouse of `session`."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.where = ("--warehouse", str(place / "warehouse"), "--metastore", f"sqlite:///{place}/metastore.db")

    def __call__(self, *arguments: str, text: str | None = None) -> int:
        """Runs it in this process, with `text` as standard input. Returns the exit status."""
        given = self.place / "input"
        given.write_text(text or "")
        before = sys.stdin
        with given.open() as sys.stdin:
            try:
                return main(["ingest", *arguments, *self.where])
            finally:
                sys.stdin = before

    def start(self, *arguments: str, **streams: Any) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "acidsql", "ingest", *arguments, *self.where]
        return subprocess.Popen(command, text=True, **{"stderr": subprocess.PIPE, **streams})


@pytest.fixture
def ingest(session: Session, tmp_path: Path) -> Ingest:
    session.execute(
        "CREATE TABLE t (id int, name string) PARTITIONED BY (d string)"
        " STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    )
    return Ingest(tmp_path)


def rows(session: Session) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in session.sql("SELECT id, name, d FROM t ORDER BY id").collect()]


def lines(*numbers: int, d: str = "x") -> str:
    return "".join(json.dumps({"id": n, "name": f"n{n}", "d": d}) + "\n" for n in numbers)


def expected(*numbers: int, d: str = "x") -> list[tuple[Any, ...]]:
    return [(n, f"n{n}", d) for n in numbers]


@pytest.mark.ci
def test_files_and_standard_input_become_rows_once(
    ingest: Ingest, session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_text(lines(1, 2))
    (tmp_path / "b").write_text(lines(3))
    for _ in range(2):
        assert ingest("t", "--id", "files", str(tmp_path / "a"), str(tmp_path / "b"), "--commit-rows", "1") == 0
        assert ingest("t", "--id", "pipe", "-", text=lines(4, 5)) == 0
    ends = [re.sub(r"\d+\.\d s", "S", line) for line in capsys.readouterr().err.splitlines()]
    assert ends == [
        "2 files: 3 rows in 3 commits in S, 0 rejected",
        "Standard input: 2 rows in 1 commit in S, 0 rejected",
        "2 files (2 without new lines): 0 rows in 0 commits in S, 0 rejected",
        "Standard input: 0 rows in 0 commits in S, 0 rejected",
    ]
    assert ingest("t", "--id", "pipe", text=lines(4, 5, 6)) == 0
    assert ingest("t", "--id", "pipe", "--no-skip", text=lines(7)) == 0
    assert rows(session) == expected(*range(1, 8))
    assert capsys.readouterr().out == ""


@pytest.mark.ci
def test_csv_with_a_header_goes_into_a_partition(ingest: Ingest, session: Session) -> None:
    form = ("--format", "csv", "--header", "--delimiter", "\\t", "--partition", "d=y", "--null", "-")
    assert ingest("t", "--id", "csv", *form, text='Name\tID\n"a\tb"\t1\n-\t2\n') == 0
    assert rows(session) == [(1, "a\tb", "y"), (2, None, "y")]


@pytest.mark.ci
def test_a_wrong_line_is_an_error_and_the_lines_before_it_stay(
    ingest: Ingest, session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a"
    many = lines(*range(10_000))
    file.write_text(many + "\n" + '{"id": "x"}\n')
    assert ingest("t", "--id", "a", str(file)) == 1
    message = capsys.readouterr().err
    assert "the value 'x' does not fit the column id of type int" in message
    assert f"The record is in line 10002 of {file}." in message
    assert re.search(r"^1 file: [\d,]+ rows in \d+ commits? in \d+\.\d s, 1 rejected$", message, re.MULTILINE)
    file.write_text(many + lines(10_000))
    assert ingest("t", "--id", "a", str(file)) == 0
    assert session.sql("SELECT count(*), count(DISTINCT id) FROM t").first() == (10_001, 10_001)
    assert ingest("t", "--id", "b", text="{}\n[]\n") == 1
    assert "Line 2 of standard input holds no record" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["t"], "required: --id"),
        (["t", "--id", "a", "-", "x"], "standard input (-) is not read together with files"),
        (["t", "--id", "a", "--follow"], "--follow and --rotated need files"),
        (["t", "--id", "a", "--same-text"], "--same-text needs files"),
        (["t", "--id", "a", "--same-text", "--rotated", "x"], "--same-text does not go together with --follow"),
        (["t", "--id", "a", "--no-skip", "x"], "--no-skip is about standard input"),
        (["t", "--id", "a", "--header"], "--delimiter and --header need --format csv"),
        (["t", "--id", "a", "--delimiter", "ab"], "'ab' is not one character"),
        (["t", "--id", "a", "--commit-rows", "0"], "'0' is not a number of at least 1"),
        (["t", "--id", "a", "--commit-seconds", "-1"], "'-1' is not a number of seconds"),
        (["t", "--id", "a", "--partition", "x"], "'x' is not KEY=VALUE"),
        (["t", "--id", "a", "--unknown", "x"], "unrecognized arguments: --unknown"),
    ],
)
def test_bad_usage_exits_2(arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["ingest", *arguments])
    assert stopped.value.code == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.ci
def test_what_cannot_be_read_on_is_told(
    ingest: Ingest, session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ingest("t", "--id", "a", str(tmp_path / "nothing")) == 2
    assert "CANNOT_START" in capsys.readouterr().err
    assert ingest("nothing", "--id", "a") == 1
    assert "TABLE_NOT_FOUND" in capsys.readouterr().err
    with session.stream("t", id="python") as stream:
        stream.write([], offset=42)
    assert ingest("t", "--id", "python", text=lines(1)) == 1
    assert "committed offset 42 is not one of acidsql ingest" in capsys.readouterr().err
    with session.stream("t", id="busy"):
        assert ingest("t", "--id", "busy", text=lines(1)) == 1
        assert "STREAM_IN_USE" in capsys.readouterr().err
    assert rows(session) == []


# ------------------------------------------------------------------------------------------------ as a process


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


def unread(pipe: IO[str] | None) -> int:
    """How many bytes in a pipe nobody has read yet."""
    assert pipe is not None
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def count(session: Session) -> int:
    return int(session.sql("SELECT count(*) FROM t").first()[0])  # type: ignore[index]


@pytest.mark.ci
@pytest.mark.parametrize(
    ("number", "status"),
    [pytest.param(signal.SIGTERM, 0, marks=pytest.mark.nightly), (signal.SIGINT, 130), (signal.SIGKILL, -9)],
)
def test_a_followed_file_goes_on_where_a_signal_stopped_it(
    ingest: Ingest, session: Session, tmp_path: Path, number: signal.Signals, status: int
) -> None:
    file = tmp_path / "log"
    file.write_text(lines(1))
    follow = ("t", "--id", "log", "--follow", str(file), "--commit-seconds", "0.1")
    process = ingest.start(*follow)
    until(lambda: count(session) == 1)
    with file.open("a") as log:
        log.write(lines(2) + lines(3)[:10])
    until(lambda: count(session) == 2)
    process.send_signal(number)
    assert process.wait(PATIENCE) == status
    with file.open("a") as log:
        log.write(lines(3)[10:] + lines(4))
    assert ingest("t", "--id", "log", str(file)) == 0
    assert rows(session) == expected(1, 2, 3, 4)


@pytest.mark.nightly
def test_a_signal_commits_what_was_read_of_a_pipe(ingest: Ingest, session: Session) -> None:
    process = ingest.start("t", "--id", "pipe", "--commit-seconds", "600", stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(lines(1, 2))
    process.stdin.flush()
    until(lambda: unread(process.stdin) == 0)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0
    process.stdin.close()
    assert count(session) == 2
    assert ingest("t", "--id", "pipe", text=lines(1, 2, 3)) == 0
    assert rows(session) == expected(1, 2, 3)


@pytest.mark.nightly
def test_a_terminal_shows_the_progress(ingest: Ingest, session: Session, tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text(lines(*range(1000)))
    leading, following = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    arguments = ("t", "--id", "log", "--follow", str(file), "--commit-rows", "1000", "--commit-seconds", "600")
    process = ingest.start(*arguments, stderr=following, env=environment)
    os.close(following)
    shown, is_stopped = "", False
    for text in _read(leading):
        shown += text
        if not is_stopped and re.search(r"1,000 rows in 1 commit, [\d,]+ rows/s, last commit \d+ ms", shown):
            process.send_signal(signal.SIGINT)
            is_stopped = True
    assert process.wait(PATIENCE) == 130
    os.close(leading)
    assert re.search(r"1 file: 1,000 rows in 1 commit in \d+\.\d s, 0 rejected\r\nInterrupted", shown)


def _read(descriptor: int) -> Iterator[str]:
    """What comes from a terminal until its last process has left it."""
    while select.select([descriptor], [], [], PATIENCE)[0]:
        try:
            data = os.read(descriptor, 4096)
        except OSError:
            return
        yield data.decode()
