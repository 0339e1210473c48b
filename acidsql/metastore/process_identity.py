"""Identify the process that runs a transaction, and find out whether it is gone.

A process ID alone is not enough: the operating system gives it to another process later. This is code of our own
because psutil would be a compiled dependency for two facts: the time at which a process started, and the machine.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import time
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_NAME = re.compile(r"\b(?P<pid>\d+)\.(?P<started>\d*)\.(?P<machine>[0-9a-f]{12})\b")


@dataclass(frozen=True, slots=True)
class Process:
    """A process: `machine` says where its `pid` means something, `started` tells it from a later one with that pid.

    `started` is in clock ticks since the machine's boot, or None where the system does not tell.
    """

    machine: str
    pid: int
    started: int | None


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment by two clocks, in milliseconds: `wall` since 1970, which somebody may set, and `ticks` of this machine,
    which go on evenly from its boot (CLOCK_MONOTONIC) and mean nothing elsewhere."""

    wall: int
    ticks: int


def now() -> Moment:
    return Moment(int(time.time() * 1000), int(time.monotonic() * 1000))


def this_process() -> Process:
    """The process that asks."""
    return Process(machine(), os.getpid(), _started(os.getpid()))


def machine() -> str:
    """Names the set of processes that can look each other up by number.

    The host's name does not do: containers may share it and still number their processes apart, and so may two
    machines on one network drive. So the boot and the PID namespace belong to it, where Linux tells them.
    """
    return "/".join((platform.node(), _boot(), _pid_namespace()))


def process_name() -> str:
    """The process that asks, in a few characters: `PID.STARTED.MACHINE`."""
    process = this_process()
    return f"{process.pid}.{process.started or ''}.{_digest(process.machine)}"


def is_named_gone(name: str) -> bool:
    """Whether the process that a `process_name` in `name` is of has certainly ended."""
    found = _NAME.search(name)
    here = machine()
    if found is None or found["machine"] != _digest(here):
        return False
    return is_gone(Process(here, int(found["pid"]), int(found["started"]) if found["started"] else None))


def is_gone(process: Process) -> bool:
    """Whether the process has certainly ended. A process of another machine, or one in doubt, is not gone."""
    if os.name != "posix" or process.machine != machine():
        return False
    if not _answers(process.pid) or _is_zombie(process.pid):
        return True
    started = _started(process.pid)
    return None not in (started, process.started) and started != process.started


def _digest(machine: str) -> str:
    return hashlib.sha256(machine.encode()).hexdigest()[:12]


def _answers(pid: int) -> bool:
    """Signal 0 is delivered to nobody, but says whether there is somebody (kill(2))."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_zombie(pid: int) -> bool:
    """Killed, but not yet waited for: in a container without an init it stays so for ever."""
    fields = _stat(pid)
    return bool(fields) and fields[0] in ("Z", "X")


def _started(pid: int) -> int | None:
    fields = _stat(pid)
    return int(fields[19]) if fields else None


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the third on (proc(5)): the second, the name, may hold anything but its end."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _boot() -> str:
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _pid_namespace() -> str:
    try:
        return os.readlink(_PROC / "self/ns/pid")
    except OSError:
        return ""
