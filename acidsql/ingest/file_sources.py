"""Files as sources of records: which of them were read before, and what happens when a file is replaced.

The file decides how far it was read, not its name (file_identity.py): a log that was rotated has another name, and the
bytes before a place may be those of another log, too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from acidsql.errors import AcidSqlError, Condition
from acidsql.ingest.file_identity import differs_by_device_only, is_same_file
from acidsql.ingest.known_files import KnownFiles
from acidsql.ingest.rotated_files import copy_of, file_after, identity_at, is_rotated_name, name_of
from acidsql.ingest.text_sources import NewFormat, OpenFile, Part, Place

_LEAVE_SECONDS: Final = 1.0
"""How long a file that was replaced is read further: its writer may not have moved to the new one yet."""
_REPLACED: Final = "was replaced"
_OVERWRITTEN: Final = "was overwritten"


@dataclass(frozen=True, slots=True)
class FileReading:
    """How files are read. With `follows`, they have no end; with `follows` or `rotates`, a file may be replaced. With
    `same_text`, a file that took the name of another one is read on if it has the same bytes. `tell` takes messages for
    the user, and `given` are the paths of all files."""

    new_format: NewFormat
    tell: Callable[[str], None]
    follows: bool = False
    rotates: bool = False
    same_text: bool = False
    given: Collection[str] = ()

    @property
    def may_be_replaced(self) -> bool:
        return self.follows or self.rotates


class FileSource:
    """The file of a name, and where files may be replaced, those that take its place.

    A followed file has no end: the last line waits for its line feed. A file that another one has replaced is read to
    its end first. A file that was overwritten is read from its beginning again, and before that the rest of its copy.
    """

    def __init__(self, path: str, reading: FileReading, known: KnownFiles, file: OpenFile | None = None) -> None:
        self._path = path
        self._reading = reading
        self._known = known
        self._file = file
        self._replaced_since: float | None = None
        self._last = file.place if file is not None else Place()
        self._is_done = False
        # A rotated log that is given beside its log does not grow, and the log's source reads what takes its name.
        self._is_rotated = any(is_rotated_name(other, path) for other in reading.given)

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
        file = self._file or self._opened()
        if file is None:
            return []
        try:
            part = file.next_part()
        except AcidSqlError:
            if not self._is_overwritten(file):
                raise
            part = None
        # The file may have been cut before or while this was read. Its copy has what was not taken yet.
        if self._is_overwritten(file):
            return self._begin_anew(file, _OVERWRITTEN)
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
        if os.path.exists(self._path):
            self._turn_to(_opened_file(self._path, self._known, self._reading))
        return self._file

    def _is_overwritten(self, file: OpenFile) -> bool:
        return self._reading.may_be_replaced and (file.has_shrunk or not file.is_still(self._last))

    def _end(self, file: OpenFile) -> Sequence[Part] | None:
        """What to do at the end of the file, which may be for now."""
        if self._is_replaced(file):
            now = time.monotonic()
            self._replaced_since = self._replaced_since or now
            if self._reading.follows and now < self._replaced_since + _LEAVE_SECONDS:
                return []
            return self._begin_anew(file, _REPLACED)
        if self._reading.follows and not self._is_rotated:
            return []
        self._is_done = True
        last = _last_part(file)
        for part in last:
            self._last = part.place_of(part.text)
        return last

    def _is_replaced(self, file: OpenFile) -> bool:
        """Whether the name is that of another file now, which no other source reads."""
        if not self._reading.may_be_replaced or (self._is_rotated and file.path == self._path):
            return False
        now = identity_at(self._path)
        return bool(now) and not is_same_file(now, file.inode) and not self._is_others(now)

    def _is_others(self, identity: str) -> bool:
        found = self._known.of_file(identity, self._path)
        return found is not None and found[0] != self._path and found[0] in self._reading.given

    def _begin_anew(self, file: OpenFile, why: str) -> Sequence[Part]:
        if why == _OVERWRITTEN:
            self._known.forget_file(file.inode)
            cut = self._path if is_same_file(file.inode, identity_at(self._path)) else None
            cut = cut or name_of(file.inode, self._path) or self._path
            path = copy_of(cut, self._last, self._known) or cut
            place = self._last if path != cut else Place()
            last: Sequence[Part] = []
        else:
            path, place = file_after(self._path, file.inode, self._known), Place()
            last = [_placed(part) for part in _last_part(file)]
        how = "is read on" if place.bytes else "is read from its beginning"
        self._reading.tell(f"{self._path} {why}: {path} {how}")
        file.close()
        found = self._known.of_file(identity_at(path)) if why == _REPLACED else None
        self._turn_to(OpenFile(path, found[1] if found is not None else place, self._reading.new_format))
        return last

    def _turn_to(self, file: OpenFile) -> None:
        self._file = file
        self._replaced_since, self._last = None, file.place
        self._known.put(self._path, file.place)


def _placed(part: Part) -> Part:
    """The part with the place behind all of it: the source is about to read another file."""
    place = part.place_of(part.text)
    return replace(part, place_of=lambda _: place)


def _last_part(file: OpenFile) -> Sequence[Part]:
    last = file.last_part()
    return [] if last is None else [last]


# ------------------------------------------------------------------------------------------------ going on


def file_sources(paths: Sequence[str], known: KnownFiles, reading: FileReading) -> list[FileSource]:
    """The sources of files, each from the place on up to which it was read. They note in `known` what they read.

    A file is known by its inode, whatever its name is. Raises CANNOT_START, and INVALID_SOURCE for a file whose bytes
    have changed and for one that is not the file of its name before, unless files may be replaced.
    """
    sources: list[FileSource] = []
    reading = replace(reading, given=list(dict.fromkeys(map(os.path.abspath, paths))))
    copies = _given_copies(known, reading)
    names: dict[str, str] = {}
    for path in reading.given:
        identity = identity_at(path)
        if identity in names:
            reading.tell(f"{path} is the same file as {names[identity]}, and is not read again")
        elif not identity and reading.follows:
            reading.tell(f"{path} is not there yet")
            sources.append(FileSource(path, reading, known))
        else:
            copied = copies.get(path)
            file = _opened_file(path, known, reading) if copied is None else OpenFile(path, copied, reading.new_format)
            sources.append(FileSource(path, reading, known, file))
        if identity:
            names.setdefault(identity, path)
    for source in sources:
        if source.place.bytes or (source.place.inode and reading.may_be_replaced):
            known.put(source.key, source.place)
    known.trim()
    return sources


def _given_copies(known: KnownFiles, reading: FileReading) -> dict[str, Place]:
    """The given files that are copies of given files which were cut after that, with how far the lines were read."""
    found = {}
    for path in reading.given if reading.may_be_replaced else ():
        if not os.path.isfile(path) or (of_file := known.of_file(identity_at(path), path)) is None:
            continue
        file = OpenFile(path, of_file[1], reading.new_format)
        if not file.is_still(of_file[1]):
            copy = copy_of(path, of_file[1], known)
            if copy is not None and copy in reading.given:
                found[copy] = of_file[1]
        file.close()
    return found


def _opened_file(path: str, known: KnownFiles, reading: FileReading) -> OpenFile:
    """The file of a name, from its place on; where it took the name of another file, the rest of that file first."""
    file = OpenFile(path, Place(), reading.new_format)
    found = known.of_file(file.inode, path)
    before = found[1] if found is not None else known.named(path)
    if before is None:
        return file
    is_still = file.is_still(before)
    if is_still and (found is not None or not before.inode or reading.same_text):
        file.close()
        return OpenFile(path, before, reading.new_format)
    if found is None and is_still and differs_by_device_only(before.inode, file.inode):
        raise _refused(file, "the number of its device is another one than before, and its bytes are the same")
    if reading.may_be_replaced:
        return _former_file(file, known, reading, before) if found is None else _copy(file, known, reading, *found)
    if not is_still:
        raise _refused(file, f"its first {before.bytes} bytes are not those that were read before")
    raise _refused(file, "another file has its name now, by the inode")


def _refused(file: OpenFile, reason: str) -> AcidSqlError:
    file.close()
    hint = (
        "Say --rotated where another log took its name, and --same-text where an editor or a copy wrote the same text"
        " into another file. To read it all again, use another --id."
    )
    return AcidSqlError(Condition.INVALID_SOURCE, source=file.path, reason=reason, hint=hint)


def _copy(file: OpenFile, known: KnownFiles, reading: FileReading, key: str, place: Place) -> OpenFile:
    """The copy of a file that was cut, so that its last lines are not lost; else the file from its beginning. A copy
    that is given is a source of its own."""
    known.forget(key)
    file = _from_beginning(file, reading)
    copy = copy_of(file.path, place, known)
    if copy is None:
        reading.tell(f"{file.path} {_OVERWRITTEN}: lines of it that were not read before are lost")
    if copy is None or copy in reading.given:
        return file
    file.close()
    return OpenFile(copy, place, reading.new_format)


def _from_beginning(file: OpenFile, reading: FileReading) -> OpenFile:
    file.close()
    return OpenFile(file.path, Place(), reading.new_format)


def _former_file(file: OpenFile, known: KnownFiles, reading: FileReading, place: Place) -> OpenFile:
    """The file that had this name before, so that its last lines are not lost; else the one after it.

    A former file that is given under its new name is a source of its own.
    """
    path = file.path
    name = name_of(place.inode, path)
    if name in reading.given:
        return file
    if name is not None:
        former = OpenFile(name, place, reading.new_format)
        file.close()
        return former if former.is_still(place) else _copy(former, known, reading, path, place)
    reading.tell(f"{path} {_REPLACED}, and the file before it is gone: lines of it that were not read before are lost")
    after = file_after(path, place.inode, known)
    if after == path or after in reading.given:
        return file
    file.close()
    return OpenFile(after, Place(), reading.new_format)
