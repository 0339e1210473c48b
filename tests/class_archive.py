"""Spark's classes as the JVM keeps them (JEP 350): processes that tests start, only to kill them, load them in half the
time. Run as a script, makes the archive."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark

from acidsql.session import connect
from tests.interop.maven import cache_directory

_STATEMENTS = (
    "CREATE TABLE t (k int, v string) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
    "INSERT INTO t VALUES (1, 'a'), (2, 'b')",
    "UPDATE t SET v = concat(v, 'c') WHERE k = 2",
    "MERGE INTO t USING (SELECT 1 AS k UNION ALL SELECT 3) s ON t.k = s.k WHEN MATCHED THEN DELETE"
    " WHEN NOT MATCHED THEN INSERT VALUES (s.k, 'd')",
    "SELECT v, count(*) FROM t GROUP BY v ORDER BY v",
)
"""Their classes are in the archive."""


def class_archive() -> Path | None:
    """Where the archive of this Java and this Spark is, or will be; None without Java."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    if java is None:
        return None
    found = Path(java).resolve()
    about = f"{found} {found.stat().st_mtime_ns} {pyspark.__file__} {pyspark.__version__}"
    return cache_directory() / f"spark-{hashlib.sha256(about.encode()).hexdigest()[:16]}.jsa"


def use_class_archive() -> None:
    """Every Spark that this process and those below it start takes the archive, where it is there by then."""
    archive = class_archive()
    if archive is not None:
        os.environ["SPARK_SUBMIT_OPTS"] = f"-XX:SharedArchiveFile={archive} -Xlog:cds*=off"


def start_making() -> subprocess.Popen[bytes] | None:
    """Makes the archive in a process beside this one, unless it is there."""
    archive = class_archive()
    if archive is None or archive.exists():
        return None
    return subprocess.Popen(
        [sys.executable, "-m", "tests.class_archive", str(archive)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[1],
    )


def _make(archive: Path) -> None:
    """The file gets its name when the JVM that wrote it has ended well: a part of it keeps a JVM from starting."""
    with tempfile.TemporaryDirectory() as root:
        fresh = Path(root, "classes.jsa")
        os.environ["SPARK_SUBMIT_OPTS"] = f"-XX:ArchiveClassesAtExit={fresh} -Xlog:cds*=off"
        with connect(f"{root}/warehouse", metastore=f"sqlite:///{root}/m.db", conf={"spark.master": "local[2]"}) as one:
            for statement in _STATEMENTS:
                one.sql(statement).collect()
            gateway = one.spark.sparkContext._gateway
        assert gateway is not None
        gateway.shutdown()
        jvm = gateway.proc
        jvm.stdin.close()
        if jvm.wait(120) == 0:
            beside = archive.with_suffix(f".{os.getpid()}")
            shutil.move(fresh, beside)
            beside.rename(archive)


if __name__ == "__main__":
    _make(Path(sys.argv[1]))
