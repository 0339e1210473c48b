"""Plans of queries and DML statements, as frozen values. A plan has statement IDs, but no transactions, write IDs or
snapshots, so EXPLAIN can print it without opening a transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeAlias

from sqlglot import exp

from acidsql.acid.table import Column, Relation, Table, View
from acidsql.acid.write_ids import StatementId
from acidsql.errors import Span
from acidsql.grammar.statements import TableName
from acidsql.metastore.lock_components import LockComponent
from acidsql.planner.as_of import AsOf
from acidsql.planner.change_range import ChangeRange
from acidsql.planner.simple_scan import SimpleScan
from acidsql.planner.source_rows import SourceRows

ROWS: Final = ":rows"
"""The view that an events query reads: the rows that a statement found, with the new values beside the old ones."""
KEYS: Final = ":keys"
"""The view of MERGE's source rows, with only the expressions that ON compares with the target's columns
(merge/narrowing.py)."""
BRANCH: Final = ":branch"
"""Column of an event: the index of its Branch."""
ROW_ID: Final = ":row_id"
"""Column of an event: the row__id of the old row; NULL for a new row."""


PLACE: Final = ":place"
"""Column of an event of a partitioned table: the number of the old row's partition among those that the target's scan
reads; NULL if the row goes to the partition that its partition columns name."""


DRIVER_BYTES: Final = "acidsql.driver.write.max.bytes"
"""Setting: the driver itself writes the rows of a statement that reads at most this many bytes."""


class EventKind(Enum):
    """The directory in which an event becomes a row."""

    INSERT = "delta"
    DELETE = "delete_delta"
    CHECK = "check"
    """An event that is never written. It counts a clause's action on a matched row, for MERGE's cardinality check."""


class Effect(Enum):
    """The count to which the events of a branch add (`num_updated_rows` ..). HALF is the delete half of an update,
    which adds to none."""

    UPDATED = "updated"
    DELETED = "deleted"
    INSERTED = "inserted"
    HALF = "half"


@dataclass(frozen=True, slots=True)
class Branch:
    """One of the directories that a statement writes in each partition that it changes."""

    statement_id: StatementId
    kind: EventKind
    effect: Effect
    clause: str
    by_columns: bool = False
    """Whether the event goes to the partition that its partition columns name, instead of its old row's partition."""


@dataclass(frozen=True, slots=True)
class Scan:
    """One reading of a table, as the view `view` of the plan's SQL.

    The view has the table's columns. `row_id`, `file_name`, `is_deleted` and `place` are the names of its columns for
    row__id, for INPUT__FILE__NAME, for ROW__IS__DELETED and for the number of the row's partition; None if the
    statement does not need them.
    """

    view: str
    table: Table
    row_id: str | None = None
    file_name: str | None = None
    is_deleted: str | None = None
    place: str | None = None
    is_target: bool = False
    partition_filter: tuple[exp.Expr, ...] = ()
    """The query's conditions on partition columns (partition_pruning.py)."""
    row_filter: tuple[exp.Expr, ...] = ()
    """The query's conditions on the other columns. The scan may skip rows for which they are not true."""
    with_deleted: bool = False
    """Whether the scan also gives the rows that were deleted and are still in the files. Their row__id has the write ID
    of the delete, as in Hive."""
    counted: bool = False
    """Whether the query needs only the number of rows."""
    as_of: AsOf | None = None
    """The version of the table that is read; None for the latest one."""
    changes: ChangeRange | None = None
    """The versions whose changes are read in place of rows. The view then has CHANGE_COLUMNS behind the columns of the
    table, and the conditions are those on the changed rows."""

    @property
    def gives_live_rows(self) -> bool:
        """Whether the rows of the view are the live rows of the table, and no others."""
        return not self.with_deleted and self.changes is None

    @property
    def version(self) -> AsOf | ChangeRange | None:
        """What the statement says behind the name of the table."""
        return self.as_of if self.changes is None else self.changes


@dataclass(frozen=True, slots=True)
class FrameScan:
    """A DataFrame that the caller passes to the statement, as the view `view`."""

    view: str
    frame: str


