"""A process that runs a statement without Spark and is killed: the table is as before, and goes on."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from acidsql.session import Session
from tests.answers import rows
from tests.crash.writers import DYING, PATIENCE, Place
from tests.selection import core

DIRECT = f"""
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.storage.local_files import LocalFiles
from acidsql.writing import event_files
{DYING}
with connect() as session:
    exec(sys.argv[3])
    session.execute(sys.argv[4])
"""

POINTS = {
    "after its locks": "die_at(SqliteMetastore, 'lock', before=False)",
    "after its write ID": "die_at(SqliteMetastore, 'allocate_write_id', before=False)",
    "after its files": "die_at(event_files, 'write_events', call=2, before=False)",
    "between two moves": "die_at(LocalFiles, 'place', call=2)",
    "before its commit": "die_at(SqliteMetastore, 'commit')",
    "after its commit": "die_at(SqliteMetastore, 'commit', before=False)",
}
STATEMENT = "UPDATE t SET v = 5 WHERE id = 2"


@pytest.mark.ci
@pytest.mark.timeout(900)
@pytest.mark.parametrize("point", core(POINTS, lambda point: point == "between two moves", others=pytest.mark.ci))
def test_a_process_that_dies_in_a_statement_without_spark_changes_all_or_nothing(
    point: str, session: Session, tmp_path: Path
) -> None:
    session.execute("CREATE TABLE t (id int, v int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO t VALUES (1, 1), (2, 2)")
    place = Place(tmp_path)
    writer = place.start(DIRECT, POINTS[point], STATEMENT)
    writer.communicate(timeout=PATIENCE)
    assert writer.returncode == -signal.SIGKILL
    changed, own = point == "after its commit", 2 if point == "after its locks" else 3
    assert rows(session) == [(1, 1), (2, 5 if changed else 2)]
    assert session.execute("UPDATE t SET v = 9 WHERE id = 1").write_ids == {"default.t": own}
    assert rows(session) == [(1, 9), (2, 5 if changed else 2)]
    written = {int(p.name.split("_")[-2]) for p in place.table.glob("*delta_*")}
    assert written == ({1, 2, own} if changed else {1, own})
    assert place.staging() == []
