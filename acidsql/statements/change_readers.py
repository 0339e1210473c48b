"""Readers of changes: `Session.changes(since=..)` goes on where the reader of that name stopped.

A reader's place is a set of writes of the table that it reads (as_of.WriteSet): not all writes up to one, because a
write with a lower write ID may commit later. The place is kept like the offset of a stream (metastore/streams.py),
under an ID of its own, and is committed with the transaction in which the changes were read. So what the transaction
writes of them and the place are committed together or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from acidsql.acid.table import Table
from acidsql.acid.write_ids import ValidWriteIdList, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.parser import parse
from acidsql.grammar.quoting import name_sql, sql_string
from acidsql.metastore.client import Metastore
from acidsql.metastore.stream_claims import StreamClaims, StreamUser
from acidsql.metastore.streams import StreamProgress, StreamState, require_stream_id, stream_lost
from acidsql.planner.as_of import WriteSet
from acidsql.planner.change_range import CHANGE_COLUMNS, CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION
from acidsql.statements.plans import StatementPlans
from acidsql.writing.session_transaction import SharedTransaction
from acidsql.writing.statement_transactions import StatementTransactions

READER: Final = "changes:"
"""What the ID of a reader begins with, in front of its name."""
_PLACE: Final = "read"


@dataclass(frozen=True, slots=True)
class ChangeReaders:
    """The readers of changes of a session."""

    metastore: Metastore
    claims: StreamClaims
    transactions: StatementTransactions
    plans: StatementPlans

    def item(self, table: Table, name: str, options: str) -> str:
        """A FROM item: what has come to the table since the place of the reader, or all rows if it has none. `options`
        is the clause WITH of CHANGES.

        In a transaction of START TRANSACTION the place moves with the commit. Elsewhere it stays.
        Raises INVALID_PARAMETER, INVALID_STREAM_TABLE, STREAM_IN_USE, STREAM_LOST, and NOT_YET_SUPPORTED for a second
        reader of a transaction.
        """
        _check(table, name)
        with self.transactions.session_transaction.alone() as shared:
            if shared is not None:
                return self._item_in(shared, table, name, options)
        place = _place(self.metastore.committed(table, READER + name))
        now = self.transactions.now().write_ids(table)
        return _item(table, place, now, options)

    def forget(self, table: Table, name: str) -> None:
        """Forgets the place of a reader. Raises INVALID_STREAM_TABLE, STREAM_IN_USE, IN_TRANSACTION."""
        _check(table, name)
        txn_id = self.transactions.session_transaction.id
        if txn_id is not None:
            operation = f"Forgetting the place of the reader '{name}'"
            raise AcidSqlError(Condition.IN_TRANSACTION, operation=operation, txn_id=f"txnid:{txn_id}")
        if self.metastore.committed(table, READER + name) is None:
            return
        claim = self.claims.hold(table, READER + name, StreamUser("", lambda: True))
        try:
            self.claims.commit(claim, StreamProgress(claim, self.claims.state(claim), None, 0))
        finally:
            self.claims.lose(claim)

    def _item_in(self, shared: SharedTransaction, table: Table, name: str, options: str) -> str:
        """Claims the reader, and lets the commit of the transaction move its place."""
        session_transaction = self.transactions.session_transaction
        other = shared.write.progress
        if other is not None and (other.claim.table.qualified, other.claim.id) != (table.qualified, READER + name):
            feature = "A second reader of changes in one transaction"
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature, hint="Give each a transaction.")
        claim = self.claims.hold(table, READER + name, StreamUser("", lambda: session_transaction.current is shared))
        session_transaction.at_end.append(lambda: self.claims.lose(claim))
        state = self.claims.state(claim)
        plan = self.plans.query_plan(parse(f"SELECT * FROM {_name(table)}"))
        view = self.transactions.view_in(shared, plan)
        if table.qualified in view.own:
            reason = f"the transaction has written to {table.qualified} before it reads its changes"
            raise AcidSqlError(Condition.INVALID_PARAMETER, name="since", reason=reason)
        now, place = view.write_ids(table), _place(state)
        if place is not None and not _follows(now, place):
            raise stream_lost(claim, f"its place {place} was committed after the snapshot of the transaction")
        if locks := self.metastore.stream_locks(claim):
            self.transactions.transactions.lock(shared.write.id, locks)
        shared.write.progress = StreamProgress(claim, state, {_PLACE: str(_writes(now))}, 0)
        return _item(table, place, now, options)


def _check(table: Table, name: str) -> None:
    if not isinstance(name, str):
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="since", reason=f"{name!r} is not a text")
    require_stream_id(name)
    if table.temporary or not table.is_transactional:
        reason = "it is a temporary table" if table.temporary else "it is not transactional"
        hint = "The place of a reader is remembered for longer than a session, and is a set of write IDs."
        raise AcidSqlError(Condition.INVALID_STREAM_TABLE, table=table.qualified, reason=reason, hint=hint)
    taken = next((column for column in table.column_names if column in CHANGE_COLUMNS), None)
    if taken is not None:
        reason = f"{table.qualified} has a column {taken}, which is the name of a column of changes"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="name", reason=reason)


def _place(state: StreamState | None) -> WriteSet | None:
    """The place of a reader by what is committed of it; None for one that has none. Raises INVALID_PARAMETER."""
    if state is None or state.offset is None:
        return None
    text = state.offset.get(_PLACE) if isinstance(state.offset, Mapping) else None
    place = WriteSet.of_text(text) if isinstance(text, str) else None
    if place is None:
        reason = f"the stream '{state.id}' of {state.database}.{state.table} is no reader of changes"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="since", reason=reason)
    return place


def _writes(now: ValidWriteIdList) -> WriteSet:
    return WriteSet(now.high_watermark, now.open)


def _unread(now: ValidWriteIdList, place: WriteSet) -> bool:
    """Whether a committed write is no part of the place."""
    later = range(place.highest + 1, now.high_watermark + 1)
    return any(now.is_valid(WriteId(i)) for i in (*place.missing, *later))


def _follows(now: ValidWriteIdList, place: WriteSet) -> bool:
    """Whether a snapshot has all writes of a place."""
    return place.highest <= now.high_watermark and all(i > place.highest or i in place.missing for i in now.open)


def _item(table: Table, place: WriteSet | None, now: ValidWriteIdList, options: str) -> str:
    """The changes from a place on up to a snapshot. The first ones are all rows, as insertions of its
    newest write."""
    name, until = _name(table), sql_string(str(_writes(now)))
    if place is not None and _unread(now, place):
        # A write that was aborted has no changes, and its ID may lie below that of a compacted base.
        since = sql_string(str(WriteSet(place.highest, place.missing - now.aborted)))
        return f"{name} CHANGES FROM VERSION {since} EXCLUSIVE TO VERSION {until}{options}"
    newest = next((i for i in range(now.high_watermark, 0, -1) if now.is_valid(WriteId(i))), 0)
    values = {
        CHANGE_TYPE: "'insert'",
        COMMIT_VERSION: f"{newest}L",
        COMMIT_TIMESTAMP: "CAST(NULL AS TIMESTAMP)",
    }
    columns = ", ".join(f"{value} AS {name_sql(column)}" for column, value in values.items())
    nothing = "" if place is None else " WHERE false"
    return f"(SELECT *, {columns} FROM {name} VERSION AS OF {until}{nothing}) AS changes"


def _name(table: Table) -> str:
    return f"{name_sql(table.database)}.{name_sql(table.name)}"
