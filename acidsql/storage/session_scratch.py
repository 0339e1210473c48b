"""The directory of a session's temporary tables: below the warehouse, so that all of Spark's processes reach it."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Final

from acidsql.acid.layout import SESSIONS_DIRECTORY
from acidsql.errors import AcidSqlError
from acidsql.metastore.process_identity import is_named_gone, process_name
from acidsql.storage.file_systems import FilesOf, remove_all
from acidsql.storage.hadoop_files import FILE_ERRORS

_PREFIX: Final = "session-"


class SessionScratch:
    """Names the directories of temporary tables, and removes them when the session ends.

    The name of a session's directory names its process, so that another session can tell whether that has ended.
    """

    def __init__(self, warehouse: str, files: FilesOf) -> None:
        """`files` gives the file system of a location. Nothing is made before a table is."""
        self._root = f"{warehouse}/{SESSIONS_DIRECTORY}"
        self._own = f"{self._root}/{_PREFIX}{process_name()}-{uuid.uuid4().hex}"
        self._files = files
        self.is_used = False

    def new_location(self, table: str) -> str:
        """A location that no other table has had."""
        self.is_used = True
        return f"{self._own}/{table}_{uuid.uuid4().hex[:8]}"

    def remove(self) -> None:
        """Removes the session's directory, and those of sessions whose process has ended on this machine. It runs when
        nobody can act on an error any more, so errors are ignored: another session tries again."""
        with suppress(AcidSqlError, *FILE_ERRORS):
            files = self._files(self._root)
            root = files.resolve(self._root)
            remove_all(files, [files.resolve(self._own)])
            names = files.directories_named(root, _PREFIX)
            remove_all(files, [f"{root}/{name}" for name in names if is_named_gone(name)])
            files.delete_empty(root)
