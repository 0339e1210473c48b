"""The catalog of the embedded metastore: databases, tables and partitions.

Each function runs inside an open SQLite transaction, and implements the method of `Catalog` (catalog.py) of its name.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

from acidsql.acid.partition_names import partition_name
from acidsql.acid.partition_values import catalog_order
from acidsql.acid.table import MOVING, PrincipalKind, Relation, Table, View
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.errors import AcidSqlError, Condition, suggestion
from acidsql.metastore.catalog import DEFAULT_DATABASE, AdoptedWriteIds, Database, Partition, PartitionValues, Place
from acidsql.metastore.compactions import PlaceName
from acidsql.metastore.partition_changes import ChangeKind
from acidsql.metastore.process_identity import now
from acidsql.metastore.sqlite import (
    commit_rows,
    compaction_rows,
    dropped_partition_rows,
    partition_change_rows,
    written_rows,
)
from acidsql.metastore.sqlite.catalog_connection import CatalogConnection
from acidsql.metastore.sqlite.locations import Locations
from acidsql.metastore.sqlite.transaction_rows import abort_writers_of_table, count_as_committed
from acidsql.metastore.table_json import table_from_json, table_to_json, view_from_json, view_to_json
from acidsql.metastore.written_files import Leftover


def databases(db: CatalogConnection) -> Sequence[Database]:
    return [_database_of(row, db.locations) for row in db.execute("SELECT * FROM databases ORDER BY name")]


def _database_of(row: sqlite3.Row, locations: Locations) -> Database:
    managed = row["managed_location"]
    return Database(
        row["name"],
        locations.absolute(row["location"]),
        row["comment"],
        json.loads(row["properties"]),
        None if managed is None else locations.absolute(managed),
        row["owner"],
        PrincipalKind(row["owner_kind"]),
    )


def database(db: CatalogConnection, name: str) -> Database:
    _require_database(db, name)
    return _database_of(db.execute("SELECT * FROM databases WHERE name = ?", (name,)).fetchone(), db.locations)


def _require_database(db: sqlite3.Connection, name: str) -> None:
    found = [row["name"] for row in db.execute("SELECT name FROM databases ORDER BY name")]
    if name not in found:
        raise AcidSqlError(Condition.DATABASE_NOT_FOUND, database=name, suggestion=suggestion(name, found))


def create_database(db: CatalogConnection, new: Database) -> None:
    if any(d.name == new.name for d in databases(db)):
        raise AcidSqlError(Condition.DATABASE_ALREADY_EXISTS, database=new.name)
    db.execute(
        "INSERT INTO databases (name, comment, location, properties, managed_location, owner, owner_kind)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (new.name, new.comment, *_changeable(new, db.locations)),
    )


def alter_database(db: CatalogConnection, new: Database) -> None:
    _require_database(db, new.name)
    db.execute(
        "UPDATE databases SET location = ?, properties = ?, managed_location = ?, owner = ?, owner_kind = ?"
        " WHERE name = ?",
        (*_changeable(new, db.locations), new.name),
    )


def _changeable(database: Database, locations: Locations) -> tuple[str | None, ...]:
    """What ALTER DATABASE may change."""
    properties = json.dumps(dict(database.properties))
    managed = database.managed_location
    return (
        locations.stored(database.location),
        properties,
        None if managed is None else locations.stored(managed),
        database.owner,
        database.owner_kind.value,
    )


def drop_database(db: CatalogConnection, name: str) -> None:
    if name == DEFAULT_DATABASE:
        raise AcidSqlError(Condition.CANNOT_DROP_DEFAULT_DATABASE)
    if tables(db, name):
        raise AcidSqlError(Condition.DATABASE_NOT_EMPTY, database=name)
    db.execute("DELETE FROM databases WHERE name = ?", (name,))


def tables(db: sqlite3.Connection, database_name: str) -> Sequence[str]:
    _require_database(db, database_name)
    both = "SELECT name FROM tables WHERE db = :db UNION ALL SELECT name FROM views WHERE db = :db ORDER BY name"
    return [row["name"] for row in db.execute(both, {"db": database_name})]


def views(db: CatalogConnection, database_name: str) -> Sequence[str]:
    _require_database(db, database_name)
    rows = db.execute("SELECT name FROM views WHERE db = ? ORDER BY name", (database_name,))
    return [row["name"] for row in rows]


def table(db: CatalogConnection, database_name: str, name: str) -> Table:
    found = find(db, database_name, name) or _no_table(db, database_name, name)
    if isinstance(found, View):
        raise AcidSqlError(Condition.NOT_A_TABLE, view=found.qualified)
    return found


def find(db: CatalogConnection, database_name: str, name: str) -> Relation | None:
    return find_table(db, database_name, name) or find_view(db, database_name, name)


def find_view(db: CatalogConnection, database_name: str, name: str) -> View | None:
    row = db.execute("SELECT definition FROM views WHERE db = ? AND name = ?", (database_name, name)).fetchone()
    return None if row is None else view_from_json(row["definition"])


def create_view(db: CatalogConnection, new: View) -> None:
    _require_free(db, new)
    db.execute("INSERT INTO views VALUES (?, ?, ?)", (new.database, new.name, view_to_json(new)))


def alter_view(db: CatalogConnection, old: View, new: View) -> None:
    found = find_view(db, old.database, old.name)
    if found is not None and found != old:  # this transaction lost its lock, and another one altered the view
        raise AcidSqlError(Condition.TABLE_CHANGED, table=old.qualified)
    drop_view(db, old)
    create_view(db, new)


def drop_view(db: CatalogConnection, dropped: View) -> None:
    names = (dropped.database, dropped.name)
    if db.execute("DELETE FROM views WHERE db = ? AND name = ?", names).rowcount == 0:
        _no_table(db, *names)


def find_table(db: CatalogConnection, database_name: str, name: str) -> Table | None:
    row = db.execute("SELECT id, definition FROM tables WHERE db = ? AND name = ?", (database_name, name)).fetchone()
    return None if row is None else _table_of(row, db.locations)


def _table_of(row: sqlite3.Row, locations: Locations) -> Table:
    stored = table_from_json(row["definition"])
    properties = locations.of_properties(stored.properties, locations.absolute)
    return replace(stored, location=locations.absolute(stored.location), properties=properties, id=row["id"])


def _to_json(table: Table, locations: Locations) -> str:
    properties = locations.of_properties(table.properties, locations.stored)
    return table_to_json(replace(table, location=locations.stored(table.location), properties=properties))


def table_with_id(db: CatalogConnection, key: int) -> Table:
    return _table_of(db.execute("SELECT id, definition FROM tables WHERE id = ?", (key,)).fetchone(), db.locations)


def table_id(db: sqlite3.Connection, wanted: Table) -> int:
    """The key of the table that has this name now. Raises DATABASE_NOT_FOUND, TABLE_NOT_FOUND."""
    row = db.execute("SELECT id FROM tables WHERE db = ? AND name = ?", (wanted.database, wanted.name)).fetchone()
    return _no_table(db, wanted.database, wanted.name) if row is None else int(row["id"])


def same_table_id(db: sqlite3.Connection, wanted: Table) -> int:
    """The key of a table. Raises TABLE_CHANGED where another table has its name now, and what `table_id` raises."""
    found = table_id(db, wanted)
    if wanted.id not in (None, found):
        raise AcidSqlError(Condition.TABLE_CHANGED, table=wanted.qualified)
    return found


def create_table(
    db: CatalogConnection, new: Table, adopted: AdoptedWriteIds | None, its_partitions: Sequence[Partition]
) -> None:
    _require_free(db, new)
    row = (new.database, new.name, _to_json(new, db.locations))
    db.execute("INSERT INTO tables (db, name, definition) VALUES (?, ?, ?)", row)
    if adopted is not None:
        _adopt(db, new, adopted)
    add_partitions(db, new, its_partitions)


def _adopt(db: CatalogConnection, new: Table, adopted: AdoptedWriteIds) -> None:
    key = table_id(db, new)
    used = max((adopted.high_watermark, *adopted.open, *adopted.aborted))
    db.execute(
        "UPDATE tables SET next_write_id = ?, adopted_high_watermark = ? WHERE id = ?",
        (used + 1, adopted.high_watermark, key),
    )
    if used:
        partition_change_rows.note_unknown(db, key)
    invalid = [(key, w, "open") for w in adopted.open] + [(key, w, "aborted") for w in adopted.aborted - adopted.open]
    db.executemany("INSERT INTO adopted_write_ids VALUES (?, ?, ?)", invalid)
    count_as_committed(db, new, adopted.committed_txns)
    if used:
        commit_rows.note_unrecorded(db, key, now().wall)


def places(db: CatalogConnection) -> Sequence[Place]:
    rows = db.execute("SELECT id, definition FROM tables")
    known = {row["id"]: _table_of(row, db.locations) for row in rows}
    found = [Place(t.location, (t.database, t.name), t.external) for t in known.values()]
    for row in db.execute("SELECT table_id, location FROM partitions"):
        of = known[row["table_id"]]
        location = db.locations.absolute(row["location"])
        if not location.startswith(f"{of.location}/"):
            found.append(Place(location, (of.database, of.name), of.external))
    return found


def drop_table(db: CatalogConnection, database_name: str, name: str) -> None:
    dropped = table(db, database_name, name)
    key = table_id(db, dropped)
    abort_writers_of_table(db, key, f"table {dropped.qualified} was dropped")
    db.execute("DELETE FROM tables WHERE id = ?", (key,))
    compaction_rows.forget_table(db, dropped.database, dropped.name)


def alter_table(db: CatalogConnection, old: Table, new: Table) -> None:
    key = table_id(db, old)
    found = table(db, old.database, old.name)
    if found != old or not found.may_be(old):  # this transaction lost its lock, and another one altered the table
        raise AcidSqlError(Condition.TABLE_CHANGED, table=old.qualified)
    if (old.database, old.name) != (new.database, new.name):
        _require_free(db, new)
        _rename_in_transactions(db, old, new)
    db.execute(
        "UPDATE tables SET db = ?, name = ?, definition = ? WHERE id = ?",
        (new.database, new.name, _to_json(new, db.locations), key),
    )
    if MOVING in old.properties and MOVING not in new.properties:
        dropped_partition_rows.move(db, key, *json.loads(old.properties[MOVING]))
    if old.location != new.location and MOVING not in old.properties:
        db.execute("DELETE FROM written_directories WHERE table_id = ?", (key,))
        if not new.partition_columns:
            partition_change_rows.note(db, key, [()], ChangeKind.DROPPED)
    if _reads_other_rows(old, new):
        db.execute("DELETE FROM statistics WHERE table_id = ?", (key,))


def _reads_other_rows(old: Table, new: Table) -> bool:
    """Whether the number of rows may differ after a change of the definition."""
    return any(
        getattr(old, name) != getattr(new, name)
        for name in ("location", "file_format", "serde", "row_format", "properties")
    )


def _rename_in_transactions(db: CatalogConnection, old: Table, new: Table) -> None:
    """Renames the table in locks and write sets: open transactions must conflict with writers under the new name."""
    names = (new.database, new.name, old.database, old.name)
    db.execute("UPDATE OR REPLACE txn_components SET db = ?, tbl = ? WHERE db = ? AND tbl = ?", names)
    db.execute("UPDATE write_set SET db = ?, tbl = ? WHERE db = ? AND tbl = ?", names)
    db.execute("UPDATE hive_locks SET db = ?, tbl = ? WHERE db = ? AND tbl = ?", names)
    compaction_rows.rename_table(db, names)


def leftovers(db: CatalogConnection) -> Sequence[Leftover]:
    """Without those of tables in which another metastore may have written under the same IDs."""
    rows = db.execute(
        "SELECT txn_id, tables.id, definition, write_id FROM txns JOIN txn_to_write_id ON txn_id = txns.id"
        " JOIN tables ON tables.id = table_id WHERE state = 'aborted' AND NOT cleaned AND foreign_directory IS NULL"
        " ORDER BY txn_id"
    )
    writers = [_leftover(row, WriteId(row["write_id"]), db.locations) for row in rows]
    rows = db.execute(
        "SELECT txn_id, tables.id, definition FROM txns JOIN compaction_txns ON txn_id = txns.id"
        " JOIN tables ON tables.db = compaction_txns.db AND tables.name = tbl"
        " WHERE state = 'aborted' AND NOT cleaned AND foreign_directory IS NULL ORDER BY txn_id"
    )
    return [*writers, *(_leftover(row, None, db.locations) for row in rows)]


def _leftover(row: sqlite3.Row, write_id: WriteId | None, locations: Locations) -> Leftover:
    return Leftover(TxnId(row["txn_id"]), _table_of(row, locations), write_id)


def partitions(db: CatalogConnection, of: Table) -> Sequence[Partition]:
    query = "SELECT part_values, location FROM partitions WHERE table_id = ?"
    rows = db.execute(query, (table_id(db, of),)).fetchall()
    # One call for all of them: a table may have very many partitions.
    values = json.loads(f"[{','.join(text for text, _ in rows)}]")
    absolute = db.locations.absolute
    found = [Partition(tuple(each), absolute(location)) for each, (_, location) in zip(values, rows, strict=True)]
    return sorted(found, key=lambda p: catalog_order(p.values))


def partitions_named(db: CatalogConnection, of: Table, values: Sequence[PartitionValues]) -> Sequence[Partition]:
    query = "SELECT location FROM partitions WHERE table_id = ? AND part_values = ?"
    key = table_id(db, of)
    found = ((each, db.execute(query, (key, _values_key(each))).fetchone()) for each in values)
    return [Partition(each, db.locations.absolute(row["location"])) for each, row in found if row is not None]


def add_partitions(
    db: CatalogConnection, to: Table, added: Sequence[Partition], kind: ChangeKind | None = None
) -> None:
    """`kind` is ADDED or FOUND for partitions that are new to the table. Those of a plain table, whose writes have no
    IDs, may have rows in all versions of the transactional table that it becomes."""
    key = table_id(db, to)
    if kind is not None and to.is_transactional:
        known = {p.values for p in partitions_named(db, to, [p.values for p in added])}
        new = [p.values for p in added if p.values not in known]
        if kind is ChangeKind.ADDED:
            partition_change_rows.note_added(db, key, new)
        else:
            partition_change_rows.note(db, key, new, kind)
    rows = [(key, _values_key(p.values), db.locations.stored(p.location)) for p in added]
    db.executemany("INSERT OR IGNORE INTO partitions VALUES (?, ?, ?)", rows)


def drop_partitions(
    db: CatalogConnection,
    of: Table,
    values: Sequence[tuple[str | None, ...]],
    dropper: TxnId | None = None,
    kept: Collection[PartitionValues] = (),
) -> None:
    """`dropper` is the transaction of the drop, which may have a write ID of the table. The files of the partitions
    `kept` stay, so that no version ends (dropped_partition_rows.py)."""
    gone = [each for each in values if each not in kept]
    partition_change_rows.note(db, table_id(db, of), gone, ChangeKind.DROPPED, dropper)
    _forget_partitions(db, of, values)
    written_rows.forget_partitions(db, table_id(db, of), values)
    for each in values:
        compaction_rows.forget_partition(db, _place(of, each))


def _forget_partitions(db: CatalogConnection, of: Table, values: Sequence[tuple[str | None, ...]]) -> None:
    key = table_id(db, of)
    rows = [(key, _values_key(v)) for v in values]
    db.executemany("DELETE FROM partitions WHERE table_id = ? AND part_values = ?", rows)
    db.executemany("DELETE FROM statistics WHERE table_id = ? AND part_values = ?", rows)


def _place(of: Table, values: tuple[str | None, ...]) -> PlaceName:
    return PlaceName(of.database, of.name, partition_name([c.name for c in of.partition_columns], values))


def replace_partitions(
    db: CatalogConnection, of: Table, replaced: Mapping[PartitionValues, Partition], *, is_move: bool = False
) -> None:
    """Replaces partitions, keyed by their old values. Their files have moved with them where a directory was renamed
    (`is_move`), and else others are read. Raises PARTITION_ALREADY_EXISTS."""
    places = {p.values: p.location for p in partitions_named(db, of, list(replaced))}
    if not is_move:
        elsewhere = [values for values, new in replaced.items() if places.get(values) != new.location]
        written_rows.forget_partitions(db, table_id(db, of), elsewhere)
        renamed = [each for old, new in replaced.items() if old != new.values for each in (old, new.values)]
        partition_change_rows.note(db, table_id(db, of), [*elsewhere, *renamed], ChangeKind.DROPPED)
    _forget_partitions(db, of, list(replaced))
    known = {p.values for p in partitions(db, of)}
    for old, new in replaced.items():
        if new.values in known:
            raise AcidSqlError(Condition.PARTITION_ALREADY_EXISTS, partition=_place(of, new.values).partition)
        _rename_partition_in_transactions(db, _place(of, old), _place(of, new.values))
        if old != new.values:
            written_rows.rename_partition(db, table_id(db, of), old, new.values)
    add_partitions(db, of, list(replaced.values()))


def _rename_partition_in_transactions(db: CatalogConnection, old: PlaceName, new: PlaceName) -> None:
    """Renames the partition in locks, write sets and compactions: open transactions must conflict with writers under
    the new name."""
    at = (new.partition, old.database, old.table, old.partition)
    for name in ("txn_components", "write_set", "hive_locks"):
        db.execute(f"UPDATE OR REPLACE {name} SET part = ? WHERE db = ? AND tbl = ? AND part = ?", at)
    compaction_rows.rename_partition(db, old, new)


def seed_write_ids(db: CatalogConnection, of: Table, committed_up_to: WriteId) -> None:
    commit_rows.note_unrecorded(db, table_id(db, of), now().wall)
    db.execute(
        "UPDATE tables SET next_write_id = max(next_write_id, :hwm + 1),"
        " adopted_high_watermark = max(adopted_high_watermark, :hwm) WHERE id = :table",
        {"hwm": committed_up_to, "table": table_id(db, of)},
    )


def _values_key(values: tuple[str | None, ...]) -> str:
    return json.dumps(values)


def _require_free(db: CatalogConnection, new: Relation) -> None:
    _require_database(db, new.database)
    if find(db, new.database, new.name) is not None:
        raise AcidSqlError(Condition.TABLE_ALREADY_EXISTS, table=new.qualified)


def _no_table(db: sqlite3.Connection, database_name: str, name: str) -> NoReturn:
    known = tables(db, database_name)
    raise AcidSqlError(
        Condition.TABLE_NOT_FOUND, table=f"{database_name}.{name}", suggestion=suggestion(name, list(known))
    )
