"""Resolves the names of tables and columns, and rewrites queries to Spark SQL over scan views."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Final

from sqlglot import exp
from sqlglot.errors import OptimizeError
from sqlglot.optimizer.scope import Scope, traverse_scope

from acidsql.acid.hive_types import parse_type
from acidsql.acid.table import Column, Table, View
from acidsql.errors import AcidSqlError, Condition, Span, suggestion
from acidsql.grammar.dialect import fetches_deleted, frame_of, span_of
from acidsql.grammar.parser import parse
from acidsql.grammar.statements import Name, Query, TableName
from acidsql.planner.change_range import CHANGE_COLUMNS
from acidsql.planner.conditions.row_conditions import only_counts, partition_filter, resolved_column, row_filter
from acidsql.planner.expressions.expression_types import ExpressionTypes
from acidsql.planner.expressions.hive_expressions import rewrite
from acidsql.planner.expressions.star_columns import Fields
from acidsql.planner.expressions.typed_rules import apply_rules
from acidsql.planner.plan import PLACE, ROW_ID, Facts, FrameScan, RowSource, Scan
from acidsql.planner.queries.derived_tables import inherited_conditions
from acidsql.planner.queries.hidden_columns import hide_columns
from acidsql.planner.queries.query_normalization import ROW_ID_COLUMN, normalized
from acidsql.planner.queries.table_versions import as_of_table, changes_of_table, take_versions
from acidsql.planner.queries.view_expansion import expanded
from acidsql.planner.stored_values.integer_casts import narrow, wide_casts
from acidsql.values.common_types import FRAME_TEXT, is_text

FILE_NAME_COLUMN: Final = "input__file__name"
_IS_DELETED_COLUMN: Final = "row__is__deleted"
_TRANSACTIONAL: Final = (ROW_ID_COLUMN, _IS_DELETED_COLUMN)
"""The virtual columns that only transactional tables have."""
_VIRTUAL: Final = (*_TRANSACTIONAL, FILE_NAME_COLUMN, PLACE)
TARGET: Final = "acidsql_target"
"""Key in the `meta` of an exp.Table node: the node stands for the statement's target."""


def find_table(name: TableName, facts: Facts, of_view: Condition = Condition.WRITE_TO_VIEW) -> Table:
    """Finds the table that a statement names. Raises TABLE_NOT_FOUND with similar names, INVALID_COLUMN_NAME, and the
    condition `of_view` if the name is that of a view."""
    qualified = f"{name.database or facts.database}.{name.name}"
    if qualified in facts.stored_views:
        raise AcidSqlError(of_view, span=name.span)
    table = facts.tables.get(qualified)
    if table is None:
        database = name.database or facts.database
        known = {t.name for t in facts.tables.values() if t.database == database}
        near = suggestion(name.name, sorted(known | set(facts.near if database == facts.database else ())))
        raise AcidSqlError(Condition.TABLE_NOT_FOUND, span=name.span, table=name, suggestion=near)
    _check_columns(table, name.span)
    return table


def _check_columns(table: Table, span: Span | None) -> None:
    """Raises INVALID_COLUMN_NAME for a name with a colon: plans use these names for their own columns. acidsql does not
    create such a table, but another program can."""
    for wrong in (c.name for c in table.all_columns if ":" in c.name):
        hint = f"ALTER TABLE {table.qualified} CHANGE COLUMN gives a column another name."
        reason = "[., :] can not be used in a column name"
        raise AcidSqlError(Condition.INVALID_COLUMN_NAME, span=span, column=wrong, reason=reason, hint=hint)


def check_writable(table: Table, name: TableName) -> None:
    """Raises an error unless the table is full ACID, as UPDATE, DELETE and MERGE need it (SemanticAnalyzer, ErrorMsg
    10297, 10414, 10298)."""
    if not table.is_transactional:
        raise AcidSqlError(
            Condition.NOT_TRANSACTIONAL,
            span=name.span,
            table=table.qualified,
            hint="Create it with TBLPROPERTIES ('transactional'='true').",
        )
    if table.is_insert_only:
        raise AcidSqlError(Condition.INSERT_ONLY, span=name.span, table=table.qualified)
    if table.sort_columns:
        raise AcidSqlError(Condition.SORTED_TABLE, span=name.span, table=table.qualified)


def find_column(name: Name, table: Table) -> Column | None:
    return next((c for c in table.all_columns if c.name == name.value), None)


