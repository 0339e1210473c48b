"""Millions of rows on a cluster of two workers, whose tables lie on HDFS, in a store of S3's protocol, or on a disk.

`python -m tests.cluster.scale s3 --rows 20000000` prints a line for each statement: seconds, and the largest resident
memory so far of the driver's Python, the driver's JVM, and an executor.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from acidsql.session import connect
from acidsql.spark.engine import Engine
from tests.cluster.standalone_cluster import StandaloneCluster
from tests.interop.hdfs_process import Hdfs
from tests.interop.s3_server import S3Server, s3a_jars, s3a_settings

_STATEMENTS: Final = (
    "CREATE TABLE big (id bigint, n int, amount double, v string) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
    "INSERT INTO big SELECT id, CAST(id % 1000 AS int), id / 7, md5(CAST(id AS string)) FROM range(0, {rows}, 1, 16)",
    "MERGE INTO big t USING (SELECT id * 10 + 3 AS id FROM range(0, {changed}, 1, 8)) s ON t.id = s.id"
    " WHEN MATCHED THEN UPDATE SET n = -1, v = 'merged'"
    " WHEN NOT MATCHED THEN INSERT VALUES (s.id, -2, 0, 'new')",
    "UPDATE big SET amount = -1 WHERE id = {rows} DIV 2",
    "DELETE FROM big WHERE id % 50 = 0",
    "ALTER TABLE big COMPACT 'major' AND WAIT",
)
_CHECK: Final = (
    "SELECT count(*), count(DISTINCT id), count_if(n = -1), count_if(n = -2), count_if(amount = -1) FROM big"
)


@contextmanager
def _store(name: str, root: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The warehouse, and Spark's settings for it."""
    if name == "disk":
        yield str(root / "warehouse"), {}
    elif name == "hdfs":
        (root / "hdfs").mkdir()
        with Hdfs(root / "hdfs") as hdfs:
            yield f"{hdfs.uri}/warehouse/scale", {}
    else:
        (root / "s3").mkdir()
        with S3Server(root / "s3") as server:
            hadoop = {f"spark.hadoop.{key}": value for key, value in s3a_settings(server.port).items()}
            yield f"s3a://{server.bucket}/scale", {**hadoop, "spark.jars": ",".join(s3a_jars())}


def _peak(pid: int | str) -> int:
    """The largest resident memory of a process so far, in MiB; 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next(int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def _expected(rows: int, changed: int) -> tuple[int, ...]:
    """What _CHECK gives: every 50th row is deleted, no changed one among them."""
    matched = min(changed, -(-(rows - 3) // 10))
    new = changed - matched
    return rows + new - -(-rows // 50), rows + new - -(-rows // 50), matched, new, int(rows // 2 % 50 != 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", choices=("disk", "hdfs", "s3"))
    parser.add_argument("--rows", type=int, default=20_000_000)
    options = parser.parse_args()
    rows, changed = options.rows, options.rows // 10 + options.rows // 100
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="acidsql-scale-")))
        warehouse, settings = stack.enter_context(_store(options.store, root))
        cluster = stack.enter_context(StandaloneCluster(root / "cluster"))
        engine = Engine(None, {**cluster.conf, **settings, "spark.sql.shuffle.partitions": "64"})
        stack.callback(engine.close)
        jvm = engine.spark.sparkContext._jvm
        assert jvm is not None
        driver = int(jvm.java.lang.ProcessHandle.current().pid())
        session = stack.enter_context(
            connect(warehouse, metastore=f"sqlite:///{root}/metastore.db", spark=engine.spark)
        )

        def run(statement: str) -> list[tuple[object, ...]]:
            start = time.monotonic()
            result = session.sql(statement).collect()
            seconds = time.monotonic() - start
            executors = max(map(_peak, cluster.executors()), default=0)
            memory = f"{_peak(os.getpid()):>8} {_peak(driver):>8} {executors:>8}"
            print(f"{seconds:8.1f} {memory}  {statement[:70]}", flush=True)
            return [tuple(row) for row in result]

        print(f"{rows:,} rows on {options.store}; MiB of memory at most: driver's Python, driver's JVM, an executor")
        for statement in _STATEMENTS:
            run(statement.format(rows=rows, changed=changed))
        (found,) = run(_CHECK)
    expected = _expected(rows, changed)
    print("as expected" if found == expected else f"WRONG: {found}, and {expected} is right")
    return int(found != expected)


if __name__ == "__main__":
    sys.exit(main())
