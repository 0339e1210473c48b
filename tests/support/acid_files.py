"""Reads the files of an ACID table with pyorc and checks the rules of the format."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import pyorc

from acidsql.acid.row_id import decode_bucket

Event: TypeAlias = tuple[int, int, int, int, int, tuple[Any, ...] | None]
"""operation, originalTransaction, bucket, rowId, currentTransaction, row."""
Key: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class EventFile:
    """One bucket file; `stripes` are its events by stripe, `metadata` is Hive's (Spark's writer adds its version)."""

    directory: str
    name: str
    schema: str
    stripes: tuple[tuple[Event, ...], ...]
    metadata: dict[str, str]

    @property
    def events(self) -> list[Event]:
        return [event for stripe in self.stripes for event in stripe]

    @property
    def is_delete(self) -> bool:
        return self.directory.startswith("delete_delta_")

    @property
    def bucket(self) -> int:
        return int(self.name.removeprefix("bucket_"))

    @property
    def write_id(self) -> int:
        return int(self.directory.removeprefix("delete_").split("_")[1])

    @property
    def statement_id(self) -> int:
        parts = self.directory.removeprefix("delete_").split("_")
        return int(parts[3]) if len(parts) > 3 else 0  # a base has none in its name


def key_of(event: Event) -> Key:
    return event[1:4]


def visible_paths(table: Path) -> list[str]:
    """Every file and every empty directory below a table, relative to it; Hadoop's check sums are no files."""
    return sorted(
        str(p.relative_to(table)) for p in table.rglob("*") if p.is_file() or (p.is_dir() and not any(p.iterdir()))
    )


def event_files(table: Path) -> list[EventFile]:
    """The bucket files of a table, by path."""
    return [read_events(path) for path in sorted(table.glob("*/bucket_*"))]


def read_events(path: Path) -> EventFile:
    with path.open("rb") as file:
        reader = pyorc.Reader(file)
        stripes = tuple(tuple(reader.read_stripe(i)) for i in range(reader.num_of_stripes))
        metadata = {n: v.decode() for n, v in reader.user_metadata.items() if n.startswith("hive.")}
        return EventFile(path.parent.name, path.name, str(reader.schema), stripes, metadata)


def check_file(file: EventFile, schema: str) -> None:
    """The rules of hive-acid-v2.md for one file, field by field."""
    events = file.events
    keys = [key_of(event) for event in events]
    assert file.schema == schema
    assert keys
    assert all(low < high for low, high in pairwise(keys)), "sorted, and no key twice"
    assert {decode_bucket(event[2]).bucket for event in events} == {file.bucket}
    assert {event[4] for event in events} == {file.write_id}
    if file.is_delete:
        assert {event[0] for event in events} == {2}
        assert {event[5] for event in events} == {None}
    else:
        assert {event[0] for event in events} == {0}
        assert {event[1] for event in events} == {file.write_id}
        assert {event[2] for event in events} == {1 << 29 | file.bucket << 16 | file.statement_id}
        assert all(event[5] is not None for event in events)
    assert file.metadata == {
        "hive.acid.key.index": "".join(f"{o},{b},{r};" for o, b, r in (key_of(s[-1]) for s in file.stripes)),
        "hive.acid.stats": f"0,0,{len(events)}" if file.is_delete else f"{len(events)},0,0",
        "hive.acid.version": "2",
    }
