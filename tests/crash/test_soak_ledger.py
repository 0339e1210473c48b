"""A ledger under many processes: transfers by MERGE and UPDATE, accounts opened and closed, the total never off."""

from __future__ import annotations

from pathlib import Path

import pytest

from acidsql.session import Session
from tests.crash.writers import Place

ACCOUNTS = 20
TOTAL = 100 * ACCOUNTS

TRANSFERS = f"""
def statements(me, number):
    one, other = random.sample(range({ACCOUNTS}), 2)
    amount = random.randint(1, 50)
    moved = f"CASE id WHEN {{one}} THEN {{amount}} ELSE -{{amount}} END"
    own = 1000 * (me + 1) + number
    return [
        f"UPDATE t SET v = v + {{moved}} WHERE id IN ({{one}}, {{other}})",
        f"MERGE INTO t USING (VALUES ({{one}}, {{amount}}), ({{other}}, -{{amount}}), ({{own}}, 0)) s(id, v)"
        " ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = t.v + s.v WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v)",
        f"INSERT INTO t VALUES ({{own}}, 0)",
        f"DELETE FROM t WHERE id >= 1000 AND id % 3 = {{me % 3}}",
    ]

me = int(sys.argv[3])
random.seed(me)
with connect(conf=CONF) as session:
    done = 0
    while done < int(sys.argv[4]):
        try:
            session.execute(statements(me, done)[(me + done) % 4])
        except AcidSqlError as error:
            assert error.condition in ("WRITE_CONFLICT", "LOCK_TIMEOUT"), error
            time.sleep(random.uniform(0, 1))
        else:
            done += 1
        total = session.sql("SELECT sum(v), count_if(id < 1000), count(DISTINCT id) = count(*) FROM t").first()
        assert tuple(total) == ({TOTAL}, {ACCOUNTS}, True), total
"""


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("processes", "statements"), [(3, 8), pytest.param(8, 50, marks=pytest.mark.soak)])
def test_a_ledger_adds_up_in_every_snapshot_of_many_writing_processes(
    session: Session, tmp_path: Path, processes: int, statements: int
) -> None:
    session.execute("CREATE TABLE t (id int, v int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.execute(f"INSERT INTO t SELECT CAST(id AS INT), 100 FROM range({ACCOUNTS})")
    writers = [Place(tmp_path).start(TRANSFERS, str(number), str(statements)) for number in range(processes)]
    ended = [(writer.communicate()[1], writer.returncode) for writer in writers]
    assert [error for error, status in ended if status] == []
    row = session.sql("SELECT sum(v), count_if(id < 1000), count(DISTINCT id) = count(*) FROM t").first()
    assert row is not None
    assert tuple(row) == (TOTAL, ACCOUNTS, True)
    assert Place(tmp_path).staging() == []
