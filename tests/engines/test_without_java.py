"""Small statements on a machine without Java."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.orc as orc
import pytest

from tests.answers import files_below

SCRIPT = """
CREATE TABLE t (id int, name string) STORED AS ORC TBLPROPERTIES ('transactional'='true');
INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c');
UPDATE t SET name = 'changed' WHERE id = 2;
DELETE FROM t WHERE id = 1;
START TRANSACTION;
INSERT INTO t SELECT 4, 'd';
COMMIT;
SELECT name FROM t FOR SYSTEM_VERSION AS OF 1 WHERE id < 3;
"""
COMPACT = "ALTER TABLE t COMPACT 'major' AND WAIT"
METHODS = """
import sys
import pandas
import acidsql
import acidsql.dbapi
with acidsql.connect(sys.argv[1]) as session:
    session.execute(
        "CREATE TABLE t (id int, name string) PARTITIONED BY (k int)"
        " STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    )
    session.insert("t", pandas.DataFrame({"name": ["a", None], "id": [1, 2], "k": [7, 8]}))
    session.insert("t", [{"id": 3, "name": "c"}], partition={"k": 7})
    session.update("t", {"name": "'changed'"}, where="id = :id", args={"id": 2})
    session.delete("t", where="k = 7 AND id < 3")
    print(sorted(session.read_arrow("t", ["k", "id", "name"]).read_all().to_pylist(), key=str))
with acidsql.dbapi.connect(sys.argv[1]) as connection:
    cursor = connection.cursor()
    cursor.execute("INSERT INTO t PARTITION (k = 9) VALUES (:id, :name)", {"id": 4, "name": "d"})
    cursor.execute("SELECT name, id FROM t WHERE k >= 9")
    print(cursor.fetchall(), [column[1] for column in cursor.description])
    cursor.execute("SELECT id FROM t WHERE k >= :k AND name <> :name", {"k": 8, "name": "d"})
    print(cursor.fetchall())
    cursor.execute("SELECT id, name FROM t VERSION AS OF :version WHERE k = 7", {"version": 2})
    print(cursor.fetchall())
"""
EXPRESSION = "UPDATE t SET id = id + 1"


@pytest.mark.ci
def test_the_shell_runs_small_statements_without_java(tmp_path: Path) -> None:
    without_java = _without_java(tmp_path)
    command = [sys.executable, "-m", "acidsql", "shell", "--warehouse", str(tmp_path / "warehouse"), "-e"]
    done = subprocess.run([*command, SCRIPT], env=without_java, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["a", "b"]
    table = tmp_path / "warehouse" / "t"
    events = {
        path: [(e["operation"], e["rowId"], e["row"]) for e in orc.read_table(table / path).to_pylist()]
        for path in files_below(table)
        if not path.endswith("_orc_acid_version")
    }
    assert events == {
        "delta_0000001_0000001_0000/bucket_00000": [
            (0, n, {"id": n + 1, "name": name}) for n, name in enumerate(("a", "b", "c"))
        ],
        "delete_delta_0000002_0000002_0000/bucket_00000": [(2, 1, None)],
        "delta_0000002_0000002_0000/bucket_00000": [(0, 0, {"id": 2, "name": "changed"})],
        "delete_delta_0000003_0000003_0000/bucket_00000": [(2, 0, None)],
        "delta_0000004_0000004_0000/bucket_00000": [(0, 0, {"id": 4, "name": "d"})],
    }
    refused = subprocess.run([*command, EXPRESSION], env=without_java, capture_output=True, text=True, timeout=300)
    assert refused.returncode != 0
    assert "JAVA_NOT_FOUND" in refused.stdout + refused.stderr
    assert len(files_below(table)) == 2 * len(events)
    done = subprocess.run([*command, COMPACT], env=without_java, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (base,) = table.iterdir()
    found = orc.read_table(base / "bucket_00000").to_pylist()
    assert [(e["originalTransaction"], e["row"]["id"]) for e in found] == [(1, 3), (2, 2), (4, 4)]


def test_methods_and_dbapi_write_and_read_without_java(tmp_path: Path) -> None:
    command = [sys.executable, "-c", METHODS, str(tmp_path / "warehouse")]
    done = subprocess.run(command, env=_without_java(tmp_path), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "[{'k': 7, 'id': 3, 'name': 'c'}, {'k': 8, 'id': 2, 'name': 'changed'}]",
        "[('d', 4)] ['string', 'int']",
        "[(2,)]",
        "[(1, 'a'), (3, 'c')]",
    ]


def _without_java(path: Path) -> dict[str, str]:
    """The environment, with an empty directory as PATH."""
    return {k: v for k, v in os.environ.items() if k != "JAVA_HOME"} | {"PATH": str(path)}
