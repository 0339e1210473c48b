"""Random histories: what a reader saw after each statement is what VERSION AS OF reads later, and the changes of some
versions lead from what was there before them to what was there then; or they are refused."""

from __future__ import annotations

import gc
import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, TypeAlias

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from acidsql.statements.results import ScanResult
from tests.answers import spark_alone
from tests.metastore.clock import Clock, given_clock
from tests.selection import every

SEED: Final = int(os.environ.get("ACIDSQL_SEED", "0"))
STEPS: Final = 12
Rows: TypeAlias = list[tuple[object, ...]]
Step: TypeAlias = Callable[[], None]

ACID: Final = "'transactional'='true'"
KINDS: Final = {
    "bucketed": "(id int, v string) PARTITIONED BY (p int) CLUSTERED BY (id) INTO 2 BUCKETS STORED AS ORC"
    f" TBLPROPERTIES ({ACID})",
    "whole": f"(id int, v string) STORED AS ORC TBLPROPERTIES ({ACID})",
    "insert_only": "(id int, v string) PARTITIONED BY (p int) STORED AS PARQUET"
    f" TBLPROPERTIES ({ACID}, 'transactional_properties'='insert_only')",
    "parted": f"(id int, v string) PARTITIONED BY (p int) STORED AS ORC TBLPROPERTIES ({ACID})",
}
LONG: Final = 30 * 86_400
"""Seconds of a retention that is longer than a history."""
SHORT: Final = 300
"""Seconds of a retention that ends within a history."""


