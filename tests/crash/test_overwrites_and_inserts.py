"""INSERT OVERWRITE beside INSERTs of another process: a new base hides no row that was committed."""

from __future__ import annotations

from pathlib import Path

import pytest

from acidsql.session import Session
from tests.crash.writers import Place, output, wait_for_line

INSERTS = """
with connect(conf=CONF) as session:
    session.start()
    print("ready", flush=True)
    for number in range(1, 7):
        session.execute(f"INSERT INTO t VALUES ({number}, {number % 2})")
    print("done", flush=True)
"""


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "partitioned",
    [pytest.param(False, id="table", marks=pytest.mark.soak), pytest.param(True, id="dynamic partitions")],
)
def test_no_insert_is_lost_beside_overwrites_of_a_table_by_its_own_rows(
    session: Session, tmp_path: Path, partitioned: bool
) -> None:
    columns = "(id int) PARTITIONED BY (p int)" if partitioned else "(id int, p int)"
    session.execute(f"CREATE TABLE t {columns} STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO t VALUES (0, 0)")
    writer = Place(tmp_path).start(INSERTS, jvm=session.spark)
    wait_for_line("ready", writer)
    overwrites = 0
    while writer.poll() is None:
        session.execute("INSERT OVERWRITE TABLE t SELECT id, p FROM t")
        overwrites += 1
    assert output(writer) == "done\n"
    assert sorted(r.id for r in session.sql("SELECT id FROM t").collect()) == list(range(7))
    assert overwrites > 1, "nothing was tested"
    assert Place(tmp_path).staging() == []
