"""Plans: what a statement will do, as frozen values. Statement IDs are in them; transactions, write IDs and snapshots
are not, so that EXPLAIN can print a plan and open nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeAlias

from sqlglot import exp

from acidsql.acid.table import Column, Table
from acidsql.acid.write_ids import StatementId
from acidsql.errors import Span
from acidsql.metastore.client import LockComponent

ROWS: Final = ":rows"
"""The view that an events query reads: the rows that a statement found, with its new values beside the old ones."""
KEYS: Final = ":keys"
"""The view of a MERGE's source rows with nothing but what ON compares with the target's columns
(merge_narrowing.py)."""
BRANCH: Final = ":branch"
"""Column of an event: which Branch it belongs to, as an index."""
ROW_ID: Final = ":row_id"
"""Column of an event: row__id of the old row; NULL for a row that is new."""


PLACE: Final = ":place"
"""Column of an event, of partitioned tables only: the number of the old row's partition among those that the target's
scan reads; NULL where the row goes to the partition that its partition columns name."""


DRIVER_BYTES: Final = "acidsql.driver.write.max.bytes"
"""Setting: the bytes that a statement may read for the driver to write what it gives, without Spark's writer."""


class EventKind(Enum):
    """What an event becomes: a row of a delta, or of a delete_delta."""

    INSERT = "delta"
    DELETE = "delete_delta"
    CHECK = "check"
    """Never written: a matched row that some MATCHED clause acts on, for MERGE's cardinality check."""


class Effect(Enum):
    """What a branch counts as in `num_updated_rows` and its like; HALF is the delete half of an update."""

    UPDATED = "updated"
    DELETED = "deleted"
    INSERTED = "inserted"
    HALF = "half"


@dataclass(frozen=True, slots=True)
class Branch:
    """One directory that a statement writes in each partition it touches."""

    statement_id: StatementId
    kind: EventKind
    effect: Effect
    clause: str
    by_columns: bool = False
    """Whether the event's partition is the one that its partition columns name, not its old row's."""


@dataclass(frozen=True, slots=True)
class Scan:
    """One reading of a table, as the view `view` of the plan's SQL.

    The view has the table's columns; `row_id`, `file_name` and `place` name the columns for row__id, for
    INPUT__FILE__NAME and for the number of the row's partition, where the statement asks for them.
    """

    view: str
    table: Table
    row_id: str | None = None
    file_name: str | None = None
    place: str | None = None
    is_target: bool = False
    partition_filter: tuple[exp.Expr, ...] = ()
    """What the query says of the partition columns alone (partition_pruning.py)."""
    row_filter: tuple[exp.Expr, ...] = ()
    """What it says of the other columns alone, in comparisons that no NULL fulfils: files may be read without rows for
    which that is not true."""
    counted: bool = False
    """The query asks how many rows there are, and for no column of them."""


@dataclass(frozen=True, slots=True)
class FrameScan:
    """A frame given with the call, as the view `view`."""

    view: str
    frame: str


@dataclass(frozen=True, slots=True)
class StoredValue:
    """A column of the rows query and the table column that it is stored in."""

    name: str
    column: Column
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """A query: Spark SQL over the views of its scans."""

    sql: str
    scans: tuple[Scan, ...]
    frames: tuple[FrameScan, ...]
    locks: tuple[LockComponent, ...]


class RowSource(Enum):
    """What the rows query of a write reads."""

    TEXT = "the statement's text"
    """INSERT .. VALUES: one writer is enough."""
    TARGET = "the target alone"
    """UPDATE and DELETE without a subquery: the events of a row are known from that row alone."""
    QUERY = "any relations"


@dataclass(frozen=True, slots=True)
class Append:
    """The write adds rows to the table, or changes and deletes rows of it."""


@dataclass(frozen=True, slots=True)
class Create:
    """CREATE TABLE .. AS: the catalog gets the target with the commit."""


@dataclass(frozen=True, slots=True)
class Overwrite:
    """INSERT OVERWRITE: the write replaces the table, or the partition that `WritePlan.static` names even if no row
    goes there. Where `static` leaves columns open, it replaces the partitions that get rows."""

    if_not_exists: bool = False
    """Whether a partition that exists is left as it is. `WritePlan.static` then names every partition column."""


WriteMode: TypeAlias = Append | Create | Overwrite


@dataclass(frozen=True, slots=True)
class Narrowing:
    """How MERGE can do with the target's rows that may match, where the source is small beside the target.

    `rows` are those rows of the view `view`, the target's scan; it reads the view KEYS, which is `keys` over the scans.
    """

    view: str
    keys: str
    rows: str


