"""Results of statements: rows of a query, counts of DML, rows of text, or nothing but the fact that it is done.

`Result` is a closed union. All its members have `operation`, `columns`, `counts`, `txn_id`, `write_ids`, `seconds`,
`rows()`, `frame()` and `close()`; a member has as fields only what its statements give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from acidsql.arrow.scan_batches import ScanBatches
    from acidsql.planner.stored_values.misfits import Misfit
    from acidsql.show.show import Answer

COUNT_COLUMNS: Final = ("num_affected_rows", "num_updated_rows", "num_deleted_rows", "num_inserted_rows")


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A column of a result: its name and its Spark type (`simpleString`)."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of rows that a DML statement changed. An updated row counts once.

    `nulled` is the number of values that became NULL because they do not fit their columns, which happens only without
    `strict`. `CountsResult.nulled` has them by column.
    """

    affected: int
    updated: int
    deleted: int
    inserted: int
    nulled: int = 0

    def __repr__(self) -> str:
        shown = f"affected={self.affected}, updated={self.updated}, deleted={self.deleted}, inserted={self.inserted}"
        return f"Counts({shown}{f', nulled={self.nulled}' if self.nulled else ''})"

    def as_row(self) -> tuple[int, int, int, int]:
        return (self.affected, self.updated, self.deleted, self.inserted)


class HasSpark(Protocol):
    """What makes DataFrames of results: a session, which starts Spark when it is asked."""

    @property
    def spark(self) -> SparkSession: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Common:
    """The fields that every result has."""

    seconds: float = 0.0
    """Wall-clock time of the statement; of a query, the time of its planning."""
    spark_of: HasSpark | None = field(default=None, repr=False, compare=False)
    """The session that ran the statement."""

    def close(self) -> None:
        """Ends the transaction of a query whose rows nobody will read any more. Other results hold nothing open."""

    def _spark(self) -> SparkSession:
        assert self.spark_of is not None
        return self.spark_of.spark


