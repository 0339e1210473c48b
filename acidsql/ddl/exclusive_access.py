"""A table or a database for oneself: what DDL does while no transaction reads or writes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId
from acidsql.metastore.client import LockComponent, LockType, Operation
from acidsql.metastore.transactions import Transactions
from acidsql.planner.lock_requests import database_lock


@dataclass(frozen=True, slots=True)
class Held:
    """A table under an EXCLUSIVE lock, as it is now that the lock is held, and the transaction that holds it.
    `require_open` raises TRANSACTION_ABORTED where it does not hold it any more."""

    table: Table
    txn: TxnId
    require_open: Callable[[], None]


@contextmanager
def exclusively(transactions: Transactions, table: Table, *also: LockComponent) -> Iterator[Held]:
    """Waits for the readers and writers of the table and keeps others away, as Hive's DDL does (DDL_EXCLUSIVE). `also`
    is locked with it.

    The transaction commits at the end, and with it the write ID that was taken in it, if one was.
    Raises LOCK_TIMEOUT, TABLE_NOT_FOUND.
    """
    lock = LockComponent(table.database, table.name, LockType.EXCLUSIVE, Operation.NO_TXN)
    with transactions.run(lambda: (lock, *also)) as txn:
        yield Held(transactions.metastore.table(table.database, table.name), txn.id, txn.require_open)


@contextmanager
def exclusively_database(transactions: Transactions, name: str) -> Iterator[Callable[[], None]]:
    """Waits for all that read, write or create tables of the database, and keeps others away: DROP DATABASE. Gives what
    raises TRANSACTION_ABORTED where others are kept away no more.

    Raises LOCK_TIMEOUT.
    """
    with transactions.run(lambda: (LockComponent(name, None, LockType.EXCLUSIVE, Operation.NO_TXN),)) as txn:
        yield txn.require_open


@contextmanager
def keeping_database(transactions: Transactions, name: str) -> Iterator[None]:
    """The database is not dropped meanwhile, as with Hive's CREATE TABLE (DDL_SHARED). Raises LOCK_TIMEOUT."""
    with transactions.run(lambda: (database_lock(name),)):
        yield
