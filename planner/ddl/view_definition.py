"""CREATE VIEW and ALTER VIEW .. AS: the definition of a view from its query.

The expanded text is the text of the query with two changes: tables get their databases, and stars become lists of
columns. All else stays as the user wrote it, so that Hive reads the text too (Hive: UnparseTranslator). A column that a
table gets later therefore does not become a column of the view.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from acidsql.acid.object_names import check_column_name, without_case
from acidsql.acid.table import Column, View
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.dialect import frame_of, span_of
from acidsql.grammar.parameter_literals import first_parameter
from acidsql.grammar.quoting import name_sql
from acidsql.grammar.statements import Name, TableName, ViewColumn
from acidsql.grammar.table_names import table_name, table_nodes
from acidsql.planner.ddl.ddl_plan import ViewDefinition
from acidsql.planner.plan import Facts


def check_query(query: exp.Query, source: str, facts: Facts, *, temporary: bool) -> None:
    """Raises INVALID_VIEW for a query that has a meaning in this call only or, if the view is not temporary, in this
    session only."""
    parameter = first_parameter(query)
    if parameter is not None:
        raise _invalid("A view keeps no values of parameters", span_of(parameter, source))
    for table in query.find_all(exp.Table):
        if frame_of(table) is not None:
            raise _invalid("A view cannot read a frame of the call", span_of(table, source))
        if (version := table.args.get("version")) is not None:
            message = "A view reads the rows of the latest version of its tables, because Hive could read nothing else"
            raise _invalid(message, span_of(version, source))
    for name in filter(None, map(table_name, table_nodes(query))) if not temporary else ():
        if name.database is None and name.name in facts.views and _relation(name, facts) is None:
            raise _invalid(f"View definition references temporary view {name.name}", name.span)
        found = facts.relation(name)
        if found is not None and found.temporary:
            kind = "view" if isinstance(found, View) else "table"
            raise _invalid(f"View definition references temporary {kind} {name.name}", name.span)


def view_definition(
    view: TableName,
    query: exp.Query,
    text: Span,
    columns: Sequence[tuple[str, str]],
    named: Sequence[ViewColumn],
    facts: Facts,
) -> ViewDefinition:
    """The definition of `view`. `columns` are the names and Hive types of the query's columns, `named` is the column
    list of CREATE VIEW.

    Raises VIEW_COLUMN_COUNT, DUPLICATE_COLUMN, INVALID_COLUMN_NAME, INVALID_VIEW.
    """
    if named and len(named) != len(columns):
        raise AcidSqlError(
            Condition.VIEW_COLUMN_COUNT, span=named[0].name.span, produced=str(len(columns)), named=str(len(named))
        )
    expanded, keeps_stars = _expanded_text(query, text, facts)
    names = [name for name, _ in columns]
    _check_names([Name(name, view.span) for name in names])
    if named:
        _check_names([column.name for column in named])
    new_names = [column.name.value for column in named] or names
    if keeps_stars and any(not isinstance(i, exp.Column | exp.Alias | exp.Star | exp.Dot) for i in query.selects):
        raise _invalid("An expression beside this star needs an alias (AS name) in a view", view.span)
    if keeps_stars or new_names != names:
        items = ", ".join(f"{name_sql(old)} AS {name_sql(new)}" for old, new in zip(names, new_names, strict=True))
        expanded = f"SELECT {items} FROM ({expanded}) {name_sql(view.name)}"
    comments = [column.comment for column in named] or [None] * len(names)
    types = [kind for _, kind in columns]
    return ViewDefinition(tuple(map(Column, new_names, types, comments)), text.text, expanded)


def _invalid(message: str, span: Span | None) -> AcidSqlError:
    return AcidSqlError(Condition.INVALID_VIEW, span=span, message=message)


def _check_names(names: Sequence[Name]) -> None:
    seen: set[str] = set()
    for name in names:
        check_column_name(name.value, name.span)
        if without_case(name.value) in seen:
            raise AcidSqlError(Condition.DUPLICATE_COLUMN, span=name.span, column=name.value)
        seen.add(without_case(name.value))


# ------------------------------------------------------------------------------------------------ the expanded text


def _expanded_text(query: exp.Query, text: Span, facts: Facts) -> tuple[str, bool]:
    """The expanded text of the query at the place `text`, and whether stars that decide the view's columns are left."""
    stars = _Stars(query, facts)
    edits = sorted([*_databases(query, facts), *stars.edits()], reverse=True)
    found = text.text
    for start, end, new in edits:
        found = found[: start - text.start] + new + found[end - text.start :]
    return found, stars.are_left


