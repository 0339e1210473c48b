"""`%acidsql` and `%%acidsql` for Jupyter and IPython."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import assert_never

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from acidsql.connection import connect, default_session, opened_default_session, set_default_session
from acidsql.errors import AcidSqlError, Condition
from acidsql.frontends.catalog_names import CatalogNames
from acidsql.frontends.cell_completion import NoNames, matcher
from acidsql.frontends.cell_progress import progress_shown
from acidsql.frontends.cell_results import (
    MOST_SHOWN_ROWS,
    SHOWN_ROWS,
    CellCancelled,
    CellError,
    CellResult,
    Lines,
    Message,
    Rows,
)
from acidsql.frontends.completion import Names
from acidsql.frontends.magic_line import USAGE, Order, frames_in, parse_line, values_in
from acidsql.frontends.prompt_actions import tasks_after_cancel
from acidsql.frontends.render import Format, summary
from acidsql.frontends.script import is_text
from acidsql.frontends.terminal import java_output, tell_part
from acidsql.grammar.script_splitter import Piece, split_script
from acidsql.session import Session
from acidsql.statements.results import CountsResult, Done, QueryResult, Result, RowsResult, ScanResult


@magics_class
class AcidSqlMagics(Magics):
    """The magics. They run their statements in the default session, as `acidsql.run_sql` does."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._ipython = shell
        self._namespace: dict[str, object] = shell.user_ns
        self._place: tuple[str | None, str | None] | None = None
        """The warehouse and the metastore of the last cell that named one."""

    @line_cell_magic
    @no_var_expand  # IPython would replace {name} by the text of the frame
    def acidsql(self, line: str, cell: str = "") -> object:
        """Runs SQL statements, and shows their results.

        %acidsql [options] [name << | name =<<] statements
          name <<, name =<<   bind the last result as a DataFrame; with = also show it
          -n N, --limit N     show or bind at most N rows
          --pandas            a pandas DataFrame instead of a Spark one
          --warehouse DIR, --metastore URI   where the tables are, from here on

        A statement names frames of the notebook as {name}, and values as :name.
        """
        order = parse_line(line)
        try:
            if order.warehouse is not None or order.metastore is not None:
                self._connect(order)
            # Prepend the line of the magic, so that line numbers in error messages are those of the cell.
            return self._run(f"{order.sql}\n{cell}", order)
        except AcidSqlError as error:
            raise CellError.showing(error) from None

    def names(self) -> Names:
        """The names of the session's catalog, if a cell has opened a session: completion opens none."""
        session = opened_default_session()
        return NoNames() if session is None else CatalogNames(session)

    def _connect(self, order: Order) -> None:
        """Opens a session on the warehouse and makes it the default session. A cell that runs again changes nothing.

        The former session stays open: names may still be bound to its frames.
        """
        place = (self._expanded(order.warehouse), self._expanded(order.metastore))
        session = opened_default_session()
        if session is None or session.is_closed or place != self._place:
            set_default_session(connect(warehouse=place[0], metastore=place[1]))
            self._place = place

    def _expanded(self, value: str | None) -> str | None:
        """The value of an option with `{variable}` and `$variable` as in other magics."""
        return None if value is None else str(self._ipython.var_expand(value))  # type: ignore[no-untyped-call]

    def _run(self, text: str, order: Order) -> object:
        pieces = split_script(text)
        if not pieces:
            if order == Order() and not text.strip():
                raise UsageError(f"There is no statement\n{USAGE}")
            return None
        *others, last = pieces
        session = default_session()
        for piece in others:
            self._shown(session, piece, Order())._ipython_display_()
        if order.name or order.pandas:
            return self._frame(session, last, order)
        return self._shown(session, last, order)

    def _shown(self, session: Session, piece: Piece, order: Order) -> CellResult:
        """Runs a statement; returns what a cell shows of it, for the place of its progress."""
        with _cancelling(session), _java_hidden(), progress_shown(session, self._ipython) as progress:
            result = self._executed(session, piece, rows_only=True)
            try:
                shown = _for_cell(result, SHOWN_ROWS if order.limit is None else order.limit)
            finally:
                result.close()
        shown.place, shown.seconds = progress.place, progress.seconds
        return shown

    def _frame(self, session: Session, piece: Piece, order: Order) -> object:
        """Runs a statement for its frame and binds that if the order has a name; returns what is to be shown."""
        from acidsql.spark.failures import fetch_pandas

        shown_rows = SHOWN_ROWS if order.limit is None else order.limit
        with _cancelling(session), _java_hidden(), progress_shown(session, self._ipython) as progress:
            result = self._executed(session, piece, rows_only=False)
            if order.name is None and result.columns is None:
                shown = _for_cell(result, shown_rows)
            else:
                limit = shown_rows if order.name is None else order.limit
                frame = result.frame() if limit is None else result.frame().limit(limit)
                value: object = fetch_pandas(frame, piece.text) if order.pandas else frame
                if order.name is not None:
                    self._namespace[order.name] = value
                if order.pandas or not order.show:
                    return value if order.show else None
                shown = _for_cell(result, shown_rows)
        shown.place, shown.seconds = progress.place, progress.seconds
        return shown

    def _executed(self, session: Session, piece: Piece, *, rows_only: bool) -> Result:
        frames, values = frames_in(piece.text, self._namespace), values_in(piece.text, self._namespace)
        for name, value in values.items():
            if hasattr(value, "columns"):
                hint = f"A statement names a frame as {{{name}}}."
                raise AcidSqlError(Condition.INVALID_PARAMETER, name=f":{name}", reason="it is a frame", hint=hint)
        try:
            return session.execute(piece.text, values, piece=piece, frames=frames, rows_only=rows_only)
        except AcidSqlError as error:
            if error.condition == Condition.UNBOUND_PARAMETER.name:
                raise error.with_hint("The notebook has no variable of this name.") from error.__cause__
            raise


