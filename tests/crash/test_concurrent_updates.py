"""Writers in several processes and threads on the same rows: none of their updates is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from acidsql.session import Session
from tests.crash.writers import Place, output

INCREMENT = """
def increment(spark):
    with connect(spark=spark) as session:
        session.execute(f"SET hive.txn.xlock.write={sys.argv[4]}")
        done = 0
        while done < int(sys.argv[3]):
            started = time.monotonic()
            try:
                session.execute("UPDATE t SET v = v + 1")
            except AcidSqlError as error:
                assert error.condition == "WRITE_CONFLICT", error
                print("conflict", flush=True)
                time.sleep(random.uniform(0, 2 * (time.monotonic() - started)))
            else:
                done += 1
                print("done", flush=True)

with connect(conf=CONF) as first:
    first.start()
    failures = []
    threading.excepthook = lambda failure: failures.append(failure.exc_value)
    writers = [threading.Thread(target=increment, args=(first.spark,)) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
assert not failures, failures
"""


@pytest.mark.ci
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("each", [1, *(pytest.param(each, marks=pytest.mark.soak) for each in (4, 25))])
def test_four_writers_in_two_processes_lose_no_increment(session: Session, tmp_path: Path, each: int) -> None:
    session.execute("CREATE TABLE t (id int, v int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO t VALUES (1, 0), (2, 1000), (3, -100)")
    jvm = session.spark if each == 1 else None
    # Those of one process take turns with all others; those of the other one share, and the first to commit wins.
    writers = [Place(tmp_path).start(INCREMENT, str(each), xlock, jvm=jvm) for xlock in ("true", "false")]
    told = [line for writer in writers for line in output(writer).splitlines()]
    assert told.count("done") == 4 * each
    rows = session.sql("SELECT id, v FROM t ORDER BY id").collect()
    assert [tuple(row) for row in rows] == [(1, 4 * each), (2, 1000 + 4 * each), (3, 4 * each - 100)]
    # Each commit wrote one delete_delta, and what lost a conflict has left nothing.
    assert len(list(Place(tmp_path).table.glob("delete_delta_*"))) == 4 * each
    assert Place(tmp_path).staging() == []
