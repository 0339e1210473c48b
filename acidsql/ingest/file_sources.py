"""Files as sources of records: which of them were read before, and what happens when a file is replaced."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from acidsql.errors import AcidSqlError, Condition
from acidsql.ingest.text_sources import NewFormat, OpenFile, Part, Place, inode_of

_LEAVE_SECONDS: Final = 1.0
"""How long a file that was replaced is read further: its writer may not have moved to the new one yet."""
_REPLACED: Final = "was replaced"
_OVERWRITTEN: Final = "was overwritten"


@dataclass(frozen=True, slots=True)
class FileReading:
    """How files are read. With `follows`, they have no end; with `follows` or `rotates`, a file may be replaced.
    `tell` takes messages for the user, and `given` are the paths of all files."""

    new_format: NewFormat
    tell: Callable[[str], None]
    follows: bool = False
    rotates: bool = False
    given: Collection[str] = ()


class FileSource:
    """The file of a name, and where files may be replaced, those that take its place.

    A followed file has no end: the last line waits for its line feed. A file that another one has replaced is read to
    its end first. A file that was overwritten is read from its beginning again.
    """

    def __init__(self, path: str, reading: FileReading, file: OpenFile | None = None) -> None:
        self._path = path
        self._reading = reading
        self._file = file
        self._is_at_end = False
        self._replaced_since: float | None = None
        self._last = file.place if file is not None else Place()
        self._is_done = False

    @property
    def key(self) -> str:
        """As Source says."""
        return self._path

    @property
    def place(self) -> Place:
        """As Source says."""
        return self._last

    def poll(self) -> Sequence[Part] | None:
        """As Source says."""
        if self._is_done:
            return None
        file = self._file = self._file or self._opened()
        if file is None:
            return []
        if self._is_at_end and self._reading.follows and not file.is_still(self._last):
            return self._begin_anew(file, _OVERWRITTEN)
        part = file.next_part()
        self._is_at_end = part is None
        if part is None:
            return self._end(file)
        self._last = part.place_of(part.text)
        return [part]

    def close(self) -> None:
        """As Source says."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self) -> OpenFile | None:
        """The file, once it is there."""
        return OpenFile(self._path, Place(), self._reading.new_format) if os.path.exists(self._path) else None

    def _end(self, file: OpenFile) -> Sequence[Part] | None:
        """What to do at the end of the file, which may be for now."""
        if self._reading.follows and file.has_shrunk:
            return self._begin_anew(file, _OVERWRITTEN)
        if self._is_replaced(file):
            now = time.monotonic()
            self._replaced_since = self._replaced_since or now
            if self._reading.follows and now < self._replaced_since + _LEAVE_SECONDS:
                return []
            return self._begin_anew(file, _REPLACED)
        if self._reading.follows:
            return []
        self._is_done = True
        return _last_part(file)

    def _is_replaced(self, file: OpenFile) -> bool:
        if not (self._reading.follows or self._reading.rotates):
            return False
        try:
            return inode_of(os.stat(self._path)) != file.inode
        except FileNotFoundError:
            return False

    def _begin_anew(self, file: OpenFile, why: str) -> Sequence[Part]:
        path = _following(self._path, file, self._reading.given) if why == _REPLACED else self._path
        self._reading.tell(f"{self._path} {why}: {path} is read from its beginning")
        last = [_placed(part) for part in _last_part(file)] if why == _REPLACED else []
        file.close()
        self._file = OpenFile(path, Place(), self._reading.new_format)
        self._is_at_end, self._replaced_since, self._last = False, None, Place()
        return last


def _placed(part: Part) -> Part:
    """The part with the place behind all of it, which is read from its file now: the file is about to be closed."""
    place = part.place_of(part.text)
    return replace(part, place_of=lambda _: place)


def _last_part(file: OpenFile) -> Sequence[Part]:
    last = file.last_part()
    return [] if last is None else [last]


# ------------------------------------------------------------------------------------------------ going on


def file_sources(paths: Sequence[str], places: Mapping[str, Place], reading: FileReading) -> list[FileSource]:
    """The sources of files, each from the place on up to which it was read. `places` are those by path.

    A file is known by its name, or by its inode under another name, if the bytes before the place are still the same.
    Raises CANNOT_START, and INVALID_SOURCE for a file whose bytes have changed, unless files may be replaced.
    """
    sources = []
    reading = replace(reading, given=list(dict.fromkeys(map(os.path.abspath, paths))))
    for path in reading.given:
        if reading.follows and not os.path.exists(path):
            reading.tell(f"{path} is not there yet")
            sources.append(FileSource(path, reading))
        else:
            sources.append(_going_on(path, places, reading))
    return sources


def _going_on(path: str, places: Mapping[str, Place], reading: FileReading) -> FileSource:
    status = os.stat(path) if os.path.exists(path) else None
    renamed = [p for key, p in places.items() if key != path and status is not None and p.inode == inode_of(status)]
    own = [places[path]] if path in places else []
    for place in (*own, *renamed):
        file = OpenFile(path, place, reading.new_format)
        if file.is_still(place):
            return FileSource(path, reading, file)
        file.close()
    if path not in places:
        return FileSource(path, reading, OpenFile(path, Place(), reading.new_format))
    place = places[path]
    if not (reading.follows or reading.rotates):
        reason = f"its first {place.bytes} bytes are not those that were read before"
        hint = "Say --rotated where another file took its name. To read it all again, use another --id."
        raise AcidSqlError(Condition.INVALID_SOURCE, source=path, reason=reason, hint=hint)
    return FileSource(path, reading, _former_file(path, place, reading))


def _former_file(path: str, place: Place, reading: FileReading) -> OpenFile:
    """The file that had this path before, so that its last lines are not lost; else the new one. A former file that is
    given under its new name is a source of its own."""
    names = [name for name, status in _files_beside(path) if name != path and inode_of(status) == place.inode]
    for name in names:
        file = OpenFile(name, place, reading.new_format)
        if name not in reading.given and file.is_still(place):
            return file
        file.close()
    if not any(name in reading.given for name in names):
        reading.tell(f"{path} was replaced, and the file before it is gone: lines of it that were not read are lost")
    return OpenFile(path, Place(), reading.new_format)


def _following(path: str, file: OpenFile, given: Collection[str]) -> str:
    """The path of the file that came after one that was renamed: a log may be rotated several times while nobody reads.

    Files that were rotated too are named alike but for numbers, as `log.1` and `log.2` or `log-20240506`, and were
    changed later.
    """
    found = list(_files_beside(path))
    renamed = [(name, status) for name, status in found if inode_of(status) == file.inode and name != path]
    if not renamed or not renamed[0][0].startswith(path):
        return path
    name, before = renamed[0]
    alike = re.compile(re.escape(path) + re.sub(r"\d+", r"\\d+", re.escape(name.removeprefix(path))))
    later = [
        (status.st_mtime_ns, other)
        for other, status in found
        if alike.fullmatch(other) and other not in given and status.st_mtime_ns > before.st_mtime_ns
    ]
    return min(later)[1] if later else path


def _files_beside(path: str) -> Iterator[tuple[str, os.stat_result]]:
    """The files in the folder of a path."""
    with os.scandir(os.path.dirname(path)) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # it was renamed meanwhile
                status = os.stat(entry.path)
                if stat.S_ISREG(status.st_mode):
                    yield entry.path, status
