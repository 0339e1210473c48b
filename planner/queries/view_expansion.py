"""Replaces the views in a query by their definitions, before names are resolved.

A view becomes a subquery with the view's name as its alias. Its tables therefore are scans of the statement like all
others: they share its snapshot, they are pruned, and they are locked. The view itself is not locked, as in Hive.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from sqlglot import exp

from acidsql.acid.table import View
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.parser import parse
from acidsql.grammar.statements import Query, TableName
from acidsql.grammar.table_names import table_name, table_nodes
from acidsql.planner.plan import Facts

_POSITION: Final = ("start", "end", "line", "col")


def view_query(view: View) -> exp.Query:
    """The query of a view, as a tree whose nodes have no places in a text.

    Raises INVALID_VIEW where the definition, which another program may have written, is no query of acidsql's.
    """
    try:
        statement = parse(view.expanded)
    except AcidSqlError as error:
        raise _unreadable(view, error.message) from error
    if not isinstance(statement, Query):
        raise _unreadable(view, "it is not a query")
    for node in statement.tree.walk():
        for key in _POSITION:
            node.meta.pop(key, None)
    return _with_column_names(statement.tree, view)


def tables_of_view(view: View) -> tuple[TableName, ...]:
    """The tables and views that a view reads, each with its database. Raises INVALID_VIEW."""
    names = filter(None, map(table_name, table_nodes(view_query(view))))
    return tuple(dict.fromkeys(_in_view(name, view) for name in names))


def expanded(tree: exp.Query, facts: Facts) -> tuple[exp.Query, tuple[View, ...]]:
    """The query with the definitions of its views, changed in place, and these views.

    Raises RECURSIVE_VIEW, INVALID_VIEW, and TABLE_NOT_FOUND for a table that a view reads and that does not exist.
    """
    found: dict[str, View] = {}
    for node in _mentions(tree, facts, facts.database):
        _replace(node, facts, (), found)
    return tree, tuple(found.values())


def find_cycle(names: Sequence[TableName], of: str, facts: Facts) -> tuple[str, ...] | None:
    """The views through which a query over `names` reads the view `of`, or None."""
    seen: set[str] = set()
    waiting: list[tuple[str, tuple[str, ...]]] = [(_qualified(name, facts.database), (of,)) for name in reversed(names)]
    while waiting:
        name, path = waiting.pop()
        if name == of:
            return (*path, of)
        view = facts.stored_views.get(name)
        if view is None or name in seen:
            continue
        seen.add(name)
        waiting += [(str(inner), (*path, name)) for inner in reversed(tables_of_view(view))]
    return None


def recursion(view: str, cycle: Sequence[str]) -> AcidSqlError:
    """The error for a view that reads itself, with Hive's message."""
    return AcidSqlError(Condition.RECURSIVE_VIEW, view=view, cycle=" -> ".join(cycle))


# ------------------------------------------------------------------------------------------------ the replacement


def _mentions(tree: exp.Query, facts: Facts, database: str) -> Iterator[exp.Table]:
    """The nodes of the tree that name views."""
    for node in list(table_nodes(tree)):
        name = table_name(node)
        if name is not None and _qualified(name, database) in facts.stored_views:
            yield node


def _replace(node: exp.Table, facts: Facts, around: tuple[str, ...], found: dict[str, View]) -> None:
    """Replaces a mention of a view. `around` are the views whose definitions it stands in, outermost first."""
    name = table_name(node)
    assert name is not None
    view = facts.stored_views[_qualified(name, facts.database)]
    path = (*around, view.qualified)
    if view.qualified in around:
        raise recursion(view.qualified, path[around.index(view.qualified) :])
    found[view.qualified] = view
    query = view_query(view)
    for inner in list(table_nodes(query)):
        _qualify(inner, view, facts)
        _check_known(inner, view, facts)
    for inner in _mentions(query, facts, view.database):
        _replace(inner, facts, path, found)
    _drop_database(node, view)
    node.replace(_subquery(node, query, view))