@dataclass(frozen=True, slots=True)
class StoredValue:
    """A column of the rows query, and the column of the table that stores it."""

    name: str
    column: Column
    span: Span | None = field(default=None, compare=False)
    condition: str | None = None
    """SQL that is true for the rows whose value is stored; None if all are."""


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """A query: Spark SQL over the views of its scans."""

    sql: str
    scans: tuple[Scan, ...]
    frames: tuple[FrameScan, ...]
    locks: tuple[LockComponent, ...]
    views: tuple[View, ...] = ()
    """The views of the catalog whose definitions are part of `sql`."""
    simple: SimpleScan | None = None
    """The query, if it is nothing but a scan: it can be answered without Spark."""


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
    whole: bool = False
    """Whether the write also empties the partitions that get no rows, so that it replaces the whole table."""


WriteMode: TypeAlias = Append | Create | Overwrite


@dataclass(frozen=True, slots=True)
class Narrowing:
    """A narrower read of MERGE's target for a source that is small compared with it: only the rows that may match.

    `rows` is the query for these rows of the view `view`, the target's scan. It reads the view KEYS, whose query over
    the scans is `keys`."""

    view: str
    keys: str
    rows: str


@dataclass(frozen=True, slots=True)
class KeyQuery:
    """A query over the other scans for values that columns of the target have in every row that the statement needs:
    the target's scan can leave out partitions and files without them (key_conditions.py).

    `columns` are the names of the query's columns, by those of the target's columns."""

    sql: str
    columns: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FrameRows:
    """A frame of the call whose columns are the rows of an INSERT: `columns` in this order, or all if it is None."""

    frame: str
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ArrowInsert:
    """The rows of an INSERT that nothing has to compute (dml/arrow_insert.py): a tree for each of `columns` in each
    row, or the columns of a frame. `constants` are the trees of the table's other columns, by name."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[exp.Expr, ...], ...] | FrameRows
    constants: Mapping[str, exp.Expr]


@dataclass(frozen=True, slots=True)
class ArrowChange:
    """An UPDATE or DELETE that reads its target only (dml/arrow_change.py): the target's name in the query, the bound
    condition, and the trees of SET by column, of which a DELETE has none."""

    alias: str
    condition: exp.Expr
    new_values: Mapping[str, exp.Expr]


@dataclass(frozen=True, slots=True)
class ArrowClause:
    """A WHEN clause of an ArrowMerge: the columns of the source's query that it writes, by the names of the target's
    columns, and the numbers of its branches. Columns that an UPDATE does not name keep their old values."""

    values: Mapping[str, str]
    insert_branch: int | None
    delete_branch: int | None


@dataclass(frozen=True, slots=True)
class ArrowMerge:
    """A MERGE whose clauses depend on its source alone (merge/arrow_merge.py): the query of the source, the columns of
    this query that are compared with columns of the target, by the names of these, and the clauses by number. `rows`
    describes the rows of this query if they need no computation."""

    source: QueryPlan
    keys: Mapping[str, str]
    clauses: tuple[ArrowClause, ...]
    rows: SourceRows | None


@dataclass(frozen=True, slots=True)
class Evolution:
    """WITH SCHEMA EVOLUTION: the target as the catalog has it, the target as the statement needs it, and the names of
    the columns of its source (schema_evolution.py)."""

    before: Table
    after: Table
    source: tuple[str, ...]

    @property
    def added(self) -> tuple[Column, ...]:
        return self.after.columns[len(self.before.columns) :]

    @property
    def widened(self) -> tuple[tuple[Column, Column], ...]:
        """The columns whose types change, each before and after."""
        pairs = zip(self.before.columns, self.after.columns, strict=False)
        return tuple((old, new) for old, new in pairs if old != new)


def changing(evolution: Evolution | None) -> Evolution | None:
    """The evolution, if it changes the definition of the target."""
    return None if evolution is None or evolution.before == evolution.after else evolution


@dataclass(frozen=True, slots=True)
class Condensed:
    """The events of a statement with one row for each row that it found, for a reader that can unfold them.

    `events` is like WritePlan.events, with the first event of each row. `implied` has the branches of its other events,
    by the branch of the first one: they name the same row ID and the same partition, and have no row of their own.
    """

    events: str
    implied: Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class WritePlan:
    """A DML statement, as one query: `events` over the view ROWS, which is `rows` over the scans.

    `events` yields one row per event: BRANCH, ROW_ID, PLACE (of a partitioned table) and all the table's columns in
    order, of the table's types.
    `positional` are the names that the columns of `rows` get by position (INSERT; None elsewhere).
    `cardinality_branch` is the branch whose events must not name a row twice, as an index (merge/cardinality.py).

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
    key_queries: tuple[KeyQuery, ...] = ()
    views: tuple[View, ...] = ()
    """The views of the catalog whose definitions are part of `rows`."""
    source_span: Span | None = field(default=None, compare=False)
    arrow: ArrowInsert | ArrowChange | ArrowMerge | None = field(default=None, repr=False)
    """What the statement does, where it can be read from values instead of SQL: a program without Spark may run it."""
    condensed: Condensed | None = field(default=None, repr=False)
    """The same events in fewer rows; None where a row has one event at most, or events in several partitions."""
    evolution: Evolution | None = None
    """How the commit changes the definition of the target; None if it leaves it as it is."""

    @property
    def known_target(self) -> Table:
        """The target as the catalog has it before the commit."""
        return self.target if self.evolution is None else self.evolution.before

    @property
    def writes(self) -> tuple[WritePlan, ...]:
        """The plan itself. A MultiWritePlan has several."""
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
    """FROM .. INSERT .. INSERT ..: Spark reads `rows` once, as the view SCANNED (multi_insert.py), and each of the
    `writes` reads that view.

    `sources` are the relations of a FROM clause with several: each is a struct column of `rows`, named as the relation.
    `columns` are the names, in lower case, that the branches mention; None if a star may mean any column.
    """

    operation: str
    rows: str
    scans: tuple[Scan, ...]
    frames: tuple[FrameScan, ...]
    writes: tuple[WritePlan, ...]
    locks: tuple[LockComponent, ...]
    sources: tuple[str, ...] = ()
    columns: frozenset[str] | None = None
    views: tuple[View, ...] = ()


