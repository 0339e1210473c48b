"""Runs the statements of a script. Rows go to standard output, everything else goes to standard error."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, assert_never

from acidsql.errors import AcidSqlError, Condition, visible
from acidsql.frontends.render import Format, render, rows_in_words, summary
from acidsql.frontends.terminal import report, tell, waiting_shown
from acidsql.grammar.script_splitter import Piece, is_complete, split_script
from acidsql.results import CountsResult, Done, QueryResult, Result, ResultColumn, RowsResult, ScanResult

if TYPE_CHECKING:  # the prompt is shown before these are imported
    from acidsql.session import Session

OK, FAILED, CANNOT_START, INTERRUPTED = 0, 1, 2, 130
"""The exit statuses: all ran; a statement failed; bad usage or no start; Ctrl-C."""

_NO_START = frozenset(
    condition.name for condition in (Condition.JAVA_NOT_FOUND, Condition.CANNOT_START, Condition.METASTORE_UNAVAILABLE)
)
_BYTE_ORDER_MARK = "\ufeff"
_LONG_TEXT = 1 << 13
"""Characters. From this length on, `run_lines` looks for the end of a statement only whenever the text has grown by a
quarter: each look reads the whole text, and a string may hold a `;` in every line."""
_VERTICAL_END = r"\G"
_SETS_THE_SESSION = re.compile(r"(?:USE|SET)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Manner:
    """The options of `acidsql shell`: how to run statements and show their results."""

    shape: Format
    header: bool = True
    silent: bool = False
    verbose: bool = False
    force: bool = False
    dry_run: bool = False


@dataclass(slots=True)
class Runner:
    """Runs scripts in a session. `status` is the exit status so far."""

    session: Session
    manner: Manner
    status: int = OK
    _output_closed: bool = False

    def run_text(self, text: str, name: str | None = None) -> bool:
        """Runs the statements of `text`, which is the file `name` if that is given. Returns whether to go on.

        Raises KeyboardInterrupt, after the statement's Spark jobs were cancelled.
        """
        try:
            pieces = split_script(text)
        except AcidSqlError as error:
            return self._failed(error, _place(error, None, name))
        return all(self._run_piece(piece, name) for piece in pieces)

    def run_lines(self, lines: Iterable[str]) -> bool:
        """Runs each statement as soon as the line with its `;` has arrived."""
        waiting: list[str] = []
        length = looked_at = 0
        for number, line in enumerate(lines):
            waiting.append(line if number else line.removeprefix(_BYTE_ORDER_MARK))
            length += len(line)
            if ";" not in line or looked_at < length < looked_at + (looked_at >> 2) >= _LONG_TEXT:
                continue
            looked_at = length
            if is_complete("".join(waiting)):
                if not self.run_text("".join(waiting)):
                    return False
                waiting.clear()
                length = looked_at = 0
        return self.run_text("".join(waiting))

    def _run_piece(self, piece: Piece, name: str | None) -> bool:
        if self._output_closed:
            tell("Standard output was closed: the statements that follow were not run.")
            self.status = FAILED
            return False
        try:
            self._run(piece)
        except KeyboardInterrupt:
            self.session.cancel()
            raise
        except OutputClosedError:
            self._output_closed = True
        except AcidSqlError as error:
            return self._failed(error, _place(error, piece, name))
        except Exception as error:  # noqa: BLE001 - the edge: Spark's own errors are many, and each is only reported
            return self._failed(error, _place(None, piece, name))
        return True

    def _failed(self, error: Exception, place: str) -> bool:
        report(error, place=place, with_traceback=self.manner.verbose and not isinstance(error, AcidSqlError))
        self.status = exit_status(error)
        return self.manner.force and self.status != CANNOT_START

    def _run(self, piece: Piece) -> None:
        piece, shape = _without_vertical_end(piece, self.manner.shape)
        if self.manner.verbose:
            tell(f"{visible(self.session.substituted(piece.text).expandtabs(4))};")
        if self.manner.dry_run and not _SETS_THE_SESSION.match(piece.text):
            write_rows([visible(self.session.explain(piece.text)).rstrip("\n") + "\n"])
            return
        started = time.perf_counter()
        with ExitStack() as ending:
            with waiting_shown(silent=self.manner.silent, progress=self.session.progress):
                result = self.session.execute(piece.text, piece=piece, rows_only=True)
                ending.callback(result.close)
                # Rows are lazy: the query has run once its first row is here.
                rows = result.rows()
                first = list(islice(rows, 1))
            message = self._shown(result, chain(first, rows), shape)
        if not self.manner.silent:
            tell(f"{message} in {time.perf_counter() - started:.2f} s")
            if isinstance(result, Done) and result.note:
                tell(result.note)

    def _shown(self, result: Result, rows: Iterator[tuple[object, ...]], shape: Format) -> str:
        """Prints the rows of a result; returns the message about it."""
        match result:
            case Done():
                return result.operation
            case CountsResult():
                return summary(result.counts)
            case QueryResult() | ScanResult() | RowsResult():
                return self._print_rows(result.columns, rows, shape)
            case _:
                assert_never(result)

    def _print_rows(self, columns: Sequence[ResultColumn], rows: Iterator[tuple[object, ...]], shape: Format) -> str:
        number = 0

        def counted() -> Iterator[tuple[object, ...]]:
            nonlocal number
            for number, row in enumerate(rows, start=1):  # noqa: B007 - counts
                yield row

        write_rows(render(shape, columns, counted(), header=self.manner.header))
        return f"({rows_in_words(number)})"


class OutputClosedError(Exception):
    """The reader of standard output has closed it (`| head`)."""


def write_rows(parts: Iterable[str]) -> None:
    """Writes to standard output. Raises OutputClosedError once; later output is discarded."""
    for part in parts:
        _write(part)
    _write("")


def _write(part: str) -> None:
    try:
        sys.stdout.write(part)
        if not part:
            sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes its buffer at exit, and would complain about the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OutputClosedError from None


def exit_status(error: Exception) -> int:
    return CANNOT_START if isinstance(error, AcidSqlError) and error.condition in _NO_START else FAILED


def _place(error: AcidSqlError | None, piece: Piece | None, name: str | None) -> str:
    """`file:line:column: ` for editors, as far as it is known; empty for a text without a name."""
    if name is None:
        return ""
    span = error.span if error is not None else None
    if span is not None and (piece is None or span.source == piece.source):
        return f"{name}:{span.line}:{span.column}: "
    line = 1 if piece is None else piece.source.count("\n", 0, piece.start) + 1
    return f"{name}:{line}: "


def _without_vertical_end(piece: Piece, shape: Format) -> tuple[Piece, Format]:
    r"""Removes `\G` from the end of a statement and selects the vertical format for it."""
    if not piece.text.endswith(_VERTICAL_END):
        return piece, shape
    text = piece.text.removesuffix(_VERTICAL_END).rstrip()
    return replace(piece, end=piece.start + len(text)), Format.VERTICAL