def _qualify(node: exp.Table, view: View, facts: Facts) -> None:
    """Gives a table its database. Hive writes one for every table; other programs may not."""
    name = table_name(node)
    if name is not None and name.database is None and not _is_of_spark(name, view, facts):
        if not node.alias:
            node.set("alias", exp.TableAlias(this=exp.to_identifier(name.name, quoted=True)))
        node.set("db", exp.to_identifier(view.database, quoted=True))


def _is_of_spark(name: TableName, view: View, facts: Facts) -> bool:
    """Whether the name is that of a temporary view of the user's Spark session. The text of a view names it without a
    database, which every other name has, and only temporary views may read it."""
    return view.temporary and name.database is None and name.name in facts.views


def _drop_database(node: exp.Table, view: View) -> None:
    """Rewrites `db.v.c` to `v.c` in the query around a mention of the view: the subquery in its place has no
    database."""
    query = node.find_ancestor(exp.Select)
    for column in query.find_all(exp.Column) if query is not None and not node.alias else ():
        owner = [part.name.lower() for part in column.parts[:-1][:2]]
        if owner == [view.database, view.name]:
            column.set("catalog" if column.args.get("catalog") else "db", None)


def _check_known(node: exp.Table, view: View, facts: Facts) -> None:
    name = table_name(node)
    if name is None or _is_of_spark(name, view, facts):
        return
    if str(name) not in facts.tables and str(name) not in facts.stored_views:
        # The end of the message is that of Hive's for a view.
        described = f" in definition of VIEW {view.qualified}"
        raise AcidSqlError(Condition.TABLE_NOT_FOUND, table=name, suggestion=described)


def _subquery(node: exp.Table, query: exp.Query, view: View) -> exp.Subquery:
    """The subquery in place of a FROM item: the item's alias, joins, samples and the like stay."""
    kept = {key: value for key, value in node.args.items() if key not in ("this", "db", "catalog", "alias") and value}
    alias = node.args.get("alias") or exp.TableAlias()
    if not alias.this:
        alias.set("this", exp.to_identifier(node.name.lower(), quoted=True))
    subquery = exp.Subquery(this=query, alias=alias, **kept)
    subquery.meta.update(node.meta)
    return subquery


# ------------------------------------------------------------------------------------------------ columns


def _with_column_names(tree: exp.Query, view: View) -> exp.Query:
    """Gives unnamed expressions Hive's names, `_c0` by their place, and the query's columns the names of the view's."""
    for select in tree.find_all(exp.Select):
        if select is tree or isinstance(select.parent, exp.Subquery):
            _name_generated(select)
    first = tree
    while isinstance(first, exp.SetOperation | exp.Subquery):
        first = first.this
    if isinstance(first, exp.Select) and len(first.selects) == len(view.all_columns) and not first.is_star:
        _rename(first, view.column_names)
    return tree


def _name_generated(select: exp.Select) -> None:
    items = select.expressions
    if any(item.is_star for item in items):
        return
    for place, item in enumerate(items):
        if not item.output_name and not isinstance(item, exp.Alias | exp.Aliases | exp.Dot):
            items[place] = exp.alias_(item, f"_c{place}", quoted=True)
    select.set("expressions", items)


def _rename(select: exp.Select, names: Sequence[str]) -> None:
    items: list[exp.Expr] = []
    for item, name in zip(select.expressions, names, strict=True):
        if isinstance(item, exp.Alias):
            item.set("alias", exp.to_identifier(name, quoted=True))
            items.append(item)
        elif isinstance(item, exp.Aliases) or item.output_name == name:
            items.append(item)
        else:
            items.append(exp.alias_(item, name, quoted=True))
    select.set("expressions", items)


# ------------------------------------------------------------------------------------------------ names


def _qualified(name: TableName, database: str) -> str:
    return f"{name.database or database}.{name.name}"


def _in_view(name: TableName, view: View) -> TableName:
    return replace(name, database=name.database or view.database, span=None)


def _unreadable(view: View, reason: str) -> AcidSqlError:
    message = f"The definition of view {view.qualified} cannot be read: {reason}"
    hint = f"The definition is: {view.expanded}"
    return AcidSqlError(Condition.INVALID_VIEW, message=message, hint=hint)
