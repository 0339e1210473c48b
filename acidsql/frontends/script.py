"""Runs the statements of a script. Rows go to standard output, everything else goes to standard error."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from acidsql.errors import AcidSqlError, Condition, Span, visible
from acidsql.frontends import pager
from acidsql.frontends.column_widths import Screen
from acidsql.frontends.prompt_commands import RunFile, RunStatement, parse_command
from acidsql.frontends.render import Format, render, render_lines, rows_in_words, summary
from acidsql.frontends.screen_columns import for_screen
from acidsql.frontends.terminal import report, tell, waiting_shown, write_out
from acidsql.grammar.script_splitter import Piece, is_complete, split_script
from acidsql.statements.results import CountsResult, Done, QueryResult, Result, RowsResult, ScanResult

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
_ENDS = re.compile(r";|\\G")
_FOR_EYES = (Format.TABLE, Format.VERTICAL)
_DEEPEST = 32
"""How many files may run each other by `source`."""


@dataclass(frozen=True, slots=True)
class Manner:
    """The options of `acidsql shell`: how to run statements and show their results."""

    shape: Format
    header: bool = True
    silent: bool = False
    verbose: bool = False
    force: bool = False
    dry_run: bool = False
    timing: bool = True
    """Whether the message about a statement has its seconds."""
    paged: bool = False
    """Whether a result that is longer than the screen is shown by the user's pager."""


@dataclass(slots=True)
class Runner:
    """Runs scripts in a session. `status` is the exit status so far."""

    session: Session
    manner: Manner
    status: int = OK
    allows: Callable[[str], bool] = lambda _: True
    """Whether to run a statement: the prompt asks the user about some."""
    _output_closed: bool = False
    _depth: int = 0

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
        r"""Runs each statement as soon as the line with its `;` or `\G` has arrived."""
        waiting: list[str] = []
        length = looked_at = 0
        for number, line in enumerate(lines):
            waiting.append(line if number else line.removeprefix(_BYTE_ORDER_MARK))
            length += len(line)
            if not _ENDS.search(line) or looked_at < length < looked_at + (looked_at >> 2) >= _LONG_TEXT:
                continue
            looked_at = length
            if is_complete("".join(waiting)):
                if not self.run_text("".join(waiting)):
                    return False
                waiting.clear()
                length = looked_at = 0
        return self.run_text("".join(waiting))

    def run_file(self, path: str) -> bool:
        """Runs the statements of a file. Returns whether to go on."""
        try:
            if self._depth >= _DEEPEST:
                raise AcidSqlError(Condition.STORAGE_FAILED, path=path, reason="the files run each other without end")
            text = script_text(path)
        except AcidSqlError as error:
            return self._failed(error, "")
        self._depth += 1
        try:
            return self.run_text(text, path)
        finally:
            self._depth -= 1

    def _run_piece(self, piece: Piece, name: str | None) -> bool:
        if self._output_closed:
            tell("Standard output was closed: the statements that follow were not run.")
            self.status = FAILED
            return False
        try:
            command = parse_command(piece.text)
            if isinstance(command, RunFile):
                return self.run_file(command.path)
            if command is not None or piece.text.startswith("\\"):
                raise _not_in_scripts(piece)
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
        if self.manner.verbose:
            tell(f"{visible(self.session.substituted(piece.text).expandtabs(4))};")
        plan = self._plan_in_place(piece.text) if self.manner.dry_run else None
        if plan is not None:
            write_rows([visible(plan).rstrip("\n") + "\n"])
            return
        if not self.allows(piece.text):
            tell("Not run.")
            return
        shape = Format.VERTICAL if piece.vertical else self.manner.shape
        is_absent = self._has_no_warehouse()
        started = time.perf_counter()
        with ExitStack() as ending:
            session = self.session
            with waiting_shown(silent=self.manner.silent, progress=session.progress, lock_wait=session.lock_wait):
                result = self.session.execute(piece.text, piece=piece, rows_only=True)
                ending.callback(result.close)
                # Rows are lazy: the query has run once its first row is here.
                rows = result.rows()
                first = list(islice(rows, 1))
            message = self._shown(result, chain(first, rows), shape)
        if not self.manner.silent:
            seconds = f" in {time.perf_counter() - started:.2f} s" if self.manner.timing else ""
            tell(f"{message}{seconds}")
            if isinstance(result, Done | CountsResult | RowsResult) and result.note:
                tell(result.note)
            if is_absent and not self._has_no_warehouse():
                tell(f"The warehouse {self.session.warehouse} is new.")

    def _has_no_warehouse(self) -> bool:
        try:
            self.session.check_warehouse()
        except AcidSqlError as error:
            return error.condition == Condition.WAREHOUSE_NOT_FOUND.name
        return False

    def _plan_in_place(self, text: str) -> str | None:
        """What a dry run prints in place of running a statement: its plan, or the name of a statement without one, such
        as SHOW TABLES or COMMIT. None for statements that change nothing but the session, which run: the plans of
        later statements depend on them."""
        from acidsql.grammar.parser import parsed_or_none
        from acidsql.statements.plans import changes_session, first_words, has_plan

        statement = parsed_or_none(text, self.session.substituted)
        if statement is None or has_plan(statement):
            return self.session.explain(text)
        return None if changes_session(statement) else f"{first_words(statement)} (it has no plan)"

    def _shown(self, result: Result, rows: Iterator[tuple[object, ...]], shape: Format) -> str:
        """Prints the rows of a result; returns the message about it."""
        match result:
            case Done():
                return result.operation
            case CountsResult():
                return summary(result.counts)
            case QueryResult() | ScanResult() | RowsResult():
                return self._print_rows(result, rows, shape)
            case _:
                assert_never(result)

    def _print_rows(
        self, result: QueryResult | ScanResult | RowsResult, rows: Iterator[tuple[object, ...]], shape: Format
    ) -> str:
        number = 0

        def counted() -> Iterator[tuple[object, ...]]:
            nonlocal number
            for number, row in enumerate(rows, start=1):  # noqa: B007 - counts
                yield row

        width, height = shutil.get_terminal_size()
        screen = Screen(width) if sys.stdout.isatty() else None
        parts = rendered(result, counted(), shape, header=self.manner.header, screen=screen)
        if self.manner.paged and screen is not None and shape in _FOR_EYES:
            if not pager.show(parts, height):
                self.session.cancel()  # nobody reads the other rows
                return f"({rows_in_words(number)} read, there may be more)"
        else:
            write_rows(parts)
        if is_text(result, shape):
            return result.operation
        return f"({rows_in_words(number)}{_notes(screen) if number else ''})"


