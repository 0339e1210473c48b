"""Locations in the file of the embedded metastore: those below the warehouse are stored relative to it.

So a warehouse that holds its metastore can be moved and copied: its locations follow. A stored location is

    .                 the warehouse itself
    ./sales.db/t      below the warehouse
    file://./t        below the warehouse, given as a URI of a local file
    /data/t, s3://..  elsewhere

The warehouse itself is stored as a path relative to the directory of the file (`..`), if the file lies in it, and else
as it was given.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from acidsql.acid.table import MOVING

_FILE_URI: Final = re.compile(r"file:(?://)?(?=[/.])")
HOME_IN_WAREHOUSE: Final = (".acidsql", "metastore.db")
"""Where the metastore of a warehouse lies in it if no other place was given."""


@dataclass(frozen=True, slots=True)
class Locations:
    """The locations of one catalog. `warehouse` is the location of the warehouse as it is now."""

    warehouse: str

    def stored(self, location: str) -> str:
        """The text that the file holds for a location."""
        scheme, path = _split(location)
        root = _split(self.warehouse)[1]
        if path == root:
            return f"{scheme}."
        return f"{scheme}./{path[len(root) + 1 :]}" if path.startswith(f"{root}/") else location

    def absolute(self, stored: str) -> str:
        """The location of a text of `stored`."""
        if not is_relative(stored):
            return stored
        scheme, path = _split(stored)
        root = _split(self.warehouse)[1]
        return f"{scheme}{root}{path[1:]}"

    def of_properties(self, properties: Mapping[str, str], change: Callable[[str], str]) -> dict[str, str]:
        """Table properties in which the locations of a rename under way are changed."""
        changed = dict(properties)
        if MOVING in changed:
            changed[MOVING] = json.dumps([change(location) for location in json.loads(changed[MOVING])])
        return changed


def is_relative(stored: str) -> bool:
    """Whether a stored location is relative to the warehouse."""
    path = _split(stored)[1]
    return path == "." or path.startswith("./")


def stored_warehouse(file: Path, warehouse: str) -> str:
    """How the file stores where its warehouse is."""
    scheme, path = _split(warehouse)
    if not path.startswith("/") or not str(file).startswith(f"{path.rstrip('/')}/"):
        return warehouse
    return scheme + os.path.relpath(path, file.parent)


def resolved_warehouse(file: Path, stored: str) -> str:
    """The location of the warehouse that `stored_warehouse` stored, for the file where it lies now."""
    if not moves_with_file(stored):
        return stored
    scheme, path = _split(stored)
    return scheme + os.path.normpath(file.parent / path)


def moves_with_file(stored: str) -> bool:
    """Whether the warehouse is where the file is."""
    return _split(stored)[1].startswith(".")


def former_warehouse(file: Path, location: str) -> str:
    """The warehouse, as it is stored, of a file whose locations are all absolute (before schema 9). `location` is that
    of the database `default`.

    A file at its usual place in another directory was moved or copied with its warehouse, if the old place is gone or
    holds such a file still. Otherwise the database `default` was given another directory.
    """
    known = stored_warehouse(file, location)
    path = Path(_split(location)[1])
    if moves_with_file(known) or not path.is_absolute() or file.parts[-2:] != HOME_IN_WAREHOUSE:
        return known
    if path.exists() and not path.joinpath(*HOME_IN_WAREHOUSE).exists():
        return known
    return stored_warehouse(file, _split(location)[0] + str(file.parent.parent))


def former_home(warehouse: str) -> str:
    """The usual place of the metastore of a local warehouse."""
    return "/".join((_split(warehouse)[1], *HOME_IN_WAREHOUSE))


def _split(location: str) -> tuple[str, str]:
    """The scheme of local files, if there is one, and the path; URIs with escaped characters stay whole."""
    found = _FILE_URI.match(location)
    if found is None or "%" in location:
        return "", location
    return found[0], location[found.end() :]
