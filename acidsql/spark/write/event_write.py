"""The write of one table: what every write strategy is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import DataFrame, SparkSession

from acidsql.planner.plan import WritePlan
from acidsql.planner.stored_values.misfits import Misfit
from acidsql.snapshot.scan_binding import BoundScan
from acidsql.spark.catalyst.sessions import adopt
from acidsql.spark.running_spark import StatementSpark
from acidsql.spark.write.misfit_counts import MisfitCounts
from acidsql.writing.publishing import WriteTarget


class Events:
    """The events of a statement, as frames of its storage session.

    `define_rows` defines the view ROWS, and gives what counts the values in it that do not fit. Spark analyzes each of
    the two queries when it is first asked for. A strategy needs one of them.
    """

    def __init__(self, spark: StatementSpark, plan: WritePlan, define_rows: Callable[[], MisfitCounts]) -> None:
        self._spark = spark
        self._plan = plan
        self._define_rows = define_rows
        self._misfits = define_rows()

    def restart(self) -> None:
        """Prepares the queries for another run. The misfits are then those of that run."""
        self._misfits = self._define_rows()
        for query in ("each", "condensed"):
            self.__dict__.pop(query, None)

    def expect_in(self, spark: SparkSession) -> None:
        """Prepares the count of misfits for a run in this session, a copy of the storage session."""
        self._misfits.expect_in(spark)

    def misfits(self) -> tuple[Misfit, ...]:
        """The values that did not fit their columns, once one of the queries has run."""
        return self._misfits.found()

    @cached_property
    def each(self) -> DataFrame:
        """A row for each event."""
        return adopt(self._spark.sql(self._plan.events), self._spark.storage)

    @cached_property
    def condensed(self) -> DataFrame:
        """The condensed events of the plan; a row for each event if it has none."""
        if self._plan.condensed is None:
            return self.each
        return adopt(self._spark.sql(self._plan.condensed.events), self._spark.storage)


class GivenEvents(Events):
    """Events that a frame holds, a row for each."""

    def __init__(self, frame: DataFrame) -> None:
        self.each = self.condensed = frame


@dataclass(frozen=True, slots=True)
class EventWrite:
    """The events of a statement, and the table that they are written to."""

    queries: Events
    plan: WritePlan
    target: WriteTarget
    bound: Sequence[BoundScan]
    """The scans of the target."""
    size: int
    """Bytes that the statement reads."""

    @property
    def events(self) -> DataFrame:
        """A row for each event."""
        return self.queries.each

    @property
    def spark(self) -> SparkSession:
        """The statement's storage session."""
        return self.queries.condensed.sparkSession

    @property
    def buckets(self) -> frozenset[int]:
        """The numbers of the target's files."""
        return frozenset[int]().union(*(b.buckets for b in self.bound))

    @property
    def delete_files(self) -> int:
        """How many files delete events may go to."""
        return sum(len(part.buckets) for b in self.bound for part in b.parts)
