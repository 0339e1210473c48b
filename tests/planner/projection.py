"""A projection of a plan: the aspects that a case names, each as a few lines.

A projection leaves out the SQL that the planner generates alike for every statement: `..` stands for the row ID of the
target and for columns that keep their value. The cases that show the text of EXPLAIN have this SQL too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from acidsql.grammar.dialect import to_spark
from acidsql.planner.explain import explain_locks
from acidsql.planner.plan import EventKind, MultiWritePlan, Plan, QueryPlan, Scan, WritePlan
from acidsql.planner.write_strategy import explain_strategy

_ERROR: Final = re.compile(r"raise_error\(concat\('acidsql-error\|(\w+)\|', (.*?), '\|acidsql-error'\)\)")
_PARAMETER: Final = re.compile(r"'(\w+=)', (.*?), '\x1f'")
_CHECKED: Final = re.compile(r"CASE ((?:WHEN (?:(?!WHEN ).)+ THEN error\(CONSTRAINT_VIOLATED, .*?\) )+)ELSE (\d+) END")
_CHECK: Final = re.compile(r"WHEN (.+?) THEN error\(CONSTRAINT_VIOLATED, detail='(.*?)'\) ")
_ACTION: Final = re.compile(r"WHEN (\d+) THEN array\(([\d, ]+)\)")
_ANY_ACTION: Final = re.compile(r"explode\(array\(([\d, ]+)\)\)")
_VALUE: Final = re.compile(r"(?m)^ +(.+?) AS (`[^`]+`)(?:,| FROM `:rows`\)\))?$")
_COLUMN: Final = re.compile(r"^(?:.+ AS )?`[^`:]+`(?:,|( FROM `:rows`\)\)))?$")
_ONLY_INSERTS: Final = re.compile(r"CASE WHEN `:branch` < \d+ THEN (.*) END")


def project(plan: Plan, aspects: Sequence[str]) -> str:
    """The lines of the aspects, each with its aspect before its first line; `none` for an aspect without lines."""
    shown = []
    for aspect in aspects:
        first, *others = list(ASPECTS[aspect](plan)) or ["none"]
        shown += [f"{aspect:<10}{first}", *(f"{'':10}{line}" for line in others)]
    return "\n".join(shown)


def _target(plan: Plan) -> Iterator[str]:
    """The operations, each with the table that it writes."""
    yield from (f"{write.operation} {write.target.qualified}" for write in _writes_of(plan))


def _reads(plan: Plan) -> Iterator[str]:
    """The scans, with the virtual columns that they give, and the frames."""
    for scan in plan.scans:
        columns = [name for name, read in (("row__id", scan.row_id), ("INPUT__FILE__NAME", scan.file_name)) if read]
        with_columns = f" with {', '.join(columns)}" if columns else ""
        version = f" {scan.version}" if scan.version is not None else ""
        counted = ", only counted" if scan.counted else ""
        yield f"{scan.view}: {scan.table.qualified}{version}{with_columns}{counted}"
    yield from (f"{frame.view}: {{{frame.frame}}}" for frame in plan.frames)


def _pruning(plan: Plan) -> Iterator[str]:
    """The conditions by which a scan skips partitions and rows."""
    for scan in plan.scans:
        for kind, conditions in (("partitions", scan.partition_filter), ("rows", scan.row_filter)):
            yield from (f"{scan.view}: {kind} {to_spark(condition)}" for condition in conditions)


def _rows(plan: Plan) -> Iterator[str]:
    """The query, or the rows query of each write, without the row ID of the target and the columns that it keeps."""
    if not isinstance(plan, WritePlan):
        yield plan.sql if isinstance(plan, QueryPlan) else plan.rows
    targets = [scan for scan in plan.scans if scan.is_target]
    for write in _writes_of(plan):
        yield from _without_kept_columns(write.rows, targets).splitlines()


def _without_kept_columns(rows: str, targets: Sequence[Scan]) -> str:
    for target in targets:
        row_id = re.search(rf"`(\w+)`\.`{target.row_id}` AS `:row_id`", rows)
        if row_id is not None:
            kept = "|".join(column.name for column in target.table.all_columns)
            generated = rf"{re.escape(row_id[0])}|`{row_id[1]}`\.`({kept})` AS `\1`"
            rows = re.sub(rf"(?:{generated})(?=, | FROM)", "..", rows)
    return re.sub(r"\.\.(, \.\.)+", "..", rows)


def _keys(plan: Plan) -> Iterator[str]:
    """The keys of a small source of MERGE, and the read of the target by them."""
    for narrowing in (write.narrowing for write in _writes_of(plan)):
        if narrowing is not None:
            yield from (narrowing.keys, f"{narrowing.view}: {narrowing.rows}")


def _values(plan: Plan) -> Iterator[str]:
    """What the events store in each column, except of columns that keep their value, and in no row of a delete."""
    for write in _writes_of(plan):
        for value, column in _VALUE.findall(_with_short_errors(write.events)):
            stored = _ONLY_INSERTS.sub(r"\1", value)
            if stored != column:
                yield f"{column} = {stored}"


def _events(plan: Plan) -> Iterator[str]:
    """The shape of the events query: `..` stands for the columns, and `checked` for the checks of a new row."""
    for write in _writes_of(plan):
        lines = _CHECKED.sub(r"checked(\2)", _with_short_errors(write.events)).splitlines()
        yield re.sub(r"\.\.( \.\.)+", "..", " ".join(_COLUMN.sub(r"..\1", line.strip()) for line in lines))


def _checks(plan: Plan) -> Iterator[str]:
    """The constraints that new rows are checked for, and the rows that MERGE may not change twice."""
    for write in _writes_of(plan):
        for cases, branch in _CHECKED.findall(_with_short_errors(write.events)):
            for condition, name in _CHECK.findall(cases):
                yield f"{_directory(write, int(branch))}: {name}, violated if {condition}"
        if write.cardinality_branch is not None:
            yield f"no row twice: {write.branches[write.cardinality_branch].clause}"


def _actions(plan: Plan) -> Iterator[str]:
    """The events of a row, by the number of its action if there are several."""
    for write in _writes_of(plan):
        events = _CHECKED.sub(r"\2", _with_short_errors(write.events))
        found = [(f"{action}: ", branches) for action, branches in _ACTION.findall(events)]
        for action, branches in found or [("", branches) for branches in _ANY_ACTION.findall(events)]:
            directories = (_directory(write, int(branch)) for branch in branches.split(", "))
            yield f"{action}{', '.join(directories)}"


def _written(plan: Plan) -> Iterator[str]:
    """The directories, each with its clause."""
    for write in _writes_of(plan):
        for number, branch in enumerate(write.branches):
            yield f"{_directory(write, number)}: {branch.clause}"


def _directory(write: WritePlan, branch: int) -> str:
    """The directory of a branch with its statement ID; `only counted` for events that are never written."""
    kind, statement_id = write.branches[branch].kind, write.branches[branch].statement_id
    if kind is EventKind.CHECK:
        return "only counted"
    return f"{'base' if write.overwrite is not None else kind.value} {statement_id:04d}"


def _strategy(plan: Plan) -> Iterator[str]:
    yield from map(explain_strategy, _writes_of(plan))


def _locks(plan: Plan) -> Iterator[str]:
    yield from explain_locks(plan.locks).splitlines()[1:]


def _writes_of(plan: Plan) -> tuple[WritePlan, ...]:
    return plan.writes if isinstance(plan, WritePlan | MultiWritePlan) else ()


def _with_short_errors(sql: str) -> str:
    """The SQL with calls of raise_error in the form `error(CONDITION, parameter=value)`."""

    def short(call: re.Match[str]) -> str:
        parameters = (f"{name}{value}" for name, value in _PARAMETER.findall(call[2]))
        return f"error({', '.join((call[1], *parameters))})"

    return _ERROR.sub(short, sql)


ASPECTS: Final[Mapping[str, Callable[[Plan], Iterator[str]]]] = {
    "target": _target,
    "reads": _reads,
    "pruning": _pruning,
    "rows": _rows,
    "keys": _keys,
    "values": _values,
    "events": _events,
    "checks": _checks,
    "actions": _actions,
    "writes": _written,
    "strategy": _strategy,
    "locks": _locks,
}