@dataclass
class History:
    """A table with what each of its versions held. `safe` is the lowest version that must be readable."""

    session: Session
    other: Session
    kind: str
    chance: random.Random
    then: dict[int, Rows] = field(default_factory=dict)
    moments: list[tuple[datetime, Rows]] = field(default_factory=list)
    safe: int = 0
    retention: int = 0
    """Seconds."""
    clock: Clock | None = None
    columns: int = 2
    next_id: int = 0
    bases: list[int] = field(default_factory=list)
    """The versions whose writes hide rows without events."""
    rebalances: list[int] = field(default_factory=list)
    """The versions of which rebalances have renumbered rows, or later ones."""

    @property
    def is_partitioned(self) -> bool:
        return self.kind != "whole"

    @property
    def version(self) -> int:
        database = self.session._metastore
        found = database.last_write_id(database.table("default", "t"))
        assert found is not None
        return int(found)

    def note_moment(self) -> None:
        """Notes what is there at the time of the last commit."""
        database = self.session._metastore
        last = max((c.committed for c in database.commits(database.table("default", "t"))), default=None)
        if last is not None:
            self.moments.append((datetime.fromtimestamp(last / 1000, UTC), self.now()))

    def run(self, text: str) -> None:
        self.session.execute(text)

    def step(self) -> Step:
        """A random statement."""
        weights: dict[Step, float] = {
            self.insert: 6,
            self.abort: 2,
            self.interleave: 1,
            self.minor: 2,
            self.major: 0.4,
            self.overwrite: 0.4,
        }
        if self.retention:
            weights |= {self.major: 2, self.overwrite: 2, self.truncate: 1.5, self.restore: 1, self.clean: 3}
        if self.retention and self.kind in ("parted", "whole"):
            weights |= {self.rebalance: 0.7}
        if self.is_partitioned:
            weights |= {self.add_partition: 1, self.drop_partition: 2 if self.retention else 0.5}
        if self.kind != "insert_only":
            weights |= {self.update: 2, self.delete: 2, self.merge: 2, self.evolve: 2}
        return self.chance.choices(list(weights), list(weights.values()))[0]

    def values(self, count: int) -> str:
        found = []
        for _ in range(count):
            self.next_id += 1
            row = [str(self.next_id), f"'v{self.next_id}'", *["1.5"] * (self.columns - 2)]
            found.append(f"({', '.join([*row, *([str(self.partition)] if self.is_partitioned else [])])})")
        return ", ".join(found)

    @property
    def partition(self) -> int:
        return self.chance.randrange(3)

    def insert(self) -> None:
        self.run(f"INSERT INTO t VALUES {self.values(self.chance.randint(1, 3))}")

    def abort(self) -> None:
        self.run("START TRANSACTION")
        self.run(f"INSERT INTO t VALUES {self.values(1)}")
        if self.kind != "insert_only":
            self.run("DELETE FROM t WHERE id % 2 = 0")
        self.run("ROLLBACK")

    def interleave(self) -> None:
        """Two writes, of which the first one commits last."""
        self.other.execute("START TRANSACTION")
        self.other.execute(f"INSERT INTO t VALUES {self.values(1)}")
        first, known = self.version, self.next_id
        self.insert()
        self.note_moment()
        self.other.execute("COMMIT")
        self.then[first] = [row for row in self.now() if int(str(row[0])) <= known]

    def update(self) -> None:
        self.run(f"UPDATE t SET v = 'u{self.next_id}' WHERE id % 3 = {self.chance.randrange(3)}")

    def delete(self) -> None:
        self.run(f"DELETE FROM t WHERE id % 5 = {self.chance.randrange(5)}")

    def merge(self) -> None:
        base = self.chance.randint(0, max(self.version, 0))
        if base < self.safe:
            return
        self.run(
            f"MERGE INTO t USING (SELECT * FROM t VERSION AS OF {base} WHERE id % 2 = 0) s ON t.id = s.id"
            " WHEN MATCHED THEN UPDATE SET v = concat(s.v, '+') WHEN NOT MATCHED THEN INSERT *"
        )

    def evolve(self) -> None:
        self.columns += 1
        self.run(f"ALTER TABLE t ADD COLUMNS (c{self.columns} double)")

    def minor(self) -> None:
        self.compact("minor")
        if self.kind == "insert_only":
            self.end_versions()

    def major(self) -> None:
        self.compact("major")
        self.end_versions()

    def rebalance(self) -> None:
        self.compact("rebalance")
        self.rebalances.append(self.version)
        self.end_versions()

    def end_versions(self) -> None:
        """Notes that the files of earlier versions may go, which a retention keeps."""
        if self.retention != LONG:
            self.safe = self.version

    def clean(self) -> None:
        """Lets some time pass, and then removes what the retention does not keep."""
        assert self.clock is not None
        self.clock.pass_by(self.chance.choice([1, 60, 600]))
        gc.collect()  # frames of before end their transactions
        self.session.compactor.initiate()
        assert not [cleaned.error for cleaned in self.session.compactor.clean() if cleaned.error]

    def truncate(self) -> None:
        is_one = self.is_partitioned and self.chance.random() < 0.5
        values = self.session._metastore.partition_values(self.session._metastore.table("default", "t"))
        clause = f" PARTITION (p={self.chance.choice(values)[0]})" if is_one and values else ""
        self.run(f"TRUNCATE TABLE t{clause}")
        self.bases.append(self.version)
        self.end_versions()

    def restore(self) -> None:
        version = self.chance.randint(0, self.version)
        try:
            self.run(f"RESTORE TABLE t TO VERSION AS OF {version}")
        except AcidSqlError as error:
            if error.condition != "NOT_ENOUGH_HISTORY" or version >= self.safe:
                raise
            return
        if version in self.then:
            assert self.now() == self.then[version], f"restored version {version}"
        self.bases.append(self.version)
        self.end_versions()

    def compact(self, kind: str) -> None:
        values = self.session._metastore.partition_values(self.session._metastore.table("default", "t"))
        for clause in [f"PARTITION (p={value[0]})" for value in values] if self.is_partitioned else [""]:
            self.run(f"ALTER TABLE t {clause} COMPACT '{kind}' AND WAIT")

    def overwrite(self) -> None:
        self.run(f"INSERT OVERWRITE TABLE t VALUES {self.values(2)}")
        self.bases.append(self.version)
        self.end_versions()

    def add_partition(self) -> None:
        self.run(f"ALTER TABLE t ADD IF NOT EXISTS PARTITION (p={self.partition})")

    def drop_partition(self) -> None:
        self.run(f"ALTER TABLE t DROP IF EXISTS PARTITION (p={self.partition})")
        self.bases.append(self.version)
        self.end_versions()

    def now(self) -> Rows:
        names = "id, v" + ", p" * self.is_partitioned
        return arrow(self.session, f"SELECT {names} FROM t")


def arrow(session: Session, query: str) -> Rows:
    found = session.execute(query, rows_only=True)
    assert isinstance(found, ScanResult)
    return sorted(tuple(row.values()) for batch in found.batches for row in batch.to_pylist())


def by_spark(session: Session, query: str) -> Rows:
    return sorted(tuple(row) for row in session.sql(query).collect())


