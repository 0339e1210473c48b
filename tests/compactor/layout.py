"""Tables on disk, before and after a compaction."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from unittest.mock import patch

import pyorc

from acidsql.arrow import compaction as arrow_compaction
from acidsql.arrow import streamed_compaction
from acidsql.engines import compaction_engines
from acidsql.session import Session
from acidsql.spark import compaction
from acidsql.writing import merge_order
from tests.support.acid_files import Event

VISIBILITY: Final = re.compile(r"_v\d{7,}$")


def location(session: Session, table: str) -> Path:
    return Path(session.catalog.table("default", table).location)


def directories(root: Path) -> list[str]:
    """The names of a directory's ACID directories, with `_v` for any visibility ID; hidden ones too."""
    return sorted(VISIBILITY.sub("_v", p.name) for p in root.iterdir() if p.is_dir())


def files(root: Path) -> list[str]:
    """The paths of all files, with `_v` for any visibility ID."""
    paths = (p.relative_to(root) for p in root.rglob("*") if p.is_file() and not p.name.endswith(".crc"))
    return sorted("/".join(VISIBILITY.sub("_v", part) for part in path.parts) for path in paths)


def events(directory: Path) -> list[Event]:
    """The events of an ACID directory, file by file."""
    return [event for path in sorted(directory.glob("bucket_*")) for event in events_of(path)]


def events_of(path: Path) -> list[Event]:
    """The events of an ACID file."""
    with path.open("rb") as file:
        return [event for event in pyorc.Reader(file) if isinstance(event, tuple)]


def metadata(path: Path) -> dict[str, bytes]:
    """Hive's user metadata of an ORC file."""
    with path.open("rb") as file:
        return {k: v for k, v in pyorc.Reader(file).user_metadata.items() if k.startswith("hive.")}


def compact(session: Session, table: str, kind: str, rest: str = "") -> tuple[str, str]:
    """ALTER TABLE .. COMPACT .. AND WAIT: state and message."""
    (row,) = session.execute(f"ALTER TABLE {table} {rest} COMPACT '{kind}' AND WAIT").rows()
    return str(row[1]), str(row[2])


@contextmanager
def as_with_large_files() -> Iterator[None]:
    """Compactions treat files of any size like large ones that are left to Spark, which copies them in their order, or
    shuffles their rows."""
    with (
        patch.object(compaction_engines, "compact_by_arrow", lambda *_: None),
        patch.object(merge_order, "_LARGE", 0),
        patch.object(compaction, "_FEW", 0),
    ):
        yield


@contextmanager
def as_streamed() -> Iterator[None]:
    """Compactions without Spark stream files of any size if their rows are in order, in parts for several threads."""
    with patch.object(arrow_compaction, "_MOST_BYTES", 0), patch.object(streamed_compaction, "_MOST_MEMORY", 1 << 60):
        yield


def stripes_in_order(path: Path) -> int:
    """The number of stripes of a file, whose events are in the order of their row IDs, as Hive's key index says."""
    with path.open("rb") as file:
        reader = pyorc.Reader(file)
        index = reader.user_metadata["hive.acid.key.index"].decode()
        stats = reader.user_metadata["hive.acid.stats"].decode()
        keys = [[tuple(event[1:4]) for event in stripe] for stripe in reader.iter_stripes()]
    every = [key for stripe in keys for key in stripe]
    assert every == sorted(set(every))
    assert index == "".join(f"{w},{b},{r};" for w, b, r in (stripe[-1] for stripe in keys))
    assert stats == f"{len(every)},0,0"
    return len(keys)
