"""-0.0 and 0.0: every write path stores the right sign, but ORC's reader may show another one.

ORC's DoubleTreeReader and FloatTreeReader, which Spark and Hive share, take a batch for one repeated value if all its
values are equal to the first, and to them -0.0 is equal to 0.0: of a file with zeros of both signs and nothing else
every row reads as the first. With any other number in the batch all signs are right. So a model of plain rows and a
table may differ in the sign of a zero where no row of a file is wrong. (Spark itself takes CASE WHEN c THEN -0.0D ELSE
0.0D END for 0.0D: its optimizer finds both literals equal.)
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc

from acidsql.session import Session

ZEROS = [(1, "-0.0", "0.0"), (2, "0.0", "-0.0")]


def stored(session: Session, table: str = "t") -> list[tuple[int, str, str]]:
    """k, d and f of the rows in the newest delta, as their files have them."""
    location = Path(session.catalog.table("default", table).location)
    deltas = sorted(path for path in location.iterdir() if path.name.startswith(("delta_", "base_")))
    found = []
    for path in deltas[-1].glob("bucket_*"):
        rows = orc.ORCFile(pa.BufferReader(path.read_bytes())).read().column("row").to_pylist()
        found += [(row["k"], str(row["d"]), str(row["f"])) for row in rows]
    return sorted(found)


@pytest.mark.ci
@pytest.mark.parametrize("driver_bytes", [0, 1 << 30])
def test_a_zero_is_stored_with_its_sign(session: Session, driver_bytes: int) -> None:
    session.execute(f"SET acidsql.driver.write.max.bytes={driver_bytes}")
    session.execute("CREATE TRANSACTIONAL TABLE t (k int, d double, f float, v int)")
    session.execute("INSERT INTO t VALUES (1, -0.0D, 0.0D, 0), (2, 0.0D, -0.0D, 0), (3, 1, 1, 0)")
    assert stored(session) == [*ZEROS, (3, "1.0", "1.0")]
    session.execute("UPDATE t SET v = 1 WHERE k < 3")
    assert stored(session) == ZEROS
    session.execute(
        "MERGE INTO t USING (VALUES (3, -0.0D), (4, 0.0D)) AS s(k, z) ON t.k = s.k"
        " WHEN MATCHED THEN UPDATE SET d = z, f = 0.0D WHEN NOT MATCHED THEN INSERT VALUES (s.k, z, -z, 0)"
    )
    assert stored(session) in ([(3, "-0.0", "0.0")], [(4, "0.0", "-0.0")])


def test_zeros_of_both_signs_are_equal_and_beside_another_number_each_is_read_with_its_own(session: Session) -> None:
    session.execute("CREATE TRANSACTIONAL TABLE t (k int, d double, f float)")
    session.execute("INSERT INTO t VALUES (1, -0.0D, 0.0D), (2, 0.0D, -0.0D)")
    assert stored(session) == ZEROS
    query = "SELECT k, d, f FROM t WHERE k < 3 ORDER BY k"
    assert [tuple(row) for row in session.sql(query).collect()] == [(1, 0.0, 0.0), (2, 0.0, 0.0)]  # of whatever sign
    assert session.sql("SELECT k FROM t WHERE d = 0 AND f = -0.0D").count() == 2
    session.execute("INSERT OVERWRITE TABLE t VALUES (1, -0.0D, 0.0D), (2, 0.0D, -0.0D), (3, 1, 1)")
    assert [(k, str(d), str(f)) for k, d, f in session.sql(query).collect()] == ZEROS