def read(session: Session, query: str, how: Callable[[Session, str], Rows]) -> Rows | None:
    """The rows of a query; None if it is refused for want of history."""
    try:
        return how(session, query)
    except AcidSqlError as error:
        if error.condition != "NOT_ENOUGH_HISTORY":
            raise
        return None


@pytest.mark.ci
@pytest.mark.parametrize(("kind", "seed"), every(8, [(kind, SEED + n) for kind in KINDS for n in range(4)]))
def test_every_readable_version_is_what_was_there_then(
    session: Session, open_session: Callable[[], Session], kind: str, seed: int
) -> None:
    check(History(session, open_session(), kind, random.Random(f"{kind} {seed}")), f"{kind} {seed}")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("kind", "seed", "retention"),
    every(32, [(kind, SEED + n, each) for kind in ("parted", "insert_only", "whole", "bucketed")
               for n in range(4) for each in (LONG, SHORT)]),
)  # fmt: skip
def test_a_retention_keeps_every_version_readable_until_it_has_passed(
    session: Session,
    open_session: Callable[[], Session],
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    seed: int,
    retention: int,
) -> None:
    name = f"{kind} {seed} for {retention} s"
    clock = given_clock(monkeypatch)
    check(History(session, open_session(), kind, random.Random(name), retention=retention, clock=clock), name)


def check(history: History, name: str) -> None:
    """Makes a history, and reads its versions and changes."""
    retained = f", 'acidsql.history.retention'='{history.retention}')" if history.retention else ")"
    history.run(f"CREATE TABLE t {KINDS[history.kind][:-1]}{retained}")
    history.then[0] = []
    done = []
    for _ in range(STEPS):
        step = history.step()
        step()
        done.append(f"{history.version}: {step.__name__}")
        history.then[history.version] = history.now()
        history.note_moment()
    told = f"{name}: {', '.join(done)}"
    names = "id, v" + ", p" * history.is_partitioned
    readable = []
    for version in range(history.version + 1):
        then = history.then.get(version)
        if then is None:
            continue
        found = read(history.session, f"SELECT {names} FROM t VERSION AS OF {version}", arrow)
        assert found in (then, None), f"version {version} of {told}"
        assert found is not None or version < history.safe, f"version {version} of {told}"
        if found is not None:
            readable.append(version)
        elif version % 3 == 0:
            assert read(history.session, f"SELECT {names} FROM t VERSION AS OF {version}", by_spark) is None, told
    assert readable, told
    _check_moments(history, names, told)
    _check_by_spark(history, readable, names, told)
    _check_changes(history, names, told)
    _check_lives(history, told)


def _check_lives(history: History, told: str) -> None:
    """The lives of a few rows end with the values that the rows have, or are refused where a rebalance has numbered
    rows anew."""
    if history.kind == "insert_only" or not history.next_id:
        return
    for key in history.chance.sample(range(1, history.next_id + 1), min(3, history.next_id)):
        try:
            lives = history.session.row_history("t", where=f"id = {key}").rows
        except AcidSqlError as error:
            if error.condition != "NOT_YET_SUPPORTED" or not history.rebalances:
                raise
            continue
        last = [event.values for life in lives for event in life.events if event.new == life.current is not None]
        now = arrow(history.session, f"SELECT id, v FROM t WHERE id = {key}")
        assert sorted((values["id"], values["v"]) for values in last) == now, f"life of {key} of {told}"


def _check_moments(history: History, names: str, told: str) -> None:
    """What was there at the time of each commit, or a refusal, but not for the last one."""
    found = None
    for moment, then in history.moments:
        query = f"SELECT {names} FROM t TIMESTAMP AS OF '{moment.isoformat(' ', 'milliseconds')}'"
        found = read(history.session, query, arrow)
        assert found in (then, None), f"{moment} of {told}"
        assert found is not None or history.retention != LONG, f"{moment} of {told}"
    if history.moments:
        moment, then = history.moments[-1]
        query = f"SELECT {names} FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '{moment.isoformat(' ', 'milliseconds')}'"
        assert read(history.session, query, by_spark) == found, told


