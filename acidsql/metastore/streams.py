"""Streams: clients that write small transactions all the time and commit with each of them the offset up to which they
have read their source.

A stream has an ID that its client chooses, and belongs to one table. Its offset is committed with the transaction that
writes the rows, so that after any crash the offset tells which rows are in the table. One writer at a time has the
claim to a stream (Hive's streaming API leaves this to its clients; HIVE-20701 commits a key with a transaction).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeAlias

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.lock_components import LockComponent

Offset: TypeAlias = "bool | int | float | str | Sequence[Offset] | Mapping[str, Offset] | None"
"""A value that JSON can hold."""


@dataclass(frozen=True, slots=True)
class StreamState:
    """What is committed of a stream. `commits` is 0 and `offset` None before the first commit.

    `commits` and `rows` count from the first use of the ID. `txn` is the transaction of the last commit, or None. The
    times are milliseconds since 1970, or 0. `writer` describes the live writer (`user@host, process PID`), or is
    empty.
    """

    database: str
    table: str
    id: str
    offset: Offset = None
    commits: int = 0
    rows: int = 0
    txn: TxnId | None = None
    first_commit: int = 0
    last_commit: int = 0
    writer: str = ""


@dataclass(frozen=True, slots=True)
class StreamClaim:
    """The claim of one writer to a stream. `token` is different for each claim. `state` is what was committed when the
    claim was made."""

    table: Table
    id: str
    token: str
    state: StreamState


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """What a transaction commits for a stream beside its rows. `before` is the state that it follows, which must still
    be the committed one; `offset` and the number of `rows` are those of this transaction."""

    claim: StreamClaim
    before: StreamState
    offset: Offset
    rows: int

    def obstacle(self, txn: TxnId | None, commits: int) -> str:
        """Why the progress does not follow what is committed, by the transaction and the number of the last commit;
        empty if it does."""
        if (txn, commits) == (self.before.txn, self.before.commits):
            return ""
        return f"{commits} commits are in the metastore, and this writer has seen {self.before.commits}"

    def committed(self, txn: TxnId, time: int) -> StreamState:
        """The state of the stream after the commit of `txn`. `time` is milliseconds since 1970."""
        return replace(
            self.before,
            offset=self.offset,
            commits=self.before.commits + 1,
            rows=self.before.rows + self.rows,
            txn=txn,
            first_commit=self.before.first_commit or time,
            last_commit=time,
        )


CLAIM_GONE: Final = "the claim is gone"
"""Why a stream is lost to a writer whose claim the metastore does not have any more."""


def require_stream_id(stream_id: str) -> None:
    """Raises INVALID_PARAMETER for an ID that is empty or no Unicode text."""
    try:
        empty = not stream_id.encode()
    except UnicodeEncodeError as error:
        reason = f"{stream_id!r} has a surrogate, which is half a character"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="id", reason=reason) from error
    if empty:
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="id", reason="it is empty")


def stream_in_use(state: StreamState) -> AcidSqlError:
    hint = "Stop that writer first, or choose another ID."
    return AcidSqlError(
        Condition.STREAM_IN_USE,
        hint=hint,
        stream=state.id,
        table=f"{state.database}.{state.table}",
        writer=state.writer,
    )


def stream_lost(claim: StreamClaim, reason: str) -> AcidSqlError:
    return AcidSqlError(Condition.STREAM_LOST, stream=claim.id, table=claim.table.qualified, reason=reason)


class StreamKeeper(Protocol):
    """The streams of a metastore."""

    def claim_stream(self, table: Table, stream_id: str) -> StreamClaim:
        """Gives the caller the claim to a stream, and makes the stream where it is new.

        The claim of a writer whose process has ended, or that sent no heartbeat for `txn_timeout` seconds, does not
        count; transactions that such a writer has left open are aborted. Raises STREAM_IN_USE, which names the writer.
        """
        ...

    def keep_claim(self, claim: StreamClaim) -> None:
        """Sends a heartbeat for a claim. Raises STREAM_LOST where it is another writer's now."""
        ...

    def release_claim(self, claim: StreamClaim) -> None:
        """Ends a claim. No error where it is gone already."""
        ...

    def stream_locks(self, claim: StreamClaim) -> Sequence[LockComponent]:
        """The locks that a transaction must hold, beside those of its table, to commit progress of the stream."""
        ...

    def stream(self, table: Table, stream_id: str) -> StreamState | None:
        """What is committed of a stream, or None for an ID that no one has claimed yet."""
        ...

    def committed(self, table: Table, stream_id: str) -> StreamState | None:
        """The same without the writer. It is cheaper where claims are locks of a metastore."""
        ...

    def streams(self) -> Sequence[StreamState]:
        """All streams, by table and ID."""
        ...
