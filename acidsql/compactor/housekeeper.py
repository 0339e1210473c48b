"""The housekeeper: what dead processes have left, and history that nobody needs (AcidHouseKeeperService)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from acidsql.acid.write_ids import TxnId
from acidsql.compactor.compactor_settings import WORKER_TIMEOUT, retention
from acidsql.durations import seconds
from acidsql.metastore.client import Metastore
from acidsql.metastore.compactions import CompactionKeeper
from acidsql.spark.engine import Engine
from acidsql.storage.leftovers import remove_leftovers


@dataclass(frozen=True, slots=True)
class Kept:
    """What a round of the housekeeper did: transactions that it aborted, compactions that wait again."""

    aborted: Sequence[TxnId]
    revoked: Sequence[int]


def keep_house(engine: Engine, metastore: Metastore, keeper: CompactionKeeper, settings: Mapping[str, str]) -> Kept:
    """Aborts transactions without heartbeat, gives the compactions of dead workers back, removes the files of aborted
    transactions, and forgets what is of no use."""
    aborted = keeper.abort_timed_out()
    revoked = keeper.revoke_dead_workers(seconds(settings[WORKER_TIMEOUT]))
    remove_leftovers(metastore, engine.files)
    keeper.forget_aborted()
    keeper.purge_compactions(retention(settings))
    return Kept(aborted, revoked)
