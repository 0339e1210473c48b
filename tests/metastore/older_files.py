"""Files of the embedded metastore as older versions of acidsql made them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from acidsql.metastore.sqlite.locations import Locations


def make_version_9(file: Path) -> None:
    """Turns the file of a metastore into one of version 9, which records no commits and no drops of partitions."""
    with sqlite3.connect(file) as db:
        db.execute("DROP TABLE dropped_partitions")
        db.execute("DROP TABLE committed_writes")
        db.execute("ALTER TABLE metastore DROP COLUMN last_commit")
        db.execute("ALTER TABLE tables DROP COLUMN recorded_since")
        db.execute("DROP TABLE partition_changes")
        db.execute("UPDATE metastore SET schema_version = 9")
    db.close()


def make_version_8(file: Path, warehouse: str) -> None:
    """Turns the file of a metastore into one of version 8, whose locations are all absolute."""
    make_version_9(file)
    locations = Locations(warehouse)
    with sqlite3.connect(file) as db:
        for name, location in db.execute("SELECT name, location FROM databases").fetchall():
            db.execute("UPDATE databases SET location = ? WHERE name = ?", (locations.absolute(location), name))
        for key, text in db.execute("SELECT id, definition FROM tables").fetchall():
            definition = json.loads(text)
            definition["location"] = locations.absolute(definition["location"])
            definition["properties"] = locations.of_properties(definition["properties"], locations.absolute)
            db.execute("UPDATE tables SET definition = ? WHERE id = ?", (json.dumps(definition), key))
        for *key, location in db.execute("SELECT table_id, part_values, location FROM partitions").fetchall():
            new = (locations.absolute(location), *key)
            db.execute("UPDATE partitions SET location = ? WHERE table_id = ? AND part_values = ?", new)
        for column in ("warehouse", "home", "device", "inode"):
            db.execute(f"ALTER TABLE metastore DROP COLUMN {column}")
        for column in ("foreign_directory", "unchecked"):
            db.execute(f"ALTER TABLE tables DROP COLUMN {column}")
        db.execute("DROP TABLE written_directories")
        db.execute("UPDATE metastore SET schema_version = 8")
    db.close()
