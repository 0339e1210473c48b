"""The life of single rows: which rows are meant, and what is read for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from acidsql.acid.row_id import RowId
from acidsql.acid.table import Table
from acidsql.arrow.history.row_histories import row_histories
from acidsql.arrow.queries import check_names
from acidsql.engines.statement_engines import StatementEngines
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar import statements as s
from acidsql.planner.plan import QueryPlan
from acidsql.request import Request
from acidsql.snapshot.read_view import ReadView
from acidsql.snapshot.row_history import RowHistories
from acidsql.snapshot.stored_directories import RowPlace, StoredDirectories
from acidsql.snapshot.table_history import history
from acidsql.storage.file_systems import FilesOf

ROW_COLUMNS: Final = ("row__id", "input__file__name")
"""The columns of the query for the rows that are meant."""


def found_histories(
    engines: StatementEngines,
    files_of: FilesOf,
    plan: QueryPlan,
    query: s.Query,
    wanted: RowId | str,
    limit: int | None,
) -> RowHistories:
    """What happened to the row with a row ID, or to those for which a condition is true. The query has this condition,
    and gives ROW_COLUMNS.

    Raises NOT_YET_SUPPORTED for a view, a table that is not full ACID and a condition with a subquery,
    COLUMN_NOT_FOUND, and what readers of the table's files raise.
    """
    table = _table(plan, query)

    def found(stored: StoredDirectories, view: ReadView) -> RowHistories:
        places: Iterator[RowPlace]
        if isinstance(wanted, RowId):
            places = (RowPlace(part, wanted) for part in range(len(stored.parts)))
        else:
            places = engines.stored_rows(plan, stored, Request(query.source, {}, {}))
        roots, has_more = _first(places, limit)
        entries = history(view.metastore, files_of, table)
        writes = {entry.version: entry for entry in entries if not entry.is_compaction}
        return RowHistories(table.all_columns, row_histories(stored, writes, sorted(roots)), has_more)

    return engines.read_stored(plan, found)


def _first(found: Iterator[RowPlace], limit: int | None) -> tuple[list[RowPlace], bool]:
    """The first distinct places, and whether there are more than `limit`."""
    roots: dict[RowPlace, None] = {}
    for place in found:
        if place not in roots and limit is not None and len(roots) == limit:
            return list(roots), True
        roots[place] = None
    return list(roots), False


def _table(plan: QueryPlan, query: s.Query) -> Table:
    """The table whose rows are meant."""
    if plan.views or not plan.scans:
        name = plan.views[0].qualified if plan.views else "a temporary view"
        raise _unsupported(f"The history of the rows of {name}", "Views have no rows of their own: name their tables.")
    if len(plan.scans) > 1:
        hint = "Write the values of the subquery into the condition."
        raise _unsupported("A subquery in a condition on stored rows", hint)
    table = plan.scans[0].table
    if not table.is_full_acid:
        hint = "Only the rows of full ACID tables have IDs, and are updated and deleted one by one."
        raise _unsupported(f"The history of single rows of {table.qualified}", hint)
    if next(query.tree.find_all(exp.Lambda), None) is None:
        check_names(query, table)
    return table


def _unsupported(feature: str, hint: str) -> AcidSqlError:
    return AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature, hint=hint)
