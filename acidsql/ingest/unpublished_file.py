"""A file that appears under its name when it is complete."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from acidsql.storage.file_systems import FileSystem, is_taken, place_new
from acidsql.storage.local_files import LocalFiles

_SCRATCH: Final = "acidsql-write-"


class UnpublishedFile:
    """A file on this machine: hidden beside its later name, or in a directory of its own for another file system."""

    def __init__(self, files: FileSystem, path: str) -> None:
        directory, _, name = path.rpartition("/")
        self._files = files
        self._path = path
        self._hidden = f"{directory}/.{name}"
        self._scratch = None if isinstance(files, LocalFiles) else tempfile.TemporaryDirectory(prefix=_SCRATCH)
        self.written = self._hidden if self._scratch is None else f"{self._scratch.name}/{name}"
        """The path on this machine, which `publish` may change."""
        self.is_published = False

    def publish(self) -> None:
        """Gives the complete file its name. What is written to it later appears after another call at the latest.

        Raises MALFORMED_LAYOUT where another file has the name.
        """
        if self._scratch is not None:
            if self.is_published:
                self._files.delete(self._path)
            if not self._files.place_local(self.written, self._path):
                raise is_taken(self._path)
        elif not self.is_published:
            place_new(self._files, self._hidden, self._path)
            self.written = self._path
        self.is_published = True

    def is_intact(self) -> bool:
        """Whether the file is there under the name that it has by now."""
        return self._files.exists(self._path) if self.is_published else Path(self.written).exists()

    def close(self) -> None:
        """Removes the file if it has not got its name."""
        if self._scratch is not None:
            self._scratch.cleanup()
        elif not self.is_published:
            Path(self.written).unlink(missing_ok=True)
