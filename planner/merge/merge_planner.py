"""MERGE: one join of target and source, one event query, a statement ID for each WHEN clause.

    1. Join the target with the source on ON: inner where only MATCHED clauses stand, anti where only NOT MATCHED ones
       do, outer on the side that has rows without a partner.
    2. Give each joined row its action: the first clause of its kind whose condition is true (semantics.md, "Better
       than Hive" 1), as the clause's index; rows without an action are left out.
    3. Compute every clause's values beside the old row.
    4. Turn each row into its events: delete the old row, insert the new one, or both.
    5. Add what the cardinality check needs (cardinality.py).

A source row is "not matched" if the join left the target's row__id NULL; the columns of ON may be NULL in a target row.
Statement IDs (hive-acid-v2.md, "What acidsql writes") start at 0000 for NOT MATCHED clauses, then come MATCHED, then
NOT MATCHED BY SOURCE, each in the order written. An UPDATE uses one ID for both its directories.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

from sqlglot import exp

from acidsql.acid.table import Column, Table
from acidsql.acid.write_ids import StatementId
from acidsql.errors import Span
from acidsql.grammar.dialect import span_of, to_spark
from acidsql.grammar.quoting import name_sql
from acidsql.grammar.statements import Merge, When
from acidsql.planner.dml.event_queries import (
    checked_branch,
    event_identity,
    exploded,
    first_events,
    in_inserts,
    no_identity,
    null_of,
    old_identity,
    rows_view,
    select_list,
)
from acidsql.planner.lock_requests import LockRules, evolving_locks, merge_locks
from acidsql.planner.merge.actions import Clause, Sides, clauses_of, first_true, sides_of
from acidsql.planner.merge.arrow_merge import arrow_merge
from acidsql.planner.merge.cardinality import cardinality_branch, check_branches, check_event
from acidsql.planner.merge.literal_source import implied
from acidsql.planner.merge.narrowing import key_queries, narrowing
from acidsql.planner.merge.rules import check_clauses, check_on, without_databases
from acidsql.planner.plan import (
    ArrowMerge,
    Branch,
    Condensed,
    Effect,
    EventKind,
    Evolution,
    Facts,
    StoredValue,
    WritePlan,
    changing,
)
from acidsql.planner.queries.name_resolution import (
    FILE_NAME_COLUMN,
    Binder,
    check_writable,
    column,
    find_table,
    identity_columns,
    quoted,
    target_table,
)
from acidsql.planner.queries.query_normalization import ROW_ID_COLUMN
from acidsql.planner.stored_values.stored_sql import stored

ACTION: Final = ":action"
SOURCE: Final = ":source"


def plan_merge(statement: Merge, facts: Facts, evolution: Evolution | None = None) -> WritePlan:
    """Raises what UPDATE and INSERT raise, MERGE_CLAUSE_ORDER, MERGE_UNCONDITIONAL_NOT_LAST, MERGE_INSERT_LENGTH,
    MERGE_ON_WITHOUT_TARGET, and COLUMN_NOT_FOUND for a clause that names the side of which it has no row."""
    table = find_table(statement.target, facts)
    check_writable(table, statement.target)
    check_clauses(statement)
    table = table if evolution is None else evolution.after
    statement = replace(statement, using=cast("exp.Expression", _joinable(statement.using)))
    sides = sides_of(statement, table, facts)
    if evolution is not None:
        sides = replace(sides, source_columns=frozenset(evolution.source))
    statement = replace(statement, on=cast("exp.Expression", without_databases(statement.on, sides.databases)))
    check_on(statement, table, sides.target, sides.source)
    written = statement
    keys = _literal_keys(statement, table, sides) if facts.shortcuts.keys else []
    statement = replace(statement, on=cast("exp.Expression", exp.and_(statement.on, *keys)))
    clauses = clauses_of(statement, table, sides)
    binder = Binder(facts, statement.source, target=table)
    rows = binder.bind(_rows(statement, table, sides, clauses))
    branches = _branches(clauses, table, facts)
    events, condensed = _events(table, clauses, branches, facts)
    is_narrowed = facts.shortcuts.keys and not keys
    locks = merge_locks(table, {b.effect for b in branches}, binder.scans, LockRules.of(facts))
    return WritePlan(
        operation="MERGE",
        target=table,
        rows=to_spark(rows),
        events=events,
        branches=branches,
        values=tuple(_stored_value(c, target, value, statement) for c in clauses for target, value in c.values),
        scans=binder.scans,
        frames=binder.frames,
        views=binder.views,
        locks=evolving_locks(locks, evolution),
        cardinality_branch=cardinality_branch(branches, _matched_ids(clauses), facts.settings),
        narrowing=narrowing(rows, sides.target, sides.source) if is_narrowed else None,
        key_queries=key_queries(rows, table, sides.target, sides.source) if is_narrowed else (),
        evolution=changing(evolution),
        arrow=None if evolution else _arrow_merge(written, table, sides, clauses, branches, facts),
        condensed=condensed,
    )


# ------------------------------------------------------------------------------------------------ branches


def _branches(clauses: Sequence[Clause], table: Table, facts: Facts) -> tuple[Branch, ...]:
    """The branches, inserts first: a task writes and numbers them before the delete events."""
    inserts = [
        Branch(
            StatementId(c.statement_id),
            EventKind.INSERT,
            Effect.UPDATED if c.deletes else Effect.INSERTED,
            c.label + (", the new rows" if c.deletes else ""),
            by_columns=c.moves(table),
        )
        for c in clauses
        if c.inserts
    ]
    deletes = [
        Branch(
            StatementId(c.statement_id),
            EventKind.DELETE,
            Effect.HALF if c.inserts else Effect.DELETED,
            c.label + (", the old rows" if c.inserts else ""),
        )
        for c in clauses
        if c.deletes
    ]
    return (*inserts, *deletes, *check_branches(len(_matched_ids(clauses)), facts.settings))


def _matched_ids(clauses: Sequence[Clause]) -> list[StatementId]:
    return [StatementId(c.statement_id) for c in clauses if c.when is When.MATCHED]


def _branch(branches: Sequence[Branch], clause: Clause, kind: EventKind) -> int:
    return next(i for i, b in enumerate(branches) if b.kind is kind and b.statement_id == clause.statement_id)


# ------------------------------------------------------------------------------------------------ the join


def _rows(statement: Merge, table: Table, sides: Sides, clauses: Sequence[Clause]) -> exp.Select:
    """The query for the old row__id, the action, the old values, and the values of every clause as
    `:<action>.<column>`."""
    kinds = {c.when for c in clauses}
    new = [exp.alias_(v.copy(), quoted(c.value_name(t))) for c in clauses for t, v in c.values]
    if kinds == {When.NOT_MATCHED}:
        action = exp.alias_(first_true(clauses), quoted(ACTION))
        query = exp.select(action, *new).from_(statement.using.copy())
        query = query.join(target_table(table, sides.target), on=statement.on.copy(), join_type="LEFT ANTI")
    else:
        old = [exp.alias_(column(c.name, sides.target), quoted(c.name)) for c in _unassigned(table, clauses)]
        action = exp.alias_(_action(clauses, sides), quoted(ACTION))
        source = (
            _source_with_mark(statement, sides, clauses)
            if When.NOT_MATCHED_BY_SOURCE in kinds
            else statement.using.copy()
        )
        query = exp.select(*identity_columns(table, sides.target), action, *old, *new).from_(
            target_table(table, sides.target)
        )
        query = query.join(source, on=statement.on.copy(), join_type=_join_type(kinds))
    if statement.ctes is not None:
        query.set("with_", statement.ctes.copy())
    return query


def _unassigned(table: Table, clauses: Sequence[Clause]) -> list[Column]:
    """The columns that some UPDATE does not assign, so that it writes their old values again."""
    updates = [{t for t, _ in c.values} for c in clauses if c.deletes and c.inserts]
    return [c for c in table.all_columns if any(c not in assigned for assigned in updates)]


def _literal_keys(statement: Merge, table: Table, sides: Sides) -> list[exp.Expr]:
    """Further conditions on the target that follow from ON. NOT MATCHED BY SOURCE needs all target rows, so it has
    none."""
    if any(c.when is When.NOT_MATCHED_BY_SOURCE for c in statement.clauses):
        return []
    return implied(statement.on, table, sides.target, sides.source, statement.using)


def _join_type(kinds: set[When]) -> str:
    match When.NOT_MATCHED in kinds, When.NOT_MATCHED_BY_SOURCE in kinds:
        case True, True:
            return "FULL OUTER"
        case True, False:
            return "RIGHT OUTER"
        case False, True:
            return "LEFT OUTER"
        case _:
            return "INNER"


def _source_with_mark(statement: Merge, sides: Sides, clauses: Sequence[Clause]) -> exp.Expr:
    """The source as a FROM item, with a column SOURCE that is NULL where the join found no source row."""
    virtual = [exp.alias_(column(name, sides.source), quoted(name)) for name in _virtual(statement, sides, clauses)]
    mark = exp.alias_(exp.true(), quoted(SOURCE))
    return exp.select("*", *virtual, mark).from_(statement.using.copy()).subquery(quoted(sides.source))


def _virtual(statement: Merge, sides: Sides, clauses: Sequence[Clause]) -> list[str]:
    """The virtual columns of the source that the statement reads."""
    trees = [statement.on, *(c.condition for c in clauses if c.condition is not None)]
    trees += [value for c in clauses for _, value in c.values]
    names = [[part.name.lower() for part in node.parts] for tree in trees for node in tree.find_all(exp.Column)]
    read = {parts[1] for parts in names if parts[0] == sides.source and len(parts) > 1}
    return [name for name in (ROW_ID_COLUMN, FILE_NAME_COLUMN) if name in read]


def _joinable(using: exp.Expr) -> exp.Expr:
    """The source as an item that may follow JOIN. PIVOT and UNPIVOT may not, so they become a subquery with the alias
    of their result."""
    pivots = using.args.get("pivots")
    if not pivots or not pivots[-1].alias:
        return using
    item = using.copy()
    alias = item.args["pivots"][-1].args["alias"].pop()
    query = exp.select("*").from_(item).subquery(alias.this)
    query.meta.update(using.meta)
    return query


def _action(clauses: Sequence[Clause], sides: Sides) -> exp.Expr:
    """SQL for the statement ID of the clause that acts on a joined row; NULL if none does."""
    of = {when: [c for c in clauses if c.when is when] for when in When}
    case = exp.Case()
    if of[When.NOT_MATCHED]:
        case = case.when(_is_null(ROW_ID_COLUMN, sides.target), first_true(of[When.NOT_MATCHED]))
    if of[When.NOT_MATCHED_BY_SOURCE]:
        case = case.when(_is_null(SOURCE, sides.source), first_true(of[When.NOT_MATCHED_BY_SOURCE]))
    matched = first_true(of[When.MATCHED])
    return case.else_(matched) if case.args.get("ifs") else matched


def _is_null(name: str, table: str) -> exp.Expr:
    return exp.Is(this=column(name, table), expression=exp.null())


# ------------------------------------------------------------------------------------------------ events


def _events(
    table: Table, clauses: Sequence[Clause], branches: Sequence[Branch], facts: Facts
) -> tuple[str, Condensed | None]:
    """The query that turns each row into the events of its action, and its condensed form."""
    only_inserts = all(not c.deletes for c in clauses)
    identity = no_identity(table) if only_inserts else old_identity(table)
    new = {c.name: _new_value(c, clauses, facts) for c in table.all_columns}
    inside = select_list({ACTION: name_sql(ACTION), **identity, **new}, "    ")
    source = f"(SELECT\n    {inside}\n  FROM {rows_view()}\n  WHERE {name_sql(ACTION)} IS NOT NULL)"
    made = {c.statement_id: _branches_of(c, branches) for c in clauses}
    sql = {action: [_branch_sql(number, branches, table) for number in of] for action, of in made.items()}
    inserts = sum(1 for b in branches if b.kind is EventKind.INSERT)
    moved = {_branch(branches, c, EventKind.INSERT) for c in clauses if c.inserts and c.moves(table)}
    values = {c.name: name_sql(c.name) for c in table.all_columns}
    if 0 < inserts < len(branches):
        values = in_inserts(inserts, values)
    of_event = event_identity(table, moved)
    arrays = {action: f"array({', '.join(of)})" for action, of in sql.items()}
    events = exploded(_by_action(arrays), of_event, values, source)
    implied = {first: tuple(others) for first, *others in made.values() if others}
    if moved & implied.keys():
        return events, None
    first = _by_action({action: of[0] for action, of in sql.items()})
    return events, Condensed(first_events(first, of_event, values, source), implied)


def _arrow_merge(
    statement: Merge, table: Table, sides: Sides, clauses: Sequence[Clause], branches: Sequence[Branch], facts: Facts
) -> ArrowMerge | None:
    """The MERGE as values, if it can be carried out without a join (arrow_merge.py)."""
    numbers = {
        c.statement_id: (
            _branch(branches, c, EventKind.INSERT) if c.inserts else None,
            _branch(branches, c, EventKind.DELETE) if c.deletes else None,
        )
        for c in clauses
    }
    return arrow_merge(statement, table, sides, clauses, numbers, Binder(facts, statement.source), facts.relations)


def _by_action(values: Mapping[int, str]) -> str:
    """SQL for the value of the clause that acts on a row, from the values by statement ID."""
    cases = "\n  ".join(f"WHEN {action} THEN {value}" for action, value in values.items())
    return f"CASE {name_sql(ACTION)}\n  {cases}\nEND"


def _branches_of(clause: Clause, branches: Sequence[Branch]) -> list[int]:
    """The branches of the events that a clause makes of a row."""
    numbers = []
    if clause.inserts:
        numbers.append(_branch(branches, clause, EventKind.INSERT))
    if clause.deletes:
        numbers.append(_branch(branches, clause, EventKind.DELETE))
    check = check_event(branches)
    if clause.when is When.MATCHED and check is not None:
        numbers.append(check)
    return numbers


def _branch_sql(number: int, branches: Sequence[Branch], table: Table) -> str:
    """SQL for a branch. That of a new row raises an error if the row violates a constraint."""
    is_insert = branches[number].kind is EventKind.INSERT
    return checked_branch(str(number), table) if is_insert else str(number)


def _new_value(target: Column, clauses: Sequence[Clause], facts: Facts) -> str:
    """SQL for the value that the acting clause assigns to a column; the old value if it assigns none."""
    cases = []
    for clause in clauses:
        if clause.inserts:
            assigned = any(t == target for t, _ in clause.values)
            name = name_sql(clause.value_name(target))
            value = stored(name, target, facts.settings) if assigned else name_sql(target.name)
            cases.append(f"WHEN {clause.statement_id} THEN {value}")
    return f"CASE {name_sql(ACTION)} {' '.join(cases)} END" if cases else null_of(target)


def _stored_value(clause: Clause, target: Column, value: exp.Expr, statement: Merge) -> StoredValue:
    span: Span | None = span_of(value, statement.source) or clause.written.span
    return StoredValue(clause.value_name(target), target, span, f"{name_sql(ACTION)} = {clause.statement_id}")
