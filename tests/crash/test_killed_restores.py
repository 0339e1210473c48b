"""RESTORE TABLE in a process that dies while it publishes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from acidsql.session import Session

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def rows(session: Session) -> list[tuple[object, ...]]:
    found = session.read_arrow("t").read_all().to_pylist()
    return sorted(tuple(row.values()) for row in found)


@pytest.mark.nightly
@pytest.mark.timeout(300)
@pytest.mark.parametrize("step", ["publish", "empty", "note_replaced"])
def test_a_restore_that_dies_behind_a_step_changes_nothing(session: Session, tmp_path: Path, step: str) -> None:
    session.execute(f"CREATE TABLE t (id int) PARTITIONED BY (p int) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 1), (2, 2)")
    session.execute("INSERT INTO t VALUES (3, 3), (4, 1)")
    program = f"""
        import os
        from acidsql.connection import connect
        from acidsql.spark import executor

        step = executor.{step}

        def die(*arguments):
            step(*arguments)
            os.kill(os.getpid(), {int(signal.SIGKILL)})

        executor.{step} = die
        session = connect({str(tmp_path / "warehouse")!r}, metastore={f"sqlite:///{tmp_path}/metastore.db"!r})
        session.execute("RESTORE TABLE t TO VERSION AS OF 1")
    """
    died = subprocess.run([sys.executable, "-c", dedent(program)], check=False)
    assert died.returncode == -signal.SIGKILL
    assert list((tmp_path / "warehouse" / "t").rglob("base_*"))
    assert rows(session) == [(1, 1), (2, 2), (3, 3), (4, 1)]
    session.execute("RESTORE TABLE t TO VERSION AS OF 1")
    assert rows(session) == [(1, 1), (2, 2)]
