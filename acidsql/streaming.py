"""Sinks for Structured Streaming: functions for `DataStreamWriter.foreachBatch` that write each batch exactly once.

Each batch is one INSERT or MERGE, planned and run like the statements of `session.sql`. Its transaction also commits
the number of the batch, under an ID that the caller chooses.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, assert_never

from acidsql.acid.object_names import table_of
from acidsql.acid.table import Table
from acidsql.batch_history import Action, BatchHistory, NewCheckpoint
from acidsql.connection import default_session
from acidsql.errors import AcidSqlError, Condition
from acidsql.frame_api.merge_clauses import MergeClauses
from acidsql.metastore.stream_claims import StreamUser
from acidsql.metastore.streams import StreamProgress, StreamState, require_stream_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from acidsql.session import Session

__all__ = ["append", "merge"]

BatchFunction: TypeAlias = "Callable[[DataFrame, int], None]"
NewCheckpointRule: TypeAlias = Literal["verify", "skip", "write"]

_ATTEMPTS: Final = 5
"""How often a batch is written anew after another transaction was in its way."""
_AGAIN: Final = frozenset(
    found.name
    for found in (
        Condition.WRITE_CONFLICT,
        Condition.DEADLOCK,
        Condition.TABLE_CHANGED,
        Condition.TRANSACTION_ABORTED,
        Condition.NO_SUCH_TRANSACTION,
    )
)
_UPSERT: Final = "WHEN MATCHED THEN UPDATE SET *\nWHEN NOT MATCHED THEN INSERT *"
_NEWER: Final = "WHEN MATCHED AND {newer} THEN UPDATE SET *\nWHEN NOT MATCHED THEN INSERT *"

_log = logging.getLogger(__name__)


def append(
    table: str,
    id: str,  # noqa: A002
    *,
    session: Session | None = None,
    partition: Mapping[str, object] | None = None,
    on_new_checkpoint: NewCheckpointRule = "verify",
) -> BatchFunction:
    """A function for `foreachBatch` that appends each batch to a transactional table, exactly once.

    Args:
        table: The table. The columns of a batch go to the columns of the same names; other columns get their DEFAULT,
            else NULL.
        id: The name of the stream. What is committed is remembered under this name, for this table.
        session: The session that writes. The default is the session of `acidsql.run_sql`.
        partition: Values of partition columns that a batch does not have (static partitions).
        on_new_checkpoint: What becomes of batches whose number is committed already when the query starts with a new
            checkpoint directory. `verify` passes over them if they have the same rows, and fails if not; it reads the
            rows of each batch once more, for a digest. `skip` passes over them unread. `write` writes all batches of
            the new query.

    Returns:
        The function, which takes a frame and the number of the batch.

    Raises:
        AcidSqlError: INVALID_PARAMETER. The function raises the errors of INSERT, STREAM_IN_USE while another process
            writes under the ID, and STREAM_REPLAY_DIFFERS.

    >>> add = acidsql.streaming.append("employee", id="hires", session=session)
    >>> batch = session.spark.createDataFrame([(9, "Ann")], "id int, name string")
    >>> add(batch, 0)  # Structured Streaming calls it: frame.writeStream.foreachBatch(add)
    >>> add(batch, 0)  # the same batch after a restart: it is there already
    >>> session.sql("SELECT count(*) AS n FROM employee WHERE id = 9").first().n
    1
    """
    static = _static(partition or {})

    def insert(table: Table, frame: DataFrame) -> _Write:
        from acidsql.frame_api.partition_clause import partition_clause
        from acidsql.grammar.quoting import name_sql

        columns = ", ".join(map(name_sql, frame.columns))
        into = f"{_name(table.database, table.name)}{partition_clause(static, table)} ({columns})"
        return _Write(f"INSERT INTO {into}\nSELECT {columns} FROM {{source}} AS source", frame)

    return _Sink(_Target.of(table, session), _checked_id(id), _rule(on_new_checkpoint), insert)


def merge(
    table: str,
    on: str,
    id: str,  # noqa: A002
    *,
    session: Session | None = None,
    clauses: str | MergeClauses | None = None,
    newest_by: str | Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    on_new_checkpoint: NewCheckpointRule = "verify",
) -> BatchFunction:
    """A function for `foreachBatch` that merges each batch into a full ACID table, exactly once.

    Args:
        table: The table, which the other arguments name as `target`.
        on: The condition of the MERGE, which names a batch as `source`: `target.id = source.id`.
        id: The name of the stream. What is committed is remembered under this name, for this table.
        session: The session that writes. The default is the session of `acidsql.run_sql`.
        clauses: The WHEN clauses of the MERGE, as SQL or as MergeClauses, such as a MergeBuilder. Without them it is an
            upsert: a matched row is updated in all columns, and other records are inserted.
        newest_by: One or more columns that tell which of several records with the same key is the newest. Only the
            newest record of each key in a batch is merged. An upsert also leaves a row as it is whose own values in
            these columns are not lower.
        keys: The columns of the key in a batch, for `newest_by`. The default are the columns of `source` that `on`
            compares with a column of `target` by `=`.
        on_new_checkpoint: As for `append`.

    Returns:
        The function, which takes a frame and the number of the batch.

    Raises:
        AcidSqlError: INVALID_PARAMETER, and PARSE_SYNTAX_ERROR for `on` or `clauses`. The function raises the errors
            of MERGE, STREAM_IN_USE while another process writes under the ID, and STREAM_REPLAY_DIFFERS.

    >>> upsert = acidsql.streaming.merge("employee", on="target.id = source.id", id="cdc", session=session)
    >>> upsert(session.spark.createDataFrame([(2, "Tom", 8000)], "id int, name string, salary int"), 0)
    >>> session.sql("SELECT salary FROM employee WHERE id = 2").first().salary
    8000
    """
    by = (newest_by,) if isinstance(newest_by, str) else tuple(newest_by or ())
    target = _Target.of(table, session)
    given = clauses.clauses_sql() if isinstance(clauses, MergeClauses) else clauses
    when = given or (_NEWER.format(newer=_is_newer(by)) if by else _UPSERT)
    text = f"MERGE INTO {_name(target.database, target.name)} AS target USING {{source}} AS source\nON {on}\n{when}"
    compared = _compared(text)
    key = tuple(compared if keys is None else keys)
    if by and not key:
        reason = "newest_by needs the columns of a key, and `on` compares none of target with one of source"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="keys", reason=reason)

    def merge_batch(_: Table, frame: DataFrame) -> _Write:
        from acidsql.spark.frames.batch_frames import newest

        return _Write(text, newest(frame, key, by, {name for name in key if compared.get(name)}) if by else frame)

    return _Sink(target, _checked_id(id), _rule(on_new_checkpoint), merge_batch)


# ------------------------------------------------------------------------------------------------ one batch


@dataclass(frozen=True, slots=True)
class _Write:
    """The statement that writes a batch, and the frame that it names as `{source}`."""

    text: str
    source: DataFrame


@dataclass(frozen=True, slots=True)
class _Target:
    """A session and a table in it."""

    session: Session
    database: str
    name: str

    @classmethod
    def of(cls, table: str, session: Session | None) -> _Target:
        found = default_session() if session is None else session
        database, name = table_of(table, found.database)
        if not name or "." in database:
            raise AcidSqlError(Condition.INVALID_PARAMETER, name="table", reason=f"{table!r} is not a table's name")
        return cls(found, database, name)

    def table(self) -> Table:
        """Raises TABLE_NOT_FOUND, NOT_A_TABLE, INVALID_STREAM_TABLE."""
        table = self.session.catalog.table(self.database, self.name)
        if table.temporary or not table.is_transactional:
            reason = "it is a temporary table" if table.temporary else "it is not transactional"
            hint = "What is committed of a stream is remembered with a transaction, and for longer than a session."
            raise AcidSqlError(Condition.INVALID_STREAM_TABLE, table=table.qualified, reason=reason, hint=hint)
        return table


@dataclass(frozen=True, slots=True)
class _Sink:
    """The function for foreachBatch."""

    target: _Target
    id: str
    rule: NewCheckpoint
    write: Callable[[Table, DataFrame], _Write]

    def __call__(self, frame: DataFrame, batch: int) -> None:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self._once(frame, batch)
                return
            except AcidSqlError as error:
                if error.condition not in _AGAIN or attempt == _ATTEMPTS:
                    raise
                _log.info("Batch %d of stream '%s' is written again: %s", batch, self.id, error)

    def _once(self, frame: DataFrame, batch: int) -> None:
        """One attempt, which begins with what is committed now: an earlier one may have committed unknown to it."""
        from acidsql.spark.frames.batch_frames import digest, is_running, query_of

        query, claims, spark = query_of(frame), self.target.session.stream_claims, frame.sparkSession
        table = self.target.table()
        claim = claims.hold(table, self.id, StreamUser(query, lambda: is_running(spark, query)))
        state = claims.state(claim)
        history = self._history(state)
        try:
            match history.action(batch, query, self.rule):
                case Action.PASS_OVER:
                    _log.info("Batch %d of stream '%s' is committed already.", batch, self.id)
                case Action.COMPARE:
                    compared = history.compared(batch, query, digest(frame))
                    if compared is None:
                        raise self._differs(history, batch, query)
                    claims.commit(claim, StreamProgress(claim, state, compared.offset(), 0))
                case Action.WRITE:
                    of_rows = digest(frame) if self.rule is NewCheckpoint.VERIFY else None
                    after = history.written(batch, query, self.rule, of_rows)
                    progress = StreamProgress(claim, state, after.offset(), 0)
                    write = self.write(table, frame)
                    self.target.session.execute(write.text, frames={"source": write.source}, progress=progress)
                case action:
                    assert_never(action)
        except AcidSqlError as error:
            if error.condition == Condition.STREAM_LOST.name:
                claims.lose(claim)
            raise

    def _history(self, state: StreamState) -> BatchHistory:
        history = BatchHistory.of_offset(state.offset)
        if history is None:
            reason = f"stream '{self.id}' of {state.database}.{state.table} is not written by Structured Streaming"
            raise AcidSqlError(Condition.INVALID_PARAMETER, name="id", reason=reason, hint="Choose another ID.")
        return history

    def _differs(self, history: BatchHistory, batch: int, query: str) -> AcidSqlError:
        return AcidSqlError(
            Condition.STREAM_REPLAY_DIFFERS,
            hint="Start the query again with the old checkpoint directory. Or start it with a new one and"
            " on_new_checkpoint='write' if its source begins behind what is committed, 'skip' if its batches up to"
            f" {history.batch} are committed.",
            stream=self.id,
            table=f"{self.target.database}.{self.target.name}",
            query=query,
            batch=batch,
            committed=history.batch,
            other=history.query or "(none)",
        )


# ------------------------------------------------------------------------------------------------ arguments


def _checked_id(name: str) -> str:
    if not isinstance(name, str):
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="id", reason=f"{name!r} is not a text")
    require_stream_id(name)
    return name


def _rule(name: str) -> NewCheckpoint:
    known = {rule.value: rule for rule in NewCheckpoint}
    if name not in known:
        reason = f"{name!r} is not one of {', '.join(known)}"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="on_new_checkpoint", reason=reason)
    return known[name]


def _static(partition: Mapping[str, object]) -> dict[str, str]:
    for name, value in partition.items():
        if value is None:
            reason = f"the column {name} has no value"
            raise AcidSqlError(Condition.INVALID_PARAMETER, name="partition", reason=reason)
    return {name.lower(): str(value) for name, value in partition.items()}


def _name(database: str, table: str) -> str:
    return f"`{database}`.`{table}`"


def _is_newer(by: Sequence[str]) -> str:
    """SQL: whether `source` has higher values than `target` in these columns. NULL is the lowest.

    >>> _is_newer(["seq"])
    '(source.`seq` IS NOT NULL AND (target.`seq` IS NULL OR source.`seq` > target.`seq`))'
    """
    from acidsql.grammar.quoting import name_sql

    name, *rest = map(name_sql, by)
    first = f"source.{name} IS NOT NULL AND (target.{name} IS NULL OR source.{name} > target.{name})"
    if not rest:
        return f"({first})"
    return f"({first} OR source.{name} <=> target.{name} AND {_is_newer(by[1:])})"


def _compared(merge: str) -> dict[str, bool]:
    """What `compared_columns` finds in the text of a MERGE. Raises PARSE_SYNTAX_ERROR."""
    from acidsql.grammar.parser import parse
    from acidsql.grammar.statements import Merge
    from acidsql.planner.merge.keys import compared_columns

    statement = parse(merge)
    assert isinstance(statement, Merge)
    return compared_columns(statement)