def no_such_column(name: str, known: Sequence[str], span: Span | None, hint: str = "") -> AcidSqlError:
    near = suggestion(name, list(known))
    return AcidSqlError(Condition.COLUMN_NOT_FOUND, span=span, column=name, suggestion=near, hint=hint)


def quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)


def column(name: str, table: str | None = None) -> exp.Column:
    return exp.Column(this=quoted(name), table=quoted(table) if table else None)


def target_table(table: Table, alias: str) -> exp.Table:
    """The FROM item of a statement's target."""
    node = exp.Table(this=quoted(table.name), db=quoted(table.database), alias=exp.TableAlias(this=quoted(alias)))
    node.meta[TARGET] = True
    return node


def identity_columns(table: Table, alias: str) -> list[exp.Expr]:
    """The row__id of a target row and the number of its partition, named as the columns of events."""
    columns: list[exp.Expr] = [exp.alias_(column(ROW_ID_COLUMN, alias), quoted(ROW_ID))]
    if table.partition_columns:
        place = column(PLACE, alias)
        place.meta[PLACE] = True  # tells it from a column to which the user gives this name
        columns.append(exp.alias_(place, quoted(PLACE)))
    return columns


class Binder:
    """Rewrites queries over tables to queries over scan views, and collects the scans.

    Each mention of a transactional or plain table becomes one Scan, whose view has a name that no Hive table can have
    (`t@1`). row__id and INPUT__FILE__NAME become columns of the view under names of the same kind, so that `*` can
    exclude them (`* EXCEPT (..)`).
    """

    def __init__(self, facts: Facts, source: str, target: Table | None = None) -> None:
        """`target` is the definition of the statement's target, where the statement changes it."""
        self._facts = facts
        self._target = target
        self._source = source
        self._scans: dict[str, Scan] = {}
        self._frames: dict[str, FrameScan] = {}
        self._views: dict[str, View] = {}
        self._ctes: set[str] = set()
        """The names of common table expressions, which Spark resolves before the names of views."""

    @property
    def scans(self) -> tuple[Scan, ...]:
        return tuple(self._scans.values())

    @property
    def frames(self) -> tuple[FrameScan, ...]:
        return tuple(self._frames.values())

    @property
    def views(self) -> tuple[View, ...]:
        """The views of the catalog that the queries read."""
        return tuple(self._views.values())

    def bind(self, query: exp.Query) -> exp.Query:
        """Returns a copy of the query over scan views, with the definitions of the catalog's views in it.

        Raises TABLE_NOT_FOUND, AMBIGUOUS_ROW_ID, ROW_ID_OF_PLAIN_TABLE, UNRESOLVED_QUERY where sqlglot's scopes cannot
        determine which tables the query reads, and what `expanded` raises.
        """
        try:
            return self._bind(query.copy())
        except OptimizeError as error:
            raise AcidSqlError(Condition.UNRESOLVED_QUERY, message=f"The query is not understood: {error}") from error

    def _bind(self, tree: exp.Query) -> exp.Query:
        take_versions(tree, self._facts, self._source)
        tree, stored_views = expanded(tree, self._facts)
        take_versions(tree, self._facts, self._source)  # those of the tables that views read
        self._views |= {view.qualified: view for view in stored_views}
        tree = normalized(tree)
        apply_rules(tree, ExpressionTypes(tree, self._fields_of), self._facts.settings)
        rewrite(tree)
        self._ctes |= {cte.alias for cte in tree.find_all(exp.CTE)}
        scopes = traverse_scope(tree)
        for scope in scopes:
            _check_aliases(scope, self._source)
        named = {id(node) for scope in scopes for node in _table_nodes(scope)}
        views = {key: self._view_of(node) for scope in scopes for key, node in self._sources(scope, named)}
        casts = wide_casts(
            tree, {id(node): meant for scope in scopes for node, meant in self._resolved_columns(scope, views)}
        )
        for scope in scopes:
            self._bind_virtual_columns(scope, views)
        for scope in scopes:
            self._hide_virtual_columns(scope, views)
            self._prune(scope, views)
        for scope in scopes:
            for node in _table_nodes(scope):
                self._replace(node, views)
        narrow(casts)
        return tree

    # -- tables

    def _sources(self, scope: Scope, named: set[int]) -> Iterator[tuple[int, exp.Table]]:
        for node in _table_nodes(scope):
            if id(node) in named:
                named.discard(id(node))
                yield id(node), node

    def _view_of(self, node: exp.Table) -> str | None:
        """The scan view for an item of the FROM clause; None for an item that Spark itself resolves."""
        if not isinstance(node.this, exp.Identifier):
            return None  # a table function
        frame = frame_of(node)
        if frame is not None:
            view = f"{frame}@frame"
            self._frames[view] = FrameScan(view, frame)
            return view
        name = TableName(node.db.lower() or None, node.name.lower(), span_of(node, self._source))
        if name.database is None and self._is_view(name.name):
            return None
        table = self._target if self._target is not None and node.meta.get(TARGET) else find_table(name, self._facts)
        view = next(v for n in count(len(self._scans) + 1) if (v := f"{table.name}@{n}") not in self._ctes)
        with_deleted = fetches_deleted(node) and table.is_full_acid
        target = bool(node.meta.get(TARGET))
        as_of, changes = as_of_table(node), changes_of_table(node)
        self._scans[view] = Scan(view, table, is_target=target, with_deleted=with_deleted, as_of=as_of, changes=changes)
        return view

    def _fields_of(self, node: exp.Table) -> Fields | None:
        """The columns of a FROM item; None if they are not known."""
        if not isinstance(node.this, exp.Identifier):
            return None  # a table function
        frame, name = frame_of(node), node.name.lower()
        table = None if frame else self._facts.tables.get(f"{node.db.lower() or self._facts.database}.{name}")
        if self._target is not None and node.meta.get(TARGET):
            table = self._target
        if table is not None:
            of_changes = CHANGE_COLUMNS if changes_of_table(node) is not None else {}
            return {column.name: parse_type(column.type) for column in table.all_columns} | of_changes
        relation = self._facts.relations.get(f"{{{frame}}}" if frame else name, {})
        kinds = {name: None if kind is None else parse_type(kind) for name, kind in relation.items()}
        return {name: FRAME_TEXT if is_text(kind) else kind for name, kind in kinds.items()} or None

    def _is_view(self, name: str) -> bool:
        """Whether the name is one of a temporary view. A table of the catalog hides a temporary view of the same
        name."""
        return name in self._facts.views and f"{self._facts.database}.{name}" not in self._facts.tables

    def _replace(self, node: exp.Table, views: dict[int, str | None]) -> None:
        view = views.get(id(node))
        if view is None:
            return
        if not node.alias:
            node.set("alias", exp.TableAlias(this=quoted(node.name)))
        scan = self._scans.get(view)
        if scan is not None and node.alias_column_names:
            hidden = [quoted(name) for name in (scan.row_id, scan.file_name, scan.is_deleted) if name]
            node.args["alias"].set("columns", [*node.args["alias"].columns, *hidden])
        node.set("this", quoted(view))
        node.set("db", None)
        node.set("catalog", None)

    # -- row__id, ROW__IS__DELETED and INPUT__FILE__NAME

    def _bind_virtual_columns(self, scope: Scope, views: dict[int, str | None]) -> None:
        for node in [*scope.columns, *_grouped_columns(scope)]:
            _drop_database(node, scope, self._facts.database)
            name = node.name.lower()
            if name not in _VIRTUAL or (name == PLACE) != (PLACE in node.meta) or _is_output_name(node, scope):
                continue
            source = self._source_of(node, scope, views)
            if source is not None:
                self._bind_virtual_column(node, *source)

    def _bind_virtual_column(self, node: exp.Column, alias: str, view: str) -> None:
        scan = self._scans[view]
        name = node.name.lower()
        if name in _TRANSACTIONAL and not scan.table.is_transactional:
            span = span_of(node, self._source)
            raise AcidSqlError(Condition.ROW_ID_OF_PLAIN_TABLE, span=span, table=scan.table.qualified, column=name)
        bound = f"{view}.{name}"
        row_id = bound if name == ROW_ID_COLUMN else scan.row_id
        file_name = bound if name == FILE_NAME_COLUMN else scan.file_name
        is_deleted = bound if name == _IS_DELETED_COLUMN else scan.is_deleted
        place = bound if name == PLACE else scan.place
        self._scans[view] = replace(scan, row_id=row_id, file_name=file_name, is_deleted=is_deleted, place=place)
        new = column(bound, alias)
        _keep_output_name(node, new, name)

    def _source_of(self, node: exp.Column, scope: Scope, views: dict[int, str | None]) -> tuple[str, str] | None:
        """The alias and the view of the table that a virtual column belongs to; None for an ordinary column."""
        within: Scope | None = scope
        while within is not None:
            found = self._candidates(node, within, views)
            if len(found) > 1:
                tables = ", ".join(self._scans[view].table.qualified for _, view in found)
                span = span_of(node, self._source)
                hint = f"Say which: {found[0][0]}.{node.name}"
                raise AcidSqlError(Condition.AMBIGUOUS_ROW_ID, span=span, tables=tables, hint=hint)
            if found:
                return found[0]
            within = within.parent if not node.table or node.table not in within.sources else None
        return self._plain_source(scope, views) if node.name.lower() in _TRANSACTIONAL and not node.table else None

    def _plain_source(self, scope: Scope, views: dict[int, str | None]) -> tuple[str, str] | None:
        """The first table of a FROM clause, if none of its items has a row__id."""
        found = [(alias, views.get(id(source))) for alias, (_, source) in scope.selected_sources.items()]
        plain = [(alias, view) for alias, view in found if view is not None and view in self._scans]
        return plain[0] if plain and len(plain) == len(found) else None

    def _candidates(self, node: exp.Column, scope: Scope, views: dict[int, str | None]) -> list[tuple[str, str]]:
        """The tables of a scope that a virtual column may belong to. Without a table's name, row__id is that of a full
        ACID table before that of an insert-only one."""
        found = []
        for alias, source in _visible_sources(node, scope).items():
            view = views.get(id(source)) if isinstance(source, exp.Table) else None
            if view is not None and view in self._scans:
                found.append((alias, view))
        if node.table or node.name.lower() == FILE_NAME_COLUMN:
            return found
        full_acid = [(alias, view) for alias, view in found if self._scans[view].table.is_full_acid]
        return full_acid or [(alias, view) for alias, view in found if self._scans[view].table.is_transactional]

    def _hide_virtual_columns(self, scope: Scope, views: dict[int, str | None]) -> None:
        """Excludes the virtual columns from `*`, which gives the columns of the table only (interface.md)."""
        if not isinstance(scope.expression, exp.Select):
            return
        hidden = {alias: names for alias, names in self._hidden(scope, views) if names}
        columns = None if self._facts.has_star_except else dict(self._columns_of_tables(scope, views))
        if hidden or columns is not None:
            hide_columns(scope.expression, hidden, columns)

    def _columns_of_tables(self, scope: Scope, views: dict[int, str | None]) -> Iterator[tuple[str, list[str]]]:
        """The names of the columns of the tables that a scope reads, by alias."""
        for alias, (_, source) in scope.selected_sources.items():
            scan = self._scans.get(views.get(id(source)) or "")
            if scan is not None and isinstance(source, exp.Table):
                of_changes = CHANGE_COLUMNS if scan.changes is not None else ()
                yield alias, source.alias_column_names or [*scan.table.column_names, *of_changes]

    def _prune(self, scope: Scope, views: dict[int, str | None]) -> None:
        """Records in each scan of the scope which rows the query needs (row_conditions.py)."""
        query, may = scope.expression, self._facts.shortcuts
        inherited = inherited_conditions(query) if may.partitions or may.rows else ()
        for alias, _ in scope.references:  # `selected_sources` lacks the right sides of SEMI and ANTI joins
            item = scope.sources.get(alias)
            scan = self._scans.get(views.get(id(item)) or "")
            if scan is not None and isinstance(item, exp.Table):
                needs_all = scan.changes is not None and scan.changes.compares_rows
                self._scans[scan.view] = replace(
                    scan,
                    partition_filter=partition_filter(query, item, scan.table, inherited)
                    if may.partitions and not needs_all
                    else (),
                    row_filter=row_filter(query, item, scan.table, inherited) if may.rows and not needs_all else (),
                    counted=may.counts and scan.gives_live_rows and only_counts(query, item),
                )

    def _resolved_columns(self, scope: Scope, views: dict[int, str | None]) -> Iterator[tuple[exp.Column, Column]]:
        """The column nodes of a scope that certainly refer to a column of a table, each with that column."""
        for alias, _ in scope.references:
            item = scope.sources.get(alias)
            scan = self._scans.get(views.get(id(item)) or "")
            if scan is not None and isinstance(item, exp.Table):
                for node in scope.columns:
                    meant = resolved_column(node, scope.expression, item, scan.table)
                    if meant is not None:
                        yield node, meant

    def _hidden(self, scope: Scope, views: dict[int, str | None]) -> Iterator[tuple[str, list[str]]]:
        for alias, (_, source) in scope.selected_sources.items():
            view = views.get(id(source)) if isinstance(source, exp.Table) else None
            scan = self._scans.get(view) if view else None
            if scan is not None:
                yield alias, [n for n in (scan.row_id, scan.file_name, scan.is_deleted, scan.place) if n]


