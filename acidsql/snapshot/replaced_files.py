"""What a base replaces: the list that it has of the files that readers read before it.

As long as these files are all there, the base ends no version. The bases of a RESTORE have a list, and so have all
bases of a table whose history is retained (history_retention.py): those of INSERT OVERWRITE, TRUNCATE, DROP PARTITION
and compactions, and in an insert-only table the deltas of minor compactions. Hive's cleaner and compactor know nothing
of the list. acidsql's cleaner removes it before it removes the first file. The name of its file begins as those that
Hive ignores.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

from acidsql.acid.directories import parse_directory
from acidsql.acid.snapshot_selection import Snapshot
from acidsql.storage.file_systems import FileSystem, Listing
from acidsql.storage.hadoop_files import FILE_ERRORS

REPLACED_FILE: Final = "_acidsql_replaced"


@dataclass(frozen=True, slots=True)
class Keeping:
    """A directory beside which all files are that it replaces. `renumbers` tells of a base whose rows have other row
    IDs than in these files."""

    name: str
    renumbers: bool


def leave_list(files: FileSystem, directory: str, before: Snapshot | None, *, renumbers: bool = False) -> None:
    """Write the list of a base, or of another directory that replaces some. `before` is the partition as its readers
    read it before; None for a new partition. `renumbers` tells that a rebalance gives the rows new row IDs."""
    files.write(f"{directory}/{REPLACED_FILE}", _content(before, renumbers=renumbers))


def _content(before: Snapshot | None, *, renumbers: bool) -> bytes:
    """The base is in the list by its name, because one without rows has no file, and hides rows nevertheless."""
    if before is None:
        return json.dumps({"base": None, "files": {}, "renumbers": renumbers}).encode()
    base = () if before.base is None else (before.base,)
    inside = chain.from_iterable(d.files for d in (*base, *before.deltas, *before.delete_deltas))
    lengths = {data.file.path: data.file.length for data in (*before.original_files, *inside)}
    name = None if before.base is None else before.base.name
    return json.dumps({"base": name, "files": lengths, "renumbers": renumbers}).encode()


def keeping_directories(files: FileSystem, directory: str, listing: Listing) -> Mapping[str, Keeping]:
    """The directories of a listed partition that have a list, all of whose files are there, by name."""
    lengths: Mapping[str, int] = {file.path: file.length for file in listing.files}
    there = {path.partition("/")[0] for path in (*listing.directories, *lengths)}
    found: dict[str, Keeping] = {}
    for path in lengths:
        name, _, rest = path.partition("/")
        if rest == REPLACED_FILE and parse_directory(name) is not None:
            try:
                replaced = json.loads(files.read(f"{directory}/{path}"))
            except FILE_ERRORS:  # the cleaner has removed it since
                continue
            has_base = replaced["base"] is None or replaced["base"] in there
            if has_base and all(lengths.get(file) == length for file, length in replaced["files"].items()):
                found[name] = Keeping(name, replaced["renumbers"])
    return found
