"""Writers that are killed at random moments, hundreds of times: what each of them was told to be done is there, what
failed is not, and of what it was at when it died all or nothing."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

import pytest

from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError
from acidsql.metastore.sqlite import database_file
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.session import Session
from tests.crash.slots import TABLES, Deed, Order, Rows
from tests.crash.writers import PATIENCE, Place

ROOT: Final = Path(__file__).parents[2]
SLOTS: Final = 3
KILLS_PER_JVM: Final = 40
"""Each writer leaves sessions behind in the JVM."""
KILLS: Final = int(os.environ.get("ACIDSQL_KILLS", "1000"))
SEED: Final = int(os.environ.get("ACIDSQL_SEED", "0"))

ENGINE: Final = """
import sys
from acidsql.spark.engine import Engine
from pyspark import SparkContext

spark = Engine(None, {"spark.master": "local[2]", "spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:MetaspaceSize=256m"}).spark
gateway = SparkContext._gateway.java_parameters
print(gateway.port, gateway.auth_token, flush=True)
sys.stdin.read()
"""


@dataclass(slots=True)
class Slot:
    """A slot as the test knows it: what its rows must be, and the writer that has it now."""

    number: int
    log: Path
    rows: dict[str, Rows] = field(default_factory=lambda: {name: {} for name in TABLES})
    deeds: int = 0
    done: int = 0
    read: int = 0
    """Bytes of the log that were taken into account."""
    pid: int = 0
    lines: int = 0
    """How many lines its writer is to write into the log; then it lives for `rest` seconds."""
    rest: float = 0.0
    kill_at: float | None = None

    @property
    def is_alive(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def is_due(self) -> bool:
        """Whether its writer is dead, or is to die now."""
        if self.kill_at is None and self.log.exists() and self._unread().count("\n") >= self.lines:
            self.kill_at = time.monotonic() + self.rest
        return not self.is_alive or (self.kill_at is not None and time.monotonic() >= self.kill_at)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        deadline = time.monotonic() + PATIENCE
        while self.is_alive and time.monotonic() < deadline:
            time.sleep(0.001)

    def freeze(self, place: Place) -> None:
        """Stops its writer, and goes on with it when another process has aborted its transactions."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGSTOP)
            with (
                SqliteMetastore(place.metastore, str(place.warehouse)) as store,
                sqlite3.connect(place.metastore) as db,
            ):
                for (txn,) in db.execute(
                    "SELECT id FROM txns WHERE state = 'open' AND pid = ?", (self.pid,)
                ).fetchall():
                    with suppress(AcidSqlError):  # it is stopped while it has the file locked
                        store.abort(TxnId(txn))
            os.kill(self.pid, signal.SIGCONT)
        self.kill_at = time.monotonic() + self.rest

    def settle(self, session: Session, context: str) -> None:
        """Its writer is dead: takes the log, and compares it with the rows that are there."""
        under_way = self._replay(context)
        for name in TABLES:
            found = sorted(map(tuple, session.sql(f"SELECT id, v FROM {name} WHERE owner = {self.number}").collect()))
            without = self.rows[name]
            may_be = [without]
            if under_way is not None and under_way.table == name:
                may_be.append(under_way.done_to(without))
            for rows in may_be:
                if found == sorted(rows.items()):
                    self.rows[name] = rows
                    break
            else:
                pytest.fail(f"{context}: slot {self.number}, table {name}, {under_way}: {found}, not one of {may_be}")

    def _replay(self, context: str) -> Deed | None:
        """The deed of which nobody knows what came."""
        text = self._unread() if self.log.exists() else ""
        self.read += len(text)
        begun: Deed | None = None
        for line in text.splitlines():
            word, _, rest = line.partition(" ")
            assert word != "error", f"{context}: slot {self.number}: {rest}"
            if word == "begin":
                number, _, deed = rest.partition(" ")
                begun = Deed(**json.loads(deed))
                self.deeds = int(number) + 1
                continue
            assert begun is not None
            if word == "done":
                self.rows[begun.table] = begun.done_to(self.rows[begun.table])
                self.done += 1
            begun = None
        return begun

    def _unread(self) -> str:
        return self.log.read_text()[self.read :]


