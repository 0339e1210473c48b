"""How directories lie to each other, whatever names they are given: links, `..`, other schemes of one store."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from acidsql.storage.file_systems import FileSystem, is_local


class DirectoryRelation(Enum):
    """Where a directory lies, compared with another one. The texts name the other one."""

    SAME = "that is the directory of {other}"
    INSIDE = "it lies in the directory of {other}"
    AROUND = "the directory of {other} lies in it"


def related(mine: str, other: str, canonical: Callable[[str], str]) -> DirectoryRelation | None:
    """How the location `mine` lies relative to `other`; None where they do not overlap, or where `other` is empty, as
    that of a view. `canonical` gives the one path of a location in the file system of `mine`.

    >>> related("/w/t", "/w/t/p=1", str), related("/w/t", "/w/t2", str)
    (<DirectoryRelation.AROUND: 'the directory of {other} lies in it'>, None)
    >>> print(related("/w/t", "", str))
    None
    """
    if not other or is_local(mine) is not is_local(other):
        return None
    path, place = canonical(mine), canonical(other)
    if path == place:
        return DirectoryRelation.SAME
    if path.startswith(f"{place}/"):
        return DirectoryRelation.INSIDE
    return DirectoryRelation.AROUND if place.startswith(f"{path}/") else None


def canonical_path(files: FileSystem, location: str, beside: str) -> str:
    """The one path of a directory that may have several, without symbolic links and `..`. `files` is the file system of
    the location `beside`."""
    return files.canonical(files.resolve(location), files.resolve(beside)).rstrip("/")
