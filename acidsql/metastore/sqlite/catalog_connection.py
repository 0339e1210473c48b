"""Connections to the SQLite file of the embedded metastore, for reading and writing or for reading alone."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final
from urllib.parse import quote

from acidsql.metastore.sqlite.locations import Locations

BUSY_SECONDS: Final = 60.0
"""How long a transaction waits for other processes."""


class CatalogConnection(sqlite3.Connection):
    """A connection that knows where the warehouse of its catalog is."""

    locations: Locations


def connect(path: Path) -> CatalogConnection:
    """A connection for reading and writing. Creates an empty file where there is none."""
    return _connected(str(path), is_uri=False)


def connect_read_only(path: Path) -> CatalogConnection:
    """A connection to a file that this process must not write.

    SQLite cannot read a file with a write-ahead log where it cannot make files for the log beside it. Where there is no
    log, the file is all that there is, and it is read as one that nobody changes (`immutable`). `state` tells whether
    somebody has changed it since. Raises sqlite3.OperationalError where a log, or the journal of a writer that died,
    can be read only by a process that may write.
    """
    try:
        return _opened(path, "mode=ro")
    except sqlite3.OperationalError:
        if any(_size(path.with_name(path.name + end)) for end in ("-wal", "-journal")):
            raise
        return _opened(path, "mode=ro&immutable=1")


def is_read_only(path: Path) -> bool:
    """Whether this process must not write a file that is there. SQLite needs files beside it to write it."""
    effective = os.access in os.supports_effective_ids
    return path.exists() and not all(
        os.access(place, os.W_OK, effective_ids=effective) for place in (path, path.parent)
    )


def state(path: Path) -> tuple[int, ...]:
    """Another value after each change of the file, or of its log, by another process."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns, _size(path.with_name(f"{path.name}-wal"))


def _opened(path: Path, parameters: str) -> CatalogConnection:
    db = _connected(f"file:{quote(str(path))}?{parameters}", is_uri=True)
    try:
        db.execute("SELECT 1 FROM sqlite_master").fetchone()
    except BaseException:
        db.close()
        raise
    return db


def _connected(name: str, *, is_uri: bool) -> CatalogConnection:
    db = sqlite3.connect(
        name,
        uri=is_uri,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
        factory=CatalogConnection,
    )
    db.row_factory = sqlite3.Row  # queries read their columns by name
    return db


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