def _databases(query: exp.Query, facts: Facts) -> Iterator[tuple[int, int, str]]:
    """The changes that give tables their databases: a place, and what to write there."""
    for node in table_nodes(query):
        name = table_name(node)
        if name is not None and name.database is None and _relation(name, facts) is not None:
            place = node.this.meta
            yield place["start"], place["end"] + 1, f"{name_sql(facts.database)}.{name_sql(name.name)}"


def _relation(name: TableName, facts: Facts) -> Sequence[str] | None:
    """The columns of a table or view of the catalog."""
    found = facts.relation(name)
    return None if found is None else found.column_names


class _Stars:
    """The stars of a query as lists of columns. It leaves a star of which it does not know all columns."""

    def __init__(self, query: exp.Query, facts: Facts) -> None:
        self._query = query.copy()
        self._facts = facts
        self._scopes = [s for s in traverse_scope(self._query) if isinstance(s.expression, exp.Select)]

    def edits(self) -> Iterator[tuple[int, int, str]]:
        for scope in self._scopes:
            for item in scope.expression.expressions:
                columns = self._star(item, scope) if item.is_star else None
                place = _place(item) if columns is not None else None
                if columns is not None and place is not None:
                    yield (*place, ", ".join(_qualified(alias, column) for alias, column in columns))

    @property
    def are_left(self) -> bool:
        """Whether a star is left in the SELECT that names the query's columns."""
        scope = self._naming(self._query)
        return scope is None or any(i.is_star and self._star(i, scope) is None for i in scope.expression.expressions)

    def _naming(self, query: exp.Expr) -> Scope | None:
        """The scope of the SELECT that names the columns of a query: the first one of a UNION."""
        while isinstance(query, exp.SetOperation | exp.Subquery):
            query = query.this
        return next((scope for scope in self._scopes if scope.expression is query), None)

    def _star(self, item: exp.Expr, scope: Scope) -> list[tuple[str, str]] | None:
        """The columns of a star, each with the alias of its relation."""
        sources = {alias.lower(): pair for alias, pair in scope.selected_sources.items()}
        if _place(item) is None or not _is_plain(scope.expression):
            return None
        if isinstance(item, exp.Column):
            alias = item.table.lower()
            sources = {alias: sources[alias]} if alias in sources and len(item.parts) == 2 else {}
        elif any(join.args.get("using") or join.method for join in scope.expression.args.get("joins") or ()):
            return None  # a merged column comes first, and once
        found: list[tuple[str, str]] = []
        for alias, (node, source) in sources.items():
            names = self._names(node, source)
            if names is None or len(set(names)) < len(names):
                return None
            found += [(alias, name) for name in names]
        return found or None

    def _names(self, node: exp.Expr, source: exp.Expr | Scope) -> Sequence[str] | None:
        """The names of the columns of a FROM item."""
        if renamed := [name.lower() for name in node.alias_column_names]:
            return renamed
        if isinstance(source, Scope):
            return [n.lower() for n in source.outer_columns] or self._outputs(source)
        name = table_name(source) if isinstance(source, exp.Table) else None
        return None if name is None else _relation(name, self._facts)

    def _outputs(self, scope: Scope) -> list[str] | None:
        """The names of the columns of a query."""
        named = self._naming(scope.expression)
        if named is None:
            return None
        names: list[str] = []
        for item in named.expression.expressions:
            if item.is_star:
                columns = self._star(item, named)
                if columns is None:
                    return None
                names += [name for _, name in columns]
            elif isinstance(item, exp.Aliases):
                names += [alias.name.lower() for alias in item.aliases]
            else:
                names.append(item.output_name.lower() or f"_c{len(names)}")
        return names


def _is_plain(query: exp.Expr) -> bool:
    """Whether no clause changes the columns of FROM: PIVOT, or LATERAL VIEW without names for its columns."""
    items = [query.args.get("from_"), *(query.args.get("joins") or ())]
    pivoted = any(item.this.args.get("pivots") or item.args.get("pivots") for item in items if item is not None)
    return not pivoted and all(lateral.alias_column_names for lateral in query.args.get("laterals") or ())


def _place(item: exp.Expr) -> tuple[int, int] | None:
    """The place of `*` or `t.*`; None if the star has an EXCEPT or the like."""
    star = item.this if isinstance(item, exp.Column) else item
    if not isinstance(star, exp.Star) or any(star.args.values()):
        return None
    marked = [part.meta for part in item.walk() if "start" in part.meta]
    return min(m["start"] for m in marked), max(m["end"] for m in marked) + 1


def _qualified(alias: str, column: str) -> str:
    return f"{name_sql(alias)}.{name_sql(column)}" if alias else name_sql(column)
