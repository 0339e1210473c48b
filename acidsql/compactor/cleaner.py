"""The cleaner: removes what a compaction has made obsolete, after its last reader has ended.

A transaction that is opened after the commit of a compaction reads the compacted directories. When all transactions
that were open at the commit have ended, the cleaner removes what a reader of that moment does not need, up to the
highest write ID that was merged, and nothing else. A SHARED_READ lock keeps the table from being dropped and created
again meanwhile.

A table with a retention (history_retention.py) keeps these files until the compaction is older than that. Before it
removes the first of them, the cleaner removes the list by which readers of earlier versions know that all of them are
there (replaced_files.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from acidsql.acid.directories import Base, parse_directory
from acidsql.acid.layout import base_name
from acidsql.acid.snapshot_selection import Snapshot
from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, ValidTxnList, WriteId
from acidsql.compactor.compactor_settings import cleaning_delay
from acidsql.compactor.places import Place, as_of, find_place
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.client import Metastore
from acidsql.metastore.compactions import Compaction, CompactionKeeper
from acidsql.metastore.history_retention import held_until
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.locks import Patience
from acidsql.metastore.partition_changes import DroppedPartition
from acidsql.metastore.process_identity import now
from acidsql.metastore.transactions import OpenTransaction, Transactions
from acidsql.snapshot.replaced_files import REPLACED_FILE
from acidsql.storage.file_systems import FilesOf

_PAUSE: Final = 60.0
"""Seconds until the cleaner retries a cleaning that failed."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The directories and original files that the cleaner removed behind `source`, or the error. The source is a
    compaction, or a partition that was dropped."""

    source: Compaction | str
    removed: tuple[str, ...] = ()
    error: str = ""


class Cleaner:
    """Cleans up after compactions. Several cleaners may run at once."""

    def __init__(
        self, files_of: FilesOf, metastore: Metastore, keeper: CompactionKeeper, settings: Mapping[str, str]
    ) -> None:
        self._files_of = files_of
        self._metastore = metastore
        self._keeper = keeper
        self._settings = settings
        self._transactions = Transactions(metastore, lambda: Patience(retries=0))

    def run(self) -> list[Cleaned]:
        """Cleans up after every compaction that is ready. A failure is part of the result, and is retried later."""
        ready = self._keeper.ready_for_cleaning(cleaning_delay(self._settings))
        due = (compaction for compaction in ready if not self._is_held(compaction))
        cleaned = [cleaned for compaction in due if (cleaned := self._clean(compaction)) is not None]
        return [*cleaned, *self._clean_drops()]

    def _clean_drops(self) -> list[Cleaned]:
        """Removes the files of dropped partitions that were kept long enough."""
        due = [(t, d) for t, d in self._keeper.unread_drops() if held_until(t, d.dropped) <= now().wall]
        return [cleaned for table, dropped in due if (cleaned := self._clean_drop(table, dropped)) is not None]

    def _clean_drop(self, table: Table, dropped: DroppedPartition) -> Cleaned | None:
        """Removes the files of one dropped partition; None if another transaction locks the table exclusively."""
        place = Place(table, dropped.values, "", self._files_of(dropped.location))
        place = replace(place, directory=place.files.resolve(dropped.location))
        lock = LockComponent(table.database, table.name, LockType.SHARED_READ, Operation.SELECT, None)
        try:
            with self._transactions.run(lambda: (lock,)) as txn:
                found = self._metastore.find_table(table.database, table.name)
                if found is None or not found.may_be(table):
                    return None
                self._keeper.expire_drop(table, dropped)
                removed = self._remove_dropped(place, dropped, txn)
                self._keeper.forget_drop(table, dropped)
        except (AcidSqlError, OSError) as error:
            if isinstance(error, AcidSqlError) and error.condition == Condition.LOCK_TIMEOUT.name:
                return None
            return Cleaned(place.text, error=str(error))
        return Cleaned(place.text, removed)

    def _remove_dropped(self, place: Place, dropped: DroppedPartition, txn: OpenTransaction) -> tuple[str, ...]:
        """Removes what the base of the drop hides. The base goes last, and it stays where the partition was made again
        in the directory, even if it was dropped again since: it is one of its bases then."""
        names = place.files.directories_named(place.directory, "")
        base = base_name(dropped.write_id)
        removed: tuple[str, ...] = ()
        if base in names:
            snapshot = self._snapshot_then(place, dropped.next_txn, dropped.write_id)
            remove_obsolete(place, snapshot, txn)
            removed = snapshot.obsolete
        used = {p.location for p in self._metastore.partitions(place.table)}
        used |= {d.location for d in self._metastore.dropped_partitions(place.table)}
        if place.directory in map(place.files.resolve, used):
            return removed
        ended = [name for name in names if _is_up_to(name, dropped.write_id)]
        for name in sorted(ended, key=lambda name: name == base):
            txn.require_open()
            place.files.delete(f"{place.directory}/{name}")
        place.files.delete_empty(place.directory)
        return tuple(dict.fromkeys((*removed, *ended)))

    def _is_held(self, compaction: Compaction) -> bool:
        """Whether the table's retention keeps what the compaction has replaced."""
        table = self._metastore.find_table(compaction.request.database, compaction.request.table)
        return table is not None and held_until(table, compaction.committed) > now().wall

    def _clean(self, compaction: Compaction) -> Cleaned | None:
        """Cleans up after one compaction; None if another transaction locks the table exclusively."""
        request = compaction.request
        lock = LockComponent(request.database, request.table, LockType.SHARED_READ, Operation.SELECT, request.partition)
        try:
            place = find_place(self._metastore, self._files_of, request.database, request.table, request.partition)
            if place is None:
                removed: tuple[str, ...] = ()
            else:
                with self._transactions.run(lambda: (lock,)) as txn:
                    removed = self._remove_obsolete(compaction, place, txn)
        except (AcidSqlError, OSError) as error:
            if isinstance(error, AcidSqlError) and error.condition == Condition.LOCK_TIMEOUT.name:
                return None
            self._keeper.cleaning_failed(compaction, str(error), _PAUSE)
            return Cleaned(compaction, error=str(error))
        self._keeper.compaction_cleaned(compaction)
        return Cleaned(compaction, removed)

    def _remove_obsolete(self, compaction: Compaction, place: Place, txn: OpenTransaction) -> tuple[str, ...]:
        assert compaction.next_txn is not None
        assert compaction.highest_write_id is not None
        try:
            snapshot = self._snapshot_then(place, compaction.next_txn, compaction.highest_write_id)
        except AcidSqlError as error:
            if (
                error.condition == Condition.NOT_ENOUGH_HISTORY.name
            ):  # the cleaner has already cleaned up after a later compaction
                return ()
            raise
        remove_obsolete(place, snapshot, txn)
        return snapshot.obsolete

    def _snapshot_then(self, place: Place, next_txn: TxnId, highest: WriteId) -> Snapshot:
        """What a reader of the moment read in which `next_txn` was the next free transaction ID, up to a write ID."""
        txns, mark = self._metastore.valid_txns(), TxnId(next_txn - 1)
        then = ValidTxnList(mark, aborted=frozenset(t for t in txns.aborted if t <= mark))
        return as_of(self._metastore, place, then, highest)


def _is_up_to(name: str, write_id: WriteId) -> bool:
    """Whether a directory has no other writes than those up to a write ID."""
    found = parse_directory(name)
    if found is None:
        return False
    return (found.write_id if isinstance(found, Base) else found.max_write_id) <= write_id


def remove_obsolete(place: Place, snapshot: Snapshot, txn: OpenTransaction) -> None:
    """Removes what the directories of a snapshot replace, and first their lists of it: from then on no version needs
    it, even if not all of it is removed."""
    bases = (snapshot.base,) if snapshot.base is not None else ()
    lists = (f"{directory.name}/{REPLACED_FILE}" for directory in (*bases, *snapshot.deltas))
    for name in (*(lists if snapshot.obsolete else ()), *snapshot.obsolete):
        txn.require_open()  # without it the directory may belong to a new table of this name
        place.files.delete(f"{place.directory}/{name}")
