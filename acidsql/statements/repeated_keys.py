"""The key of the row that several rows of a MERGE's source match, for the error about it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from acidsql.ddl.table_lookup import TableLookup
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar import statements as s
from acidsql.planner.merge.keys import key_query
from acidsql.statements.plans import StatementPlans
from acidsql.statements.results import QueryResult


@contextmanager
def naming_repeated_key(
    statement: s.Merge, lookup: TableLookup, plans: StatementPlans, run: Callable[[str], QueryResult]
) -> Iterator[None]:
    """Adds the key of the target's row that several source rows match to CARDINALITY_VIOLATION, whose text has its row
    ID alone, as in Hive. A query of the target, which `run` runs, finds it."""
    try:
        yield
    except AcidSqlError as error:
        if error.condition != Condition.CARDINALITY_VIOLATION.name:
            raise
        row = json.loads(error.getMessageParameters()["row_id"])
        hint = "Several rows of the source match one row of the target"
        target = lookup.target(statement.target, plans.database, Condition.WRITE_TO_VIEW)
        key = _values_of(key_query(statement, target.column_names, row), run)
        raise error.with_hint(f"{hint}: that with {key}." if key else f"{hint}.") from error.__cause__


def _values_of(query: str | None, run: Callable[[str], QueryResult]) -> str:
    """The values of the one row of a query, as `id = 5, d = 'a'`; empty where they cannot be read."""
    if query is None:
        return ""
    try:
        result = run(query)
        try:
            found = next(result.rows(1), ())
        finally:
            result.close()
    except AcidSqlError:
        return ""
    return ", ".join(f"{c.name} = {value!r}" for c, value in zip(result.columns, found, strict=False))