@dataclass(frozen=True, slots=True, kw_only=True)
class _NoTransaction(_Common):
    """A result of a statement that commits nothing."""

    @property
    def txn_id(self) -> None:
        return None

    @property
    def write_ids(self) -> Mapping[str, int]:
        return {}

    @property
    def counts(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class QueryResult(_NoTransaction):
    """The rows of a query, lazily: Spark computes them when they are read."""

    columns: tuple[ResultColumn, ...]
    query: DataFrame = field(repr=False)
    """The rows as a frame of the user's Spark session."""
    fetched: DataFrame = field(repr=False)
    """The same rows as a frame that no setting of the user's session changes; `rows` reads this one."""
    release: Callable[[], None] = field(repr=False)
    """Ends the transaction that the query reads in."""
    text: str = field(repr=False)
    """The statement, for errors of the query."""
    operation: str = "SELECT"

    def close(self) -> None:
        """Ends the transaction now, and with it the query's locks, not when the frame is forgotten."""
        self.release()

    def rows(self, limit: int | None = None) -> Iterator[tuple[object, ...]]:
        """The rows as Python values, at most `limit`; runs the query. Raises AcidSqlError."""
        from acidsql.spark.failures import fetch

        return fetch(self.fetched, self.text, limit)

    def rows_with_instants(self) -> Iterator[tuple[object, ...]]:
        """The rows as `rows` gives them, but with each point in time as a datetime in the time zone UTC."""
        from acidsql.spark.failures import fetch_with_instants

        return fetch_with_instants(self.fetched, self.text, None)

    def frame(self) -> DataFrame:
        return self.query


@dataclass(frozen=True, slots=True)
class ScanResult(_NoTransaction):
    """The rows of a query that is nothing but a scan, read without Spark while they are fetched."""

    columns: tuple[ResultColumn, ...]
    batches: ScanBatches = field(repr=False)
    operation: str = "SELECT"

    def close(self) -> None:
        """Ends the transaction that the query reads in."""
        self.batches.close()

    def rows(self, limit: int | None = None) -> Iterator[tuple[object, ...]]:
        """The rows as Python values, at most `limit`. They can be read once. Raises AcidSqlError."""
        from acidsql.arrow.python_values import python_rows

        return islice(python_rows(self.batches, self.batches.kinds), limit)

    def frame(self) -> DataFrame:
        """The rows that were not read yet, all at once, as a frame of Spark."""
        from acidsql.spark.frames.caller_frames import to_frame

        return to_frame(self.batches.reader().read_all(), "rows", self._spark())


@dataclass(frozen=True, slots=True)
class RowsResult(_NoTransaction):
    """Rows of text: the answer of SHOW, DESCRIBE, EXPLAIN, SET, COMPACT and ABORT."""

    operation: str
    columns: tuple[ResultColumn, ...]
    answer: Sequence[tuple[str | None, ...]] = field(repr=False)
    is_text: bool = False
    """Whether the rows are the lines of one text, such as a plan or a CREATE TABLE statement."""
    note: str = ""
    """A note for the user about a statement that succeeded, or an empty text."""

    def rows(self, limit: int | None = None) -> Iterator[tuple[object, ...]]:
        """The rows, at most `limit`."""
        return islice(iter(self.answer), limit)

    def frame(self) -> DataFrame:
        from acidsql.spark.frames.caller_frames import frame_of_texts

        return frame_of_texts([column.name for column in self.columns], self.answer, self._spark())


@dataclass(frozen=True, slots=True, kw_only=True)
class _NoRows(_Common):
    """A result of a statement that gives no rows."""

    @property
    def columns(self) -> None:
        return None

    def rows(self, limit: int | None = None) -> Iterator[tuple[object, ...]]:
        """No rows."""
        return iter(())


@dataclass(frozen=True, slots=True)
class CountsResult(_NoRows):
    """The counts of a DML statement, and the transaction that it committed or runs in.

    `write_ids` are by qualified table name.
    """

    operation: str
    counts: Counts
    txn_id: int | None = None
    write_ids: Mapping[str, int] = field(default_factory=dict)
    misfits: tuple[Misfit, ...] = ()
    """The values that did not fit their columns, so that something else was stored, as Hive stores it: how many of each
    column, what became of them, and one of them. An array, map or struct counts if a value inside of it does not
    fit."""

    @property
    def nulled(self) -> Mapping[str, int]:
        """How many values became NULL because they do not fit, by column."""
        from acidsql.planner.stored_values.misfits import nulled

        return nulled(self.misfits)

    @property
    def note(self) -> str:
        """A note about values that do not fit their columns, or an empty text."""
        if not self.misfits:
            return ""
        from acidsql.planner.stored_values.misfits import note_of

        return note_of(self.misfits)

    def frame(self) -> DataFrame:
        """One row of counts."""
        from acidsql.spark.frames.caller_frames import frame_of_counts

        return frame_of_counts(COUNT_COLUMNS, self.counts.as_row(), self._spark())


@dataclass(frozen=True, slots=True)
class Done(_NoRows):
    """A statement that gives neither rows nor counts: DDL, SET key=value, USE, and the statements of transactions."""

    operation: str
    txn_id: int | None = None
    write_ids: Mapping[str, int] = field(default_factory=dict)
    note: str = ""
    """A note for the user about a statement that succeeded, or an empty text."""

    @property
    def counts(self) -> None:
        return None

    def frame(self) -> DataFrame:
        """A frame without rows."""
        from acidsql.spark.frames.caller_frames import frame_of_texts

        return frame_of_texts(["result"], (), self._spark())


Result: TypeAlias = QueryResult | ScanResult | CountsResult | RowsResult | Done


@dataclass(frozen=True, slots=True)
class Summary:
    """What a session remembers of its last statement (`Session.last_result`): everything but the rows."""

    operation: str
    txn_id: int | None
    write_ids: Mapping[str, int]
    counts: Counts | None
    seconds: float
    note: str = ""

    @classmethod
    def of(cls, result: Result) -> Summary:
        note = result.note if isinstance(result, Done | CountsResult | RowsResult) else ""
        return cls(result.operation, result.txn_id, result.write_ids, result.counts, result.seconds, note)


def rows_result(operation: str, answer: Answer, *, is_text: bool = False) -> RowsResult:
    """The result of a statement whose answer is rows of text."""
    columns = tuple(ResultColumn(name, "string") for name in answer.columns)
    return RowsResult(operation, columns, answer.rows, is_text)
