"""Readers while others write, compact and clean: each sees one snapshot, whole, for as long as it reads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from tests.crash.writers import Place, output, wait_for_line

ACCOUNTS = 12
TOTAL = 100 * ACCOUNTS
SERVICE = {
    "hive.compactor.check.interval": "1s",
    "hive.compactor.cleaner.run.interval": "1s",
    "hive.compactor.delta.num.threshold": "2",
    "hive.compactor.initiator.on": "true",
}
TABLES = {
    "t": "CREATE TABLE t (id int, v int) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
    "p": "CREATE TABLE p (id int, v int) PARTITIONED BY (d int) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
}

READER = f"""
import pathlib
end = pathlib.Path(sys.argv[3])
with connect(conf=CONF) as session:
    session.start()
    print("ready", flush=True)
    reads = 0
    while not end.exists():
        for name in "tp":
            found = tuple(session.sql(f"SELECT count(*), count(DISTINCT id), sum(v) FROM {{name}}").first())
            assert found == ({ACCOUNTS}, {ACCOUNTS}, {TOTAL}), found
            reads += 1
    print(reads, flush=True)
"""


def transfer(number: int) -> list[str]:
    """What keeps the total, by an UPDATE, a MERGE, or a transaction that takes a row out and puts it in again."""
    one, other, amount = number % ACCOUNTS, (5 * number + 1) % ACCOUNTS, number % 7
    moved = f"CASE id WHEN {one} THEN {amount} ELSE -{amount} END"
    if one == other:
        return []
    return [
        f"UPDATE t SET v = v + {moved} WHERE id IN ({one}, {other})",
        f"MERGE INTO p USING (VALUES ({one}, {amount}), ({other}, -{amount})) s(id, v) ON p.id = s.id"
        " WHEN MATCHED THEN UPDATE SET v = p.v + s.v",
        f"UPDATE p SET d = {number % 3} WHERE id = {one}",
    ]


@pytest.mark.ci
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    ("rounds", "processes"), [(5, 0), pytest.param(60, 2, marks=pytest.mark.soak)], ids=["short", "long"]
)
def test_readers_see_a_whole_snapshot_beside_writers_compactions_and_the_cleaner(
    session: Session, open_session: Callable[[], Session], tmp_path: Path, rounds: int, processes: int
) -> None:
    for name, create in TABLES.items():
        session.execute(create)
        partition = ", id % 3" if name == "p" else ""
        session.execute(f"INSERT INTO {name} SELECT CAST(id AS INT), 100{partition} FROM range({ACCOUNTS})")
    end = tmp_path / "end"
    place = Place(tmp_path)
    others = [place.start(READER, str(end)) for _ in range(processes)]
    for process in others:
        wait_for_line("ready", process)
    written = threading.Event()

    def write(writer: Session) -> None:
        try:
            for number in range(1, rounds + 1):
                for statement in transfer(number):
                    execute(writer, statement)
        finally:
            written.set()

    def read(reader: Session) -> int:
        reads = 0
        while not written.is_set():
            for name in TABLES:
                frame = reader.sql(f"SELECT id, v FROM {name}")
                time.sleep(0.2)  # what it is to read may be obsolete now, and cleaned up but for this reader
                found = dict(map(tuple, frame.collect()))
                assert (len(found), sum(found.values())) == (ACCOUNTS, TOTAL)
                assert frame.count() == ACCOUNTS
                reads += 1
        return reads

    service = open_session()
    for key, value in SERVICE.items():
        service.execute(f"SET {key}={value}")
    with ThreadPoolExecutor(3) as pool:
        writing = pool.submit(write, open_session())
        reading = [pool.submit(read, reader) for reader in (session, open_session())]
        assert all(one.result() > 0 for one in reading)
        writing.result()
    end.touch()
    assert all(int(output(process)) > 0 for process in others)
    service.execute("SET hive.compactor.initiator.on=false")
    states = [row[5] for row in session.execute("SHOW COMPACTIONS").rows()]
    assert "succeeded" in states or "ready for cleaning" in states, "nothing was tested"
    for name in TABLES:
        row = session.sql(f"SELECT count(*), count(DISTINCT id), sum(v) FROM {name}").first()
        assert row is not None
        assert tuple(row) == (ACCOUNTS, ACCOUNTS, TOTAL)


def execute(session: Session, statement: str) -> None:
    """As often as it takes."""
    while True:
        try:
            session.execute(statement)
        except AcidSqlError as error:
            if error.condition != "WRITE_CONFLICT":
                raise
        else:
            return
