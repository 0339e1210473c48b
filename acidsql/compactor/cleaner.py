"""The cleaner: removes what a compaction has made obsolete, after its last reader has ended.

A transaction that is opened after the commit of a compaction reads the compacted directories. When all transactions
that were open at the commit have ended, the cleaner removes what a reader of that moment does not need, up to the
highest write ID that was merged, and nothing else. A SHARED_READ lock keeps the table from being dropped and created
again meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from acidsql.acid.write_ids import TxnId, ValidTxnList
from acidsql.compactor.compactor_settings import cleaning_delay
from acidsql.compactor.places import Place, as_of, find_place
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.client import Metastore
from acidsql.metastore.compactions import Compaction, CompactionKeeper
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.locks import Patience
from acidsql.metastore.transactions import OpenTransaction, Transactions
from acidsql.storage.file_systems import FilesOf

_PAUSE: Final = 60.0
"""Seconds until the cleaner retries a cleaning that failed."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The directories and original files that the cleaner removed, or the error."""

    compaction: Compaction
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
        return [cleaned for compaction in ready if (cleaned := self._clean(compaction)) is not None]

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
        now = self._metastore.valid_txns()
        mark = TxnId(compaction.next_txn - 1)
        then = ValidTxnList(mark, aborted=frozenset(t for t in now.aborted if t <= mark))
        try:
            snapshot = as_of(self._metastore, place, then, compaction.highest_write_id)
        except AcidSqlError as error:
            if (
                error.condition == Condition.NOT_ENOUGH_HISTORY.name
            ):  # the cleaner has already cleaned up after a later compaction
                return ()
            raise
        for name in snapshot.obsolete:
            txn.require_open()  # without it the directory may belong to a new table of this name
            place.files.delete(f"{place.directory}/{name}")
        return snapshot.obsolete
