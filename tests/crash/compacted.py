"""The table that a compactor works at when it is killed, and what it runs."""

from __future__ import annotations

from acidsql.session import Session
from tests.crash.writers import dying

DIES = dying("session.compactor.run_once()")
"""A compactor that runs what its third argument says when it is ready, and then once."""


def make_table(session: Session) -> None:
    """`t`: three deltas and a delete delta of two buckets."""
    session.execute("SET acidsql.driver.write.max.bytes=0")  # a file a task: several to move
    session.execute("CREATE TABLE t (id int, v int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    for first in (0, 100, 200):
        rows = session.spark.range(first, first + 100, 1, 2).selectExpr("CAST(id AS INT) AS id", "0 AS v")
        session.execute("INSERT INTO t SELECT * FROM {rows}", frames={"rows": rows})
    session.execute("DELETE FROM t WHERE id % 10 = 0")


def rows_of_table(session: Session) -> list[tuple[object, ...]]:
    """The rows of `t` with their row IDs. Ends its read transaction."""
    result = session.execute("SELECT row__id, * FROM t")
    found = sorted(map(tuple, result.rows()))
    result.close()
    return found
