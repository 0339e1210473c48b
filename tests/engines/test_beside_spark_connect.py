"""A process that uses Spark Connect: what needs no Spark works in it, and everything else is one clear error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import sys
import acidsql
from acidsql.errors import AcidSqlError

with acidsql.connect(sys.argv[1]) as session:
    session.execute("CREATE TABLE t (id int, v string) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    session.execute("UPDATE t SET v = 'c' WHERE id = 2")
    session.execute("DELETE FROM t WHERE id = 1")
    with session.stream("t", id="s") as stream:
        stream.write([{"id": 3, "v": "s"}], offset=1)
    print(session.read_arrow("t").read_all().sort_by("id").to_pydict())
    for needs_spark in ("SELECT count(*) FROM t", "INSERT INTO t SELECT id + 10, v FROM t"):
        try:
            session.execute(needs_spark)
        except AcidSqlError as error:
            print(error.condition, "read_arrow" in str(error))
    print(session.read_arrow("t").read_all().num_rows)
"""


@pytest.mark.ci
@pytest.mark.parametrize("variable", [("SPARK_REMOTE", "sc://localhost:1"), ("SPARK_CONNECT_MODE_ENABLED", "1")])
def test_what_needs_no_spark_works_and_the_rest_is_refused_before_it_writes(
    variable: tuple[str, str], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path)],
        env=os.environ | {variable[0]: variable[1]},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "{'id': [2, 3], 'v': ['c', 's']}",
        "SPARK_CONNECT True",
        "SPARK_CONNECT True",
        "2",
    ]
