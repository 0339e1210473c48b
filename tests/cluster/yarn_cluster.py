"""A running YARN: a resource manager and two node managers in one process, whose file system is this machine's."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import TracebackType
from typing import Final

from tests.cluster.standalone_cluster import wait_until
from tests.interop.ended_process import end
from tests.interop.maven import class_path, compiled, java

_HERE: Final = Path(__file__).parent / "yarn"


class YarnCluster:
    """A context manager; ends with it, and with the process that started it."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True)
        self.conf_directory = root
        """Has the yarn-site.xml of clients: HADOOP_CONF_DIR."""
        jars = class_path(_HERE / "pom.xml")
        classes = compiled(_HERE / "YarnProcess.java", jars)
        command = [java("java"), "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
        command += ["--add-opens", "java.base/java.lang=ALL-UNNAMED"]  # its injection of dependencies needs them
        with (root / "yarn.log").open("wb") as log:
            self._process = subprocess.Popen(
                [*command, "-cp", f"{classes}:{jars}", "YarnProcess", str(root)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=root,
            )
        wait_until(lambda: (root / "yarn-site.xml").exists() or self._process.poll() is not None, "YARN runs")
        assert self._process.poll() is None, (root / "yarn.log").read_text(errors="replace")[-3000:]

    def __enter__(self) -> YarnCluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        end(self._process)
