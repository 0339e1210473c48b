"""Random histories with readers of changes: a copy that merges what a reader gets, at random moments, is equal to what
the reader's snapshot had, also beside writes that commit late, and has each change once."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from typing import Final

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from tests.answers import rows
from tests.snapshot.test_random_versions import KINDS, History, Rows

SEED: Final = int(os.environ.get("ACIDSQL_SEED", "0"))
STEPS: Final = 12


class Copy:
    """A copy outside of the warehouse, as the rows that a reader has given. What it gets of a transaction that is
    rolled back, it forgets."""

    def __init__(self, session: Session, name: str, mode: str, chance: random.Random) -> None:
        self.session = session
        self.name = name
        self.mode = mode
        self.chance = chance
        self.rows: Counter[tuple[object, ...]] = Counter()
        self.reads = 0

    def read(self, names: str, told: str) -> None:
        """Reads once. If the changes are gone, begins anew."""
        try:
            self._read(names, told)
        except AcidSqlError as error:
            if error.condition != "NOT_ENOUGH_HISTORY":
                raise
            self.session.forget_changes("t", since=self.name)
            self.rows.clear()
            self._read(names, told)

    def _read(self, names: str, told: str) -> None:
        self.session.execute("START TRANSACTION")
        found = self.session.changes("t", since=self.name, deduplication_mode=self.mode)
        changes = found.selectExpr(*names.split(", "), "_change_type").collect()
        now: Rows = sorted(tuple(row) for row in self.session.sql(f"SELECT {names} FROM t").collect())
        commits = self.chance.random() < 0.8
        self.session.execute("COMMIT" if commits else "ROLLBACK")
        after = Counter(self.rows)
        for *row, kind in changes:
            after[tuple(row)] += 1 if kind in ("insert", "update_postimage") else -1
        assert all(count >= 0 for count in after.values()), told
        assert sorted(after.elements(), key=str) == sorted(now, key=str), told
        if commits:
            self.rows = +after
            self.reads += 1


@pytest.mark.nightly
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("kind", "seed"), [(kind, SEED + n) for kind in KINDS for n in range(3)])
def test_copies_by_readers_are_what_the_table_is(
    session: Session, open_session: Callable[[], Session], kind: str, seed: int
) -> None:
    chance = random.Random(f"reader {kind} {seed}")
    history = History(session, open_session(), kind, chance)
    late = open_session()
    history.run(f"CREATE TABLE t {KINDS[kind]}")
    reading = open_session()
    copies = [Copy(reading, mode, mode, chance) for mode in ("netChanges", "none")]
    names = "id, v" + ", p" * history.is_partitioned
    done: list[str] = []
    for _ in range(STEPS):
        if late.transaction_id is None and chance.random() < 0.4:
            late.execute("START TRANSACTION")
            late.execute(f"INSERT INTO t ({names}) VALUES {_row(history)}")
            done.append("late begins")
        step = chance.choice([history.insert, history.insert, history.step(), _changing(history)])
        if late.transaction_id is not None and step not in (history.insert, history.update, history.delete):
            done.append(_end(late, chance))
        step()
        done.append(f"{history.version}: {getattr(step, '__name__', step)}")
        for each in copies:
            if chance.random() < 0.5:
                each.read(names, f"{kind} {seed}: {', '.join(done)}")
                done.append(f"{each.name} reads")
        if late.transaction_id is not None and chance.random() < 0.4:
            done.append(_end(late, chance))
    if late.transaction_id is not None:
        done.append(_end(late, chance))
    now = Counter(history.now())
    for each in copies:
        while each.rows != now:
            before = each.reads
            each.read(names, f"{kind} {seed}: {', '.join(done)}, {each.name} reads last")
            assert each.reads == before or each.rows == now, done
    assert rows(session, "SHOW LOCKS") == []


def _row(history: History) -> str:
    history.next_id += 1
    return f"({history.next_id}, 'late'{f', {history.partition}' if history.is_partitioned else ''})"


def _changing(history: History) -> Callable[[], None]:
    return history.insert if history.kind == "insert_only" else history.chance.choice([history.update, history.delete])


def _end(late: Session, chance: random.Random) -> str:
    how = "COMMIT" if chance.random() < 0.7 else "ROLLBACK"
    late.execute(how)
    return f"late {how}"
