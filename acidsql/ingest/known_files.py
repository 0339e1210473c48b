"""How far each file was read that a stream has read: by the file itself, whatever its name is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from acidsql.ingest.file_identity import is_same_file
from acidsql.ingest.text_sources import Place

_REMEMBERED: Final = 200
"""How many files are known whose names other files have taken: the offset of each commit holds them."""


class KnownFiles:
    """Places by the name under which a source is read. A file whose name another file has taken stays known: its place
    gets a key of its own, of the former name and the inode."""

    def __init__(self, places: Mapping[str, Place]) -> None:
        self.places = dict(places)
        self._by_number: dict[str, set[str]] = {}
        for key, place in self.places.items():
            self._by_number.setdefault(_number(place), set()).add(key)

    def named(self, key: str) -> Place | None:
        """The place under a name, which may be that of another file than the name's file now."""
        return self.places.get(key)

    def of_file(self, identity: str, name: str = "") -> tuple[str, Place] | None:
        """The key and the place of a file; of several, which only a reused inode gives, the one under `name`."""
        found = list(self._of(identity))
        return next((one for one in found if one[0] == name), found[0] if found else None)

    def put(self, key: str, place: Place) -> None:
        """Notes how far the source `key` was read. Another file that had the key stays known."""
        before = self.places.get(key)
        if before is not None and place.inode and before.inode and not is_same_file(before.inode, place.inode):
            self.forget(key)
            self._set(f"{key} [{before.inode}]", before)
        for other, _ in list(self._of(place.inode)):
            if other != key:
                self.forget(other)
        self._set(key, place)

    def forget(self, key: str) -> None:
        """Forgets a place."""
        self._by_number[_number(self.places.pop(key))].discard(key)

    def forget_file(self, identity: str) -> None:
        """Forgets the place of a file, which is no place in it any more."""
        for key, _ in list(self._of(identity)):
            self.forget(key)

    def trim(self) -> None:
        """Forgets the files that lost their names first, where there are many."""
        nameless = [key for key, place in self.places.items() if place.inode and key.endswith(f" [{place.inode}]")]
        for key in nameless[:-_REMEMBERED]:
            self.forget(key)

    def _of(self, identity: str) -> Iterator[tuple[str, Place]]:
        for key in self._by_number.get(_number(Place(inode=identity)), ()) if identity else ():
            if is_same_file(self.places[key].inode, identity):
                yield key, self.places[key]

    def _set(self, key: str, place: Place) -> None:
        if key in self.places:
            self.forget(key)
        self.places[key] = place
        self._by_number.setdefault(_number(place), set()).add(key)


def _number(place: Place) -> str:
    """The inode number, which the identities of one file have in common."""
    return place.inode.split(":")[1] if ":" in place.inode else ""
