"""A running Hive 4.0.1: statements and transactions, through the pipe of its process."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, TypeAlias

from tests.interop.hive_home import HiveHome, make_hive_home
from tests.interop.reserved_port import reserved_port

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
HiveRow: TypeAlias = "list[Json]"

POOL: Final = "hive"
"""The pool that Hive's own worker takes compactions from; those of the default pool wait for acidsql's."""

_COMPACTION_SECONDS: Final = 120
_STOP_SECONDS: Final = 20
_ANSWER_SECONDS: Final = 240
"""A statement that takes longer hangs."""
_CALL_SECONDS: Final = 60
"""The same of a call to the metastore."""


class HiveError(Exception):
    """What Hive answered instead of rows."""


@dataclass(frozen=True, slots=True)
class ReadMode:
    """One of Hive's ways to read a table: the settings that choose it."""

    name: str
    settings: tuple[str, ...]


READ_MODES: Final = (
    ReadMode("vectorized", ("hive.vectorized.execution.enabled=true", "hive.fetch.task.conversion=none")),
    ReadMode("row reader", ("hive.vectorized.execution.enabled=false", "hive.fetch.task.conversion=none")),
    ReadMode("fetch task", ("hive.vectorized.execution.enabled=false", "hive.fetch.task.conversion=more")),
)


@dataclass(frozen=True, slots=True)
class Transaction:
    """A transaction of Hive's metastore that has a write ID of one table."""

    txn: int
    write_id: int


class Hive:
    """Hive's process. A context manager; ends with it, and with the process that started it. `settings` come on top of
    those that all tests share, and `more_jars`, a class path, behind Hive's own."""

    def __init__(self, root: Path, settings: Mapping[str, str] | None = None, more_jars: str = "") -> None:
        self.home: HiveHome = make_hive_home(root, reserved_port(), settings or {}, more_jars)
        self._process = self._started()

    def _started(self) -> subprocess.Popen[str]:
        with self.home.log.open("ab") as log:
            return subprocess.Popen(
                self.home.command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                encoding="utf-8",
                cwd=self.home.root,
            )

    def __enter__(self) -> Hive:
        try:
            self.run("USE default")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process."""
        assert self._process.stdin
        try:
            self._process.stdin.close()
            self._process.wait(_STOP_SECONDS)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self._process.kill()
            self._process.wait()

    def kill(self) -> None:
        """kill -9, of the metastore too."""
        self._process.kill()
        self._process.wait()

    def start_again(self) -> None:
        """At the same port, on the same database; gives back when the metastore answers."""
        self._process = self._started()
        self.run("USE default")

    @property
    def metastore_uri(self) -> str:
        return f"thrift://127.0.0.1:{self.home.port}?timeout={_CALL_SECONDS}"

    # -- statements

    def run(self, *statements: str) -> None:
        """Runs statements, one after the other. Raises HiveError."""
        for statement in statements:
            self._ask({"sql": statement})

    def rows(self, query: str) -> list[HiveRow]:
        """The rows of a query. Raises HiveError."""
        rows = self._ask({"sql": query})["rows"]
        assert isinstance(rows, list)
        return [row for row in rows if isinstance(row, list)]

    @contextmanager
    def reading(self, mode: ReadMode) -> Iterator[None]:
        """Reads tables in one of Hive's ways; afterwards in Hive's usual one."""
        self.set(*mode.settings)
        try:
            yield
        finally:
            self.set("hive.vectorized.execution.enabled=true", "hive.fetch.task.conversion=more")

    def set(self, *settings: str) -> None:
        """Settings of the session, as `key=value`."""
        self.run(*(f"SET {setting}" for setting in settings))

    def compact(self, table: str, kind: str, partition: str = "") -> None:
        """Compacts, and waits until the cleaner has removed what was compacted. Raises HiveError."""
        target = f"{table} PARTITION ({partition})" if partition else table
        self.run(f"ALTER TABLE {target} COMPACT '{kind}' POOL '{POOL}'")
        until = time.monotonic() + _COMPACTION_SECONDS
        while (state := self._compaction_state(table)) != "succeeded":
            if time.monotonic() > until or state in ("failed", "refused", "did not initiate"):
                raise HiveError(f"the {kind} compaction of {target} is '{state}'")
            time.sleep(0.1)

    def _compaction_state(self, table: str) -> Json:
        """The state of the table's last compaction."""
        database, name = table.split(".")
        listed = self.rows("SHOW COMPACTIONS")[1:]
        of_table = [row for row in listed if row[1:3] == [database, name]]
        return max(of_table, key=lambda row: int(str(row[0])))[5]

    @contextmanager
    def without_cleaner(self) -> Iterator[None]:
        """What is ready for cleaning stays so."""
        self._ask({"cleaner": False})
        try:
            yield
        finally:
            self._ask({"cleaner": True})

    @contextmanager
    def logged(self) -> Iterator[list[str]]:
        """A list that gets the lines which Hive logs meanwhile: warnings, and the row groups that its readers skip."""
        lines: list[str] = []
        start = self.home.log.stat().st_size
        yield lines
        with self.home.log.open("rb") as log:
            log.seek(start)
            lines += log.read().decode(errors="replace").splitlines()

    # -- transactions, over Thrift

    def begin(self, table: str) -> Transaction:
        """Opens a transaction that takes the next write ID of `db.table`, locked as an UPDATE locks."""
        answer = self._ask({"begin": table})
        txn, write_id = answer["txn"], answer["write_id"]
        assert isinstance(txn, int)
        assert isinstance(write_id, int)
        return Transaction(txn, write_id)

    def commit(self, txn: int) -> None:
        self._ask({"commit": txn})

    def abort(self, txn: int) -> None:
        self._ask({"abort": txn})

    def start_write_ids_at(self, table: str, next_id: int) -> None:
        """The next write ID of a table that has none yet, as when Hive converts a table with original files."""
        self._ask({"seed": table, "last": next_id - 1})

    def add_partition(self, table: str, name: str) -> None:
        """Adds a partition by its name, `p=1/q=a%2Fb`, as a writer does; one that is there stays as it is."""
        self._ask({"add_partition": table, "name": name})

    def in_its_database(self, statement: str) -> None:
        """Runs a statement in the Derby database of the metastore."""
        self._ask({"derby": statement})

    # -- the pipe

    def _ask(self, request: dict[str, Json]) -> dict[str, Json]:
        assert self._process.stdin
        assert self._process.stdout
        hangs = threading.Timer(_ANSWER_SECONDS, self._end_hanging)
        hangs.start()
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        finally:
            hangs.cancel()
        assert line, f"Hive's process ended, asked for {request}: {self._last_words()}"
        answer = json.loads(line)
        assert isinstance(answer, dict)
        if "error" in answer:
            raise HiveError(f"{next(iter(request.values()))}\n{answer['error']}")
        return answer

    def _end_hanging(self) -> None:
        """Has the process say what its threads wait for, and ends it: who asked reads that."""
        self._process.send_signal(signal.SIGQUIT)
        time.sleep(2)
        self._process.kill()

    def _last_words(self) -> str:
        log = self.home.log.read_text(errors="replace")
        threads = log.rfind("Full thread dump")
        return log[-3000:] if threads < 0 else log[threads:]
