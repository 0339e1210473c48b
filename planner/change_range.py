"""CHANGES FROM .. TO: the versions of a table whose changes a query reads, and how, as the statement names them.

The words are those of Spark 4.2 (SPARK-55668): the bounds are INCLUSIVE or EXCLUSIVE, and WITH has options.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import HiveType, Primitive
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.dialect import EXCLUSIVE
from acidsql.planner.as_of import AsOf, Point, WriteSet, invalid, kind_of, place_of, point_of, shown


class ChangeType(StrEnum):
    """The kinds of changes, as the column CHANGE_TYPE has them."""

    INSERT = "insert"
    DELETE = "delete"
    UPDATE_PREIMAGE = "update_preimage"
    UPDATE_POSTIMAGE = "update_postimage"


CHANGE_TYPE: Final = "_change_type"
COMMIT_VERSION: Final = "_commit_version"
COMMIT_TIMESTAMP: Final = "_commit_timestamp"
CHANGE_COLUMNS: Final[dict[str, HiveType]] = {
    CHANGE_TYPE: Primitive("string"),
    COMMIT_VERSION: Primitive("bigint"),
    COMMIT_TIMESTAMP: Primitive("timestamp"),
}
"""The columns of changes behind those of the table, with their types."""
DEDUPLICATION_MODE: Final = "deduplicationMode"
COMPUTE_UPDATES: Final = "computeUpdates"
ROW_ID: Final = "rowId"


class DeduplicationMode(Enum):
    """Which changes a query reads, by Spark's names. No write of a full ACID table copies rows that it leaves as they
    are, so that there are no carry-overs to drop, and the first two are the same."""

    NONE = "none"
    DROP_CARRYOVERS = "dropCarryovers"
    NET_CHANGES = "netChanges"


@dataclass(frozen=True, slots=True)
class ChangeOptions:
    """The options of a query that reads changes. `row_id` are the columns that identify a row of the table for the
    option computeUpdates; without that there are none, and `row__id` identifies a row."""

    mode: DeduplicationMode = DeduplicationMode.DROP_CARRYOVERS
    row_id: tuple[str, ...] = ()

    def __str__(self) -> str:
        mode = {} if self.mode is DeduplicationMode.DROP_CARRYOVERS else {DEDUPLICATION_MODE: self.mode.value}
        updates = {COMPUTE_UPDATES: "true", ROW_ID: ", ".join(self.row_id)} if self.row_id else {}
        return ", ".join(f"'{key}' = '{value}'" for key, value in {**mode, **updates}.items())


@dataclass(frozen=True, slots=True)
class ChangeBound:
    """The first or the last version whose changes are read, or with EXCLUSIVE the one before or behind it."""

    point: Point
    inclusive: bool = True

    def __str__(self) -> str:
        return f"{kind_of(self.point)} {shown(self.point)}{'' if self.inclusive else ' EXCLUSIVE'}"


@dataclass(frozen=True, slots=True)
class ChangeRange:
    """The versions whose changes are read. The last one is the newest if it is None."""

    first: ChangeBound
    last: ChangeBound | None = None
    options: ChangeOptions = field(default_factory=ChangeOptions)
    assumes_no_drops: bool = False
    """As in AsOf."""
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        until = "" if self.last is None else f" TO {self.last}"
        options = str(self.options)
        return f"CHANGES FROM {self.first}{until}{f' WITH ({options})' if options else ''}"

    @property
    def is_net(self) -> bool:
        return self.options.mode is DeduplicationMode.NET_CHANGES

    @property
    def compares_rows(self) -> bool:
        """Whether what is said of a row depends on others, so that a condition must leave out none of them."""
        return bool(self.options.row_id)

    def before(self, version: int) -> AsOf:
        """The version to which the changes apply, by its write ID."""
        return AsOf(version, self.assumes_no_drops, self.span)

    def refused(self, reason: str) -> AcidSqlError:
        """INVALID_PARAMETER for a range that cannot be read."""
        return invalid(reason, self.span)


def change_range(node: exp.Version, source: str, zone: str, *, assumes_no_drops: bool) -> ChangeRange:
    """What a node of the tree names. A time without an offset is one in the zone. Raises INVALID_PARAMETER."""
    span = place_of(node, source)
    parts = node.expression.expressions
    first, *others = (
        ChangeBound(point_of(part, span, zone), part.args["kind"] != EXCLUSIVE)
        for part in parts
        if isinstance(part, exp.Version)
    )
    options = _options({p.this.name: p.args["value"] for p in parts if isinstance(p, exp.Property)}, span)
    last = others[0] if others else None
    _check_order(first, last, span)
    return ChangeRange(first, last, options, assumes_no_drops, span)


def _check_order(first: ChangeBound, last: ChangeBound | None, span: Span | None) -> None:
    start, end = first.point, None if last is None else last.point
    if isinstance(start, WriteSet) and first.inclusive:
        raise invalid(f"the changes behind the writes '{start}' are read by FROM VERSION '{start}' EXCLUSIVE", span)
    if isinstance(end, WriteSet) and last is not None and not last.inclusive:
        raise invalid(f"the writes '{end}' have no version before them: leave EXCLUSIVE out", span)
    if start == 0 and first.inclusive:
        raise invalid("version 0 has no changes: the first write of a table has the write ID 1", span)
    if isinstance(start, int) and isinstance(end, int) and start > end:
        raise invalid(f"the first version {start} is higher than the last one, {end}", span)


def _options(given: dict[str, exp.Expr], span: Span | None) -> ChangeOptions:
    """Names of options may be in upper or lower case, as in Spark."""
    values = {
        name.lower(): value.name if isinstance(value, exp.Literal) else value.sql() for name, value in given.items()
    }
    known = {name.lower(): name for name in (DEDUPLICATION_MODE, COMPUTE_UPDATES, ROW_ID)}
    for name in given:
        if name.lower() not in known:
            raise _option(name, f"it is not one of {', '.join(known.values())}", span)
    mode = values.get(DEDUPLICATION_MODE.lower(), DeduplicationMode.DROP_CARRYOVERS.value)
    modes = {each.value.lower(): each for each in DeduplicationMode}
    if mode.lower() not in modes:
        expected = ", ".join(each.value for each in DeduplicationMode)
        raise _option(DEDUPLICATION_MODE, f"{mode!r} is not one of {expected}", span)
    computes = values.get(COMPUTE_UPDATES.lower(), "false").lower()
    if computes not in ("true", "false"):
        raise _option(COMPUTE_UPDATES, f"{computes!r} is not true or false", span)
    columns = [name.strip().lower() for name in values.get(ROW_ID.lower(), "").split(",")]
    row_id = tuple(dict.fromkeys(filter(None, columns)))
    if (computes == "true") != bool(row_id):
        reason = (
            f"it needs the option {ROW_ID} with the columns that identify a row: an UPDATE gives a row a new row__id"
            if not row_id
            else f"it is for {COMPUTE_UPDATES} = true"
        )
        raise _option(COMPUTE_UPDATES if not row_id else ROW_ID, reason, span)
    return ChangeOptions(modes[mode.lower()], row_id)


def _option(name: str, reason: str, span: Span | None) -> AcidSqlError:
    return AcidSqlError(Condition.INVALID_PARAMETER, span=span, name=name, reason=reason)
