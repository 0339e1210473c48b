"""Where a catalog file lies with its tables: whether it was moved or copied away from them, and whose they are then.

The file knows the path and the inode under which it was used last. If both differ, it is a copy, or was moved to
another file system, and a catalog at the old path may still write to the same tables. Tables below the warehouse go
with a file that lies in it (locations.py). For managed tables elsewhere, two catalogs would give out the same write
IDs, and each would remove the other's files: such a catalog changes nothing until somebody says whose they are (`claim`
in database_file.py).

All functions run inside an open SQLite transaction.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.sqlite import locations

_SHOWN: Final = 5
_COPIED: Final = "the metastore was copied or moved while it was open"


def settle(db: sqlite3.Connection, file: Path) -> bool:
    """Notes where the file is. Returns False, and changes nothing, where it has left tables behind that another catalog
    may own. In a copy, ends what other processes were doing in the original: they do not know the copy."""
    if has_moved(db, file):
        if left_behind(db):
            return False
        end_all(db)
    note_home(db, file)
    return True


def is_at_home(db: sqlite3.Connection, file: Path) -> bool:
    """Whether the file is where it was used last, under the same inode."""
    row = _row(db)
    return (row["home"], row["device"], row["inode"]) == (os.path.realpath(file), *_inode(file))


def has_moved(db: sqlite3.Connection, file: Path) -> bool:
    """Whether the file is another one than the one that was used last. A file of the same inode was renamed, or is seen
    under another path; one at the same path was restored from a backup, or replaces the one that was there."""
    row = _row(db)
    return bool(row["home"] != os.path.realpath(file) and (row["device"], row["inode"]) != _inode(file))


def note_home(db: sqlite3.Connection, file: Path) -> None:
    """Notes where the file is. Another file than the one that was used last may be older than its tables."""
    row = _row(db)
    if (row["device"], row["inode"]) != _inode(file):
        uncheck(db)
    place = (os.path.realpath(file), *_inode(file))
    db.execute("UPDATE metastore SET home = ?, device = ?, inode = ?", place)


def uncheck(db: sqlite3.Connection) -> None:
    """Lets the first write to each table look whether the catalog is older than the table's directories."""
    db.execute("UPDATE tables SET unchecked = 1")


def left_behind(db: sqlite3.Connection) -> Sequence[str]:
    """The managed tables whose directory, or that of a partition, does not move with the file, by qualified name."""
    whole = locations.moves_with_file(_row(db)["warehouse"])
    names: dict[int, str] = {}
    managed: dict[int, str] = {}
    for row in db.execute("SELECT id, db, name, definition FROM tables ORDER BY db, name"):
        definition = json.loads(row["definition"])
        if definition["external"]:
            continue
        managed[row["id"]] = f"{row['db']}.{row['name']}"
        if not (whole and locations.is_relative(definition["location"])):
            names[row["id"]] = managed[row["id"]]
    for row in db.execute("SELECT table_id, location FROM partitions"):
        if row["table_id"] in managed and not locations.is_relative(row["location"]):
            names[row["table_id"]] = managed[row["table_id"]]
    return sorted(names.values())


def require_own(db: sqlite3.Connection, file: Path) -> None:
    """Raises CATALOG_MOVED where the file was moved or copied away from tables of its own, and nobody has said whose
    they are."""
    if not has_moved(db, file) or not (names := left_behind(db)):
        return
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    hint = (
        "`acidsql claim --own` makes the tables this catalog's, if no other one writes to them any more;"
        " `acidsql claim --forget` forgets them here and leaves their files alone;"
        " `acidsql claim --here` finds them below --warehouse, if they were moved there too."
    )
    uri = f"sqlite:///{file}"
    raise AcidSqlError(Condition.CATALOG_MOVED, hint=hint, uri=uri, home=_row(db)["home"], tables=shown)


def in_doubt(db: sqlite3.Connection, file: Path) -> Sequence[str]:
    """The tables that did not move with the file, if it has moved, and those with directories of another metastore."""
    foreign = db.execute("SELECT db || '.' || name AS name FROM tables WHERE foreign_directory IS NOT NULL")
    left = left_behind(db) if has_moved(db, file) else ()
    return sorted({*left, *(row["name"] for row in foreign)})


def forget_tables(db: sqlite3.Connection, names: Sequence[str]) -> None:
    """Forgets tables by their qualified names. None of their files is touched."""
    from acidsql.metastore.sqlite import compaction_rows

    for name in names:
        database, _, table = name.partition(".")
        db.execute("DELETE FROM tables WHERE db = ? AND name = ?", (database, table))
        compaction_rows.forget_table(db, database, table)


def end_all(db: sqlite3.Connection) -> None:
    """Ends transactions, claims to streams and compactions. Their processes work on the original."""
    from acidsql.metastore.sqlite import compaction_rows, transaction_rows

    for row in db.execute("SELECT id FROM txns WHERE state = 'open'").fetchall():
        transaction_rows.abort(db, row["id"], _COPIED)
    db.execute("UPDATE streams SET token = ''")
    compaction_rows.give_back_all(db)


def _row(db: sqlite3.Connection) -> sqlite3.Row:
    row: sqlite3.Row = db.execute("SELECT warehouse, home, device, inode FROM metastore").fetchone()
    return row


def _inode(file: Path) -> tuple[int, int]:
    """The device and the inode; those of no file where a catalog is only in memory yet."""
    try:
        found = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return 0, 0
    return found.st_dev, found.st_ino
