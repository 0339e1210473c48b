"""Hive 4.0.1 reads tables while they are streamed into, changes them and compacts them, beside an open batch of
transactions and after it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession

from acidsql.ingest import stream_writer
from acidsql.session import Session, connect
from tests.interop.hive_client import POOL, READ_MODES, Hive
from tests.interop.shared_table import hive_rows
from tests.interop.values import assert_same_rows, rows_of_acidsql
from tests.selection import core

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

DATABASE: Final = "streamed"
_ACID: Final = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
_ENDS: Final = ("ready for cleaning", "succeeded", "refused", "failed")
_HOURS: Final = 3600.0
"""No batch of a test ends because its stream is idle."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A table that is streamed into. `place` is the PARTITION clause of its rows."""

    name: str
    ddl: str
    is_partitioned: bool
    compaction: str
    """Hive's beside an open batch."""

    @property
    def table(self) -> str:
        return f"{DATABASE}.{self.name}"

    @property
    def place(self) -> str:
        return "PARTITION (p = 'x')" if self.is_partitioned else ""

    def rows(self, *ids: int) -> list[tuple[object, ...]]:
        return [(i, f"name {i}", "x") if self.is_partitioned else (i, f"name {i}") for i in ids]

    def values(self, *ids: int) -> str:
        return ", ".join(map(str, self.rows(*ids)))


KINDS: Final = (
    Kind("flat", f"(id int, name string) {_ACID}", False, "minor"),
    Kind(
        "parted",
        f"(id int, name string) PARTITIONED BY (p string) CLUSTERED BY (id) INTO 2 BUCKETS {_ACID}",
        True,
        "major",
    ),
)


@pytest.fixture
def session(hive: Hive, spark: SparkSession) -> Iterator[Session]:
    hive.run(f"DROP DATABASE IF EXISTS {DATABASE} CASCADE", f"CREATE DATABASE {DATABASE}")
    with connect(metastore=hive.metastore_uri, spark=spark) as opened:
        yield opened
    hive.run(f"DROP DATABASE IF EXISTS {DATABASE} CASCADE")


def both(hive: Hive, session: Session, kind: Kind, expected: dict[int, str], *modes: str) -> None:
    """Hive, in these modes, and acidsql read these names by ID, with the same row IDs."""
    mine = rows_of_acidsql(session, f"SELECT row__id, id, name FROM {kind.table}")
    assert {row[1]: row[2] for row in mine} == expected
    assert len(mine) == len(expected)
    for mode in modes or ("vectorized",):
        assert_same_rows(hive_rows(hive, kind.table, "row__id, id, name", mode_name=mode), mine, mode)


def last_compaction(hive: Hive, kind: Kind, *states: str) -> str:
    """The state of the last compaction of the table, when it is one of these."""
    until = time.monotonic() + 120
    while (state := str(hive._compaction_state(kind.table))) not in states and time.monotonic() < until:
        time.sleep(0.1)
    return state


@pytest.mark.parametrize("kind", core(KINDS, lambda kind: kind.name == "flat"), ids=lambda kind: kind.name)
def test_hive_reads_changes_and_compacts_a_table_that_is_streamed_into(
    hive: Hive, session: Session, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = tuple(mode.name for mode in READ_MODES)
    hive.run(f"CREATE TABLE {kind.table} {kind.ddl}")
    for number in (101, 102):
        hive.run(f"INSERT INTO {kind.table} VALUES {kind.values(number)}")
    expected = {101: "name 101", 102: "name 102"}
    root = hive.home.warehouse / f"{DATABASE}.db" / kind.name
    with session.stream(kind.table, "one", commit_rows=None, commit_seconds=_HOURS, batch_size=4) as stream:
        for numbers in ((1, 2, 3), (4,)):
            stream.write(kind.rows(*numbers), offset=numbers[-1])
            stream.commit()
            expected |= {n: f"name {n}" for n in numbers}
        both(hive, session, kind, expected, *every)

        monkeypatch.setattr(stream_writer, "MOST_BYTES", 1)
        before = sizes(root)
        stream.write(kind.rows(5, 6, 7, 8), offset=8)
        assert sizes(root) != before, "the rows are to be in the files before their commit"
        both(hive, session, kind, expected, *every)

        hive.run(f"UPDATE {kind.table} SET name = 'updated' WHERE id IN (2, 101)")
        hive.run(f"DELETE FROM {kind.table} WHERE id = 3")
        session.execute(f"UPDATE {kind.table} SET name = concat(name, ' again') WHERE id IN (1, 2)")
        expected |= {1: "name 1 again", 2: "updated again", 101: "updated"}
        del expected[3]
        both(hive, session, kind, expected)
        # Hive takes no other request for a table before the cleaner is done, which waits for the batch.
        hive.run(f"ALTER TABLE {kind.table} {kind.place} COMPACT '{kind.compaction}' POOL '{POOL}'")
        assert last_compaction(hive, kind, *_ENDS) == "ready for cleaning"
        assert side_files(root), "the batch is open"
        both(hive, session, kind, expected, *every)
        stream.commit()
        expected |= {n: f"name {n}" for n in (5, 6, 7, 8)}
        both(hive, session, kind, expected, *every)
    assert not side_files(root)
    assert last_compaction(hive, kind, "succeeded") == "succeeded"
    both(hive, session, kind, expected, *every)
    for how in ("minor", "major"):
        hive.compact(kind.table, how, kind.place.removeprefix("PARTITION (").removesuffix(")"))
        both(hive, session, kind, expected, *every)
    assert [d.name.partition("_v")[0] for d in (root / "p=x" if kind.is_partitioned else root).iterdir()] == [
        "base_0000009"
    ]


def sizes(root: Path) -> dict[str, int]:
    """The sizes of all bucket files below a directory, by their paths."""
    return {str(p): p.stat().st_size for p in root.rglob("bucket_*")}


def side_files(root: Path) -> list[Path]:
    return list(root.rglob("*_flush_length"))