@contextmanager
def _cancelling(session: Session) -> Iterator[None]:
    """Cancels the statement of the block where the user interrupts it, and says what became of it."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        session.cancel()
        notes = (*getattr(interrupt, "__notes__", ()), tasks_after_cancel(session))
        raise CellCancelled("\n".join(["The statement was cancelled.", *filter(None, notes)])) from None


@contextmanager
def _java_hidden() -> Iterator[None]:
    """Hides what Java and Python's logs write while a statement runs, but not what explains a failed start."""
    with java_output(hidden=True) as hidden:
        try:
            yield
        except AcidSqlError as error:
            if error.condition == Condition.CANNOT_START.name:
                tell_part(hidden())
            raise


def _for_cell(result: Result, limit: int) -> CellResult:
    match result:
        case Done():
            return Message(result.operation, result.note)
        case CountsResult():
            return Message(summary(result.counts), result.note)
        case RowsResult() if is_text(result, Format.TABLE):
            return Lines(tuple(result.rows()), is_plan=result.operation == "EXPLAIN")
        case QueryResult() | ScanResult() | RowsResult():
            limit = min(limit, MOST_SHOWN_ROWS)
            rows = list(result.rows(limit + 1))
            note = result.note if isinstance(result, RowsResult) else ""
            is_history = result.operation == "DESCRIBE HISTORY"
            return Rows(result.columns, rows[:limit], complete=len(rows) <= limit, note=note, is_history=is_history)
        case _:
            assert_never(result)


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """`%load_ext acidsql`"""
    magics = AcidSqlMagics(ipython)
    ipython.register_magics(magics)
    if ipython.Completer is not None:
        known = [
            one for one in ipython.Completer.custom_matchers if getattr(one, "matcher_identifier", "") != "acidsql"
        ]
        ipython.Completer.custom_matchers = [*known, matcher(magics.names, ipython.user_ns)]
