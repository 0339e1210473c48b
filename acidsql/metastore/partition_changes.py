"""What a metastore records of partitions that went, or came with their files, for readers of earlier versions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from acidsql.acid.partition_values import PartitionValues
from acidsql.acid.write_ids import TxnId, WriteId


class ChangeKind(Enum):
    """How a partition changed."""

    DROPPED = "dropped"
    """It went, or its files are no longer those that its name had."""
    ADDED = "added"
    """It came empty, or a write made it. No write with an ID up to the change's has rows in it, unless it was dropped
    before."""
    FOUND = "found"
    """It came with the files that lay in its directory."""


@dataclass(frozen=True, slots=True)
class PartitionChange:
    """The last change of one kind of a partition. Versions up to `write_id` are older than the change.

    `values` are empty for a table without partitions, and None for any partition: nobody has recorded the drops up to
    `write_id`.
    """

    values: PartitionValues | None
    kind: ChangeKind
    write_id: WriteId


@dataclass(frozen=True, slots=True)
class DroppedPartition:
    """A partition that was dropped and whose files are kept, because the table retains its history.

    The base `write_id` in its directory hides its rows. `dropped` is the time of the drop in milliseconds since 1970,
    and transactions from the ID `next_txn` on do not know the partition.
    """

    values: PartitionValues
    location: str
    write_id: WriteId
    dropped: int
    next_txn: TxnId
