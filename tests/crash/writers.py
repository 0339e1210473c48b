"""Writers in processes of their own: each with its own Python and its own connection to the metastore, and with a JVM
of its own or with that of the tests, which is there at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from acidsql.acid.layout import STAGING_DIRECTORY

PATIENCE = 240.0
"""Seconds that a writer may take to come to a point, on a slow machine that does much else."""

ROOT: Final = Path(__file__).parents[2]

PRELUDE = """
import os, random, sys, threading, time
import acidsql
from acidsql.errors import AcidSqlError

WAREHOUSE, METASTORE = sys.argv[1:3]
CONF = {
    "spark.master": "local[2]",
    "spark.driver.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
    # The processes live for seconds: compile once and quickly.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}

def connect(**options):
    if "ACIDSQL_TEST_JVM" in os.environ and "spark" not in options:
        from tests.crash.slots import attached
        port, secret = os.environ["ACIDSQL_TEST_JVM"].split()
        options = {"spark": attached(int(port), secret)}
    return acidsql.connect(WAREHOUSE, METASTORE, **options)
"""

DYING = """
import os, signal

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def die_at(owner, name, call=1, before=True):
    original, calls = getattr(owner, name), []
    def dying(*arguments, **named):
        calls.append(name)
        if before and len(calls) == call:
            die()
        result = original(*arguments, **named)
        if not before and len(calls) == call:
            die()
        return result
    setattr(owner, name, dying)
"""
"""`die_at(owner, name)` makes the process kill itself at a call of a function or method."""


def dying(code: str) -> str:
    """Code that runs what its third argument says when a session is ready, and then `code`."""
    return f"""{DYING}
with connect(conf=CONF) as session:
    session.start()
    exec(sys.argv[3])
    print("ready", flush=True)
    {code}
"""


QUICK_UPDATE = "UPDATE t SET v = v + length(sha2(CAST(id AS STRING), 512)) - 127 WHERE id < 4000"
"""v + 1, by Spark: without it nobody hashes."""

SLOW_UPDATE = "UPDATE t SET v = v + length(sha2(repeat(CAST(id AS STRING), 100000), 512)) - 127 WHERE id < 4000"
"""v + 1, in some seconds: 100 to 400 kB are hashed for each row."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the tables of a test are."""

    root: Path

    @property
    def warehouse(self) -> Path:
        return self.root / "warehouse"

    @property
    def metastore(self) -> Path:
        return self.root / "metastore.db"

    @property
    def table(self) -> Path:
        return self.warehouse / "t"

    def staging(self) -> list[Path]:
        return list(self.table.glob(f"{STAGING_DIRECTORY}*"))

    def start(self, code: str, *arguments: str, jvm: SparkSession | None = None) -> subprocess.Popen[str]:
        """`start` on this place; `arguments` are sys.argv from 3 on."""
        return start(code, str(self.warehouse), f"sqlite:///{self.metastore}", *arguments, jvm=jvm)


def start(code: str, *arguments: str, jvm: SparkSession | None = None) -> subprocess.Popen[str]:
    """Runs `code` behind PRELUDE in a process of its own; `arguments` are its warehouse, its metastore, and what it
    wants more. With `jvm`, its sessions are on the JVM of that session, which goes on when the process is killed."""
    command = [sys.executable, "-c", PRELUDE + code, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if jvm is not None:
        gateway: Any = jvm.sparkContext._gateway
        java = gateway.java_parameters
        environment["ACIDSQL_TEST_JVM"] = f"{java.port} {java.auth_token}"
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def wait_for(reached: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Waits until the writer has come to a point; it must be running then."""
    deadline = time.monotonic() + PATIENCE
    while not reached():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline, "the writer did not come to the point"
        time.sleep(0.002)


def wait_for_line(line: str, process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    found = process.stdout.readline().strip()
    assert found == line, found or process.communicate()[1]


def output(process: subprocess.Popen[str]) -> str:
    """What a writer printed, once it has ended well."""
    out, err = process.communicate(timeout=5 * PATIENCE)
    assert process.returncode == 0, err
    return out


def kill(process: subprocess.Popen[str]) -> None:
    """kill -9 of the writer's Python; its JVM ends with it, as nobody talks to it any more."""
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
