"""What a table has of a Structured Streaming query: the history that is committed with each batch as a stream's offset.

Batches are told apart by their number. A query that starts with a new checkpoint directory gets another query ID from
Spark and numbers its batches from 0 again: a number alone does not tell whether its rows are in the table. Therefore
the history has a digest of all rows up to some batches. It does not depend on the order of rows. A new query may pass
over its first batches if they have the same digests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, TypeAlias

from acidsql.metastore.streams import Offset

Digest: TypeAlias = int
"""The sum of the hashes of rows, modulo 2**64. The digest of two batches is the sum of theirs."""

_MODULUS: Final = 1 << 64
_HEX: Final = 16


class NewCheckpoint(Enum):
    """What becomes of the batches of a query that starts with a new checkpoint directory."""

    VERIFY = "verify"
    """Batches that are committed are passed over if they have the same rows."""
    SKIP = "skip"
    """Batches whose number is committed are passed over unread."""
    WRITE = "write"
    """All batches are written."""


class Action(Enum):
    """What is to be done with a batch."""

    PASS_OVER = "pass over"
    COMPARE = "compare"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class Replay:
    """How far a new query has repeated what is committed: its last batch, and the digest of its rows so far."""

    query: str
    batch: int
    digest: Digest


@dataclass(frozen=True, slots=True)
class BatchHistory:
    """What is committed: the number of the last batch, -1 if there is none, and the ID of its query.

    `digests` has the digest of all rows up to a batch, for the last batch and for the batches 0, 1, 3, 7 and so on, so
    that a new query with other rows is found out early. It is empty if one of the batches was written without a digest.
    `query` is empty where batches were not written by a query.
    """

    batch: int = -1
    query: str = ""
    digests: Mapping[int, Digest] = field(default_factory=dict)
    replay: Replay | None = None

    def action(self, batch: int, query: str, rule: NewCheckpoint) -> Action:
        """What is to be done with a batch of a query. An empty `query` is not compared with the one in the history."""
        if not self._is_new(query) or rule is NewCheckpoint.SKIP:
            return Action.PASS_OVER if batch <= self.batch else Action.WRITE
        if rule is NewCheckpoint.WRITE:
            return Action.WRITE
        has_repeated = self.replay is not None and self.replay.query == query and batch <= self.replay.batch
        return Action.PASS_OVER if has_repeated else Action.COMPARE

    def written(self, batch: int, query: str, rule: NewCheckpoint, digest: Digest | None) -> BatchHistory:
        """The history after a batch is written, whose own digest is `digest`, or None if it was not asked for."""
        if self.batch < 0 or (self._is_new(query) and rule is not NewCheckpoint.SKIP):
            return BatchHistory(batch, query, {} if digest is None else {batch: digest})
        before = self.digests.get(self.batch)
        if before is None or digest is None:
            return BatchHistory(batch, query or self.query, {}, self.replay)
        kept = {number: known for number, known in self.digests.items() if _is_kept(number)}
        total = (before + digest) % _MODULUS
        return BatchHistory(batch, query or self.query, {**kept, batch: total}, self.replay)

    def compared(self, batch: int, query: str, digest: Digest) -> BatchHistory | None:
        """The history after a new query has repeated a batch; None if the rows up to it are not those in the table.
        When it has repeated the last one, the history goes on with this query."""
        before = self.replay.digest if self.replay is not None and self.replay.query == query else 0
        total = (before + digest) % _MODULUS
        if batch == self.batch:
            return replace(self, query=query, replay=None) if self.digests.get(batch) == total else None
        if batch > self.batch or not self.digests or self.digests.get(batch, total) != total:
            return None
        return replace(self, replay=Replay(query, batch, total))

    def _is_new(self, query: str) -> bool:
        return self.batch >= 0 and query not in ("", self.query)

    # -- as the offset of a stream

    def offset(self) -> Offset:
        """The history as JSON can hold it."""
        found: dict[str, Offset] = {"batch": self.batch, "query": self.query}
        found["digests"] = {str(number): _text(digest) for number, digest in self.digests.items()}
        if self.replay is not None:
            of = self.replay
            found["replay"] = {"query": of.query, "batch": of.batch, "digest": _text(of.digest)}
        return found

    @classmethod
    def of_offset(cls, offset: Offset) -> BatchHistory | None:
        """The history that `offset` gave, an empty one for None, and None for what another writer has committed."""
        if offset is None:
            return cls()
        if not isinstance(offset, Mapping):
            return None
        match offset:
            case {"batch": int(batch), "query": str(query), "digests": Mapping() as digests}:
                known = {int(number): _digest(digest) for number, digest in digests.items()}
                return cls(batch, query, known, _replay(offset.get("replay")))
            case _:
                return None


def _is_kept(batch: int) -> bool:
    return (batch + 1).bit_count() == 1


def _text(digest: Digest) -> str:
    return f"{digest:0{_HEX}x}"


def _digest(text: Offset) -> Digest:
    return int(str(text), 16)


def _replay(offset: Offset) -> Replay | None:
    match offset:
        case {"query": str(query), "batch": int(batch), "digest": str(digest)}:
            return Replay(query, batch, _digest(digest))
        case _:
            return None
