"""`Session.changes` as text: the FROM item that names a table and the changes that are read of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from acidsql.arrow.queries import named_table, write_id_argument
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.quoting import sql_string
from acidsql.planner.change_range import COMPUTE_UPDATES, DEDUPLICATION_MODE, ROW_ID


@dataclass(frozen=True, slots=True)
class ChangeOptionArguments:
    """The options of a call, by the names of Spark (change_range.py)."""

    deduplication_mode: str | None = None
    compute_updates: bool = False
    row_id: str | Sequence[str] = ()

    def sql(self) -> str:
        """The clause WITH; empty without options."""
        columns = (self.row_id,) if isinstance(self.row_id, str) else tuple(self.row_id)
        given: Mapping[str, str | None] = {
            DEDUPLICATION_MODE: self.deduplication_mode,
            COMPUTE_UPDATES: "true" if self.compute_updates else None,
            ROW_ID: ", ".join(map(str, columns)) or None,
        }
        options = [
            f"{sql_string(name)} = {sql_string(str(value))}" for name, value in given.items() if value is not None
        ]
        return f" WITH ({', '.join(options)})" if options else ""


def changes_item(
    name: str,
    versions: tuple[int | None, int | None],
    timestamps: tuple[str | None, str | None],
    options: ChangeOptionArguments,
) -> str:
    """A FROM item: the changes of the table of this name, between two versions or two times. Raises
    INVALID_PARAMETER."""
    first, last = versions
    start, end = timestamps
    has_versions, has_times = first is not None or last is not None, start is not None or end is not None
    if has_versions == has_times or (first is None and start is None):
        reason = "give from_version or from_timestamp, and the end of the range as the same of the two"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="from_version", reason=reason)
    if first is not None:
        bounds = [f"VERSION {write_id_argument(first, 'from_version')}"]
        bounds += [] if last is None else [f"VERSION {write_id_argument(last, 'to_version')}"]
    else:
        bounds = [f"TIMESTAMP {sql_string(str(time))}" for time in (start, end) if time is not None]
    return f"{named_table(name)} CHANGES FROM {' TO '.join(bounds)}{options.sql()}"


def check_no_range(versions: tuple[int | None, int | None], timestamps: tuple[str | None, str | None]) -> None:
    """Raises INVALID_PARAMETER for a range beside the name of a reader."""
    if any(bound is not None for bound in (*versions, *timestamps)):
        reason = "a reader goes on where it stopped: leave out the versions and times"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="since", reason=reason)
