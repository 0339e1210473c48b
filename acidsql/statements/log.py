"""The log of statements: one record a statement, as JSON or as words, and its spans (acidsql/statements/spans.py).

The environment variable ACIDSQL_LOG asks for the log on standard error. Without it, records go to the logger
`acidsql.statements` where the application has enabled it for INFO.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from acidsql.errors import AcidSqlError, Condition, visible, visible_json
from acidsql.redaction import STATEMENTS_VARIABLE, clipped, shown_statement
from acidsql.statements.results import Result
from acidsql.statements.spans import statement_span
from acidsql.tracing import Trace, current, traced

LOG_VARIABLE: Final = "ACIDSQL_LOG"
JSON, TEXT = "json", "text"
_LONGEST: Final = 10_000
"""Characters of a statement in a record."""
_LONGEST_IN_TEXT: Final = 500

_logger = logging.getLogger("acidsql.statements")


def check_variables() -> None:
    """Raises INVALID_SETTING for a value of the log's variables that means nothing."""
    for name, known in ((LOG_VARIABLE, ("", "off", JSON, TEXT)), (STATEMENTS_VARIABLE, ("", "on", "off"))):
        value = os.environ.get(name, "")
        if value not in known:
            rule = f"it takes {', '.join(known[1:-1])} or {known[-1]}"
            raise AcidSqlError(Condition.INVALID_SETTING, name=name, value=value, rule=rule)


def log_form() -> str | None:
    """The form of the log that ACIDSQL_LOG asks for on standard error, `json` or `text`; None for no log."""
    value = os.environ.get(LOG_VARIABLE)
    return value if value in (JSON, TEXT) else None


@dataclass(slots=True)
class StatementRecord:
    """One statement in the log: its trace while it runs, and how it ended."""

    text: str
    database: str
    trace: Trace
    session_txn: int | None
    """The transaction of START TRANSACTION that it runs in."""
    operation: str | None = None
    rows: Mapping[str, int] | None = None
    error: str | None = None
    """The condition of the error that it ended with."""
    started: float = field(default_factory=time.time)
    seconds: float = 0.0

    def succeed(self, result: Result) -> None:
        """Notes the outcome of a statement that succeeded."""
        self.operation = result.operation
        if result.txn_id is not None:
            self.trace.txn_id = result.txn_id
        self.trace.write_ids.update(result.write_ids)
        if (counts := result.counts) is not None:
            names = ("affected", "updated", "deleted", "inserted")
            self.rows = dict(zip(names, counts.as_row(), strict=True))

    def values(self) -> dict[str, object]:
        """The record as values for JSON. Has no literal but those of the statement's text, and no message of an error,
        which can quote them."""
        trace = self.trace
        txn_id = trace.txn_id if trace.txn_id is not None else self.session_txn
        shown: dict[str, object | None] = {
            "time": f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(self.started))}.{self.started % 1 * 1000:03.0f}Z",
            "event": "statement",
            "pid": os.getpid(),
            "database": self.database,
            "operation": self.operation,
            "statement": shown_statement(self.text, _LONGEST),
            "txn_id": txn_id,
            "write_ids": trace.write_ids or None,
            "snapshot": trace.snapshot or None,
            "files_read": trace.files_read,
            "files_written": trace.files_written,
            "rows": self.rows,
            "seconds": round(self.seconds, 6),
            "phases": {name.value: round(taken, 6) for name, taken in trace.phases.items()},
            "error": self.error,
        }
        return {name: value for name, value in shown.items() if value is not None}


@contextmanager
def logged(text: str, database: str, session_txn: int | None) -> Iterator[StatementRecord | None]:
    """Runs a statement, and writes its record when the block ends. None, and nothing is done, where nobody wants it."""
    form = log_form()
    wanted = form is not None or _logger.isEnabledFor(logging.INFO)
    opened = statement_span()
    if (not wanted and opened is None) or current() is not None:
        yield None
        return
    record = StatementRecord(text, database, Trace(), session_txn)
    started = time.perf_counter()
    try:
        with ExitStack() as open_while_it_runs:
            span = None if opened is None else open_while_it_runs.enter_context(opened)
            record.trace.span = None if span is None else span.phase
            open_while_it_runs.enter_context(traced(record.trace))
            try:
                yield record
            except BaseException as error:
                record.error = _condition(error)
                raise
            finally:
                record.seconds = time.perf_counter() - started
                if span is not None:
                    span.finish(record.values())
    finally:
        if wanted:
            _write(record, form)


def _condition(error: BaseException) -> str:
    if isinstance(error, AcidSqlError):
        return error.condition
    return "UNEXPECTED_ERROR" if isinstance(error, Exception) else "INTERRUPTED"


def _write(record: StatementRecord, form: str | None) -> None:
    values = record.values()
    if form is not None:
        write_line(as_json(values) if form == JSON else as_text(values))
    if _logger.isEnabledFor(logging.INFO):
        _logger.info("%s", as_text(values), extra={"acidsql": values})


def write_line(line: str) -> None:
    """Writes a line of the log. A standard error that is closed loses it, and the statement goes on."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def as_json(values: Mapping[str, object]) -> str:
    """A record as one line of JSON."""
    return visible_json(json.dumps(values, ensure_ascii=False, default=str))


def as_text(values: Mapping[str, object]) -> str:
    """A record as one line of `name=value`, as logfmt has it.

    >>> as_text({"time": "2026-11-01T00:00:00.000Z", "write_ids": {"default.t": 2}, "statement": "SELECT 1"})
    '2026-11-01T00:00:00.000Z write_ids=default.t:2 statement="SELECT 1"'
    """
    words = []
    for name, value in values.items():
        if name in ("time", "event", "pid"):
            words += [str(value)] if name == "time" else []
        elif isinstance(value, Mapping):
            words.append(f"{name}={','.join(f'{key}:{one}' for key, one in value.items())}")
        else:
            text = clipped(str(value), _LONGEST_IN_TEXT)
            words.append(f"{name}={json.dumps(text, ensure_ascii=False) if ' ' in text else text}")
    return visible(" ".join(words))
