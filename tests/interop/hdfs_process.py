"""A running HDFS: a name node and a data node in one process."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from pyspark.sql import SparkSession

from tests.interop.ended_process import end
from tests.interop.maven import class_path, compiled, java

_HERE: Final = Path(__file__).parent / "hdfs"


@contextmanager
def hadoop_settings(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Settings of Spark's Hadoop client. Hadoop keeps the client of a name node, with the settings of its first use."""
    java: Any = spark._jsc
    conf = java.hadoopConfiguration()
    for key, value in settings.items():
        conf.set(key, value)
    try:
        yield
    finally:
        for key in settings:
            conf.unset(key)


class Hdfs:
    """A context manager; ends with it, and with the process that started it."""

    def __init__(self, root: Path) -> None:
        jars = class_path(_HERE / "pom.xml")
        for server in ("hdfs", "datanode"):
            (root / "webapps" / server).mkdir(parents=True)  # their web servers look for them in the class path
        classes = compiled(_HERE / "HdfsProcess.java", jars)
        command = [java("java"), "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
        with (root / "hdfs.log").open("wb") as log:
            self._process = subprocess.Popen(
                [*command, "-cp", f"{root}:{classes}:{jars}", "HdfsProcess", str(root)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout is not None
        self.uri = self._process.stdout.readline().strip()
        assert self.uri, (root / "hdfs.log").read_text()[-3000:]

    def stop_name_node(self) -> None:
        """Ends the name node, so that nobody can connect to it."""
        self._order("stop")

    def start_name_node(self) -> None:
        """Starts the name node again at its old address, and waits until it takes files."""
        self._order("start")

    def _order(self, order: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{order}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"

    def __enter__(self) -> Hdfs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        end(self._process)