@dataclass(frozen=True, slots=True)
class WritePlan:
    """A DML statement, as one query: `events` over the view ROWS, which is `rows` over the scans.

    `events` yields one row per event: BRANCH, ROW_ID, PLACE (of a partitioned table) and all the table's columns in
    order, of the table's types.
    `positional` are the names that the columns of `rows` get by position (INSERT; None elsewhere).
    `cardinality_branch` is the branch whose events must not name a row twice, as an index (merge_cardinality.py).

    A plan states facts of the statement. How the events are written is decided by write_strategy.py.
    """

    operation: str
    target: Table
    rows: str
    events: str
    branches: tuple[Branch, ...]
    values: tuple[StoredValue, ...]
    scans: tuple[Scan, ...]
    frames: tuple[FrameScan, ...]
    locks: tuple[LockComponent, ...]
    positional: tuple[str, ...] | None = None
    cardinality_branch: int | None = None
    row_source: RowSource = RowSource.QUERY
    mode: WriteMode = Append()
    static: Mapping[str, str] = field(default_factory=dict)
    """INSERT: the partition columns that the PARTITION clause gives a value, with that value as SQL."""
    partition: tuple[str | None, ...] | None = None
    """The values of `static`, where it has all partition columns and all values are literals: no row goes elsewhere."""
    narrowing: Narrowing | None = None
    source_span: Span | None = field(default=None, compare=False)

    @property
    def writes(self) -> tuple[WritePlan, ...]:
        """Itself alone; a MultiWritePlan has several."""
        return (self,)

    @property
    def overwrite(self) -> Overwrite | None:
        """The mode of an INSERT OVERWRITE, None of other statements."""
        return self.mode if isinstance(self.mode, Overwrite) else None

    @property
    def one_partition(self) -> bool:
        """Whether an INSERT has a value for every partition column, so that all rows go to one partition."""
        return bool(self.static) and len(self.static) == len(self.target.partition_columns)

    @property
    def inserts_only(self) -> bool:
        """Whether the write only adds rows, each of which may lie in any file."""
        return (
            len(self.branches) == 1
            and self.branches[0].kind is EventKind.INSERT
            and not self.target.partition_columns
            and not self.target.bucket_count
        )

    @property
    def moves_rows(self) -> bool:
        """Whether a new row may go to a partition that its partition columns name."""
        return bool(self.target.partition_columns) and any(b.by_columns for b in self.branches)

    @property
    def keeps_places(self) -> bool:
        """Whether an event goes to the partition of its old row."""
        return bool(self.target.partition_columns) and any(not b.by_columns for b in self.branches)


@dataclass(frozen=True, slots=True)
class MultiWritePlan:
    """FROM .. INSERT .. INSERT ..: `rows` over the scans is read once, as the view SCANNED (multi_insert.py), from
    which each of the `writes` reads.

    `sources` are the relations of a FROM clause with more than one: each is a struct column of `rows`, by its name.
    `columns` are the names, in lower case, that the branches mention; None where a star may mean any.
    """

    operation: str
    rows: str
    scans: tuple[Scan, ...]
    frames: tuple[FrameScan, ...]
    writes: tuple[WritePlan, ...]
    locks: tuple[LockComponent, ...]
    sources: tuple[str, ...] = ()
    columns: frozenset[str] | None = None


Plan: TypeAlias = QueryPlan | WritePlan | MultiWritePlan


@dataclass(frozen=True, slots=True)
class Shortcuts:
    """Which ways of not reading what a statement does not need a plan may use. None of them changes an answer: tests
    plan with some of them and without, and compare."""

    partitions: bool = True
    """`Scan.partition_filter`: partitions that are not read, and locks on single partitions."""
    rows: bool = True
    """`Scan.row_filter`: files, stripes and row groups that are not read."""
    counts: bool = True
    """`Scan.counted`: COUNT(*) of a whole table without reading it."""
    keys: bool = True
    """MERGE: the target's rows narrowed to the keys of the source (literal_rows.py, merge_narrowing.py)."""


NO_SHORTCUTS: Final = Shortcuts(partitions=False, rows=False, counts=False, keys=False)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a planner may know of the world.

    `tables` by qualified name (`db.t`); `views` are names that Spark itself resolves (temporary views); `near` are
    names of other tables, for the suggestions of errors.
    """

    database: str
    tables: Mapping[str, Table]
    views: frozenset[str] = frozenset()
    settings: Mapping[str, str] = field(default_factory=dict)
    near: tuple[str, ...] = ()
    shortcuts: Shortcuts = Shortcuts()
