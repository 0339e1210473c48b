"""Multi-insert: one query reads the rows of the FROM clause once, and each branch is an INSERT over these rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqlglot import exp

from acidsql.acid.write_ids import StatementId
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.statements import Insert, MultiInsert
from acidsql.planner.ddl.partition_spec import name_of_partition
from acidsql.planner.dml.insert import plan_insert
from acidsql.planner.expressions.star_columns import hides_right_side
from acidsql.planner.lock_requests import LockRules, read_locks
from acidsql.planner.plan import Facts, MultiWritePlan, WritePlan
from acidsql.planner.queries.hidden_columns import is_counted
from acidsql.planner.queries.name_resolution import Binder, column, quoted

SCANNED: Final = ":scanned"
"""The view of the FROM clause's rows. It has the columns of a single relation, or a struct for each of several."""
_SIMPLE: Final = (
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.Boolean,
    exp.Null,
    exp.Predicate,
    exp.Connector,
    exp.Not,
    exp.Neg,
    exp.Paren,
)
"""The nodes of a WHERE that may be evaluated twice: neither functions nor subqueries."""


def plan_multi_insert(statement: MultiInsert, facts: Facts) -> MultiWritePlan:
    """Plans a multi-insert. Statement IDs count the branches of the statement, not of each table, as in Hive.

    Raises what INSERT raises, and OUTPUT_SPECIFIED_MULTIPLE_TIMES.
    """
    names = _relations(statement.scanned)
    binder = Binder(facts, statement.source)
    rows = binder.bind(_scan(statement, names))
    facts = replace(facts, views=facts.views | {SCANNED})
    writes = tuple(
        plan_insert(_branch_over_scanned(branch, names, statement.ctes, statement.source), facts, StatementId(number))
        for number, branch in enumerate(statement.branches)
    )
    _check_outputs(statement, writes)
    locks = (
        lock for part in (*(w.locks for w in writes), read_locks(binder.scans, LockRules.of(facts))) for lock in part
    )
    return MultiWritePlan(
        operation="INSERT",
        rows=to_spark(rows),
        scans=binder.scans,
        frames=binder.frames,
        views=binder.views,
        writes=writes,
        locks=tuple(dict.fromkeys(locks)),
        sources=names if len(names) > 1 else (),
        columns=_mentioned_names(statement.branches),
    )


# ------------------------------------------------------------------------------------------------ the FROM clause


def _relations(scanned: exp.Expr) -> tuple[str, ...]:
    """The names of the FROM clause's relations that the branches see, in order."""
    joined = (join.this for join in scanned.args.get("joins") or () if not hides_right_side(join))
    laterals = scanned.args.get("laterals") or ()
    return tuple(_relation_name(node).lower() for node in (scanned, *joined, *laterals))


def _relation_name(item: exp.Expr) -> str:
    """The name of a FROM item. sqlglot keeps the alias of `t PIVOT (..) AS p` in the last PIVOT."""
    pivots = item.args.get("pivots") or ()
    return next((pivot.alias for pivot in reversed(pivots) if pivot.alias), item.alias_or_name)


def _scan(statement: MultiInsert, names: Sequence[str]) -> exp.Select:
    """The query of the view SCANNED."""
    scanned = statement.scanned.copy()
    joins, laterals = scanned.args.get("joins"), scanned.args.get("laterals")
    scanned.set("joins", None)
    scanned.set("laterals", None)
    stars = [_struct(name) for name in names] if len(names) > 1 else [exp.Star()]
    query = exp.Select(expressions=stars)
    query.set("from_", exp.From(this=scanned))
    query.set("joins", joins)
    query.set("laterals", laterals)
    if statement.ctes is not None:
        query.set("with_", statement.ctes.copy())
    wanted = _common_condition(statement.branches) if len(names) == 1 else None
    return query if wanted is None else query.where(wanted)


def _struct(name: str) -> exp.Expr:
    every = exp.Column(this=exp.Star(), table=quoted(name))
    return exp.alias_(exp.Anonymous(this="struct", expressions=[every]), quoted(_struct_name(name)))


def _struct_name(name: str) -> str:
    return f":{name}"


