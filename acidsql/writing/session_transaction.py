"""START TRANSACTION .. COMMIT | ROLLBACK: the transaction that the statements of a session share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeGuard

from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError, Condition
from acidsql.interrupts import holding
from acidsql.metastore.transactions import Transactions
from acidsql.snapshot.read_transactions import Reader, ReadTransactions
from acidsql.writing.write_transaction import WriteTransaction


@dataclass(frozen=True, slots=True)
class SharedTransaction:
    """A transaction that is under way.

    `guard` is a read transaction that was opened before it, and stays open as long as a frame of it exists, so that no
    cleaner removes files that the frame reads.
    """

    write: WriteTransaction
    guard: Reader


class SessionTransaction:
    """The transaction that is under way in a session, if there is one."""

    def __init__(self, transactions: Transactions, readers: ReadTransactions) -> None:
        self._transactions = transactions
        self._readers = readers
        self.current: SharedTransaction | None = None
        self.autocommit = True
        """Whether each statement commits by itself, unless START TRANSACTION has begun a transaction."""
        self.at_end: list[Callable[[], None]] = []
        """What is called when the transaction has ended, in one way or the other."""
        self._lock = threading.RLock()

    @contextmanager
    def alone(self) -> Iterator[SharedTransaction | None]:
        """The transaction that is under way, or None. Inside, no other thread runs a statement in it or ends it,
        because each statement numbers on from the one before it.

        Raises NO_SUCH_TRANSACTION if another thread has just ended it: alone, the statement would commit by itself.
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
        """The ID of the transaction that is under way."""
        return None if self.current is None else self.current.write.id

    @property
    def lost(self) -> AcidSqlError | None:
        """The error that a heartbeat got for the transaction that is under way, if it is gone."""
        return None if self.current is None else self.current.write.opened.heartbeat.lost

    def outlives(self, error: BaseException) -> TypeGuard[AcidSqlError]:
        """Whether the transaction goes on after a statement that was refused: a syntax error, an unknown name or
        another error of its text (SQLSTATE class 42), or IN_TRANSACTION. Takes back what the statement has begun."""
        if self.current is None or not isinstance(error, AcidSqlError):
            return False
        if not (error.sqlstate.startswith("42") or is_in_transaction(error)):
            return False
        with self._lock:
            return self.current.write.forget_unfinished()

    def begin(self, committing: Callable[[WriteTransaction], None] | None, on_lost: Callable[[], None] | None) -> TxnId:
        """Begins a transaction. Its first statement fixes the snapshot. Raises IN_TRANSACTION."""
        with self._lock:
            if self.current is not None:  # another thread was faster
                txn_id = f"txnid:{self.id}"
                raise AcidSqlError(Condition.IN_TRANSACTION, operation="START TRANSACTION", txn_id=txn_id)
            try:
                with holding():  # an interrupt here would leave a transaction open that nobody ends
                    guard = self._readers.open((), is_guard=True)
                    try:
                        opened = self._transactions.open(on_lost=on_lost)
                    except BaseException:
                        self._readers.end(guard)
                        raise
                    write = WriteTransaction(opened, self._transactions.metastore, committing=committing)
                    self.current = SharedTransaction(write, guard)
            except KeyboardInterrupt:
                if self.current is not None:
                    self._abort(self._end("ROLLBACK"))
                raise
            return write.id

    def commit(self) -> TxnId:
        """Commits. Raises NO_TRANSACTION and the errors of `OpenTransaction.commit`, after which it is rolled back."""
        with self._lock:
            shared = self._end("COMMIT")
            try:
                shared.write.opened.commit()
            except BaseException as error:
                self._transactions.abort(shared.write.opened, after=error)
                raise
            finally:
                self._readers.end_guard(shared.guard)
                self._call_at_end()
            return shared.write.id

    def rollback(self) -> TxnId:
        """Rolls back. Raises NO_TRANSACTION."""
        with self._lock, holding():
            shared = self._end("ROLLBACK")
            self._abort(shared)
        return shared.write.id

    def _abort(self, shared: SharedTransaction) -> None:
        try:
            self._transactions.abort(shared.write.opened)
        finally:
            self._readers.end_guard(shared.guard)
            self._call_at_end()

    def _call_at_end(self) -> None:
        waiting, self.at_end = self.at_end, []
        for call in waiting:
            call()

    def _end(self, operation: str) -> SharedTransaction:
        if self.current is None:
            raise AcidSqlError(Condition.NO_TRANSACTION, operation=operation)
        shared, self.current = self.current, None
        return shared


def is_in_transaction(error: BaseException) -> bool:
    """Whether the statement was refused because it cannot be part of a transaction."""
    return isinstance(error, AcidSqlError) and error.condition == Condition.IN_TRANSACTION.name
