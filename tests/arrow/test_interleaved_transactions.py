"""Transactions of several sessions in random order, beside renames and compactions: no committed increment is lost.

Each transaction reads the value of a row, and writes that value and one more. Under snapshot isolation, where the first
to commit wins, the value of a row is then the number of transactions that have committed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session

ROWS: Final = 2
REFUSED: Final = ("WRITE_CONFLICT", "LOCK_TIMEOUT", "DEADLOCK", "TABLE_CHANGED", "TRANSACTION_ABORTED")
"""What may happen to a statement because of others."""
CLAUSES: Final = {"flat": "", "parted": "PARTITIONED BY (p string)"}


@dataclass(slots=True)
class Client:
    """A session, and the increments of its open transaction by row."""

    session: Session
    increments: Counter[int] = field(default_factory=Counter)

    @property
    def is_open(self) -> bool:
        return self.session.transaction_id is not None


class Interleaving:
    """The sessions on one table, what they do next, and the values that the rows must have."""

    def __init__(self, clients: list[Client], kind: str, seed: int) -> None:
        self.random = random.Random(seed)
        self.clients = clients
        self.is_partitioned = kind == "parted"
        self.table = "t"
        self.values = Counter(dict.fromkeys(range(ROWS), 0))
        self.names = 0
        self.done: Counter[str] = Counter()
        first = clients[0].session
        first.execute(
            f"CREATE TABLE t (id int, v int) {CLAUSES[kind]} STORED AS ORC TBLPROPERTIES ('transactional'='true')"
        )
        first.execute("CREATE TABLE o (id int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
        for number in range(ROWS):
            into = f"t PARTITION (p = '{number % 2}')" if self.is_partitioned else "t"
            first.execute(f"INSERT INTO {into} VALUES ({number}, 0)")

    def step(self) -> None:
        client = self.random.choice(self.clients)
        steps = list(self._inside if client.is_open else self._outside)
        act = self.random.choice(steps)
        try:
            act(client)
        except AcidSqlError as error:
            if error.condition not in REFUSED:
                raise
            self.done[error.condition] += 1
            if not client.is_open:
                client.increments.clear()
        else:
            self.done[act.__name__] += 1

    @property
    def _inside(self) -> Sequence[Callable[[Client], None]]:
        return (*[self.increment] * 3, *[self.fix] * 3, *[self.commit] * 2, self.roll_back)

    @property
    def _outside(self) -> Sequence[Callable[[Client], None]]:
        rename = self.rename_partition if self.is_partitioned else self.rename_table
        return (*[self.begin] * 5, self.rename_table, *[rename] * 3, self.compact)

    def begin(self, client: Client) -> None:
        client.session.execute("START TRANSACTION")
        client.increments.clear()
        if self.random.random() < 0.5:
            self.fix(client)

    def fix(self, client: Client) -> None:
        """Fixes the snapshot, without a lock on the table."""
        client.session.execute("INSERT INTO o VALUES (1)")

    def increment(self, client: Client) -> None:
        number = self.random.randrange(ROWS)
        found = client.session.read_arrow(self.table, where=f"id = {number}").read_all().to_pylist()
        assert len(found) == 1, (number, found)
        where = f"id = {number}"
        if self.is_partitioned and self.random.random() < 0.5:
            where += f" AND p = '{found[0]['p']}'"
        client.session.execute(f"UPDATE {self.table} SET v = {found[0]['v'] + 1} WHERE {where}")
        client.increments[number] += 1

    def commit(self, client: Client) -> None:
        client.session.execute("COMMIT")
        self.values.update(client.increments)
        client.increments.clear()
        if self.is_partitioned and self.random.random() < 0.5:
            self.rename_partition(client)

    def roll_back(self, client: Client) -> None:
        client.session.execute("ROLLBACK")
        client.increments.clear()

    def rename_table(self, client: Client) -> None:
        self.names += 1
        client.session.execute(f"ALTER TABLE {self.table} RENAME TO t{self.names}")
        self.table = f"t{self.names}"

    def rename_partition(self, client: Client) -> None:
        table = client.session.catalog.table("default", self.table)
        (old,) = self.random.choice([found.values for found in client.session.catalog.partitions(table)])
        self.names += 1
        statement = f"ALTER TABLE {self.table} PARTITION (p = '{old}') RENAME TO PARTITION (p = 'p{self.names}')"
        client.session.execute(statement)

    def compact(self, client: Client) -> None:
        kind, partition = self.random.choice(["major", "minor"]), ""
        if self.is_partitioned:
            table = client.session.catalog.table("default", self.table)
            (value,) = self.random.choice([found.values for found in client.session.catalog.partitions(table)])
            partition = f" PARTITION (p = '{value}')"
        client.session.execute(f"ALTER TABLE {self.table}{partition} COMPACT '{kind}'")
        client.session.compactor.run_once()

    def check(self) -> None:
        for client in self.clients:
            if not client.is_open:
                found = client.session.read_arrow(self.table, columns=["id", "v"]).read_all().to_pylist()
                assert sorted((row["id"], row["v"]) for row in found) == sorted(self.values.items())


@pytest.mark.ci
@pytest.mark.parametrize("kind", CLAUSES)
@pytest.mark.parametrize(
    ("seed", "steps"),
    [
        (0, 120),
        *(pytest.param(seed, 120, marks=pytest.mark.nightly) for seed in (1, 2)),
        *(pytest.param(seed, 1500, marks=pytest.mark.soak) for seed in range(3, 20)),
    ],
)
def test_no_increment_is_lost(open_session: Callable[[], Session], kind: str, seed: int, steps: int) -> None:
    clients = [Client(open_session()) for _ in range(3)]
    for client in clients:
        client.session.execute("SET hive.lock.numretries=0")
        client.session.execute(f"SET hive.txn.xlock.write={str(seed % 2 == 0).lower()}")
        client.session.keeps_transaction = bool(seed % 3)
    history = Interleaving(clients, kind, seed)
    for number in range(steps):
        history.step()
        if number % 10 == 9:
            history.check()
    for client in clients:
        if client.is_open:
            history.roll_back(client)
    history.check()
    assert sum(history.values.values()) > 0
    assert history.done["rename_table"] + history.done["rename_partition"] > 0
