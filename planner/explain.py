"""EXPLAIN: the text of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import assert_never

from acidsql.grammar.dialect import to_spark
from acidsql.metastore.lock_components import LockComponent
from acidsql.planner.plan import Branch, EventKind, KeyQuery, MultiWritePlan, Plan, QueryPlan, Scan, WritePlan
from acidsql.planner.write_strategy import explain_strategy, strategy_rules


class Detail(Enum):
    """How much of a plan EXPLAIN shows."""

    PLAIN = "PLAIN"
    """What the statement reads, checks and writes."""
    EXTENDED = "EXTENDED"
    """The Spark SQL too."""
    FORMATTED = "FORMATTED"
    """The plan of Spark too."""

    @classmethod
    def of(cls, words: str | None) -> Detail:
        """The detail for the words behind EXPLAIN. Most of Hive's words ask for what acidsql does not have."""
        return next((detail for detail in cls if detail.value == (words or "").upper()), cls.PLAIN)


def explain(plan: Plan, detail: Detail = Detail.PLAIN) -> str:
    """Describes what the statement reads, computes and writes, in one section each."""
    return "\n".join(_with_sql(plan) if detail is Detail.EXTENDED else _plain(plan)) + "\n"


def explain_locks(locks: Sequence[LockComponent]) -> str:
    """The text of EXPLAIN LOCKS: one line for each lock, as Hive prints it."""
    lines = [
        f"{'.'.join(filter(None, (lock.database, lock.table, lock.partition)))} -> {lock.lock_type.value}"
        for lock in locks
    ]
    return "\n".join(["LOCK INFORMATION:", *sorted(lines)]) + "\n"


def _plain(plan: Plan) -> Iterator[str]:
    yield "SELECT" if isinstance(plan, QueryPlan) else "FROM" if isinstance(plan, MultiWritePlan) else _title(plan)
    if plan.scans or plan.frames or isinstance(plan, QueryPlan):
        yield "reads" if plan.scans or plan.frames else "reads no table"
    for scan in plan.scans:
        yield f"  {_table(scan)}{_virtual(scan)}"
        yield from _filters(scan)
        if scan.is_target and isinstance(plan, WritePlan):
            yield from (f"    {_leaves_out(query)}" for query in plan.key_queries)
    if plan.views:
        yield f"  through {', '.join(view.qualified for view in plan.views)}"
    yield from (f"  the frame {{{frame.frame}}}" for frame in plan.frames)
    match plan:
        case QueryPlan():
            return
        case MultiWritePlan():
            for write in plan.writes:
                yield _title(write)
                yield from _effects(write)
        case WritePlan():
            yield from _effects(plan)
        case _:
            assert_never(plan)


def _title(plan: WritePlan) -> str:
    return f"{plan.operation} {plan.target.qualified}"


def _filters(scan: Scan) -> Iterator[str]:
    """The conditions by which the scan skips partitions, files and stripes."""
    if scan.partition_filter:
        yield f"    only partitions with {' AND '.join(map(to_spark, scan.partition_filter))}"
    if scan.row_filter:
        yield f"    skips files and stripes without {' AND '.join(map(to_spark, scan.row_filter))}"


def _leaves_out(query: KeyQuery) -> str:
    names = " and ".join(query.columns)
    return f"only partitions, files and stripes with values of {names} that a small source has"


def _changed_columns(plan: WritePlan) -> Iterator[str]:
    """What WITH SCHEMA EVOLUTION changes in the definition of the target."""
    if plan.evolution is not None:
        yield "changes columns"
        yield from (f"  adds {column.name} {column.type}" for column in plan.evolution.added)
        yield from (f"  widens {new.name} from {old.type} to {new.type}" for old, new in plan.evolution.widened)


def _effects(plan: WritePlan) -> Iterator[str]:
    checks = list(_checks(plan))
    if checks:
        yield "checks"
        yield from (f"  {check}" for check in checks)
    yield from _changed_columns(plan)
    yield "writes"
    yield from (f"  {_written(b, plan)}" for b in plan.branches if b.kind is not EventKind.CHECK)
    yield from _emptied(plan)
    yield "strategy"
    yield from (f"  {rule}" for rule in strategy_rules(plan))


def _checks(plan: WritePlan) -> Iterator[str]:
    """What raises an error for a row."""
    if any(branch.kind is EventKind.INSERT for branch in plan.branches):
        yield from (f"{name} IS NOT NULL" for name in sorted(plan.target.constraints.not_null))
        yield from (check.condition for check in plan.target.constraints.checks)
    if plan.cardinality_branch is not None:
        yield "no two rows of the source change one row"


def _with_sql(plan: Plan) -> Iterator[str]:
    match plan:
        case QueryPlan():
            yield "SELECT"
            yield from _reads(plan)
            yield from _text("query", plan.sql)
        case MultiWritePlan():
            yield "FROM"
            yield from _reads(plan)
            yield from _text("rows, read once", plan.rows)
            for write in plan.writes:
                yield from _with_sql(write)
        case WritePlan():
            yield _title(plan)
            yield from _reads(plan)
            yield from _text("rows", plan.rows)
            if plan.narrowing is not None:
                yield from _text("where the source is small, its keys", plan.narrowing.keys)
                yield from _text(f"and {plan.narrowing.view} by them", plan.narrowing.rows)
            for query in plan.key_queries:
                yield from _text(_leaves_out(query), query.sql)
            yield from _text("events", plan.events)
            yield from _changed_columns(plan)
            yield "writes"
            yield from (f"  {_written(b, plan)}" for b in plan.branches)
            yield from _emptied(plan)
            if plan.cardinality_branch is not None:
                yield f"checks cardinality: {plan.branches[plan.cardinality_branch].clause}"
            yield f"strategy: {explain_strategy(plan)}"
        case _:
            assert_never(plan)


def _reads(plan: Plan) -> Iterator[str]:
    if plan.scans or plan.frames:
        yield "reads"
    for scan in plan.scans:
        yield f"  {scan.view}: {_table(scan)}{_virtual(scan)}"
    if plan.views:
        yield f"  through {', '.join(view.qualified for view in plan.views)}"
    for frame in plan.frames:
        yield f"  {frame.view}: the frame {{{frame.frame}}}"


def _table(scan: Scan) -> str:
    return scan.table.qualified if scan.version is None else f"{scan.table.qualified} {scan.version}"


def _virtual(scan: Scan) -> str:
    columns = (
        ("row__id", scan.row_id),
        ("INPUT__FILE__NAME", scan.file_name),
        ("ROW__IS__DELETED", scan.is_deleted),
        ("its deleted rows", scan.with_deleted),
    )
    names = [name for name, asked in columns if asked]
    if scan.counted:
        return ", how many rows it has"
    return f" with {', '.join(names)}" if names else ""


def _text(title: str, sql: str) -> Iterator[str]:
    yield title
    yield from (f"  {line}" for line in sql.splitlines())


def _written(branch: Branch, plan: WritePlan) -> str:
    if branch.kind is EventKind.CHECK:
        return f"nothing: {branch.clause}"
    if plan.target.is_directory:
        return f"files of the directory: {branch.clause}"
    if plan.overwrite is not None:
        return f"base_W: {branch.clause}"
    return f"{branch.kind.value}_W_W_{branch.statement_id:04d}: {branch.clause}"


def _emptied(plan: WritePlan) -> Iterator[str]:
    if plan.overwrite is not None and plan.overwrite.whole and plan.target.partition_columns:
        yield "  base_W without rows: in each other partition of the table"
