"""The files that the tasks of a write have staged, `part-<task>-..`."""

from __future__ import annotations

import re
from typing import Final

from acidsql.acid.data_files import File
from acidsql.storage.file_systems import FileSystem

_PART: Final = re.compile(r"part-(\d{5,})-")


def task_of(path: str) -> int | None:
    """The number of the task that wrote a file; None for a file of another name.

    >>> task_of("a=1/part-00012-4f.c000.orc"), task_of("a=1/_SUCCESS")
    (12, None)
    """
    found = _PART.match(path.rpartition("/")[2])
    return int(found[1]) if found else None


def listed(files: FileSystem, staging: str) -> list[File]:
    """The files of a staging directory, with paths relative to it. They are those of the job only if no other attempt
    of a task can have left a file there."""
    return [file for file in files.list_below(staging).files if task_of(file.path) is not None]
