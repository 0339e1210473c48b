"""What a statement gave: rows or counts, and the transaction that it ran in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COUNT_COLUMNS = ("num_affected_rows", "num_updated_rows", "num_deleted_rows", "num_inserted_rows")


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A column of rows: its name and Spark's name of its type (`simpleString`)."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows that a DML statement touched; an updated row counts once."""

    affected: int
    updated: int
    deleted: int
    inserted: int

    def as_row(self) -> tuple[int, int, int, int]:
        return (self.affected, self.updated, self.deleted, self.inserted)


@dataclass(frozen=True)
class Result:
    """One statement's outcome.

    `columns` is None where the statement gives no rows (DDL, DML); `seconds` is wall-clock time, for a query that of
    planning it. `write_ids` are by qualified table name.
    """

    operation: str
    columns: tuple[ResultColumn, ...] | None = None
    counts: Counts | None = None
    txn_id: int | None = None
    write_ids: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    answer: Sequence[tuple[object, ...]] | None = field(default=None, repr=False)
    """The rows of SHOW and its like; a query's are in `query`."""
    query: DataFrame | None = field(default=None, repr=False)
    fetched: DataFrame | None = field(default=None, repr=False)
    """The same rows, which no setting of the user's session changes: `rows` fetches them."""
    text: str = field(default="", repr=False)
    """The statement."""
    make_frame: Callable[[Result], DataFrame] | None = field(default=None, repr=False)

    release: Callable[[], None] | None = field(default=None, repr=False)
    """Ends the transaction that a query reads in."""

    def close(self) -> None:
        """Nobody will read the rows any more: a query's locks go now, not when its frame is forgotten."""
        if self.release is not None:
            self.release()

    def rows(self, limit: int | None = None) -> Iterator[tuple[object, ...]]:
        """The rows as Python values, at most `limit`; a query runs now. Raises AcidSqlError."""
        if self.fetched is not None:
            from acidsql.spark.failures import fetch

            return fetch(self.fetched, self.text, limit)
        return islice(iter(self.answer or ()), limit)

    def frame(self) -> DataFrame:
        """The rows as a Spark DataFrame; of a DML statement its counts, of DDL no rows."""
        if self.query is not None:
            return self.query
        assert self.make_frame is not None
        return self.make_frame(self)
