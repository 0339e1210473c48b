"""The tables of the embedded metastore, named as Hive's (metastore/scripts/upgrade/**/hive-txn-schema)."""

from __future__ import annotations

import sqlite3

SCHEMA_VERSION = 8

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
}


def create_schema(db: sqlite3.Connection, default_database: str, location: str) -> None:
    """Creates the tables and the first database. The caller holds the write lock."""
    for statement in DDL:
        db.execute(statement)
    db.execute("INSERT INTO metastore VALUES (?)", (SCHEMA_VERSION,))
    db.execute("INSERT INTO next_txn_id VALUES (1)")
    values = (default_database, location)
    db.execute("INSERT INTO databases (name, location, properties) VALUES (?, ?, '{}')", values)


def is_old(db: sqlite3.Connection) -> bool:
    """Whether an older acidsql made the file, which `upgrade_schema` then upgrades."""
    return _version(db) < SCHEMA_VERSION


def upgrade_schema(db: sqlite3.Connection) -> None:
    """Upgrades an older file to this schema version. The caller holds the write lock."""
    for version in range(_version(db), SCHEMA_VERSION):
        for statement in _UPGRADES[version]:
            db.execute(statement)
    db.execute("UPDATE metastore SET schema_version = ?", (SCHEMA_VERSION,))


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
