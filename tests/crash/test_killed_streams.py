"""Streams whose writers are killed at random moments, beside UPDATEs, readers and compactions: every record is there
exactly once, up to the committed offset of its writer."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.session import Session
from tests.crash.killed_streams import Expected, Streamed, Writer, Writers, check_end, check_snapshot, left_behind
from tests.crash.stream_writers import COLUMNS
from tests.crash.test_random_kills import SEED

KILLS = 8
UPDATES = 4


@pytest.mark.ci
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
        while (
            running.kills < KILLS
            or len(expected.updates) < UPDATES
            or all(writer.told < 1 for writer in writers)  # a busy machine starts them slowly
        ):
            assert running.failure is None, running.failure
            check_snapshot(session, place.table, writers)
            expected.update(session, place.table, choose.choice(writers), choose)
            session.compactor.run_once()
    check_end(session, place.table, writers, expected)
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