def _not_in_scripts(piece: Piece) -> AcidSqlError:
    """The error of a command of the prompt in a script, which may use only `source FILE`, as in Hive's shell."""
    line = piece.text.split("\n", 1)[0]
    span = Span(piece.source, piece.start, piece.start + len(line))
    message = "Syntax error: a command of the prompt, which no script can use"
    command = parse_command(line)
    hint = f"Write {command.sql};" if isinstance(command, RunStatement) else "A script runs SQL, and source FILE;"
    return AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=span, message=message, hint=hint)


def is_text(result: QueryResult | ScanResult | RowsResult, shape: Format) -> bool:
    """Whether a result is shown as plain lines, not as rows."""
    return isinstance(result, RowsResult) and result.is_text and shape in _FOR_EYES


def rendered(
    result: QueryResult | ScanResult | RowsResult,
    rows: Iterable[tuple[object, ...]],
    shape: Format,
    *,
    header: bool = True,
    screen: Screen | None = None,
) -> Iterator[str]:
    """The text of a result as the shell prints it."""
    if is_text(result, shape):
        return render_lines(rows)
    if screen is not None and shape is Format.TABLE and isinstance(result, RowsResult):
        columns, rows = for_screen(result, rows)
        return render(shape, columns, rows, header=header, screen=screen)
    return render(shape, result.columns, rows, header=header, screen=screen)


def _notes(screen: Screen | None) -> str:
    if screen is not None and screen.has_cut:
        return "; values are cut, \\G instead of ; shows them whole"
    return "; the screen is too narrow for a table" if screen is not None and screen.is_vertical else ""


def script_text(path: str) -> str:
    """The text of a file of statements. Raises STORAGE_FAILED."""
    try:
        return Path(path).expanduser().read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = error.strerror or str(error)
    except UnicodeDecodeError as error:
        reason = f"it is not UTF-8: {error}"
    raise AcidSqlError(Condition.STORAGE_FAILED, path=path, reason=reason)


class OutputClosedError(Exception):
    """The reader of standard output has closed it (`| head`)."""


def write_rows(parts: Iterable[str]) -> None:
    """Writes to standard output. Raises OutputClosedError once; later output is discarded."""
    for part in parts:
        _write(part)
    _write("")


def _write(part: str) -> None:
    try:
        write_out(part)
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
