"""The housekeeper: removes what dead processes left, and old history (AcidHouseKeeperService)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from acidsql.acid.write_ids import TxnId
from acidsql.compactor.compactor_settings import WORKER_TIMEOUT, retention
from acidsql.durations import seconds
from acidsql.metastore.client import Metastore
from acidsql.metastore.compactions import CompactionKeeper
from acidsql.storage.file_systems import FilesOf
from acidsql.storage.leftovers import remove_leftovers


@dataclass(frozen=True, slots=True)
class Kept:
    """The result of a round: the transactions that were aborted, and the compactions that went back to the queue."""

    aborted: Sequence[TxnId]
    revoked: Sequence[int]


def keep_house(files_of: FilesOf, metastore: Metastore, keeper: CompactionKeeper, settings: Mapping[str, str]) -> Kept:
    """Aborts transactions without heartbeat, puts the compactions of dead workers back into the queue, removes the
    files of aborted transactions, and purges old history."""
    aborted = keeper.abort_timed_out()
    revoked = keeper.revoke_dead_workers(seconds(settings[WORKER_TIMEOUT]))
    remove_leftovers(metastore, files_of)
    keeper.forget_aborted()
    keeper.purge_compactions(retention(settings))
    keeper.forget_commits()
    return Kept(aborted, revoked)
