"""Tables on disk, before and after a compaction."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pyorc

from acidsql.session import Session
from tests.spark.acid_files import Event

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
    found: list[Event] = []
    for path in sorted(directory.glob("bucket_*")):
        with path.open("rb") as file:
            found += [event for event in pyorc.Reader(file) if isinstance(event, tuple)]
    return found


def metadata(path: Path) -> dict[str, bytes]:
    """Hive's user metadata of an ORC file."""
    with path.open("rb") as file:
        return {k: v for k, v in pyorc.Reader(file).user_metadata.items() if k.startswith("hive.")}


def compact(session: Session, table: str, kind: str, rest: str = "") -> tuple[str, str]:
    """ALTER TABLE .. COMPACT .. AND WAIT: state and message."""
    (row,) = session.execute(f"ALTER TABLE {table} {rest} COMPACT '{kind}' AND WAIT").rows()
    return str(row[1]), str(row[2])
