"""START TRANSACTION .. COMMIT | ROLLBACK: the one transaction of a session that its statements share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError, Condition
from acidsql.interrupts import holding
from acidsql.metastore.transactions import Transactions
from acidsql.spark.readers import Reader, Readers
from acidsql.spark.write.write_transaction import WriteTransaction


@dataclass(frozen=True, slots=True)
class BegunTransaction:
    """`guard` is a read transaction, open since before it, and as long as a frame lives that it gave: no cleaner
    removes what the frame reads."""

    write: WriteTransaction
    guard: Reader


class Begun:
    """Whether a transaction is under way in a session, and which."""

    def __init__(self, transactions: Transactions, readers: Readers) -> None:
        self._transactions = transactions
        self._readers = readers
        self.current: BegunTransaction | None = None
        self._lock = threading.RLock()

    @contextmanager
    def alone(self) -> Iterator[BegunTransaction | None]:
        """The transaction that is under way, in which no other thread runs a statement meanwhile, for each counts on
        from the one before it, and which no other thread ends; or None.

        Raises NO_SUCH_TRANSACTION where another thread has ended it meanwhile: by itself the statement would commit.
        """
        before = self.current
        with self._lock:
            if before is not None and self.current is not before:
                hint = "Another thread has ended it."
                raise AcidSqlError(Condition.NO_SUCH_TRANSACTION, hint=hint, txn_id=f"txnid:{before.write.id}")
            if self.current is not None:
                yield self.current
                return
        yield None

    @property
    def id(self) -> TxnId | None:
        """Of the transaction that START TRANSACTION began, and no COMMIT or ROLLBACK has ended."""
        return None if self.current is None else self.current.write.id

    @property
    def lost(self) -> AcidSqlError | None:
        """Why the transaction that is under way is gone, if a heartbeat has found it so."""
        return None if self.current is None else self.current.write.opened.heartbeat.lost

    def begin(self, committing: Callable[[WriteTransaction], None] | None, on_lost: Callable[[], None] | None) -> TxnId:
        """The snapshot is that of the first statement. Raises IN_TRANSACTION."""
        with self._lock:
            if self.current is not None:  # another thread was faster
                txn_id = f"txnid:{self.id}"
                raise AcidSqlError(Condition.IN_TRANSACTION, operation="START TRANSACTION", txn_id=txn_id)
            guard = self._readers.open((), pinned=True)
            try:
                opened = self._transactions.open(on_lost=on_lost)
            except BaseException:
                self._readers.end(guard)
                raise
            write = WriteTransaction(opened, self._transactions.metastore, committing=committing)
            self.current = BegunTransaction(write, guard)
            return write.id

    def commit(self) -> TxnId:
        """Raises NO_TRANSACTION, and what `OpenTransaction.commit` raises: then it is rolled back."""
        with self._lock:
            begun = self._end("COMMIT")
            try:
                begun.write.opened.commit()
            except BaseException:
                self._transactions.abort(begun.write.opened)
                raise
            finally:
                self._readers.unpin(begun.guard)
            return begun.write.id

    def rollback(self) -> TxnId:
        """Raises NO_TRANSACTION."""
        with self._lock, holding():
            begun = self._end("ROLLBACK")
            try:
                self._transactions.abort(begun.write.opened)
            finally:
                self._readers.unpin(begun.guard)
        return begun.write.id

    def _end(self, operation: str) -> BegunTransaction:
        if self.current is None:
            raise AcidSqlError(Condition.NO_TRANSACTION, operation=operation)
        begun, self.current = self.current, None
        return begun
