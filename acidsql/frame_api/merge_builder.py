"""A MERGE that is built call by call. Its statement is text, which the session runs like any other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from acidsql.errors import AcidSqlError, Condition
from acidsql.frame_api.given_frames import SOURCE, FrameRows
from acidsql.frame_api.merge_clauses import MergeClauses, WhenClause, fragment
from acidsql.grammar.parser import parse
from acidsql.grammar.statements import Merge, MergeAction, MergeDelete, MergeInsert, MergeUpdate, Statement
from acidsql.planner.merge.keys import compared_columns
from acidsql.statements.results import Counts, CountsResult, Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LONGEST: Final = 200
"""The most characters of a row that an error shows."""
_REPEATED: Final = Condition.CARDINALITY_VIOLATION.name
EVOLVING: Final = " WITH SCHEMA EVOLUTION"
"""The clause, behind the first word of a statement."""
_ABOUT_COLUMNS: Final = (Condition.COLUMN_NOT_FOUND.name, Condition.AMBIGUOUS_COLUMN.name)


class StatementRunner(Protocol):
    """What runs statements: a session."""

    @property
    def spark(self) -> SparkSession: ...

    def substituted(self, sql: str) -> str: ...

    def execute(
        self,
        text: str,
        args: Mapping[str, object] | None = None,
        *,
        frames: Mapping[str, object] | None = None,
        strict: bool = False,
        names_key: bool = True,
    ) -> Result: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeBuilder(MergeClauses):
    """A MERGE of a frame into a table. `Session.merge` makes one; each call of a method gives a new one.

    >>> new = [{"id": 2, "salary": 9500}, {"id": 9, "salary": 100}]
    >>> merge = (
    ...     session.merge("employee", new, on="target.id = source.id")
    ...     .when_matched("source.salary > target.salary").update({"salary": "source.salary"})
    ...     .when_not_matched().insert({"id": "source.id", "salary": "source.salary"})
    ... )
    >>> merge.execute()
    Counts(affected=2, updated=1, deleted=0, inserted=1)
    """

    runner: StatementRunner = field(repr=False, compare=False)
    table: str
    """The quoted name of the table."""
    source: FrameRows = field(repr=False, compare=False)
    on: str
    evolve: bool = False
    strict: bool = True

    def sql(self) -> str:
        """The MERGE statement as text, which names the frame as `{source}`.

        >>> rows = [{"id": 2, "salary": 1}]
        >>> print(session.merge("employee", rows, on="target.id = source.id").when_matched().delete().sql())
        MERGE INTO `default`.`employee` AS target
        USING {source} AS source
        ON target.id = source.id
        WHEN MATCHED THEN DELETE
        """
        into = f"MERGE{EVOLVING if self.evolve else ''} INTO {self.table} AS target"
        return f"{into}\nUSING {{{SOURCE}}} AS source\nON {fragment(self.on)}\n{self.clauses_sql()}".rstrip("\n")

    def execute(self, args: Mapping[str, object] | None = None) -> Counts:
        """Runs the statement. `args` are the values of its `:name` parameters.

        Raises the errors of MERGE, and INVALID_PARAMETER if a text of the builder is more than one expression.

        >>> gone = session.merge("employee", [{"id": 3}], on="target.id = source.id").when_matched().delete()
        >>> gone.execute()
        Counts(affected=1, updated=0, deleted=1, inserted=0)
        """
        if not self.clauses:
            raise AcidSqlError(Condition.INVALID_PARAMETER, name="merge", reason="it has no WHEN clause")
        text = self.sql()
        statement = parsed(self.runner, text)
        require_shape(statement, isinstance(statement, Merge) and _has_clauses(statement, self.clauses))
        return run(self.runner, text, args, self.source, statement, strict=self.strict)


def _has_clauses(statement: Merge, clauses: tuple[WhenClause, ...]) -> bool:
    """Whether the statement has just these clauses, each with its condition and as many values."""
    found = statement.clauses
    return len(found) == len(clauses) and all(
        one.when.value == clause.kind
        and (one.condition is None) == (clause.condition is None)
        and _values(one.action) == (clause.verb, None if clause.values is None else len(clause.values))
        for one, clause in zip(found, clauses, strict=True)
    )


def _values(action: MergeAction) -> tuple[str, int | None]:
    match action:
        case MergeDelete():
            return "DELETE", None
        case MergeUpdate(assignments):
            return "UPDATE", None if assignments is None else len(assignments)
        case MergeInsert(_, values):
            return "INSERT", None if values is None else len(values)


# ------------------------------------------------------------------------------------------------ running


def parsed(runner: StatementRunner, text: str) -> Statement | None:
    """The statement of a text; None for one that cannot be read, whose error the session raises when it runs it."""
    try:
        return parse(runner.substituted(text))
    except AcidSqlError:
        return None


def require_shape(statement: Statement | None, has_shape: bool) -> None:
    """Raises INVALID_PARAMETER if a statement was read, and is not what the caller's texts were put together for."""
    if statement is not None and not has_shape:
        reason = "a condition or a value is more than one expression of SQL"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="statement", reason=f"{reason}:\n{statement.source}")


def run(
    runner: StatementRunner,
    text: str,
    args: Mapping[str, object] | None = None,
    frame: FrameRows | None = None,
    statement: Statement | None = None,
    *,
    strict: bool,
) -> Counts:
    """Runs a DML statement, whose frame errors about columns, keys and values name."""
    try:
        frames = {} if frame is None else {SOURCE: frame.value}
        result = runner.execute(text, args, frames=frames, strict=strict, names_key=frame is None)
    except AcidSqlError as error:
        if strict and error.condition == Condition.INVALID_STORE_VALUE.name:
            raise error.with_hint(_unfit_value(error, frame)) from error.__cause__
        if frame is not None and error.condition in _ABOUT_COLUMNS:
            raise error.with_hint(frame.hint) from error.__cause__
        if frame is not None and isinstance(statement, Merge) and error.condition == _REPEATED:
            raise error.with_hint(_repeated_key(runner, frame, statement)) from error.__cause__
        raise
    assert isinstance(result, CountsResult)
    return result.counts


def _unfit_value(error: AcidSqlError, frame: FrameRows | None) -> str:
    """The row of the frame that has the value which an error is about, and what to do."""
    parameters = error.getMessageParameters()
    found = None if frame is None else frame.row_with(parameters["column"], parameters["value"])
    place = ""
    if found is not None:
        number, row = found
        values = ", ".join(f"{name} = {value!r}" for name, value in row.items())
        shown = values if len(values) <= _LONGEST else f"{values[:_LONGEST]} .."
        place = f"It is in row {number} of the frame: {shown}. "
    return f"{place}With strict=False the value is stored as Hive stores it: as NULL, wrapped around, or cut."


def _repeated_key(runner: StatementRunner, frame: FrameRows, statement: Merge) -> str:
    """What a frame has twice, if ON compares its columns with those of the target."""
    from acidsql.spark.frames.caller_frames import repeated_key

    own = {name.lower(): name for name in frame.columns}
    keys = [own[name.lower()] for name in compared_columns(statement) if name.lower() in own]
    found = repeated_key(frame.value, keys, runner.spark) if keys else None
    if found is None:
        return "Several rows of the frame match one row of the table."
    values = ", ".join(f"{name} = {value!r}" for name, value in found.items())
    return f"The frame has several rows with the key {values}."
