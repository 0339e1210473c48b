"""The claims to streams that a session holds between the batches of a streaming query.

A claim is held for a query. It ends with the session or the process, and some seconds after its query has ended, or
after nobody holds the session any more. Until then a query that is started again goes on under the same claim.

Nothing here is done by a finalizer: the garbage collector runs it in any thread, also inside a transaction of the
metastore.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.client import Metastore
from acidsql.metastore.heartbeat import interval_of
from acidsql.metastore.streams import StreamClaim, StreamProgress, StreamState
from acidsql.metastore.transactions import Transactions

_LOOK_SECONDS: Final = 5.0
"""How often a held claim looks whether its query still runs."""

_Key: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class StreamUser:
    """What a claim is held for: a streaming query by its ID, which is empty for calls outside of a query."""

    query: str
    is_running: Callable[[], bool]


class HeldClaim:
    """A claim that a daemon thread keeps alive until it is let go."""

    def __init__(
        self, metastore: Metastore, claim: StreamClaim, user: StreamUser, has_owner: Callable[[], bool]
    ) -> None:
        """`has_owner` tells whether the session still exists."""
        self.claim: Final = claim
        self.user = user
        self._has_owner = has_owner
        self._metastore = metastore
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"claim to stream {claim.id}", daemon=True)
        self._thread.start()

    def is_taken_over(self, user: StreamUser) -> bool:
        """Gives the claim to another user, unless it has ended. Raises STREAM_IN_USE while another query runs."""
        with self._lock:
            if self._ended.is_set():
                return False
            if user.query != self.user.query and self.user.query and self.user.is_running():
                raise AcidSqlError(
                    Condition.STREAM_IN_USE,
                    hint="Stop that query first, or choose another ID.",
                    stream=self.claim.id,
                    table=self.claim.table.qualified,
                    writer=f"the streaming query {self.user.query} of this process",
                )
            self.user = user
            return True

    def release(self) -> None:
        """Ends the claim. Ending it twice is no error, and neither is a metastore out of reach: without heartbeats the
        claim ends by itself."""
        with self._lock:
            if not self._ended.is_set():
                self._ended.set()
                with suppress(AcidSqlError):
                    self._metastore.release_claim(self.claim)

    def _run(self) -> None:
        interval = interval_of(self._metastore)
        beat = time.monotonic()
        while not self._ended.wait(min(interval, _LOOK_SECONDS)):
            with self._lock:
                if not (self.user.is_running() and self._has_owner()):
                    self.release()
            if not self._ended.is_set() and time.monotonic() - beat >= interval:
                beat = time.monotonic()
                self._keep()

    def _keep(self) -> None:
        """After an error other than STREAM_LOST, such as a lost connection, the next heartbeat tries again."""
        try:
            self._metastore.keep_claim(self.claim)
        except AcidSqlError as error:
            if error.condition == Condition.STREAM_LOST.name:
                self._ended.set()


class StreamClaims:
    """The claims that a session holds, and the offsets that it commits without rows."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._metastore = transactions.metastore
        self._lock = threading.Lock()
        self._held: dict[_Key, HeldClaim] = {}
        self._process = os.getpid()
        _OPEN.add(self)

    def hold(self, table: Table, stream_id: str, user: StreamUser) -> StreamClaim:
        """The claim to a stream, which the session may hold already. Raises STREAM_IN_USE."""
        key = (table.database, table.name, stream_id)
        with self._lock:
            held = self._held.get(key)
            same = held is not None and held.claim.table == table and held.claim.table.may_be(table)
            if held is not None and not same:  # altered, or another table of the same name
                held.release()
            if held is None or not held.is_taken_over(user):
                claim = self._metastore.claim_stream(table, stream_id)
                held = HeldClaim(self._metastore, claim, user, _exists(self))
                self._held[key] = held
            return held.claim

    def state(self, claim: StreamClaim) -> StreamState:
        """What is committed of a stream now."""
        return self._metastore.committed(claim.table, claim.id) or claim.state

    def commit(self, claim: StreamClaim, progress: StreamProgress) -> None:
        """Commits progress that has no rows, in a transaction of its own. Raises STREAM_LOST."""
        with self._transactions.run(lambda: self._metastore.stream_locks(claim)) as txn:
            txn.committing = lambda: self._metastore.commit(txn.id, progress=progress)

    def lose(self, claim: StreamClaim) -> None:
        """Lets go of a claim that is another writer's now, so that the next batch asks for it again."""
        with self._lock:
            for key, held in list(self._held.items()):
                if held.claim.token == claim.token:
                    held.release()
                    del self._held[key]

    def release(self) -> None:
        """Ends all claims."""
        _OPEN.discard(self)
        if os.getpid() == self._process:  # a forked process does not hold them
            for held in self._held.values():
                held.release()


def _exists(claims: StreamClaims) -> Callable[[], bool]:
    """A function that tells whether somebody still holds `claims`, and does not hold them itself."""
    found = weakref.ref(claims)
    return lambda: found() is not None


_OPEN: Final[weakref.WeakSet[StreamClaims]] = weakref.WeakSet()


@atexit.register
def _release_all() -> None:
    for claims in list(_OPEN):
        claims.release()
