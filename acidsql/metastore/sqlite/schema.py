"""The tables of the embedded metastore, named as Hive's (metastore/scripts/upgrade/**/hive-txn-schema)."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from acidsql.metastore.sqlite import catalog_home
from acidsql.metastore.sqlite.locations import (
    Locations,
    former_home,
    former_warehouse,
    resolved_warehouse,
    stored_warehouse,
)

SCHEMA_VERSION = 12

_LOCKS_2 = (
    "CREATE TABLE next_lock_id (next INTEGER NOT NULL)",
    "INSERT INTO next_lock_id VALUES (1)",
    # One row for each component of a lock() call; lock_id is Hive's HL_LOCK_EXT_ID, in order of arrival.
    """CREATE TABLE hive_locks (
        lock_id INTEGER NOT NULL,
        txn_id INTEGER NOT NULL REFERENCES txns (id) ON DELETE CASCADE,
        db TEXT NOT NULL,
        tbl TEXT,
        part TEXT,
        operation TEXT NOT NULL,
        lock_type TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('waiting', 'acquired'))
    )""",
    "CREATE INDEX hive_locks_by_txn ON hive_locks (txn_id)",
    "CREATE INDEX hive_locks_by_database ON hive_locks (db)",
)

# `seen` is the last row of write_set at the transaction's first locks, when it could take its snapshot. `number` counts
# the components of a lock() call. `acquired` is milliseconds since 1970.
_UPGRADE_TO_3 = (
    "ALTER TABLE txns ADD COLUMN seen INTEGER NOT NULL DEFAULT 0",
    # Whether the files of an aborted transaction are known to be removed.
    "ALTER TABLE txns ADD COLUMN cleaned INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX txns_left ON txns (id) WHERE state = 'aborted' AND NOT cleaned",
    "ALTER TABLE hive_locks ADD COLUMN number INTEGER NOT NULL DEFAULT 1",
    "ALTER TABLE hive_locks ADD COLUMN acquired INTEGER NOT NULL DEFAULT 0",
    # What committed transactions updated or deleted, in the order of their commits.
    """CREATE TABLE write_sets (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        db TEXT NOT NULL,
        tbl TEXT NOT NULL,
        part TEXT,
        txn_id INTEGER NOT NULL,
        commit_id INTEGER NOT NULL,
        operation TEXT NOT NULL
    )""",
    "INSERT INTO write_sets SELECT NULL, db, tbl, part, txn_id, commit_id, operation FROM write_set",
    "DROP TABLE write_set",
    "ALTER TABLE write_sets RENAME TO write_set",
    "CREATE INDEX write_set_by_table ON write_set (db, tbl)",
)

_UPGRADE_TO_4 = (
    # The queue of compactions and its history (Hive: COMPACTION_QUEUE, COMPLETED_COMPACTIONS); times in milliseconds.
    """CREATE TABLE compaction_queue (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        db TEXT NOT NULL,
        tbl TEXT NOT NULL,
        part TEXT,
        type TEXT NOT NULL,
        properties TEXT NOT NULL,
        pool TEXT,
        order_by TEXT,
        buckets INTEGER,
        initiator TEXT NOT NULL,
        state TEXT NOT NULL,
        enqueued INTEGER NOT NULL,
        started INTEGER NOT NULL DEFAULT 0,
        ended INTEGER NOT NULL DEFAULT 0,
        worker_host TEXT NOT NULL DEFAULT '',
        worker TEXT NOT NULL DEFAULT '',
        machine TEXT NOT NULL DEFAULT '',
        pid INTEGER NOT NULL DEFAULT 0,
        pid_started INTEGER,
        initiator_host TEXT NOT NULL DEFAULT '',
        txn_id INTEGER,
        next_txn_id INTEGER,
        committed INTEGER NOT NULL DEFAULT 0,
        highest_write_id INTEGER,
        error TEXT NOT NULL DEFAULT '',
        clean_after INTEGER NOT NULL DEFAULT 0,
        clean_attempts INTEGER NOT NULL DEFAULT 0
    )""",
    "CREATE INDEX compaction_queue_by_place ON compaction_queue (db, tbl, part)",
    # The open transactions of compactions. The names of their directories end with their IDs.
    """CREATE TABLE compaction_txns (
        txn_id INTEGER PRIMARY KEY,
        db TEXT NOT NULL,
        tbl TEXT NOT NULL,
        part TEXT
    )""",
    # Where transactions have written since the last compaction there, and the last of them.
    """CREATE TABLE completed_txn_components (
        db TEXT NOT NULL,
        tbl TEXT NOT NULL,
        part TEXT,
        txn_id INTEGER NOT NULL
    )""",
    "CREATE UNIQUE INDEX completed_txn_components_once ON completed_txn_components (db, tbl, ifnull(part, ''))",
)

# The last heartbeat by the monotonic clock of its machine (process_identity.Moment.ticks).
_UPGRADE_TO_5 = ("ALTER TABLE txns ADD COLUMN ticks INTEGER",)

_UPGRADE_TO_6 = (
    """CREATE TABLE views (
        db TEXT NOT NULL REFERENCES databases (name),
        name TEXT NOT NULL,
        definition TEXT NOT NULL,
        PRIMARY KEY (db, name)
    ) WITHOUT ROWID""",
)

_UPGRADE_TO_7 = (
    "ALTER TABLE databases ADD COLUMN managed_location TEXT",
    "ALTER TABLE databases ADD COLUMN owner TEXT",
    "ALTER TABLE databases ADD COLUMN owner_kind TEXT NOT NULL DEFAULT 'USER'",
    # The statistics of tables and partitions. `part_values` is that of partitions, or empty for a whole table.
    """CREATE TABLE statistics (
        table_id INTEGER NOT NULL REFERENCES tables (id) ON DELETE CASCADE,
        part_values TEXT NOT NULL,
        parameters TEXT NOT NULL,
        PRIMARY KEY (table_id, part_values)
    ) WITHOUT ROWID""",
)

_UPGRADE_TO_8 = (
    # What is committed of each stream, and the claim of its writer; `token` is empty without a claim. The offset is
    # JSON. `first_commit` and `last_commit` are milliseconds since 1970; `ticks` is that of txns.
    """CREATE TABLE streams (
        table_id INTEGER NOT NULL REFERENCES tables (id) ON DELETE CASCADE,
        id TEXT NOT NULL,
        committed_offset TEXT NOT NULL DEFAULT 'null',
        commits INTEGER NOT NULL DEFAULT 0,
        row_count INTEGER NOT NULL DEFAULT 0,
        txn_id INTEGER,
        first_commit INTEGER NOT NULL DEFAULT 0,
        last_commit INTEGER NOT NULL DEFAULT 0,
        token TEXT NOT NULL DEFAULT '',
        user TEXT NOT NULL DEFAULT '',
        host TEXT NOT NULL DEFAULT '',
        machine TEXT NOT NULL DEFAULT '',
        pid INTEGER NOT NULL DEFAULT 0,
        pid_started INTEGER,
        last_heartbeat INTEGER NOT NULL DEFAULT 0,
        ticks INTEGER,
        PRIMARY KEY (table_id, id)
    ) WITHOUT ROWID""",
)

_UPGRADE_TO_9 = (
    # Where the warehouse is (locations.py), and the path and the inode under which the file was used last
    # (catalog_home.py). Locations below the warehouse are relative from here on.
    "ALTER TABLE metastore ADD COLUMN warehouse TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE metastore ADD COLUMN home TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE metastore ADD COLUMN device INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE metastore ADD COLUMN inode INTEGER NOT NULL DEFAULT 0",
    # A directory with IDs that were never given out, and what is wrong with it, as a JSON list.
    "ALTER TABLE tables ADD COLUMN foreign_directory TEXT",
    # Whether the file may be older than the table's directories: it was copied or restored, and nobody has looked yet.
    "ALTER TABLE tables ADD COLUMN unchecked INTEGER NOT NULL DEFAULT 0",
    # The directories that transactions have made, with their number of files (written_rows.py). `low` and `high`
    # are the write IDs in the name; `replaces` tells whether it has the rows of all directories between them.
    """CREATE TABLE written_directories (
        table_id INTEGER NOT NULL REFERENCES tables (id) ON DELETE CASCADE,
        part_values TEXT NOT NULL,
        name TEXT NOT NULL,
        low INTEGER NOT NULL,
        high INTEGER NOT NULL,
        replaces INTEGER NOT NULL,
        files INTEGER,
        txn_id INTEGER NOT NULL,
        PRIMARY KEY (table_id, part_values, name)
    ) WITHOUT ROWID""",
    "CREATE INDEX written_directories_by_txn ON written_directories (txn_id)",
)

_UPGRADE_TO_10 = (
    # Partitions that went or came, and the highest write ID of the table that is older, for readers of earlier
    # versions (partition_change_rows.py). `part_values` is [] for the location of a table without partitions.
    """CREATE TABLE partition_changes (
        table_id INTEGER NOT NULL REFERENCES tables (id) ON DELETE CASCADE,
        part_values TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('dropped', 'added', 'found')),
        write_id INTEGER NOT NULL,
        PRIMARY KEY (table_id, part_values, kind)
    ) WITHOUT ROWID""",
    # Until now, nobody has recorded drops.
    "INSERT INTO partition_changes SELECT id, '', 'dropped', next_write_id - 1 FROM tables",
)

_UPGRADE_TO_11 = (
    # When each write ID of a table committed, and what it did (commit_rows.py). Times are milliseconds since 1970.
    """CREATE TABLE committed_writes (
        table_id INTEGER NOT NULL REFERENCES tables (id) ON DELETE CASCADE,
        write_id INTEGER NOT NULL,
        txn_id INTEGER NOT NULL,
        committed INTEGER NOT NULL,
        operation TEXT NOT NULL,
        inserted INTEGER,
        updated INTEGER,
        deleted INTEGER,
        user TEXT NOT NULL,
        PRIMARY KEY (table_id, write_id)
    ) WITHOUT ROWID""",
    # The time of the last commit of all tables.
    "ALTER TABLE metastore ADD COLUMN last_commit INTEGER NOT NULL DEFAULT 0",
    # The commits of the table up to this moment need not be recorded.
    "ALTER TABLE tables ADD COLUMN recorded_since INTEGER NOT NULL DEFAULT 0",
    "UPDATE tables SET recorded_since = 1000 * (strftime('%s', 'now') + 1) WHERE next_write_id > 1",
    "UPDATE metastore SET last_commit = (SELECT coalesce(max(recorded_since), 0) FROM tables)",
)

_UPGRADE_TO_12 = (
    # Partitions that were dropped and whose files are kept for readers of earlier versions (dropped_partition_rows.py).
    # `dropped` is milliseconds since 1970. `is_gone` says that the cleaner removes the files.
    """CREATE TABLE dropped_partitions (
        table_id INTEGER NOT NULL REFERENCES tables (id) ON DELETE CASCADE,
        part_values TEXT NOT NULL,
        write_id INTEGER NOT NULL,
        location TEXT NOT NULL,
        dropped INTEGER NOT NULL,
        next_txn_id INTEGER NOT NULL,
        is_gone INTEGER NOT NULL,
        PRIMARY KEY (table_id, part_values, write_id)
    ) WITHOUT ROWID""",
)

DDL = (
    "CREATE TABLE metastore (schema_version INTEGER NOT NULL)",
    """CREATE TABLE databases (
        name TEXT PRIMARY KEY,
        location TEXT NOT NULL,
        comment TEXT,
        properties TEXT NOT NULL
    ) WITHOUT ROWID""",
    # AUTOINCREMENT: a dropped table's ID never comes back. next_write_id is Hive's table NEXT_WRITE_ID.
    """CREATE TABLE tables (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        db TEXT NOT NULL REFERENCES databases (name),
        name TEXT NOT NULL,
        definition TEXT NOT NULL,
        next_write_id INTEGER NOT NULL DEFAULT 1,
        adopted_high_watermark INTEGER NOT NULL DEFAULT 0,
        UNIQUE (db, name)
    )""",
    """CREATE TABLE partitions (
        table_id INTEGER NOT NULL REFERENCES tables (id) ON DELETE CASCADE,
        part_values TEXT NOT NULL,
        location TEXT NOT NULL,
        PRIMARY KEY (table_id, part_values)
    ) WITHOUT ROWID""",
    "CREATE TABLE next_txn_id (next INTEGER NOT NULL)",
    # Open and aborted transactions. A transaction with an assigned ID and no row here has committed.
    """CREATE TABLE txns (
        id INTEGER PRIMARY KEY,
        state TEXT NOT NULL CHECK (state IN ('open', 'aborted', 'replaced')),
        reason TEXT NOT NULL DEFAULT '',
        started INTEGER NOT NULL,
        last_heartbeat INTEGER NOT NULL,
        user TEXT NOT NULL,
        host TEXT NOT NULL,
        machine TEXT NOT NULL,
        pid INTEGER NOT NULL,
        pid_started INTEGER
    )""",
    "CREATE INDEX txns_open ON txns (id) WHERE state = 'open'",
    """CREATE TABLE txn_components (
        txn_id INTEGER NOT NULL REFERENCES txns (id) ON DELETE CASCADE,
        db TEXT NOT NULL,
        tbl TEXT,
        part TEXT,
        operation TEXT NOT NULL,
        lock_type TEXT NOT NULL,
        dynamic INTEGER NOT NULL
    )""",
    """CREATE UNIQUE INDEX txn_components_once ON txn_components
        (txn_id, db, ifnull(tbl, ''), ifnull(part, ''), operation, lock_type, dynamic)""",
    """CREATE TABLE txn_to_write_id (
        table_id INTEGER NOT NULL REFERENCES tables (id) ON DELETE CASCADE,
        txn_id INTEGER NOT NULL,
        write_id INTEGER NOT NULL,
        PRIMARY KEY (table_id, txn_id)
    ) WITHOUT ROWID""",
    "CREATE UNIQUE INDEX txn_to_write_id_by_write_id ON txn_to_write_id (table_id, write_id)",
    "CREATE INDEX txn_to_write_id_by_txn ON txn_to_write_id (txn_id)",
    # Write IDs of adopted tables that are not committed and never will be.
    """CREATE TABLE adopted_write_ids (
        table_id INTEGER NOT NULL REFERENCES tables (id) ON DELETE CASCADE,
        write_id INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('open', 'aborted')),
        PRIMARY KEY (table_id, write_id)
    ) WITHOUT ROWID""",
    # What committed transactions updated or deleted, while an overlapping transaction is open.
    """CREATE TABLE write_set (
        db TEXT NOT NULL,
        tbl TEXT NOT NULL,
        part TEXT,
        txn_id INTEGER NOT NULL,
        commit_id INTEGER NOT NULL,
        operation TEXT NOT NULL
    )""",
    "CREATE INDEX write_set_by_table ON write_set (db, tbl)",
    *_LOCKS_2,
    *_UPGRADE_TO_3,
    *_UPGRADE_TO_4,
    *_UPGRADE_TO_5,
    *_UPGRADE_TO_6,
    *_UPGRADE_TO_7,
    *_UPGRADE_TO_8,
    *_UPGRADE_TO_9,
    *_UPGRADE_TO_10,
    *_UPGRADE_TO_11,
    *_UPGRADE_TO_12,
)

# The upgrade of each version. Open transactions of an older acidsql count as if they held their locks.
_UPGRADES = {
    1: (
        *_LOCKS_2,
        "INSERT INTO hive_locks SELECT 0, txn_id, db, tbl, part, operation, lock_type, 'acquired' FROM txn_components",
    ),
    2: _UPGRADE_TO_3,
    3: _UPGRADE_TO_4,
    4: _UPGRADE_TO_5,
    5: _UPGRADE_TO_6,
    6: _UPGRADE_TO_7,
    7: _UPGRADE_TO_8,
    8: _UPGRADE_TO_9,
    9: _UPGRADE_TO_10,
    10: _UPGRADE_TO_11,
    11: _UPGRADE_TO_12,
}


def create_schema(db: sqlite3.Connection, default_database: str, warehouse: str, file: Path) -> None:
    """Creates the tables and the first database, whose directory is the warehouse. The caller holds the write lock."""
    for statement in DDL:
        db.execute(statement)
    place = stored_warehouse(file, warehouse)
    db.execute("INSERT INTO metastore (schema_version, warehouse) VALUES (?, ?)", (SCHEMA_VERSION, place))
    catalog_home.note_home(db, file)
    db.execute("INSERT INTO next_txn_id VALUES (1)")
    values = (default_database, Locations(warehouse).stored(warehouse))
    db.execute("INSERT INTO databases (name, location, properties) VALUES (?, ?, '{}')", values)


def is_old(db: sqlite3.Connection) -> bool:
    """Whether an older acidsql made the file, which `upgrade_schema` then upgrades."""
    return _version(db) < SCHEMA_VERSION


def upgrade_schema(db: sqlite3.Connection, default_database: str, file: Path) -> None:
    """Upgrades an older file to this schema version. The caller holds the write lock."""
    for version in range(_version(db), SCHEMA_VERSION):
        for statement in _UPGRADES[version]:
            db.execute(statement)
        if version == 8:
            _make_locations_relative(db, default_database, file)
    db.execute("UPDATE metastore SET schema_version = ?", (SCHEMA_VERSION,))


def _make_locations_relative(db: sqlite3.Connection, default_database: str, file: Path) -> None:
    """Stores the locations below the warehouse relative to it. Until now, the file has not told which directory that
    is: it is the one of the first database, where nobody has given that another directory."""
    row = db.execute("SELECT location FROM databases WHERE name = ?", (default_database,)).fetchone()
    old = Locations(row["location"])
    place = former_warehouse(file, old.warehouse)
    db.execute("UPDATE metastore SET warehouse = ?", (place,))
    if resolved_warehouse(file, place) == old.warehouse:
        catalog_home.note_home(db, file)
    else:
        db.execute("UPDATE metastore SET home = ?", (former_home(old.warehouse),))
    for row in db.execute("SELECT name, location, managed_location FROM databases").fetchall():
        managed = None if row["managed_location"] is None else old.stored(row["managed_location"])
        db.execute(
            "UPDATE databases SET location = ?, managed_location = ? WHERE name = ?",
            (old.stored(row["location"]), managed, row["name"]),
        )
    for row in db.execute("SELECT id, definition FROM tables").fetchall():
        definition = json.loads(row["definition"])
        definition["location"] = old.stored(definition["location"])
        definition["properties"] = old.of_properties(definition["properties"], old.stored)
        db.execute("UPDATE tables SET definition = ? WHERE id = ?", (json.dumps(definition), row["id"]))
    for row in db.execute("SELECT table_id, part_values, location FROM partitions").fetchall():
        if (stored := old.stored(row["location"])) != row["location"]:
            key = (stored, row["table_id"], row["part_values"])
            db.execute("UPDATE partitions SET location = ? WHERE table_id = ? AND part_values = ?", key)


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT max(schema_version) AS version FROM metastore").fetchone()["version"])


def is_empty(db: sqlite3.Connection) -> bool:
    """Whether the file is new, or its creator died before it committed the schema."""
    return db.execute("SELECT 1 FROM sqlite_master").fetchone() is None


def schema_problem(db: sqlite3.Connection) -> str | None:
    """The reason why this file cannot be used, or None."""
    if db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'metastore'").fetchone() is None:
        return "it is a SQLite file, but not a metastore of acidsql"
    version = db.execute("SELECT max(schema_version) AS version FROM metastore").fetchone()["version"]
    if version is None:
        return "its schema version is missing"
    if version > SCHEMA_VERSION:
        return f"a newer acidsql made it (schema {version}, this one knows {SCHEMA_VERSION}): upgrade acidsql"
    return None
