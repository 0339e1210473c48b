"""One pass of statements over a standalone cluster, for CI: `make test-cluster` runs the rest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.standalone_cluster import StandaloneCluster

STATEMENTS = """
SET acidsql.driver.write.max.bytes=0;
CREATE TABLE t (id int, v string) STORED AS ORC TBLPROPERTIES ('transactional'='true');
INSERT INTO t SELECT CAST(id AS INT), CAST(id AS STRING) FROM range(0, 100, 1, 4);
UPDATE t SET v = 'u' WHERE id < 10;
DELETE FROM t WHERE id >= 90;
MERGE INTO t USING (SELECT CAST(id AS INT) AS k FROM range(85, 95)) s ON t.id = s.k
  WHEN MATCHED THEN UPDATE SET v = 'm' WHEN NOT MATCHED THEN INSERT VALUES (s.k, 'n');
CREATE TABLE copied STORED AS ORC TBLPROPERTIES ('transactional'='true') AS SELECT v, count(*) AS c FROM t GROUP BY v;
ALTER TABLE t COMPACT 'major' AND WAIT;
SELECT count(*) AS n, count(DISTINCT id) AS ids, count_if(v = 'u') AS u, count_if(v = 'm') AS m, count_if(v = 'n') AS i
  FROM t;
SELECT sum(c) AS n FROM copied WHERE v IN ('u', 'm', 'n');
"""


@pytest.mark.nightly
def test_statements_run_on_a_cluster_whose_executors_have_no_acidsql(tmp_path: Path) -> None:
    script = tmp_path / "statements.sql"
    script.write_text(STATEMENTS)
    hidden = tmp_path / "driver"
    hidden.mkdir()
    with StandaloneCluster(tmp_path / "cluster", hidden) as cluster:
        settings = [word for key, value in cluster.conf.items() for word in ("--conf", f"{key}={value}")]
        command = [sys.executable, "-m", "acidsql", "shell", "--warehouse", str(tmp_path / "warehouse"), *settings]
        done = subprocess.run(
            [*command, "-S", "--output", "jsonl", "-f", str(script)],
            env={**os.environ, "TMPDIR": str(hidden)},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {"n": 95, "ids": 95, "u": 10, "m": 5, "i": 5} in rows
    assert rows[-1] == {"n": 20}
