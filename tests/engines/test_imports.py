"""What a session imports: PySpark only where a statement needs Spark."""

import subprocess
import sys
from pathlib import Path

_SCRIPT = """
import sys
import acidsql

def of_spark():
    return [name for name in sys.modules if name.split(".")[0] in ("pyspark", "IPython", "prompt_toolkit", "rich")]

with acidsql.connect(sys.argv[1]) as session:
    session.execute("CREATE TABLE t (id int, name string, n decimal(10,2)) TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO t VALUES (1, 'a', 1.5), (2, 'b', NULL)")
    session.execute("UPDATE t SET name = 'c' WHERE id = :id", {"id": 2})
    session.execute("DELETE FROM t WHERE id = 1")
    session.execute(
        "MERGE INTO t USING (VALUES (2, 'd'), (3, 'e')) AS s (id, name) ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.name, 0)"
    )
    print(sorted(session.execute("SELECT id, name FROM t WHERE id > 1", rows_only=True).rows()))
    print(session.read_arrow("t").read_all().num_rows, len(list(session.execute("DESCRIBE HISTORY t").rows())))
    with session.transaction():
        session.execute("INSERT INTO t VALUES (4, 'f', 1)")
    with session.stream("t", id="s") as stream:
        stream.write([{"id": 5, "name": "g"}])
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    print(list(session.execute("SELECT count(*) FROM t", rows_only=True).rows()), session.inspect("t").table.name)
    print(of_spark())
print(of_spark())
"""


def test_statements_that_need_no_spark_import_no_pyspark(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(tmp_path / "warehouse")], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == ["[(2, 'd'), (3, 'e')]", "2 4", "[(4,)] t", "[]", "[]"]