Plan: TypeAlias = QueryPlan | WritePlan | MultiWritePlan


@dataclass(frozen=True, slots=True)
class Shortcuts:
    """The optimizations that a plan may use to read less. None changes a result: tests compare plans with and without
    them."""

    partitions: bool = True
    """Skip partitions, and lock single partitions (`Scan.partition_filter`)."""
    rows: bool = True
    """Skip files, stripes and row groups (`Scan.row_filter`)."""
    counts: bool = True
    """Answer COUNT(*) of a whole table from metadata (`Scan.counted`)."""
    keys: bool = True
    """Narrow the target of MERGE to the keys of its source (merge/literal_source.py, merge/narrowing.py), and the
    target of UPDATE and DELETE to the values of a subquery (subquery_keys.py)."""


NO_SHORTCUTS: Final = Shortcuts(partitions=False, rows=False, counts=False, keys=False)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a planner knows besides the statement.

    `tables` maps qualified names (`db.t`) to tables, and `stored_views` maps them to views of the catalog: those that
    the statement names, and those that these views read. `views` are the names of Spark's temporary views. `near` are
    names of other tables, which errors may suggest. `relations` are the columns, with their Hive types, of the
    temporary views and, under `{name}`, of the frames that the statement names. A type is None if Hive does not have
    it.
    """

    database: str
    tables: Mapping[str, Table]
    views: frozenset[str] = frozenset()
    settings: Mapping[str, str] = field(default_factory=dict)
    near: tuple[str, ...] = ()
    shortcuts: Shortcuts = Shortcuts()
    relations: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    stored_views: Mapping[str, View] = field(default_factory=dict)
    zone: str = "UTC"
    """The time zone of the session, by its name in Spark, if the statement reads a table as of a time."""
    has_star_except: bool = True
    """Whether Spark has `* EXCEPT (..)`, which Spark 3.5 lacks."""

    def relation(self, name: TableName) -> Relation | None:
        """The table or view of the catalog that a name of the statement means."""
        qualified = f"{name.database or self.database}.{name.name}"
        return self.tables.get(qualified) or self.stored_views.get(qualified)
