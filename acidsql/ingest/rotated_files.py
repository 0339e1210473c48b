"""The files that a log's rotations leave in its folder: the renamed ones, and the copies of one that was cut."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from acidsql.ingest.file_identity import born_at, file_identity, is_same_file
from acidsql.ingest.known_files import KnownFiles
from acidsql.ingest.text_sources import CHECKED, Place, check_of

_SUFFIX: Final = re.compile(r"[-._]?\d[-._\d]*")
"""What rotations put behind the name of a log, as `.1` or `-20240506`."""
_LAST_SUFFIX: Final = re.compile(r"[-._]\d[-._\d]*$")


def is_rotated_name(log: str, path: str) -> bool:
    """Whether a path is the one of a log with a suffix of rotations behind it."""
    return path.startswith(log) and _SUFFIX.fullmatch(path, len(log)) is not None


def name_of(identity: str, path: str) -> str | None:
    """The path of a file in the folder of `path`, but for `path` itself. None if it is not there."""
    number = identity.split(":")[1] if ":" in identity else ""
    for name, status in _files_beside(path):
        if name != path and str(status.st_ino) == number and is_same_file(identity, identity_at(name)):
            return name
    return None


def file_after(path: str, identity: str, known: KnownFiles) -> str:
    """The path of the log that came after a former one, which may have another name now: a log may be rotated several
    times while nobody reads. `path` if none of the rotated logs came later.

    Their times of modification give the order. Logs that were read are none, nor are those that were written to last
    before the former one was: somebody may have unpacked them.
    """
    former = name_of(identity, path)
    least = os.stat(former).st_mtime_ns if former is not None else born_at(identity)
    found = [
        (status.st_mtime_ns, name)
        for name, status in _files_beside(path)
        if least is not None and status.st_mtime_ns >= least and name != former and is_rotated_name(path, name)
        if (own := identity_at(name)) and known.of_file(own) is None
    ]
    return min(found)[1] if found else path


def copy_of(path: str, place: Place, known: KnownFiles) -> str | None:
    """The path of the oldest rotated log that nobody has read and that begins as the file at `path` did, which was cut
    after that (`copytruncate`) and may itself be a rotated one now. None if there is none."""
    log = _LAST_SUFFIX.sub("", path)
    found = [
        (status.st_mtime_ns, name)
        for name, status in _files_beside(path)
        if place.bytes and (is_rotated_name(path, name) or is_rotated_name(log, name))
        if status.st_size >= place.bytes
        if (identity := identity_at(name)) and known.of_file(identity) is None
        if _begins_as(name, place)
    ]
    return min(found)[1] if found else None


def _begins_as(name: str, place: Place) -> bool:
    try:
        with open(name, "rb") as file:
            file.seek(max(0, place.bytes - CHECKED))
            return check_of(file.read(min(CHECKED, place.bytes))) == place.check
    except OSError:
        return False


def identity_at(path: str) -> str:
    """The identity of the file of a path; nothing if there is none, for example because it was renamed meanwhile."""
    try:
        return file_identity(path)
    except FileNotFoundError:
        return ""


def _files_beside(path: str) -> Iterator[tuple[str, os.stat_result]]:
    """The files in the folder of a path."""
    with os.scandir(os.path.dirname(path)) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # it was renamed meanwhile
                status = os.stat(entry.path)
                if stat.S_ISREG(status.st_mode):
                    yield entry.path, status
