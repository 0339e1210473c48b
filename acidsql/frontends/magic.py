"""`%acidsql` and `%%acidsql` for Jupyter and IPython."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from acidsql.connection import default_session
from acidsql.errors import AcidSqlError, Condition
from acidsql.frontends.render import Column, Format, html, render, rows_in_words, summary
from acidsql.frontends.terminal import logs_hidden
from acidsql.frontends.value_text import Row
from acidsql.grammar.script_splitter import split_script
from acidsql.results import CountsResult, Done, QueryResult, Result, RowsResult, ScanResult
from acidsql.session import Session, connect

SHOWN_ROWS = 100
"""How many rows a cell without `--limit` shows."""

USAGE = """%acidsql [options] [name << | name =<<] statements
  name <<, name =<<   bind the last result as a DataFrame; with = also show it
  -n N, --limit N     show or bind at most N rows
  --pandas            a pandas DataFrame instead of a Spark one
  --warehouse DIR, --metastore URI   where the tables are, from here on"""

_OPTION = re.compile(
    r"""\s*(?:--(?P<flag>pandas) | (?:--(?P<long>warehouse|metastore|limit)|-(?P<short>n))(?:=|\s*)
        (?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s'"]+)))(?=\s|\Z)""",
    re.VERBOSE,
)
_BINDING = re.compile(r"\s*(?P<name>[^\W\d]\w*)\s*(?P<how>=?<<)")
_UNKNOWN_OPTION = re.compile(r"\s*(--?[A-Za-z][\w-]*)")
_FRAME = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`|--[^\n]*|/\*.*?\*/|(?<!\$)\{(?P<name>[^\W\d]\w*)\}""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Order:
    """The options and the binding of a cell's first line."""

    warehouse: str | None = None
    metastore: str | None = None
    limit: int | None = None
    pandas: bool = False
    name: str | None = None
    show: bool = True
    sql: str = ""


def parse_line(line: str) -> Order:
    """The options, the binding and the rest of a magic's first line.

    Raises UsageError for an unknown option: SQL would read it as a comment.

    >>> parse_line("top =<< --limit 3 SELECT 1").limit
    3
    """
    order = Order()
    while True:
        if option := _OPTION.match(line):
            order, line = _with_option(order, option), line[option.end() :]
        elif order.name is None and (binding := _BINDING.match(line)):
            order = replace(order, name=binding["name"], show=binding["how"] == "=<<")
            line = line[binding.end() :]
        else:
            break
    if unknown := _UNKNOWN_OPTION.match(line):
        raise UsageError(f"{unknown[1]} is not an option, or its value is missing\n{USAGE}")
    return replace(order, sql=line.strip())


def _with_option(order: Order, option: re.Match[str]) -> Order:
    value = next((option[group] for group in ("double", "single", "bare") if option[group] is not None), "")
    match option["long"] or option["short"] or option["flag"]:
        case "pandas":
            return replace(order, pandas=True)
        case "warehouse":
            return replace(order, warehouse=value)
        case "metastore":
            return replace(order, metastore=value)
        case _:
            if not value.isdecimal():
                raise UsageError(f"--limit takes a number of rows, not {value}")
            return replace(order, limit=int(value))


def frames_in(text: str, namespace: Mapping[str, object]) -> dict[str, object]:
    """The variables that the text names as `{name}` outside quotes and comments."""
    names = (match["name"] for match in _FRAME.finditer(text))
    return {name: namespace[name] for name in names if name and name in namespace}


# ------------------------------------------------------------------------------------------------ what a cell shows


@dataclass(frozen=True, slots=True, repr=False)
class Rows:
    """The rows that a cell shows: a table in a notebook and in a terminal."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    complete: bool

    @property
    def _footer(self) -> str:
        count = rows_in_words(len(self.rows))
        return f"({count})" if self.complete else f"(the first {count}; more with --limit)"

    def __repr__(self) -> str:
        return "".join(render(Format.TABLE, self.columns, self.rows)) + self._footer

    def _repr_html_(self) -> str:
        return f"{html(self.columns, self.rows)}\n<p>{self._footer}</p>"


@dataclass(frozen=True, slots=True, repr=False)
class Message:
    """The message of a cell about a statement that returns no rows."""

    text: str

    def __repr__(self) -> str:
        return self.text


class CellError(AcidSqlError):
    """An error of a statement in a cell: IPython shows its message and caret without a stack trace."""

    @classmethod
    def showing(cls, error: AcidSqlError) -> AcidSqlError:
        return cls.of(Condition[error.condition], error.getMessageParameters(), span=error.span, hint=error.hint)

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


# ------------------------------------------------------------------------------------------------ the magic


@magics_class
class AcidSqlMagics(Magics):
    """The magics and the session that they share."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._ipython = shell
        self._namespace: dict[str, object] = shell.user_ns
        self._session: Session | None = None

    @line_cell_magic
    @no_var_expand  # IPython would replace {name} by the text of the frame
    def acidsql(self, line: str, cell: str = "") -> object:
        """Runs SQL statements; shows the last result."""
        order = parse_line(line)
        try:
            if order.warehouse is not None or order.metastore is not None:
                self._connect(order)
            # Prepend the line of the magic, so that line numbers in error messages are those of the cell.
            return self._run(f"{order.sql}\n{cell}", order)
        except AcidSqlError as error:
            raise CellError.showing(error) from None

    def _connect(self, order: Order) -> None:
        # The former session stays open: names may still be bound to its frames.
        self._session = connect(warehouse=self._expanded(order.warehouse), metastore=self._expanded(order.metastore))

    def _expanded(self, value: str | None) -> str | None:
        """The value of an option with `{variable}` and `$variable` as in other magics."""
        return None if value is None else str(self._ipython.var_expand(value))  # type: ignore[no-untyped-call]

    def _run(self, text: str, order: Order) -> object:
        pieces = split_script(text)
        if not pieces:
            if order == Order():
                raise UsageError(f"There is no statement\n{USAGE}")
            return None
        session = self._session or default_session()
        try:
            with logs_hidden():
                for piece in pieces:
                    frames = frames_in(piece.text, self._namespace)
                    result = session.execute(piece.text, piece=piece, frames=frames)
                return self._bound(result, order) if order.name else _shown(result, order)
        except KeyboardInterrupt:
            session.cancel()
            raise

    def _bound(self, result: Result, order: Order) -> object:
        frame = result.frame()
        if order.limit is not None:
            frame = frame.limit(order.limit)
        self._namespace[str(order.name)] = frame.toPandas() if order.pandas else frame
        return _shown(result, order) if order.show else None


def _shown(result: Result, order: Order) -> object:
    match result:
        case Done():
            return Message(f"{result.operation}\n{result.note}".rstrip())
        case CountsResult():
            return Message(f"{summary(result.counts)}\n{result.note}".rstrip())
        case QueryResult() | ScanResult() | RowsResult():
            limit = SHOWN_ROWS if order.limit is None else order.limit
            if order.pandas:
                return result.frame().limit(limit).toPandas()
            rows = list(result.rows(limit + 1))
            return Rows(result.columns, rows[:limit], complete=len(rows) <= limit)
        case _:
            assert_never(result)


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """`%load_ext acidsql`"""
    ipython.register_magics(AcidSqlMagics)
