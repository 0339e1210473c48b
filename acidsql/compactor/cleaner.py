"""The cleaner: removes what a compaction has made obsolete, when nobody can read it any more.

Who was opened after a compaction committed reads its directories. So once all transactions have ended that were open
at the commit, what a reader of that moment would not need may go, up to the highest write ID that was merged, and
nothing of which anything else is said. A SHARED_READ lock keeps the table from being dropped and made anew meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from acidsql.acid.write_ids import TxnId, ValidTxnList
from acidsql.compactor.compactor_settings import cleaning_delay
from acidsql.compactor.places import Place, as_of, find_place
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.client import LockComponent, LockType, Metastore, Operation, Patience
from acidsql.metastore.compactions import Compaction, CompactionKeeper
from acidsql.metastore.transactions import OpenTransaction, Transactions
from acidsql.spark.engine import Engine

_PAUSE: Final = 60.0
"""Seconds until a cleaning that failed is tried again."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What was removed: directories and original files, or why it was not."""

    compaction: Compaction
    removed: tuple[str, ...] = ()
    error: str = ""


class Cleaner:
    """Cleans up behind compactions. Several may run at once."""

    def __init__(
        self, engine: Engine, metastore: Metastore, keeper: CompactionKeeper, settings: Mapping[str, str]
    ) -> None:
        self._engine = engine
        self._metastore = metastore
        self._keeper = keeper
        self._settings = settings
        self._transactions = Transactions(metastore, lambda: Patience(retries=0))

    def run(self) -> list[Cleaned]:
        """Cleans up all that is ready. A failure is in the answer, and tried again later."""
        ready = self._keeper.ready_for_cleaning(cleaning_delay(self._settings))
        return [cleaned for compaction in ready if (cleaned := self._clean(compaction)) is not None]

    def _clean(self, compaction: Compaction) -> Cleaned | None:
        """None where somebody else has the table to himself."""
        request = compaction.request
        place = find_place(self._metastore, self._engine, request.database, request.table, request.partition)
        lock = LockComponent(request.database, request.table, LockType.SHARED_READ, Operation.SELECT, request.partition)
        try:
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
            if error.condition == Condition.NOT_ENOUGH_HISTORY.name:  # a later compaction was cleaned up before
                return ()
            raise
        for name in snapshot.obsolete:
            txn.require_open()  # else the directory may be that of another table of this name
            place.files.delete(f"{place.directory}/{name}")
        return snapshot.obsolete
