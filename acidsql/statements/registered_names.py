"""The views that `Session.register` makes: their names, and the tables that they read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from acidsql.acid.object_names import table_of
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.quoting import name_sql
from acidsql.metastore.catalog import Catalog


def named_views(tables: Sequence[str], views: Mapping[str, str], catalog: Catalog, database: str) -> dict[str, str]:
    """The quoted names of tables, by the names of their views.

    Without arguments these are all tables and views of `database`. Raises INVALID_PARAMETER for two views of one name.
    """
    wanted: Iterable[tuple[str, str]] = [*((table_of(name, database)[1], name) for name in tables), *views.items()]
    if not tables and not views:
        wanted = ((name, f"`{name}`") for name in catalog.tables(database))
    found: dict[str, str] = {}
    for view, table in wanted:
        if any(view.lower() == known.lower() for known in found):
            reason = f"two tables would have the view {view}: give one of them another name, as other_name={table!r}"
            raise AcidSqlError(Condition.INVALID_PARAMETER, name="tables", reason=reason)
        found[view] = ".".join(map(name_sql, table_of(table, database)))
    return found
