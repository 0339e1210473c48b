"""Whether the file at a path is still the one that a scan has bound.

A path is no identity: a table that was dropped and made again, or a plain table that was overwritten, has other files
of the same names. The locks of a reader keep the statements of other sessions away, and not those of its own session.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from acidsql.acid.data_files import File
from acidsql.errors import AcidSqlError, Condition
from acidsql.storage.file_systems import FileSystem, SizedFile

WAY_OUT: Final = (
    "Read the whole result before a statement that drops, renames or overwrites what it reads, or run the query again."
)


def sized(path: str, file: File) -> SizedFile:
    """A listed file by its absolute path."""
    return SizedFile(path, file.length, file.modified, file.identity, file.changed)


def change_of(files: FileSystem, file: SizedFile) -> str | None:
    """What has become of a file: `removed` or `replaced`, or None if it is still there."""
    found = files.find_file(file.path)
    if found is None:
        return "removed"
    if file.may_grow:
        is_same = found.identity == file.identity and found.length >= file.size
    else:
        is_same = sized(file.path, found) == file
    return None if is_same else "replaced"


def require_same(files: FileSystem, file: SizedFile) -> None:
    """Checks that the file at the path is the one that was listed. A reader calls this when it has opened or read the
    file: what it got before is then of this file. Raises FILE_REPLACED."""
    change = change_of(files, file)
    if change is not None:
        raise file_replaced(file.path, change)


def file_replaced(path: str, change: str) -> AcidSqlError:
    """FILE_REPLACED, for a file that was `removed` or `replaced`."""
    return AcidSqlError(Condition.FILE_REPLACED, path=path, change=change, hint=WAY_OUT)


@contextmanager
def same_file(
    files: FileSystem, file: SizedFile, *errors: type[Exception], only_errors: bool = False
) -> Iterator[None]:
    """Checks behind a block that opens or reads a file that the file is the one that was listed. If the block raises
    one of `errors`, which another file at the path may cause, it looks first whether there is another file. With
    `only_errors` it looks only then. Raises FILE_REPLACED."""
    try:
        yield
    except errors as error:
        change = change_of(files, file)
        if change is not None:
            raise file_replaced(file.path, change) from error
        raise
    if not only_errors:
        require_same(files, file)