def _common_condition(branches: Sequence[Insert]) -> exp.Expr | None:
    """A condition that holds for every row that some branch needs, so that the scan may skip other rows. None if the
    condition of a branch may not be evaluated twice."""
    conditions = [_where(branch) for branch in branches]
    simple = [c for c in conditions if c is not None and all(isinstance(node, _SIMPLE) for node in c.walk())]
    if len(simple) < len(branches):
        return None
    return exp.or_(*(c.copy() for c in simple))


def _where(branch: Insert) -> exp.Expr | None:
    """The WHERE of a branch, if its names can only refer to columns of the FROM clause."""
    rows = branch.rows
    where = rows.args.get("where") if isinstance(rows, exp.Select) and not rows.args.get("laterals") else None
    return where.this if isinstance(where, exp.Where) else None


def _mentioned_names(branches: Sequence[Insert]) -> frozenset[str] | None:
    found: set[str] = set()
    for branch in branches:
        assert isinstance(branch.rows, exp.Query)
        if not all(is_counted(star) for star in branch.rows.find_all(exp.Star)):
            return None
        for node in branch.rows.find_all(exp.Column):
            found.update(part.name.lower() for part in node.parts)
    return frozenset(found)


# ------------------------------------------------------------------------------------------------ the branches


def _branch_over_scanned(branch: Insert, names: Sequence[str], ctes: exp.With | None, source: str) -> Insert:
    """The branch with a query over SCANNED, in which the relations of the FROM clause keep their names."""
    assert isinstance(branch.rows, exp.Query)
    query = branch.rows.copy()
    select = query if isinstance(query, exp.Select) else query.find(exp.Select)
    assert select is not None
    if len(names) == 1:
        select.set("from_", exp.From(this=_scanned(names[0])))
    else:
        select.set("from_", exp.From(this=_scanned(SCANNED)))
        select.set("laterals", [*(_relation_of_struct(name) for name in names), *(select.args.get("laterals") or ())])
        select.set("expressions", [e for item in select.expressions for e in _without_structs(item, names)])
    if ctes is not None and {cte.alias.lower() for cte in ctes.expressions} & _tables(query):
        query.set("with_", ctes.copy())
    return replace(branch, rows=query, source=source)


def _scanned(alias: str) -> exp.Table:
    return exp.Table(this=quoted(SCANNED), alias=exp.TableAlias(this=quoted(alias)))


def _relation_of_struct(name: str) -> exp.Lateral:
    """LATERAL VIEW inline(array(`:a`)) a, which turns the fields of a struct into the columns of the relation `a`."""
    struct = column(_struct_name(name), SCANNED)
    array = exp.Anonymous(this="array", expressions=[struct])
    inline = exp.Anonymous(this="inline", expressions=[array])
    return exp.Lateral(this=inline, view=True, outer=False, alias=exp.TableAlias(this=quoted(name)))


def _without_structs(item: exp.Expr, names: Sequence[str]) -> list[exp.Expr]:
    """Expands `*` to the columns of the relations instead of the structs."""
    if isinstance(item, exp.Star):
        return [exp.Column(this=item.copy(), table=quoted(name)) for name in names]
    return [item]


def _tables(query: exp.Query) -> set[str]:
    return {table.name.lower() for table in query.find_all(exp.Table) if not table.db}


def _check_outputs(statement: MultiInsert, writes: Sequence[WritePlan]) -> None:
    """Raises OUTPUT_SPECIFIED_MULTIPLE_TIMES if a branch overwrites a place that another branch writes too (ErrorMsg
    10087): the base of the one would hide the rows of the other. Branches may write different partitions of one table.
    Where the partitions are known only from the rows, the executor checks that they differ, before it publishes."""
    for branch, write in zip(statement.branches, writes, strict=True):
        if write.overwrite is None:
            continue
        if any(other is not write and _is_same_place(write, other) for other in writes):
            where = name_of_partition(write.target, write.partition) if write.partition is not None else ""
            raise AcidSqlError(
                Condition.OUTPUT_SPECIFIED_MULTIPLE_TIMES,
                span=branch.target.span,
                output=f"{write.target.qualified}@{where}" if where else write.target.qualified,
                hint="Overwrite it in one branch, with the UNION ALL of the queries, or write with two statements.",
            )


def _is_same_place(write: WritePlan, other: WritePlan) -> bool:
    """Whether both branches certainly write to one place: a table without partitions, or one partition."""
    if write.target != other.target:
        return False
    return not write.target.partition_columns or (write.partition is not None and write.partition == other.partition)
