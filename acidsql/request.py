"""What a caller gives with a statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from acidsql.metastore.streams import StreamProgress
from acidsql.planner.stored_values.stored_sql import STORE_ASSIGNMENT, STRICT


@dataclass(frozen=True, slots=True)
class Request:
    """A statement: its text, and the named parameters and frames of the call.

    `progress` is what a statement that writes commits of a stream with its rows; the executor counts the rows.
    """

    text: str
    args: Mapping[str, object]
    frames: Mapping[str, object]
    progress: StreamProgress | None = None
    rows_only: bool = False
    """Whether the caller takes the rows of a query as Python values, and never as a DataFrame."""
    strict: bool = False
    """Whether a value that does not fit its column is an error, whatever the session's store assignment is."""
    names_key: bool = True
    """Whether the error about several source rows for one row of a MERGE's target names the key of this row."""

    def settings(self, of_session: Mapping[str, str]) -> Mapping[str, str]:
        """The settings of the statement, which is planned and run with them."""
        return {**of_session, STORE_ASSIGNMENT: STRICT} if self.strict else of_session
