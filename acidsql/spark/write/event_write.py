"""The write of one table: what every write strategy is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from acidsql.planner.plan import WritePlan
from acidsql.snapshot.scan_binding import BoundScan
from acidsql.writing.publishing import WriteTarget


@dataclass(frozen=True, slots=True)
class EventWrite:
    """The events of a statement, as a frame of its storage session, and the table that they are written to."""

    events: DataFrame
    plan: WritePlan
    target: WriteTarget
    bound: Sequence[BoundScan]
    """The scans of the target."""
    size: int
    """Bytes that the statement reads."""

    @property
    def spark(self) -> SparkSession:
        """The statement's storage session."""
        return self.events.sparkSession

    @property
    def buckets(self) -> frozenset[int]:
        """The numbers of the target's files."""
        return frozenset[int]().union(*(b.buckets for b in self.bound))

    @property
    def delete_files(self) -> int:
        """How many files delete events may go to."""
        return sum(len(part.buckets) for b in self.bound for part in b.parts)
