"""Streams whose writers are killed at random moments, beside UPDATEs, readers and compactions: every record is there
exactly once, up to the committed offset of its writer."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.session import Session
from tests.crash.killed_streams import Expected, Streamed, Writer, Writers, check_end, check_snapshot, left_behind
from tests.crash.stream_writers import COLUMNS
from tests.crash.test_random_kills import SEED

SECONDS = 12.0


@pytest.mark.timeout(900)
def test_every_record_of_killed_streams_is_there_once_beside_updates_and_compactions(
    session: Session, open_session: Callable[[], Session], tmp_path: Path
) -> None:
    choose = random.Random(SEED)
    session.execute(f"CREATE TABLE s {COLUMNS} STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.execute("SET hive.compactor.delta.num.threshold=4")
    place = Streamed(str(tmp_path / "warehouse"), f"sqlite:///{tmp_path}/metastore.db", "default.s", tmp_path)
    writers = [Writer(number, place, rows=40, rate=500, calls=20_000, batch_sizes=(1, 3, 10)) for number in range(3)]
    expected = Expected()
    with Writers(writers, choose, longest=1.5) as running:
        until = time.monotonic() + SECONDS

        def is_long_enough() -> bool:
            """On a busy machine a writer may take long to its first commit."""
            enough = running.kills >= 6 and len(expected.updates) >= 3 and any(w.told > 0 for w in writers)
            return time.monotonic() >= until and enough

        while not is_long_enough():
            check_snapshot(session, place.table, writers)
            expected.update(session, place.table, choose.choice(writers), choose)
            session.compactor.run_once()
    highest = check_end(session, place.table, writers, expected)
    assert max(highest.values()) > 0, "nothing was written"
    with closing(open_session()) as other:
        other.compactor.run_once()  # aborts what the dead left open
    for (partition,) in session.execute("SHOW PARTITIONS s").rows():
        session.execute(f"ALTER TABLE s PARTITION ({partition}) COMPACT 'major' AND WAIT")
    check_end(session, place.table, writers, expected)
    session.compactor.run_once()
    assert left_behind(tmp_path / "warehouse" / "s") == []
    with SqliteMetastore(tmp_path / "metastore.db", str(tmp_path / "warehouse")) as store:
        assert store.leftovers() == []
        assert [t for t in store.transactions() if t.is_open] == []
