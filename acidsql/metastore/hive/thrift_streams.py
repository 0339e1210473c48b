"""The streams of a Hive Metastore: the methods of `StreamKeeper` (streams.py), and commits of progress.

The metastore commits an offset with a transaction, but compares nothing. So two locks on the table of a stream keep
writers apart (thrift_claim_locks.py). The claim lets one writer at a time work. It can be lost without notice, so
each transaction of a stream also holds the commit lock: between its comparison and its commit no other one commits.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.commit_history import CommittedWrite
from acidsql.metastore.hive.thrift_claim_locks import ClaimLocks, commit_lock
from acidsql.metastore.hive.thrift_connection import HiveConnections
from acidsql.metastore.hive.thrift_stream_tables import STREAMS, StreamTable, StreamTables, no_key_values
from acidsql.metastore.hive.thrift_transactions import HiveTransactions
from acidsql.metastore.lock_components import LockComponent
from acidsql.metastore.locks import DEFAULT_PATIENCE, Patience
from acidsql.metastore.streams import (
    CLAIM_GONE,
    StreamClaim,
    StreamProgress,
    StreamState,
    require_stream_id,
    stream_in_use,
    stream_lost,
)


@dataclass(frozen=True, slots=True)
class _Held:
    """A claim of this client: its lock, and the stream's table as it was when the claim was made."""

    lock: int
    table: StreamTable


class HiveStreams(HiveTransactions):
    """A claim belongs to the client that has made it."""

    def __init__(self, hive: HiveConnections) -> None:
        super().__init__(hive)
        self._stream_tables = StreamTables(hive)
        self._claims = ClaimLocks(hive, lambda: self.txn_timeout)
        self._claimed: dict[str, _Held] = {}
        """By token."""
        self._sets_parameters = False
        """Whether a commit was seen to set a parameter."""
        self._ready: dict[TxnId, frozenset[LockComponent]] = {}
        """The locks of streams that a transaction holds."""

    def claim_stream(self, table: Table, stream_id: str) -> StreamClaim:
        """The first claim of this client also commits an empty transaction, to see that the metastore sets a parameter
        with it. Raises NOT_YET_SUPPORTED where it does not."""
        require_stream_id(stream_id)
        if self._hive.is_hive_3:
            feature = "A stream on a metastore of Hive 3, whose commits take no offset (HIVE-20701)"
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)
        self._require_parameters()
        found = self._stream_tables.find_or_make(table, stream_id)
        lock = self._claims.acquire(found.name)
        if isinstance(lock, str):
            raise stream_in_use(found.state(lock))
        try:
            # Only then the offset is final: a commit of a process that was killed may still be on its way.
            self.abort_of_ended_processes()
            current = self._stream_tables.again(found)
            if current is None:  # the table was dropped meanwhile
                raise AcidSqlError(Condition.TABLE_CHANGED, table=table.qualified)
            writer = self._claims.writers().get(found.name, "")
        except BaseException:
            self._claims.release(lock)
            raise
        claim = StreamClaim(table, stream_id, uuid.uuid4().hex, current.state(writer))
        self._claimed[claim.token] = _Held(lock, current)
        return claim

    def keep_claim(self, claim: StreamClaim) -> None:
        held = self._claimed.get(claim.token)
        if held is None or not self._claims.keep(held.lock):
            raise stream_lost(claim, CLAIM_GONE)

    def release_claim(self, claim: StreamClaim) -> None:
        held = self._claimed.pop(claim.token, None)
        if held is not None:
            self._claims.release(held.lock)

    def stream_locks(self, claim: StreamClaim) -> Sequence[LockComponent]:
        held = self._claimed.get(claim.token)
        if held is None:
            raise stream_lost(claim, CLAIM_GONE)
        return [commit_lock(held.table.name)]

    def stream(self, table: Table, stream_id: str) -> StreamState | None:
        found = self._stream_tables.find(table, stream_id)
        return None if found is None else found.state(self._claims.writers().get(found.name, ""))

    def committed(self, table: Table, stream_id: str) -> StreamState | None:
        found = self._stream_tables.find(table, stream_id)
        return None if found is None else found.state()

    def streams(self) -> Sequence[StreamState]:
        found = self._stream_tables.all()
        writers = self._claims.writers() if found else {}
        return [one.state(writers.get(one.name, "")) for one in found]

    # -- transactions

    def lock(self, txn: TxnId, components: Sequence[LockComponent], *, patience: Patience = DEFAULT_PATIENCE) -> bool:
        current = super().lock(txn, components, patience=patience)
        locked = frozenset(c for c in components if c.database == STREAMS)
        if locked:
            self._ready[txn] = locked.union(self._ready.get(txn, ()))
        return current

    def _forget(self, txn: TxnId) -> None:
        self._ready.pop(txn, None)
        super()._forget(txn)

    def commit(
        self,
        txn: TxnId,
        *,
        compatible: Collection[TxnId] | None = None,
        progress: StreamProgress | None = None,
        writes: Sequence[CommittedWrite] = (),
    ) -> None:
        """Ignores `writes`: Hive's metastore has no place for them."""
        self.commit_with(txn, compatible, None if progress is None else self._key_value(txn, progress))

    def _key_value(self, txn: TxnId, progress: StreamProgress) -> Any:
        """What the commit sets; None where `txn` has committed before. Raises STREAM_LOST, TRANSACTION_ABORTED."""
        held = self._claimed.get(progress.claim.token)
        reason = self._obstacle(txn, progress, held)
        if held is not None and not reason:
            return held.table.key_value(progress.committed(txn, int(time.time() * 1000)))
        if self._is_open(txn):
            raise stream_lost(progress.claim, reason)
        return None

    def _obstacle(self, txn: TxnId, progress: StreamProgress, held: _Held | None) -> str:
        """Why the transaction cannot commit the progress; empty if it can."""
        if held is None or not self._claims.keep(held.lock):
            return CLAIM_GONE
        if commit_lock(held.table.name) not in self._ready.get(txn, ()):
            return f"transaction {txn} does not hold the locks of the stream"
        current = self._stream_tables.again(held.table)
        if current is None:
            return "its table was dropped"
        stored = current.state()
        return progress.obstacle(stored.txn, stored.commits)

    def _is_open(self, txn: TxnId) -> bool:
        """Raises TRANSACTION_ABORTED."""
        try:
            self.heartbeat(txn)
        except AcidSqlError as error:
            if error.condition != Condition.NO_SUCH_TRANSACTION.name:
                raise
            return False
        return True

    def _require_parameters(self) -> None:
        if self._sets_parameters:
            return
        wanted = self._stream_tables.check_value()
        before = self._stream_tables.checked()
        txn = self.open_txn()
        try:
            self.commit_with(txn, None, wanted)
        except BaseException:
            with suppress(AcidSqlError):  # it has ended
                self.abort(txn)
            raise
        if self._stream_tables.checked() == before:  # a client that checks at the same time may have set another value
            raise no_key_values()
        self._sets_parameters = True
