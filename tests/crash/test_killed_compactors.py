"""A worker or a cleaner that is killed: rows are as they were, and the next one does its work."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Final

import pytest

from acidsql.session import Session
from tests.compactor.layout import directories
from tests.crash.compacted import DIES, make_table, rows_of_table
from tests.crash.writers import PATIENCE, Place, wait_for_line

_DIE: Final = f"""
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.storage.local_files import LocalFiles
from acidsql.arrow import compaction as arrow_compaction, streamed_compaction
from acidsql.spark import compaction
{DIES}"""

BY_SPARK: Final = "session.execute('SET acidsql.driver.write.max.bytes=0')"
STREAMED: Final = "arrow_compaction._MOST_BYTES = 0"
WORKER: Final = {
    "after it took the request": "die_at(SqliteMetastore, 'take_compaction', before=False)",
    "after its transaction": "die_at(SqliteMetastore, 'open_txn', before=False)",
    "after it began": "die_at(SqliteMetastore, 'begin_compaction', before=False)",
    "after its job": f"{BY_SPARK}; die_at(compaction, 'finish')",
    "between two files that it streams": f"{STREAMED}; die_at(streamed_compaction, '_write', call=2)",
    "after it streamed its files": f"{STREAMED}; die_at(streamed_compaction, 'finish')",
    "after it staged its files": "die_at(arrow_compaction, 'publish')",
    "between two moves": "die_at(LocalFiles, 'place', call=2)",
    "before its commit": "die_at(SqliteMetastore, 'commit_compaction')",
    "after its commit": "die_at(SqliteMetastore, 'commit_compaction', before=False)",
}
CLEANER: Final = {
    "before it removes": "die_at(LocalFiles, 'delete', call=2)",
    "between two directories": "die_at(LocalFiles, 'delete', call=4)",
    "after it removed": "die_at(SqliteMetastore, 'compaction_cleaned')",
}
"""The first `delete` of a round is that of the worker's staging directory."""
IN_CI: Final = ("between two moves", "after it removed")


@pytest.fixture
def place(session: Session, tmp_path: Path) -> Place:
    """Three deltas and a delete delta of two buckets, and a request to compact them."""
    make_table(session)
    return Place(tmp_path)


@pytest.mark.ci
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("point", "kind"),
    [
        ("before its commit", "minor"),
        *((point, "major") for point in IN_CI),
        *(pytest.param(p, "major", marks=pytest.mark.nightly) for p in (*WORKER, *CLEANER) if p not in IN_CI),
        pytest.param("between two moves", "minor", marks=pytest.mark.nightly),
    ],
)
def test_a_compactor_that_dies_changes_nothing_and_the_next_one_finishes(
    point: str, kind: str, place: Place, session: Session
) -> None:
    before = rows_of_table(session)
    session.execute(f"ALTER TABLE t COMPACT '{kind}'")
    compactor = place.start(_DIE, {**WORKER, **CLEANER}[point], jvm=session.spark)
    wait_for_line("ready", compactor)
    compactor.communicate(timeout=PATIENCE)
    assert compactor.returncode == -signal.SIGKILL
    assert rows_of_table(session) == before

    session.execute("INSERT INTO t VALUES (1000, 1)")
    session.execute("DELETE FROM t WHERE id = 1000")
    assert rows_of_table(session) == before
    session.compactor.run_once()
    assert rows_of_table(session) == before
    names = [n for n in directories(place.table) if not n.startswith(("delta_0000005", "delete_delta_0000006"))]
    compacted = {"minor": ["delete_delta_0000001_0000004_v", "delta_0000001_0000004_v"], "major": ["base_0000004_v"]}
    later = {"major": [["base_0000006_v"]], "minor": [["delete_delta_0000001_0000006_v", "delta_0000001_0000006_v"]]}
    assert names in [compacted[kind], *later[kind]]
    assert place.staging() == []
    states = [row[5] for row in session.execute("SHOW COMPACTIONS").rows()]
    assert set(states) == {"succeeded"}