def _table_nodes(scope: Scope) -> list[exp.Table]:
    """The tables that a scope reads, without references to CTEs."""
    ctes = scope.cte_sources
    return [t for t in scope.tables if not (t.name in ctes and not t.db)]


def _check_aliases(scope: Scope, source: str) -> None:
    """Raises AMBIGUOUS_TABLE_ALIAS, as Hive does, where two tables of a FROM clause have the same name."""
    seen: set[str] = set()
    for name, node in scope.references:
        if name in seen and name:
            span = span_of(node, source)
            hint = "Give one of them an alias of its own."
            raise AcidSqlError(Condition.AMBIGUOUS_TABLE_ALIAS, span=span, alias=name, hint=hint)
        seen.add(name)


def _visible_sources(node: exp.Column, scope: Scope) -> dict[str, exp.Table | Scope]:
    """The tables that a column may belong to, by alias. Only the ON of a semi or anti join sees the join's right side,
    and its columns must name it there."""
    if node.table:
        return {node.table: scope.sources[node.table]} if node.table in _references(scope) else {}
    return {alias: source for alias, (_, source) in scope.selected_sources.items()}


def _grouped_columns(scope: Scope) -> list[exp.Column]:
    """The unqualified virtual columns in HAVING: sqlglot takes them for names of the SELECT list."""
    having = scope.expression.args.get("having")
    known = {id(node) for node in scope.columns}
    names = (*_TRANSACTIONAL, FILE_NAME_COLUMN)
    nodes = having.find_all(exp.Column) if having is not None else ()
    return [n for n in nodes if n.name.lower() in names and id(n) not in known and n.parent_select is scope.expression]


