"""How much of a data file is committed, where a streaming client may still write to it.

Such a client has a side file beside the data file while it writes: it makes the side file first and removes it last.
But a listing is not taken in one moment. So the listing's word on side files, and on the length of a file with one, is
only a hint.
"""

from __future__ import annotations

from dataclasses import dataclass

from acidsql.acid.data_files import DataFile, flushed_length
from acidsql.acid.directories import Delta, parse_directory, side_file
from acidsql.errors import AcidSqlError, Condition
from acidsql.storage.file_systems import FileSystem


@dataclass(frozen=True, slots=True)
class CommittedPart:
    """The first `length` bytes of a data file. `is_whole` tells that it ends there, and that no one writes to it.
    `may_grow` tells that a client may have written to it after the listing."""

    length: int
    is_whole: bool
    may_grow: bool = True


def is_complete(data: DataFile) -> bool:
    """Whether no streaming client can be writing to a listed file."""
    return data.flush_length_file is None and _possible_side_file(data) is None


def committed_part(files: FileSystem, directory: str, data: DataFile) -> CommittedPart:
    """The committed part of a listed file in the directory of a partition or table. Raises MALFORMED_LAYOUT."""
    side = data.flush_length_file or _possible_side_file(data)
    if side is None:
        return CommittedPart(data.file.length, is_whole=True, may_grow=False)
    path = f"{directory}/{data.file.path}"
    content = files.read_if_there(f"{directory}/{side}")
    if content is None:
        return _finished(files, path, data)
    length = flushed_length(f"{directory}/{side}", content)
    size = data.file.length
    if length > size:  # it may have grown since the listing
        size = files.file_size(path) or 0
    if length > size:
        reason = f"{length} bytes of the file beside it are committed, and it has {size}"
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=f"{directory}/{side}", reason=reason)
    return CommittedPart(length, is_whole=False)


def _possible_side_file(data: DataFile) -> str | None:
    """The side file that the listing may have missed: it was looked for before it was made, and the data file after."""
    folder, _, name = data.file.path.rpartition("/")
    parsed = parse_directory(folder.rpartition("/")[2])
    return f"{folder}/{side_file(name)}" if isinstance(parsed, Delta) and parsed.may_be_streamed else None


def _finished(files: FileSystem, path: str, data: DataFile) -> CommittedPart:
    """The whole of a file without a side file, which may have got its end after the listing. A file that is gone from
    its directory was taken back by its writer, as nothing of it was committed."""
    size = files.file_size(path)
    if size is None and files.exists(path.rpartition("/")[0]):
        return CommittedPart(0, is_whole=False)
    return CommittedPart(data.file.length if size is None else size, is_whole=True)
