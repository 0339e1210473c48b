"""Copies of ORC files that Spark's reader cannot read.

There are three kinds of such files. Spark cannot read only the committed first bytes of a file to which a streaming
client still writes. It fails on a file with a TIMESTAMP_INSTANT, whether or not the query needs that column
(acidsql.storage.orc.rewrite.instants_named). And ORC's reader fails on some names with backticks, or confuses two of
them (acidsql.storage.orc.footer_messages.name_as_read).
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field, replace
from urllib.parse import urlparse

from acidsql.storage.file_systems import FileSystem, SizedFile
from acidsql.storage.orc.rewrite import encode_end, instants_named, with_clear_names
from acidsql.storage.orc.tail import Tail


@dataclass(slots=True)
class Copies:
    """The copies by their original files. They stay until the process ends, because users may read a query late."""

    _made: dict[SizedFile, SizedFile] = field(default_factory=dict)
    _directories: dict[tuple[str, str], str] = field(default_factory=dict)

    def readable(self, files: FileSystem, file: SizedFile, tail: Tail, *, is_whole: bool) -> SizedFile:
        """The file itself, or a copy that Spark can read. `is_whole` tells that the file has no more bytes than those
        of `file`, and will have no more: Spark looks for its end when it reads it."""
        if is_whole and not _needs_another_end(tail):
            return file
        if file not in self._made:
            self._made[file] = self._copy(files, file, tail)
        return self._made[file]

    def _copy(self, files: FileSystem, file: SizedFile, tail: Tail) -> SizedFile:
        to = f"{self._directory(files, file.path)}/{uuid.uuid4().hex}"
        if not _needs_another_end(tail):
            files.copy_start(file.path, file.size, b"", to)
            return replace(file, path=to)
        end = encode_end(instants_named(tail if tail.has_clear_names else with_clear_names(tail, tail.row_names)))
        files.copy_start(file.path, tail.footer_start, end, to)
        return replace(file, path=to, size=tail.footer_start + len(end))

    def _directory(self, files: FileSystem, path: str) -> str:
        parsed = urlparse(path)
        where = (parsed.scheme, parsed.netloc)
        if where not in self._directories:
            self._directories[where] = files.scratch_directory(path)
        return self._directories[where]


def _needs_another_end(tail: Tail) -> bool:
    return tail.has_unnamed_instants or not tail.has_clear_names
