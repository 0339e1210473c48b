"""CHANGES FROM .. TO: the versions of a table whose changes a query reads, as the statement names them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import HiveType, Primitive
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.planner.as_of import AsOf, invalid, place_of, write_id_of

CHANGE_TYPE: Final = "_change_type"
COMMIT_VERSION: Final = "_commit_version"
COMMIT_TIMESTAMP: Final = "_commit_timestamp"
CHANGE_COLUMNS: Final[dict[str, HiveType]] = {
    CHANGE_TYPE: Primitive("string"),
    COMMIT_VERSION: Primitive("bigint"),
    COMMIT_TIMESTAMP: Primitive("timestamp"),
}
"""The columns of changes behind those of the table, with their types."""
INSERT: Final = "insert"
DELETE: Final = "delete"
PREIMAGE: Final = "update_preimage"
POSTIMAGE: Final = "update_postimage"


@dataclass(frozen=True, slots=True)
class ChangeRange:
    """The first and the last version whose changes are read. The last one is the newest if it is None."""

    first: int
    last: int | None = None
    assumes_no_drops: bool = False
    """As in AsOf."""
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"CHANGES FROM VERSION {self.first}" + ("" if self.last is None else f" TO VERSION {self.last}")

    @property
    def before(self) -> AsOf:
        """The version to which the changes apply."""
        return AsOf(self.first - 1, self.assumes_no_drops, self.span)

    def refused(self, reason: str) -> AcidSqlError:
        """INVALID_PARAMETER for a range that cannot be read."""
        return invalid(reason, self.span)


def change_range(node: exp.Version, source: str, *, assumes_no_drops: bool) -> ChangeRange:
    """What a node of the tree names. Raises INVALID_PARAMETER, and NOT_YET_SUPPORTED for times."""
    span = place_of(node, source)
    bounds = node.expression.expressions
    if any(bound.name != "VERSION" for bound in bounds):
        hint = "CHANGES FROM VERSION .. TO VERSION .. reads the changes of a range of write IDs."
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=span, feature="CHANGES FROM TIMESTAMP", hint=hint)
    first, *others = (write_id_of(bound.expression, span) for bound in bounds)
    last = others[0] if others else None
    if first < 1:
        raise invalid("version 0 has no changes: the first write of a table has the write ID 1", span)
    if last is not None and first > last:
        raise invalid(f"the first version {first} is higher than the last one, {last}", span)
    return ChangeRange(first, last, assumes_no_drops, span)