def _check_by_spark(history: History, readable: list[int], names: str, told: str) -> None:
    """All readable versions in one query, their counts, and a join of two of them."""
    session, then = history.session, history.then
    chosen = readable[-6:]
    all_rows = " UNION ALL ".join(f"SELECT {n} n, {names} FROM t VERSION AS OF {n}" for n in chosen)
    assert by_spark(session, all_rows) == sorted((n, *row) for n in chosen for row in then[n]), told
    counts = " UNION ALL ".join(f"SELECT {n} n, count(*) FROM t VERSION AS OF {n}" for n in chosen)
    assert by_spark(session, counts) == [(n, len(then[n])) for n in chosen], told
    first, second = readable[0], readable[-1]
    joined = f"SELECT a.id, a.v, b.v w FROM t VERSION AS OF {first} a JOIN t VERSION AS OF {second} b ON a.id = b.id"
    later = {row[0]: row[1] for row in then[second]}
    expected = [(row[0], row[1], later[row[0]]) for row in then[first] if row[0] in later]
    assert by_spark(session, joined) == expected, told


def _check_changes(history: History, names: str, told: str) -> None:
    """The changes of random ranges, those that must be readable in one query."""
    session, then = history.session, history.then
    ranges = [(a, b) for a in range(1, history.version + 1) for b in range(a, history.version + 1)]
    known = [(a, b) for a, b in ranges if a - 1 in then and b in then]
    certain = [each for each in known if each[0] > history.safe and not _hides_rows(history, *each)]
    chosen = history.chance.sample(certain, min(4, len(certain)))
    if chosen:
        queries = [_changes(n, names, *each, how) for n, each in enumerate(chosen) for how in HOW]
        found = read(session, " UNION ALL ".join(queries), by_spark)
        assert found is not None, told
        with spark_alone(session):
            of_spark = read(session, " UNION ALL ".join(queries), by_spark)
        assert found == of_spark, told
        for number, (first, last) in enumerate(chosen):
            for how in HOW:
                of_range = [row[2:] for row in found if row[:2] == (number, how)]
                _check_sum(history, first, last, of_range, told)
                if how != "by id":
                    query = _changes(None, names, first, last, how)
                    assert arrow(session, query) == [row[2:] for row in found if row[:2] == (number, how)], told
                if how:
                    _check_net(of_range, told, by_id=how == "by id")
    for first, last in history.chance.sample(known, min(2, len(known))):
        found = read(session, _changes(0, names, first, last, ""), by_spark)
        is_certain = first > history.safe and not _hides_rows(history, first, last)
        assert found is not None or not is_certain, f"changes {first} to {last} of {told}"
        if found is not None:
            _check_sum(history, first, last, [row[2:] for row in found], told)


HOW: Final = {
    "": "",
    "net": " WITH ('deduplicationMode' = 'netChanges')",
    "by id": " WITH ('deduplicationMode' = 'netChanges', 'computeUpdates' = 'true', 'rowId' = 'id')",
}


def _changes(number: int | None, names: str, first: int, last: int, how: str) -> str:
    item = f"t CHANGES FROM VERSION {first} TO VERSION {last}{HOW[how]}"
    label = "" if number is None else f"{number} n, '{how}' how, "
    return f"SELECT {label}{names}, _change_type, _commit_version FROM {item}"


def _check_net(changes: Rows, told: str, *, by_id: bool) -> None:
    """A row has at most one old and one new image; where it has both, these are an update if the key tells it."""
    kinds: dict[object, list[object]] = {}
    for row in changes:
        kinds.setdefault(row[0], []).append(row[-2])
    update = ["update_postimage", "update_preimage"] if by_id else ["delete", "insert"]
    assert all(sorted(map(str, found)) in (["delete"], ["insert"], update) for found in kinds.values()), told


def _hides_rows(history: History, first: int, last: int) -> bool:
    hides = any(first <= base <= last for base in history.bases)
    return hides or any(first <= version for version in history.rebalances)


def _check_sum(history: History, first: int, last: int, changes: Rows, told: str) -> None:
    """The rows before the changes, without those that were deleted, and with those that were inserted, are the rows
    after them."""
    after = Counter(history.then[first - 1])
    for *row, kind, version in changes:
        assert kind in ("insert", "delete", "update_preimage", "update_postimage"), told
        assert first <= int(str(version)) <= last, told
        after[tuple(row)] += 1 if kind in ("insert", "update_postimage") else -1
    expected = Counter(history.then[last])
    assert {row: n for row, n in after.items() if n} == expected, f"changes {first} to {last} of {told}"