@dataclass(slots=True)
class Writers:
    """A JVM, and the program that forks writers which use it."""

    place: Place
    jvm: subprocess.Popen[str]
    forker: subprocess.Popen[str]
    port: int
    secret: str

    @classmethod
    def begin(cls, place: Place) -> Writers:
        jvm, forker = _talking("-c", ENGINE), _talking("-m", "tests.crash.slots")
        assert jvm.stdout is not None
        port, secret = jvm.stdout.readline().split()
        return cls(place, jvm, forker, int(port), secret)

    def start(self, slot: Slot, choose: random.Random) -> None:
        """Half of the writers die by themselves, between two calls; all die some time."""
        calls = choose.choice((0, int(choose.expovariate(1 / 10000)) + 1))
        seed = choose.randrange(1 << 30)
        where = (str(self.place.warehouse), f"sqlite:///{self.place.metastore}", str(slot.log))
        order = Order(slot.number, seed, slot.deeds, calls, self.port, self.secret, *where)
        assert self.forker.stdin is not None
        assert self.forker.stdout is not None
        self.forker.stdin.write(json.dumps(asdict(order)) + "\n")
        self.forker.stdin.flush()
        slot.pid = int(self.forker.stdout.readline())
        slot.lines, slot.rest, slot.kill_at = choose.randint(1, 8), choose.uniform(0, 1), None

    def end(self) -> None:
        """All at once, the JVM with them."""
        with suppress(ProcessLookupError):
            os.killpg(self.jvm.pid, signal.SIGKILL)
        for process in (self.jvm, self.forker):
            process.kill()
            process.communicate()


def open_txns(place: Place, pid: int) -> list[TxnId]:
    """Those of a process."""
    with closing(sqlite3.connect(place.metastore)) as db:
        found = db.execute("SELECT id FROM txns WHERE state = 'open' AND pid = ?", (pid,)).fetchall()
    return [TxnId(txn) for (txn,) in found]


def _talking(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )


@pytest.fixture
def place(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(database_file, "BUSY_SECONDS", 10.0)  # less than the writers wait for a frozen one
    for statement in TABLES.values():
        session.execute(statement)
    return Place(tmp_path)


def kills_of(kills: int, choose: random.Random, writers: Writers, slots: list[Slot]) -> Iterator[Slot]:
    """Starts the writers of all slots, and gives each slot whose writer has died; its next writer starts then. Ends
    with the death of all."""
    for slot in slots:
        writers.start(slot, choose)
    while kills > 0:
        time.sleep(0.02)
        for slot in slots:
            if not slot.is_due():
                continue
            if slot.is_alive and choose.random() < 0.3:
                slot.freeze(writers.place)
                continue
            slot.kill()
            kills -= 1
            yield slot
            writers.start(slot, choose)
    for slot in slots:
        with suppress(ProcessLookupError):
            os.kill(slot.pid, signal.SIGKILL)
    writers.end()
    for slot in slots:
        slot.kill()
        yield slot


@pytest.mark.timeout(6 * 3600)
@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(3, marks=pytest.mark.ci, id="few"),
        pytest.param(9, marks=pytest.mark.nightly, id="some"),
        pytest.param(KILLS, marks=pytest.mark.soak, id="many"),
    ],
)
def test_what_killed_writers_said_to_be_done_is_there_and_nothing_else(
    kills: int, session: Session, place: Place, capfd: pytest.CaptureFixture[str]
) -> None:
    slots = [Slot(number, place.root / f"{number}.log") for number in range(SLOTS)]
    choose = random.Random(SEED)
    done = 0
    while done < kills:
        writers = Writers.begin(place)
        try:
            for slot in kills_of(min(kills - done, KILLS_PER_JVM), choose, writers, slots):
                done += 1
                slot.settle(session, f"seed {SEED}, kill {done}")
                if done % 10 == 0:
                    check_row_ids(session)
                    with capfd.disabled():
                        sys.stderr.write(f"{done} kills, {sum(s.deeds for s in slots)} deeds (seed {SEED})\n")
        finally:
            for slot in slots:
                slot.kill()
            writers.end()
    assert sum(slot.done for slot in slots) > 0, "nothing was tested"
    check_row_ids(session)
    check_tidy(session, place, slots)


def check_row_ids(session: Session) -> None:
    for name in TABLES:
        partition = ", owner" if name == "p" else ""
        row = session.sql(f"SELECT count(*), count(DISTINCT row__id{partition}) FROM {name}").first()
        assert row is not None
        assert row[0] == row[1], name


def check_tidy(session: Session, place: Place, slots: list[Slot]) -> None:
    """The dead hold nothing up, the next ones remove what they left, and compacting changes nothing."""
    for number in range(2):
        for name in TABLES:
            session.execute(f"INSERT INTO {name} VALUES (0, {number}, -1)")
    session.compactor.run_once()
    partitions = [f"p PARTITION ({name})" for (name,) in session.execute("SHOW PARTITIONS p").rows()]
    for compacted in ("t", *partitions):
        session.execute(f"ALTER TABLE {compacted} COMPACT 'major' AND WAIT")
    for slot in slots:
        slot.settle(session, "compacted")
    with SqliteMetastore(place.metastore, str(place.warehouse)) as store:
        assert store.leftovers() == []
        writing = {lock.txn for lock in store.locks() if lock.component.operation.value != "s"}
        assert not writing
    assert [str(p) for name in TABLES for p in (place.warehouse / name).rglob(".acidsql_staging*")] == []
    states = {row[5] for row in session.execute("SHOW COMPACTIONS").rows()}
    assert states <= {"succeeded", "failed", "refused", "did not initiate", "ready for cleaning"}
    with closing(sqlite3.connect(place.metastore)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
