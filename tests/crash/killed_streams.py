"""Writers of streams in processes of their own that are killed and started again, and what their table must hold."""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from acidsql.session import Session
from tests.crash.stream_writers import DATA, Order
from tests.crash.writers import PATIENCE

ROOT: Final = Path(__file__).parents[2]
RESIDUES: Final = 7
"""An UPDATE changes the records of a writer whose numbers leave one remainder, among some thousands in a row."""
_UPDATED: Final = 20_000


@dataclass(frozen=True, slots=True)
class Streamed:
    """A table that is streamed into, and where it is."""

    warehouse: str
    metastore: str
    table: str
    logs: Path


@dataclass(slots=True)
class Writer:
    """A writer of a stream: its process, and what its log says."""

    number: int
    place: Streamed
    rows: int
    rate: int
    calls: int
    """How many calls a writer survives that dies by itself, on average (stream_writers.Order)."""
    batch_sizes: tuple[int, ...]
    process: subprocess.Popen[bytes] | None = None
    kill_at: float | None = None
    lines: int = 0
    """Lines in its log when its process was started."""
    rest: float = 0.0

    @property
    def id(self) -> str:
        return f"writer-{self.number}"

    @property
    def log(self) -> Path:
        return self.place.logs / f"{self.number}.log"

    @property
    def errors(self) -> Path:
        return self.place.logs / f"{self.number}.err"

    def entries(self) -> list[tuple[str, int, float, float]]:
        """What the log has: kind, offset, begin and end of the commit."""
        text = self.log.read_text() if self.log.exists() else ""
        lines = (line.split() for line in text[: text.rfind("\n") + 1].splitlines())
        return [(kind, int(offset), float(begun), float(ended)) for kind, offset, begun, ended in lines]

    @property
    def told(self) -> int:
        """The highest offset of which the writer knew that it is committed."""
        return max((offset for _, offset, _, _ in self.entries()), default=-1)

    def start(self, choose: random.Random, longest: float) -> None:
        """Half of the writers die by themselves, between two calls; the others are killed some time after their first
        line."""
        calls = choose.choice((0, int(choose.expovariate(1 / self.calls)) + 1))
        order = Order(
            self.number,
            choose.randrange(1 << 30),
            calls,
            self.rows,
            self.rate,
            self.batch_sizes,
            self.place.warehouse,
            self.place.metastore,
            self.place.table,
            str(self.log),
        )
        self.lines, self.rest, self.kill_at = len(self.entries()), choose.uniform(0, longest), None
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.crash.stream_writers", json.dumps(asdict(order))],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=errors,
                stderr=errors,
            )

    def is_dead(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def is_due(self) -> bool:
        if self.kill_at is None and len(self.entries()) > self.lines:
            self.kill_at = time.monotonic() + self.rest
        return self.is_dead() or (self.kill_at is not None and time.monotonic() >= self.kill_at)

    def kill(self) -> None:
        """kill -9. A writer that ended in another way has told why."""
        if self.process is not None:
            self.process.kill()
            assert self.process.wait(PATIENCE) == -signal.SIGKILL, self.errors.read_text()[-3000:]
            self.process = None


@dataclass(slots=True)
class Writers:
    """The writers of a table, and a thread that kills them at random moments and starts the next ones."""

    all: Sequence[Writer]
    choose: random.Random
    longest: float
    """The longest life of a writer after its first commit, in seconds."""
    kills: int = 0
    failure: BaseException | None = None
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Writers:
        for writer in self.all:
            writer.start(self.choose, self.longest)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        assert self._thread is not None
        self._thread.join()
        for writer in self.all:
            writer.kill()
        if self.failure is not None:
            raise self.failure

    def _run(self) -> None:
        try:
            while not self._stop.wait(0.02):
                for writer in self.all:
                    if writer.is_due():
                        writer.kill()
                        self.kills += 1
                        writer.start(self.choose, self.longest)
        except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
            self.failure = error


@dataclass(slots=True)
class Expected:
    """What UPDATEs have done: how many times each writer's records up to a number were changed, by remainder."""

    updates: list[tuple[int, range]] = field(default_factory=list)
    """The writer, and the numbers of its records that were changed."""

    def update(self, session: Session, table: str, writer: Writer, choose: random.Random) -> None:
        """v + 1 for some of the records that are committed."""
        last, rest = writer.told, choose.randrange(RESIDUES)
        first = choose.randint(0, max(0, last - _UPDATED))
        last = min(last, first + _UPDATED)
        changed = range(first + (rest - first) % RESIDUES, last + 1, RESIDUES)
        condition = f"w = {writer.number} AND n BETWEEN {first} AND {last} AND n % {RESIDUES} = {rest}"
        counts = session.execute(f"UPDATE {table} SET v = v + 1 WHERE {condition}").counts
        assert counts is not None
        assert counts.updated == len(changed), condition
        self.updates.append((writer.number, changed))

    def value(self, writer: int) -> int:
        """The sum of v * (n + 1) over the records of a writer."""
        return sum(n + 1 for number, changed in self.updates for n in changed if number == writer)


def answer(session: Session, query: str) -> list[tuple[int, ...]]:
    """The rows of a query of numbers. Nothing keeps its files then."""
    result = session.execute(query)
    found = [tuple(int(str(value)) for value in row) for row in result.rows()]
    result.close()
    return found


def check_snapshot(session: Session, table: str, writers: Sequence[Writer]) -> dict[int, int]:
    """One snapshot: of each writer the records 0 to its offset, each once, and all that were told to be committed
    before. Gives the highest number of each writer."""
    told = {writer.number: writer.told for writer in writers}
    rows = answer(session, f"SELECT w, count(*), count(DISTINCT n), min(n), max(n) FROM {table} GROUP BY w")
    found = {row[0]: row[1:] for row in rows}
    for number, (count, distinct, lowest, highest) in found.items():
        assert (count, distinct, lowest) == (highest + 1, highest + 1, 0), f"writer {number}: {found[number]}"
    highest_of = {writer.number: found[writer.number][3] if writer.number in found else -1 for writer in writers}
    for number, offset in told.items():
        assert highest_of[number] >= offset, f"writer {number}: {highest_of[number]} is there, {offset} was committed"
    return highest_of


def check_end(session: Session, table: str, writers: Sequence[Writer], expected: Expected) -> dict[int, int]:
    """What is there when all are dead: exactly what the committed offsets say, updated as often as it was updated."""
    highest = check_snapshot(session, table, writers)
    for writer in writers:
        with session.stream(table, writer.id) as stream:
            assert stream.committed_offset == (highest[writer.number] if highest[writer.number] >= 0 else None)
    for number, found in answer(session, f"SELECT w, sum(CAST(v AS BIGINT) * (n + 1)) FROM {table} GROUP BY w"):
        assert found == expected.value(number), f"writer {number}"
    ((every, distinct, whole),) = answer(
        session, f"SELECT count(*), count(DISTINCT p, row__id), count_if(data = {DATA}) FROM {table}"
    )
    assert every == distinct == whole
    return highest


def latencies(writers: Sequence[Writer], watched: Path) -> list[float]:
    """Seconds from the beginning of a commit until another process sees it. Commits that the watcher missed, because a
    later one was there already, count until it saw that."""
    seen: dict[str, list[tuple[float, int]]] = {}
    for line in watched.read_text().splitlines():
        at, stream_id, offset = line.split()
        seen.setdefault(stream_id, []).append((float(at), int(offset)))
    found = []
    for writer in writers:
        sights = iter(seen.get(writer.id, ()))
        sight = next(sights, None)
        for kind, committed, begun, _ in writer.entries():
            while sight is not None and sight[1] < committed:
                sight = next(sights, None)
            if sight is not None and kind == "commit":
                found.append(sight[0] - begun)
    return found


def percentiles(seconds: Sequence[float]) -> str:
    """Median and 99th percentile, in milliseconds."""
    cuts = statistics.quantiles(seconds, n=100)
    return f"median {1000 * statistics.median(seconds):.0f} ms, 99th percentile {1000 * cuts[98]:.0f} ms"


def fastest(action: Callable[[], object], times: int = 5) -> float:
    """The least number of seconds that an action takes."""
    found = []
    for _ in range(times):
        started = time.perf_counter()
        action()
        found.append(time.perf_counter() - started)
    return min(found)


def left_behind(root: Path) -> list[str]:
    """The deltas, side files and staging directories below a table's directory, all of whose partitions were compacted.
    A partition whose only content is one delta keeps that, because Hive compacts no single delta."""
    names = ("delta_", "delete_delta_", ".acidsql")
    found = [p for p in root.rglob("*") if p.name.startswith(names) or p.name.endswith("_flush_length")]
    single = {of[0] for part in root.iterdir() if part.is_dir() and len(of := list(part.iterdir())) == 1}
    return sorted(str(p.relative_to(root)) for p in found if not single & {p, *p.parents})
