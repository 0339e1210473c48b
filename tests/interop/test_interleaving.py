"""Hive 4.0.1, acidsql and streams take turns on one metastore and warehouse: after each statement, and each commit of a
stream, Hive and acidsql read the rows that a plain model has, under the same row IDs. acidsql also reads the versions
from before, and the changes between them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import pytest
from pyspark.sql import SparkSession

from acidsql.ingest.stream import Stream
from acidsql.planner.as_of import ASSUME_NO_DROPS
from acidsql.session import Session, connect
from tests.interop.hive_client import Hive, HiveRow
from tests.interop.noted_versions import NotedVersions
from tests.interop.shared_table import hive_rows
from tests.interop.values import assert_same_rows, in_order, rows_of_acidsql

pytestmark = [pytest.mark.hive, pytest.mark.timeout(7200)]

DATABASE: Final = "turns"
_HOUR: Final = 3600.0
"""No batch of a stream ends because the stream is idle."""
ModelRow: TypeAlias = tuple[int, int, str]
"""id, v, p."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of table, as the DDL behind its name."""

    name: str
    ddl: str
    is_partitioned: bool = False
    is_insert_only: bool = False


_ACID: Final = "'transactional'='true'"
KINDS: Final = (
    Kind("flat", f"(id int, v int, p string) STORED AS ORC TBLPROPERTIES ({_ACID})"),
    Kind("parted", f"(id int, v int) PARTITIONED BY (p string) STORED AS ORC TBLPROPERTIES ({_ACID})", True),
    Kind(
        "bucketed",
        f"(id int, v int, p string) CLUSTERED BY (id) INTO 3 BUCKETS STORED AS ORC TBLPROPERTIES ({_ACID})",
    ),
    Kind(
        "io",
        f"(id int, v int, p string) STORED AS ORC TBLPROPERTIES ({_ACID}, 'transactional_properties'='insert_only')",
        is_insert_only=True,
    ),
)


@dataclass(slots=True)
class Table:
    """A table, and the rows that it must have."""

    kind: Kind
    rows: list[ModelRow] = field(default_factory=list)
    versions: NotedVersions = field(init=False)

    def __post_init__(self) -> None:
        self.versions = NotedVersions(self.name)

    @property
    def name(self) -> str:
        return f"{DATABASE}.{self.kind.name}"


