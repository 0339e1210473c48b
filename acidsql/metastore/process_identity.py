"""Identify the process that runs a transaction, and find out whether it is gone.

A process ID alone is not enough: the operating system gives it to another process later. This is code of our own
because psutil would be a compiled dependency for two facts: the time at which a process started, and the machine.
"""

from __future__ import annotations

import getpass
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
    """A process. `machine` names the machine that `pid` belongs to.

    `started` tells the process from a later one with the same PID. It is in clock ticks since the machine's boot, or
    None where the system does not tell.
    """

    machine: str
    pid: int
    started: int | None


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment on two clocks, in milliseconds. `wall` counts from 1970, and a user may set this clock. `ticks` counts
    evenly from the boot of this machine (CLOCK_MONOTONIC) and has no meaning on other machines."""

    wall: int
    ticks: int


def now() -> Moment:
    return Moment(int(time.time() * 1000), int(time.monotonic() * 1000))


def this_process() -> Process:
    """The current process."""
    return Process(machine(), os.getpid(), _started(os.getpid()))


def machine() -> str:
    """The name of the set of processes that can look each other up by PID.

    The host's name does not do: containers may share it and still number their processes apart, and so may two
    machines on one network drive. So the boot and the PID namespace belong to it, where Linux tells them.
    """
    return "/".join((platform.node(), _boot(), _pid_namespace()))


def process_name() -> str:
    """The current process in a few characters: `PID.STARTED.MACHINE`."""
    process = this_process()
    return f"{process.pid}.{process.started or ''}.{_digest(process.machine)}"


def named_pid(name: str) -> int | None:
    """The PID of the `process_name` in `name`, if it has one."""
    found = _NAME.search(name)
    return None if found is None else int(found["pid"])


def without_process_name(text: str) -> str:
    """`text` without the `process_name` in it."""
    return _NAME.sub("", text).rstrip()


def is_named_gone(name: str) -> bool:
    """Whether `name` contains the `process_name` of a process that has certainly ended."""
    found = _NAME.search(name)
    here = machine()
    if found is None or found["machine"] != _digest(here):
        return False
    return is_gone(Process(here, int(found["pid"]), int(found["started"]) if found["started"] else None))


def is_gone(process: Process) -> bool:
    """Whether the process has certainly ended. False for a process of another machine, and in case of doubt."""
    if os.name != "posix" or process.machine != machine():
        return False
    if not _answers(process.pid) or _is_zombie(process.pid):
        return True
    started = _started(process.pid)
    return None not in (started, process.started) and started != process.started


def _digest(machine: str) -> str:
    return hashlib.sha256(machine.encode()).hexdigest()[:12]


def _answers(pid: int) -> bool:
    """Whether the PID is in use. Signal 0 only checks that the process exists (kill(2))."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_zombie(pid: int) -> bool:
    """Whether the process has ended without a parent that waited for it. Without an init it stays so for ever."""
    fields = _stat(pid)
    return bool(fields) and fields[0] in ("Z", "X")


def _started(pid: int) -> int | None:
    fields = _stat(pid)
    return int(fields[19]) if fields else None


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the third on (proc(5)). The second field, the name, may hold any character."""
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


def user_name() -> str:
    """The user of this process."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no such user in a container's /etc/passwd: KeyError, from Python 3.13 on OSError
        return str(os.getuid())
