"""Which engine runs a statement, by its plan and the definition of its table, and why.

The Arrow engine then looks at the values (`acidsql.arrow.executor.ArrowExecutor.prepared`), and
`acidsql.engines.statement_engines.StatementEngines.choice` joins the two answers, which EXPLAIN prints. The rows and
files of the table may still show that Spark has to do it: then nothing is written, and Spark goes on in the same
transaction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias, assert_never

from acidsql.acid.compaction_scope import CompactionType
from acidsql.acid.hive_types import has_instant, is_complex, parse_type
from acidsql.acid.table import Table
from acidsql.arrow.compaction import STREAMED_BYTES
from acidsql.arrow.scan.live_rows import READABLE_FORMATS
from acidsql.arrow.scan_batches import output_type
from acidsql.arrow.write import inserted_columns, merged_rows
from acidsql.planner.conditions.row_predicates import undecided
from acidsql.planner.plan import ArrowChange, ArrowInsert, ArrowMerge, MultiWritePlan, QueryPlan, WritePlan
from acidsql.planner.write_strategy import arrow_strategy
from acidsql.writing.compaction_files import Job, amount
from acidsql.writing.event_files import can_write_files

FEW_ROWS: Final = 4_000_000
"""Rows of a target that the Arrow engine reads in any case."""
_MOST_ROWS: Final = 50_000_000
"""Rows that it reads where Spark would have to be started first."""
_MOST_ROWS_PER_CORE: Final = 64_000_000
"""Rows that it reads where Spark runs on one core. Spark takes 1.5 times as long for 5,000,000 rows on two cores, but
less where there are many."""


SOURCE_BY_SPARK: Final = "its clauses depend on the source alone, whose rows Spark computes"
SOURCE_BY_ARROW: Final = "its clauses depend on the source alone, whose rows this process reads"


NeedsHadoop: TypeAlias = Callable[[str], str | None]
"""Why Hadoop's client has to read and write a location, as a clause; None if this process does."""


class EngineName(Enum):
    """The engines."""

    ARROW = "Arrow"
    SPARK = "Spark"


@dataclass(frozen=True, slots=True)
class Choice:
    """The engine that a statement is given to first, and the reason in words."""

    engine: EngineName
    reason: str

    @property
    def is_arrow(self) -> bool:
        return self.engine is EngineName.ARROW

    def __str__(self) -> str:
        return f"{self.engine.value}: {self.reason}"


def _spark(reason: str) -> Choice:
    return Choice(EngineName.SPARK, reason)


def _arrow(reason: str) -> Choice:
    return Choice(EngineName.ARROW, reason)


def _of_hadoop(location: str, reason: str) -> Choice:
    return _spark(f"Hadoop's client reads and writes {location} because {reason}")


def query_choice(plan: QueryPlan, needs_hadoop: NeedsHadoop) -> Choice:
    """The engine of a query whose rows are wanted as Python values, as in the shell and by DB-API. A DataFrame is
    Spark's. The Arrow engine shows values as Spark does, except instants, which Spark shows in its session's time
    zone."""
    if not plan.scans:
        return _spark("the query reads no table")
    if plan.simple is None:
        return _spark("the query is more than the scan of one table")
    if plan.simple.predicate is not None and undecided(plan.simple.predicate) is not None:
        return _spark("only Spark evaluates its condition")
    (scan,) = plan.scans
    if scan.table.file_format not in READABLE_FORMATS:
        return _spark(f"{scan.table.qualified} has files of the format {scan.table.file_format}")
    if (reason := needs_hadoop(scan.table.location)) is not None:
        return _of_hadoop(scan.table.location, reason)
    if any(has_instant(output_type(scan, output.column)) for output in plan.simple.outputs):
        return _spark("it has instants, which are shown in the time zone of Spark's session")
    return _arrow("the query is the scan of one table; a DataFrame of it is Spark's")


def reads_files(table: Table, needs_hadoop: NeedsHadoop) -> bool:
    """Whether the Arrow engine reads the files of a table."""
    return table.file_format in READABLE_FORMATS and needs_hadoop(table.location) is None


def write_choice(plan: WritePlan | MultiWritePlan, needs_hadoop: NeedsHadoop) -> Choice:
    """The engine of a DML statement, before anybody has looked at its values."""
    if isinstance(plan, MultiWritePlan):
        return _spark("several INSERTs share the rows of a query")
    table = plan.target
    if not table.is_transactional:
        return _spark(f"{table.qualified} is not transactional")
    if plan.arrow is None:
        return _spark("only Spark computes its rows")
    if arrow_strategy(plan) is None or not can_write_files(table):
        return _spark(f"only Spark writes the files of {table.qualified}")
    if (reason := needs_hadoop(table.location)) is not None:
        return _of_hadoop(table.location, reason)
    match plan.arrow:
        case ArrowInsert():
            if plan.overwrite is not None and plan.overwrite.if_not_exists:
                return _spark("IF NOT EXISTS asks whether the partition exists")
            if table.constraints.checks:
                return _spark(f"{table.qualified} has CHECK constraints")
            if not inserted_columns.takes(table):
                return _spark(f"{table.qualified} has partitions or buckets by types that only Spark converts")
            return _arrow("the rows are values of the statement or the call")
        case ArrowChange():
            return _arrow("its condition and its new values are about one table")
        case ArrowMerge():
            if not merged_rows.can_merge(plan, plan.arrow):
                return _spark("only Spark compares or stores columns of these types")
            return _arrow(SOURCE_BY_SPARK if plan.arrow.rows is None else SOURCE_BY_ARROW)
        case _:
            assert_never(plan.arrow)


def compaction_choice(job: Job, most_bytes: int, needs_hadoop: NeedsHadoop) -> Choice:
    """The engine of a compaction. `most_bytes` is the setting DRIVER_BYTES."""
    kinds = [parse_type(c.type) for c in job.table.columns]
    if job.scope.rewrite is not CompactionType.MAJOR or not job.table.is_full_acid:
        return _spark("it is no major compaction of a full ACID table")
    if (reason := needs_hadoop(job.part.directory)) is not None:
        return _of_hadoop(job.part.directory, reason)
    if not can_write_files(job.target) or any(is_complex(kind) or has_instant(kind) for kind in kinds):
        return _spark("only Spark writes columns of these types, or files with these properties")
    if any(key.startswith("spark.") for key in job.settings):
        return _spark("the request has settings of Spark")
    if amount(job).bytes > STREAMED_BYTES * most_bytes:
        return _spark("it has too many bytes for this process")
    return _arrow("it has few bytes")


def may_read(rows: int, cores: int | None) -> bool:
    """Whether the Arrow engine reads so many rows of a target. Where Spark runs, on `cores` cores, its tasks may be
    faster; None if it does not run."""
    if rows <= FEW_ROWS:
        return True
    return rows <= _MOST_ROWS if cores is None else rows * cores <= _MOST_ROWS_PER_CORE
