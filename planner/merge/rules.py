"""The rules for the clauses of MERGE, which the planner checks first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError, Condition, Span, suggestion
from acidsql.grammar.dialect import span_of, to_spark
from acidsql.grammar.statements import Merge, MergeClause, MergeDelete, MergeInsert, MergeUpdate, When
from acidsql.planner.queries.name_resolution import find_column

_ORDER: Final = (When.MATCHED, When.NOT_MATCHED, When.NOT_MATCHED_BY_SOURCE)
_ACTIONS: Final[dict[When, tuple[type, ...]]] = {
    When.MATCHED: (MergeUpdate, MergeDelete),
    When.NOT_MATCHED: (MergeInsert,),
    When.NOT_MATCHED_BY_SOURCE: (MergeUpdate, MergeDelete),
}


def check_clauses(statement: Merge) -> None:
    """Checks that the kinds of clauses are in Hive's order, that each action fits its kind, and that no clause follows
    an unconditional one of its kind."""
    last = 0
    closed: set[When] = set()
    for clause in statement.clauses:
        _check_action(clause)
        rank = _ORDER.index(clause.when)
        if rank < last:
            message = f"WHEN {clause.when.value} stands behind WHEN {_ORDER[last].value}"
            hint = "Write the MATCHED clauses first, then NOT MATCHED, then NOT MATCHED BY SOURCE."
            raise AcidSqlError(Condition.MERGE_CLAUSE_ORDER, span=clause.span, message=message, hint=hint)
        if clause.when in closed:
            kind = f"WHEN {clause.when.value}"
            hint = "Give the earlier clause an AND condition, or drop this one."
            raise AcidSqlError(Condition.MERGE_UNCONDITIONAL_NOT_LAST, span=clause.span, kind=kind, hint=hint)
        if clause.condition is None:
            closed.add(clause.when)
        last = rank


def _check_action(clause: MergeClause) -> None:
    if not isinstance(clause.action, _ACTIONS[clause.when]):
        verbs = "INSERT" if clause.when is When.NOT_MATCHED else "UPDATE or DELETE"
        message = f"WHEN {clause.when.value} takes {verbs}"
        raise AcidSqlError(Condition.MERGE_CLAUSE_ORDER, span=clause.span, message=message)
    if clause.when is When.NOT_MATCHED_BY_SOURCE and clause.action == MergeUpdate(None):
        message = "UPDATE SET * needs a source row, and WHEN NOT MATCHED BY SOURCE has none"
        raise AcidSqlError(Condition.MERGE_CLAUSE_ORDER, span=clause.span, message=message)


def check_on(statement: Merge, table: Table, target: str, source: str) -> None:
    """Checks that the two sides have different names, and that ON names a column of the target if there is a NOT
    MATCHED clause (MergeSemanticAnalyzer)."""
    if not source:
        message = "the source has no name: give it an alias"
        raise AcidSqlError(Condition.MERGE_NAMES, span=span_of(statement.using, statement.source), message=message)
    if target == source:
        message = f"target and source are both called {target}: give one of them an alias"
        raise AcidSqlError(Condition.MERGE_NAMES, span=statement.target.span, message=message)
    if all(c.when is not When.NOT_MATCHED for c in statement.clauses):
        return
    names = set(table.column_names)
    for node in statement.on.find_all(exp.Column):
        owner = node.parts[0].name.lower() if len(node.parts) > 1 else ""
        if owner in (target, table.name, table.database) or (owner != source and node.parts[0].name.lower() in names):
            return
    span = statement.on_span or span_of(statement.on, statement.source)
    on = to_spark(statement.on)
    raise AcidSqlError(Condition.MERGE_ON_WITHOUT_TARGET, span=span, target=target, on=on)


def insert_columns(clause: MergeClause, table: Table) -> tuple[Column, ...]:
    """The target columns of INSERT's values, by position."""
    assert isinstance(clause.action, MergeInsert)
    values = clause.action.values or ()
    names = clause.action.columns
    found: list[Column] = []
    for name in names or ():
        target = find_column(name, table)
        if target is None:
            near = suggestion(name.value, table.column_names)
            raise AcidSqlError(
                Condition.INSERT_COLUMN_NOT_FOUND,
                span=name.span,
                column=name.value,
                table=table.qualified,
                suggestion=near,
            )
        if target in found:
            raise AcidSqlError(Condition.DUPLICATE_COLUMN, span=name.span, column=name.value)
        found.append(target)
    columns = tuple(found) if names is not None else table.all_columns
    if len(columns) != len(values):
        raise AcidSqlError(
            Condition.MERGE_INSERT_LENGTH,
            span=clause.span,
            columns=len(columns),
            values=len(values),
            hint=f"The columns are {', '.join(c.name for c in columns)}.",
        )
    return columns


def only_from(tree: exp.Expr, side: str, other: str, when: When, source: str) -> exp.Expr:
    """The expression with each name resolved to `side`, the only side of the join that has a row here.

    Raises COLUMN_NOT_FOUND for a name of the other side, which Spark would silently read as NULL. Unqualified names
    inside subqueries and the parameters of lambdas stay as they are.
    """
    tree = tree.copy()
    inner = {node.alias_or_name.lower() for node in tree.find_all(exp.Table, exp.Subquery)}
    for node in list(tree.find_all(exp.Column)):
        is_inner = _is_inner(node, tree)
        owner = node.parts[0].name.lower()
        if len(node.parts) > 1 and owner == other and not (is_inner and other in inner):
            hint = f"A row that is {when.value} has no columns of {other}."
            span: Span | None = span_of(node, source)
            raise AcidSqlError(Condition.COLUMN_NOT_FOUND, span=span, column=to_spark(node), suggestion="", hint=hint)
        if is_inner or (len(node.parts) > 1 and owner == side):
            continue
        new = _prefixed(node, side)
        new.meta.update(node.meta)
        if node is tree:
            return new
        node.replace(new)
    return tree


def without_databases(tree: exp.Expr, databases: Mapping[str, str]) -> exp.Expr:
    """A copy in which `db.t.c` is `t.c`, for the tables of `databases` (name to database)."""
    tree = tree.copy()
    for node in tree.find_all(exp.Column):
        if len(node.parts) > 2 and databases.get(node.parts[1].name.lower()) == node.parts[0].name.lower():
            node.set("catalog" if node.args.get("catalog") else "db", None)
    return tree


def _prefixed(node: exp.Column, side: str) -> exp.Expr:
    """`c` as `side.c`, and the struct field `c.f` as `side.c.f`."""
    first, *fields = (p.copy() for p in node.parts)
    new: exp.Expr = exp.Column(this=first, table=exp.to_identifier(side, quoted=True))
    for field in fields:
        new = exp.Dot(this=new, expression=field)
    return new


def _is_inner(node: exp.Column, root: exp.Expr) -> bool:
    parent = node.parent
    while parent is not None:
        if isinstance(parent, exp.Query | exp.Subquery):
            return True
        if isinstance(parent, exp.Lambda) and node.parts[0].name in {e.name for e in parent.expressions}:
            return True
        if parent is root:
            return False
        parent = parent.parent
    return False