def _is_output_name(node: exp.Column, scope: Scope) -> bool:
    """Whether a name in ORDER BY refers to an output column, which ORDER BY prefers to a column of a table."""
    order = node.find_ancestor(exp.Order, exp.Select)
    if node.table or not isinstance(order, exp.Order) or order.parent is not scope.expression:
        return False
    query = scope.expression
    return isinstance(query, exp.Query) and any(s.alias_or_name.lower() == node.name.lower() for s in query.selects)


def _references(scope: Scope) -> set[str]:
    return {name for name, _ in scope.references if name in scope.sources}


def _drop_database(node: exp.Column, scope: Scope, database: str) -> None:
    """Rewrites `db.t.c` to `t.c`, and `db.t.c.field` to `t.c.field`: the view that replaces `db.t` has no database."""
    if len(node.parts) < 3:
        return
    owner, name = (part.name.lower() for part in node.parts[:2])
    source = scope.sources.get(name) if name in _references(scope) else None
    if isinstance(source, exp.Table) and frame_of(source) is None and (source.db or database) == owner:
        node.set("catalog" if node.args.get("catalog") else "db", None)


def _keep_output_name(node: exp.Column, new: exp.Column, name: str) -> None:
    """Replaces a virtual column. In a SELECT list the new column gets the old name as its alias."""
    parent = node.parent
    if isinstance(parent, exp.Select) and node.arg_key == "expressions":
        node.replace(exp.alias_(new, quoted(name)))
    else:
        node.replace(new)


def default_of(target: Column, table: Table) -> exp.Expr:
    """The value of the word DEFAULT: the column's DEFAULT constraint, or NULL without one."""
    text = table.constraints.defaults.get(target.name)
    if text is None:
        return exp.null()
    query = parse(f"SELECT {text}")
    assert isinstance(query, Query)
    value = query.tree.selects[0].copy()
    for node in value.walk():
        node.meta.clear()  # the positions are those of the constraint's text, not of the statement
    return value


def row_source(rows: exp.Query) -> RowSource:
    """What the rows query of an UPDATE or DELETE reads: the target alone if it has no other query in it."""
    has_queries = sum(1 for _ in rows.find_all(exp.Query)) > 1 or rows.args.get("with_")
    return RowSource.QUERY if has_queries else RowSource.TARGET
