"""What the bases of a RESTORE replace: the list that each of them has of the files that readers read before it.

As long as these files are all there, the base ends no version, and another RESTORE can take it back. The cleaner and
Hive's compactor know nothing of the list. The name of its file begins as those that Hive ignores.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import chain
from typing import Final

from acidsql.acid.directories import Base, parse_directory
from acidsql.snapshot.scan_binding import BoundPart
from acidsql.storage.file_systems import FileSystem, Listing

REPLACED_FILE: Final = "_acidsql_replaced"


def replaced_files(part: BoundPart | None) -> bytes:
    """The content of the list for a partition as its readers read it before; None for a new partition."""
    lengths: Mapping[str, int] = {}
    if part is not None:
        deleted = chain.from_iterable(directory.files for directory in part.snapshot.delete_deltas)
        lengths = {data.file.path: data.file.length for data in (*part.data_files, *deleted)}
    return json.dumps({"files": lengths}).encode()


def keeping_bases(files: FileSystem, directory: str, listing: Listing) -> frozenset[str]:
    """The names of the bases of a listed partition that have a list, all of whose files are there."""
    lengths: Mapping[str, int] = {file.path: file.length for file in listing.files}
    found = set()
    for path in lengths:
        name, _, rest = path.partition("/")
        if rest == REPLACED_FILE and isinstance(parse_directory(name), Base):
            replaced = json.loads(files.read(f"{directory}/{path}"))["files"]
            if all(lengths.get(file) == length for file, length in replaced.items()):
                found.add(name)
    return frozenset(found)