class Turns:
    """The tables, and statements on them: as SQL that both understand, and on the model."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.tables = [Table(kind) for kind in KINDS]
        self.next_id = 1

    def statement(self) -> tuple[Table, str]:
        """The next statement; the model has its rows already."""
        table = self.random.choice(self.tables)
        writes = [self._insert, self._insert, self._overwrite]
        if not table.kind.is_insert_only:
            writes += [self._update, self._update, self._delete, self._delete, self._merge, self._merge]
        write = self._insert if not table.rows else self.random.choice(writes)
        return table, write(table)

    def streamed(self) -> tuple[Table, list[ModelRow]]:
        """A table, and rows that a stream writes to it; the model has them already."""
        table = self.random.choice(self.tables)
        new = self._new_rows(self.random.randint(1, 4))
        table.rows += new
        return table, new

    def _new_rows(self, count: int) -> list[ModelRow]:
        first, self.next_id = self.next_id, self.next_id + count
        return [(i, self.random.randint(0, 99), self.random.choice("abc")) for i in range(first, first + count)]

    def _insert(self, table: Table) -> str:
        new = self._new_rows(self.random.randint(1, 4))
        table.rows += new
        return f"INSERT INTO {table.name} VALUES {', '.join(map(str, new))}"

    def _overwrite(self, table: Table) -> str:
        divisor = self.random.randint(3, 5)
        if table.kind.is_partitioned:
            p = self.random.choice("abc")
            kept = [(i, v + 1, q) for i, v, q in table.rows if q == p and i % divisor]
            table.rows = [row for row in table.rows if row[2] != p] + kept
            return (
                f"INSERT OVERWRITE TABLE {table.name} PARTITION (p = '{p}')"
                f" SELECT id, v + 1 FROM {table.name} WHERE p = '{p}' AND id % {divisor} <> 0"
            )
        table.rows = [(i, v + 1, p) for i, v, p in table.rows if i % divisor]
        return f"INSERT OVERWRITE TABLE {table.name} SELECT id, v + 1, p FROM {table.name} WHERE id % {divisor} <> 0"

    def _update(self, table: Table) -> str:
        divisor, rest, more = self._some()
        table.rows = [(i, v + more if i % divisor == rest else v, p) for i, v, p in table.rows]
        return f"UPDATE {table.name} SET v = v + {more} WHERE id % {divisor} = {rest}"

    def _delete(self, table: Table) -> str:
        divisor, rest, _ = self._some()
        table.rows = [row for row in table.rows if row[0] % divisor != rest]
        return f"DELETE FROM {table.name} WHERE id % {divisor} = {rest}"

    def _merge(self, table: Table) -> str:
        """Updates some, deletes some, inserts some."""
        divisor, rest, more = self._some()
        new = self._new_rows(self.random.randint(0, 2))
        known = sorted(row[0] for row in table.rows)
        source = self.random.sample(known, min(len(known), 5)) + [row[0] for row in new]
        values = " UNION ALL ".join(f"SELECT {i} AS id" for i in source)
        kept = [row for row in table.rows if row[0] not in source or row[0] % divisor != rest]
        table.rows = [(i, v + more if i in source else v, p) for i, v, p in kept] + [(i, more, "m") for i, _, _ in new]
        return (
            f"MERGE INTO {table.name} t USING ({values}) s ON t.id = s.id"
            f" WHEN MATCHED AND t.id % {divisor} = {rest} THEN DELETE"
            f" WHEN MATCHED THEN UPDATE SET v = t.v + {more}"
            f" WHEN NOT MATCHED THEN INSERT VALUES (s.id, {more}, 'm')"
        )

    def _some(self) -> tuple[int, int, int]:
        divisor = self.random.randint(2, 4)
        return divisor, self.random.randrange(divisor), self.random.randint(1, 9)


@dataclass(slots=True)
class Streams:
    """A stream into each table. It stays open beside the statements of others, with a batch of transactions that its
    next commits use."""

    session: Session
    opened: dict[str, Stream] = field(default_factory=dict)

    def write(self, table: Table, rows: list[ModelRow]) -> None:
        """Commits rows, and the number of the last one as the offset."""
        if table.name not in self.opened:
            self.opened[table.name] = self.session.stream(
                table.name, "turns", commit_rows=None, commit_seconds=_HOUR, batch_size=3
            )
        stream = self.opened[table.name]
        stream.write(rows, offset=rows[-1][0])
        stream.commit()
        assert stream.committed_offset == rows[-1][0]

    def close(self, table: Table) -> None:
        """Ends the stream of a table, so that a compaction can be cleaned up after."""
        if table.name in self.opened:
            self.opened.pop(table.name).close()


@pytest.fixture
def session(hive: Hive, spark: SparkSession) -> Iterator[Session]:
    hive.run(f"DROP DATABASE IF EXISTS {DATABASE} CASCADE", f"CREATE DATABASE {DATABASE}")
    settings = {ASSUME_NO_DROPS: "true"}  # or no version of a partitioned table is readable: Hive records no drops
    with connect(metastore=hive.metastore_uri, spark=spark, settings=settings) as opened:
        yield opened
    hive.run(f"DROP DATABASE IF EXISTS {DATABASE} CASCADE")


@pytest.mark.parametrize(
    ("seed", "count"),
    [
        (1, 12),
        pytest.param(1, 40, marks=pytest.mark.nightly),
        *(pytest.param(seed, 300, marks=pytest.mark.soak) for seed in range(2, 14)),
    ],
)
def test_hive_and_acidsql_take_turns(hive: Hive, session: Session, seed: int, count: int) -> None:
    turns, streams = Turns(seed), Streams(session)

    def run(statement: str) -> str:
        if turns.random.random() < 0.5:
            hive.run(statement)
            return f"Hive: {statement}"
        session.execute(statement)
        return f"acidsql: {statement}"

    for table in turns.tables:
        run(f"CREATE TABLE {table.name} {table.kind.ddl}")
    for number in range(count):
        if number % 4 == 3:
            table, rows = turns.streamed()
            streams.write(table, rows)
            table.versions.add_late(session, list(rows))
            said = f"{number}, a stream: {rows} into {table.name}"
        else:
            table, statement = turns.statement()
            said = f"{number}, {run(statement)}"
        table.versions.note(session, list(table.rows), ends_earlier="OVERWRITE" in said)
        mode = "vectorized" if number % 5 == 4 else "fetch task"  # which starts no job of Hive's
        assert_both_read(hive, session, table, f"{said}, read by the {mode} of Hive", mode)
        table.versions.check(session, turns.random, said)
        if number % 25 == 24:
            for one in turns.tables:
                streams.close(one)
            hive.compact(turns.tables[0].name, turns.random.choice(("minor", "major")))
            assert_both_read(hive, session, turns.tables[0], f"{said}, compacted", "vectorized")
            turns.tables[0].versions.note(session, list(turns.tables[0].rows), ends_earlier=True)
    for table in turns.tables:
        streams.close(table)
        assert_both_read(hive, session, table, "the streams are closed", "vectorized")
    assert sum(table.versions.read for table in turns.tables) >= count


def assert_both_read(hive: Hive, session: Session, table: Table, what: str, mode: str) -> None:
    """Both read at once: neither waits for the other."""
    columns = "*" if table.kind.is_insert_only else "row__id, *"
    with ThreadPoolExecutor(1) as pool:
        theirs = pool.submit(hive_rows, hive, table.name, columns, mode_name=mode)
        mine = rows_of_acidsql(session, f"SELECT {columns} FROM {table.name}")
    assert_same_rows(theirs.result(), mine, what)
    found: list[HiveRow] = [list(row[-3:]) for row in mine]
    assert in_order(found) == in_order([list(row) for row in table.rows]), what
