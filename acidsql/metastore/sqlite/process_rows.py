"""The process, the user and the host in rows of the embedded metastore, and how long a process has been silent."""

from __future__ import annotations

import platform
import sqlite3
from dataclasses import dataclass

from acidsql.metastore.process_identity import Moment, Process, machine, this_process, user_name


@dataclass(frozen=True, slots=True)
class Opener:
    """The user, host and process that open a transaction or claim a stream."""

    user: str
    host: str
    process: Process

    def __str__(self) -> str:
        return f"{self.user}@{self.host}, process {self.process.pid}"


def this_opener() -> Opener:
    """The current user and process."""
    return Opener(user_name(), platform.node(), this_process())


def process_of(row: sqlite3.Row) -> Process:
    """The process of a row of `txns`, `compaction_queue` or `streams`."""
    return Process(row["machine"], row["pid"], row["pid_started"])


def silent_millis(process: Process, heard: int, ticks: int | None, now: Moment) -> int:
    """Milliseconds since the last heartbeat. For a process of this machine the monotonic clock measures them, so that a
    jump of the wall clock neither aborts a live transaction nor keeps a dead one."""
    if ticks is not None and ticks <= now.ticks and process.machine == machine():
        return now.ticks - ticks
    return now.wall - heard
