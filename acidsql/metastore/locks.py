"""The protocol of locks, and the values that its methods take and return."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId
from acidsql.metastore.lock_components import LockComponent, Operation


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a statement waits for its locks, as in Hive's DbLockManager.

    There are `retries` pauses (hive.lock.numretries). The first lasts 100 ms, and each is twice as long as the one
    before, up to `longest_pause` seconds (hive.lock.sleep.between.retries).
    """

    retries: int = 105
    longest_pause: float = 6.0

    def pauses(self) -> Iterator[float]:
        """The pauses in seconds."""
        pause = 0.1
        for _ in range(self.retries):
            yield min(pause, self.longest_pause)
            pause *= 2

    @property
    def seconds(self) -> float:
        """The sum of the pauses: about 10 minutes with the defaults."""
        return sum(self.pauses())


DEFAULT_PATIENCE = Patience()


@dataclass(frozen=True, slots=True)
class Lock:
    """A component that an open transaction has locked or, if `waiting`, waits for (ShowLocksResponseElement).

    All components of one lock() call have the same `lock_id`; a later call has a higher one. `number` counts the
    components of a call. `txn` is 0 for a lock that belongs to no transaction. `blocked_by` is the lock_id and number
    of the lock that this one waits for, if the metastore tells. `last_heartbeat` and `acquired` are milliseconds since
    1970, or 0. `user` and `host` are those of the transaction. `component.dynamic_partition_write` is always false.
    """

    lock_id: int
    number: int
    txn: TxnId
    component: LockComponent
    waiting: bool
    user: str
    host: str
    last_heartbeat: int = 0
    acquired: int = 0
    blocked_by: tuple[int, int] | None = None
    agent: str = ""


class LockKeeper(Protocol):
    """The locks of transactions, with Hive's rules (lock_rules.py)."""

    def lock(self, txn: TxnId, components: Sequence[LockComponent], *, patience: Patience = DEFAULT_PATIENCE) -> bool:
        """Locks what `txn` reads and writes until it ends. The UPDATE and DELETE components are its write set.

        Either all `components` are locked or none. lock_rules.py holds Hive's rules of which lock waits for which. A
        database overlaps its tables, a table overlaps its partitions, and `p=a` overlaps `p=a/q=b`.

        Requests are granted in the order of their arrival: an EXCLUSIVE that waits delays later INSERTs. A request of
        a transaction that holds locks already goes ahead of the queue. The locks of a process that has ended, and of a
        transaction without heartbeat, end with their transaction. The call keeps `txn` alive while it waits, and a
        KeyboardInterrupt withdraws the request.

        After the call, take write IDs and the snapshot, and read the table's definition again. Then every earlier
        writer that was excluded has committed and is visible, or was aborted, and every later one gets a higher
        write ID.

        Returns whether `txn` can commit on a snapshot taken now. It cannot where the metastore counts commits since
        the opening of `txn` as conflicts although they came before its locks; Hive's Driver then opens another
        transaction.

        Raises LOCK_TIMEOUT with the resource and its holder when `patience` is over; without retries it does not wait.
        `txn` then stays open and keeps its earlier locks. Raises DEADLOCK where transactions wait for each other and
        `txn` is the youngest of them; `txn` is then aborted. Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED.
        """
        ...

    def release_locks(self, txn: TxnId) -> None:
        """Releases the locks of a read-only transaction. It stays open: cleaners keep the files that it reads."""
        ...

    def locks(self) -> Sequence[Lock]:
        """All locks of open transactions, acquired and waiting, in the order of their requests."""
        ...

    def add_dynamic_partitions(self, txn: TxnId, table: Table, partitions: Sequence[str], operation: Operation) -> None:
        """Narrows the write set of a dynamic-partition write to the partitions (`p=a/q=b`) that it touched.

        They replace the components of `operation` on the table that have `dynamic_partition_write` and no partition.
        Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED.
        """
        ...
