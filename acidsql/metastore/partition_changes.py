"""What a metastore records of partitions that went, or came with their files, for readers of earlier versions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from acidsql.acid.partition_values import PartitionValues
from acidsql.acid.write_ids import WriteId


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
