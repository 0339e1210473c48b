"""A standalone cluster of Spark: a master and two workers as processes of their own, on two addresses of this machine.

The workers and their executors have no acidsql: their PYTHONPATH is empty, and no Python starts in them. Where the
system allows a mount of one's own, they do not see the directory of temporary files of the driver either, as on
another machine.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final

import pyspark

HOSTS: Final = ("127.0.0.2", "127.0.0.3")
"""Of the workers: Spark starts no speculative copy of a task on the host of the first attempt."""
_SECONDS: Final = 240.0
_EXECUTOR: Final = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
_HOME: Final = Path(pyspark.__file__).parent


@dataclass(slots=True)
class StandaloneCluster:
    """The processes. `hidden` is the directory that the workers do not see, if there is one."""

    root: Path
    hidden: Path | None = None
    port: int = 0
    hides: bool = False
    """Whether the workers do not see the hidden directory."""
    _master: subprocess.Popen[bytes] | None = None
    _workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __enter__(self) -> StandaloneCluster:
        self.root.mkdir(parents=True, exist_ok=True)
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            self.port = free.getsockname()[1]
        address = ("--host", "127.0.0.1", "--port", str(self.port), "--webui-port", "0")
        self._master = self._daemon("master.Master", address, ())
        for host in HOSTS:
            self.start_worker(host)
        wait_until(lambda: self._log().count("Registering worker") >= len(HOSTS), "the workers are registered")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for executor in self.executors():
            _kill(executor)
        for daemon in (*self._workers.values(), *([self._master] if self._master else [])):
            daemon.kill()
            daemon.wait()

    @property
    def master(self) -> str:
        """The URL for `--master`."""
        return f"spark://127.0.0.1:{self.port}"

    @property
    def conf(self) -> Mapping[str, str]:
        """The settings of a driver on this cluster."""
        return {
            "spark.master": self.master,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.executor.extraJavaOptions": "-Duser.timezone=UTC -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.executor.memory": "700m",
            "spark.executor.cores": "1",
            "spark.sql.shuffle.partitions": "4",
        }

    def start_worker(self, host: str) -> None:
        """Starts the worker of a host, at first or after it was killed."""
        work = ("--host", host, "--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir")
        arguments = (*work, str(self.root / f"work-{host}"), self.master)
        self._workers[host] = self._daemon("worker.Worker", arguments, self._without_hidden())

    def executors(self, host: str | None = None) -> list[int]:
        """The IDs of the executors' processes, of all workers or of one."""
        of = [self._workers[host]] if host is not None else list(self._workers.values())
        return [pid for worker in of for pid in _below(worker.pid) if _EXECUTOR in _command(pid)]

    def kill_executors(self, host: str) -> int:
        """kill -9 of the executors of a host. Returns how many there were."""
        found = self.executors(host)
        for pid in found:
            _kill(pid)
        return len(found)

    def kill_worker(self, host: str) -> None:
        """The loss of a host: kill -9 of its worker and its executors."""
        kill_process_tree(self._workers[host].pid)
        self._workers[host].wait()

    def _without_hidden(self) -> tuple[str, ...]:
        """The words before a command that hide the directory from it, where that is allowed."""
        if self.hidden is None:
            return ()
        hide = ("unshare", "--mount", "sh", "-c", f"mount -t tmpfs none '{self.hidden}' && exec \"$@\"", "sh")
        allowed = subprocess.run([*hide, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        self.hides = allowed
        return hide if allowed else ()

    def _daemon(self, name: str, arguments: tuple[str, ...], before: tuple[str, ...]) -> subprocess.Popen[bytes]:
        command = [*before, str(_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
        kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV", "TMPDIR")}
        own = {"SPARK_HOME": str(_HOME), "SPARK_DAEMON_MEMORY": "256m", "PYSPARK_PYTHON": "/bin/false"}
        with (self.root / f"{name}.log").open("ab") as log:
            return subprocess.Popen(command, env={**kept, **own}, stdout=log, stderr=log, cwd=self.root)

    def _log(self) -> str:
        return (self.root / "master.Master.log").read_text("utf-8", errors="replace")


def kill_process_tree(pid: int) -> None:
    """kill -9 of a process and of those that it has started, directly or not."""
    for one in (pid, *_below(pid)):
        _kill(one)


def wait_until(reached: Callable[[], bool], what: str) -> None:
    """Waits for a state of the cluster. Fails if it does not come in minutes."""
    deadline = time.monotonic() + _SECONDS
    while not reached():
        assert time.monotonic() < deadline, f"did not happen: {what}"
        time.sleep(0.02)


def _below(pid: int) -> list[int]:
    """The processes that a process has started, and those that these have started."""
    children: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            children += map(int, (task / "children").read_text().split())
    return [*children, *(one for child in children for one in _below(child))]


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
