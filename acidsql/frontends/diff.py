"""`acidsql diff`: the changes between two versions, as a table in colours on a terminal, else as rows."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from acidsql.arrow.queries import table_item
from acidsql.errors import AcidSqlError, Condition, visible
from acidsql.frontends.column_widths import Screen
from acidsql.frontends.render import Format, render
from acidsql.frontends.script import OutputClosedError, write_rows
from acidsql.frontends.terminal import tell, waiting_shown
from acidsql.frontends.value_text import shortest_floats, text
from acidsql.session import Session
from acidsql.statements.results import ResultColumn
from acidsql.statements.row_changes import ChangedRow, RowChanges

_SIGNS: Final = {"insert": "+", "delete": "-", "update": "~", "update_preimage": "-", "update_postimage": "+"}
_SIGN_COLUMN: Final = ""
_CHANGE: Final = (ResultColumn("change", "string"), ResultColumn("version", "bigint"))
_FORMER: Final = ResultColumn("former_values", "string")


def print_changes(
    session: Session, table: str, first: int, last: int | None, limit: int | None, shape: Format | None
) -> None:
    """Prints the changes of some versions, at most `limit`, and how many rows they are. Raises what
    `Session.row_changes` raises."""
    with waiting_shown(silent=False, progress=session.progress, lock_wait=session.lock_wait):
        found = _changes(session, table, first, last, limit)
    screen = None
    try:
        if sys.stdout.isatty() and shape in (None, Format.TABLE):
            screen = Screen(shutil.get_terminal_size().columns)
            _write_coloured(_for_eyes(found, screen))
        else:
            write_rows(_for_programs(found, shape or Format.TSV))
    except OutputClosedError:
        return
    cut = "; values are cut, --output vertical shows them whole" if screen is not None and screen.has_cut else ""
    tell(f"({found.inserted:,} inserted, {found.updated:,} updated, {found.deleted:,} deleted{cut})")
    if found.has_more:
        tell(f"The first {len(found.rows):,} changes are shown. --limit N shows more, and --limit 0 all of them.")
    if any(row.change.startswith("update_") for row in found.rows):
        tell(
            "The files do not tell for each update which of the old rows (update_preimage) became which of the new"
            " ones (update_postimage)."
        )


def _changes(session: Session, table: str, first: int, last: int | None, limit: int | None) -> RowChanges:
    """The changes: none behind the newest version."""
    try:
        return session.row_changes(table, first, last, limit=limit)
    except AcidSqlError as error:
        if error.condition != Condition.INVALID_PARAMETER.name:
            raise
        newest = next(session.execute(f"DESCRIBE HISTORY {table_item(table)} LIMIT 1").rows(), None)
        if last is None and newest is not None and newest[0] == str(first - 1):
            columns = session.inspect(table).table.all_columns
            return RowChanges(tuple(ResultColumn(c.name, c.type) for c in columns), (), 0, 0, 0)
        hint = (
            f"The changes behind version {first - 1} begin with version {first}. DESCRIBE HISTORY lists the versions."
        )
        raise error.with_hint(hint) from error.__cause__


def _for_programs(found: RowChanges, shape: Format) -> Iterator[str]:
    """A row for each change: the new values, or those of a deleted row, and the former values of an update."""
    columns = (*_CHANGE, *found.columns, _FORMER)
    shorten = shortest_floats([column.type for column in found.columns])
    names = [column.name for column in found.columns]

    def line(row: ChangedRow) -> tuple[object, ...]:
        values = shorten(row.new if row.new is not None else row.old or ())
        former = None
        if row.old is not None and row.new is not None:
            pairs = zip(names, shorten(row.old), values, strict=True)
            former = {name: old for name, old, new in pairs if text(old) != text(new)}
        return (row.change, row.version, *values, former)

    return render(shape, columns, map(line, found.rows))


def _for_eyes(found: RowChanges, screen: Screen) -> Iterator[str]:
    """A table whose first column is the sign of the change, with `old -> new` where an update has changed a value."""
    columns = (ResultColumn(_SIGN_COLUMN, "string"), _CHANGE[1], *found.columns)
    shorten = shortest_floats([column.type for column in found.columns])

    def line(row: ChangedRow) -> tuple[object, ...]:
        values = shorten(row.new if row.new is not None else row.old or ())
        if row.old is not None and row.new is not None:
            values = _changed(shorten(row.old), values)
        return (_SIGNS[row.change], row.version, *values)

    return render(Format.TABLE, columns, map(line, found.rows), screen=screen)


def _changed(old: Sequence[object], new: Sequence[object]) -> list[object]:
    pairs = zip(old, new, strict=True)
    return [b if text(a) == text(b) else f"{_shown(a)} -> {_shown(b)}" for a, b in pairs]


def _shown(value: object) -> str:
    shown = text(value)
    return "NULL" if shown is None else shown


def _write_coloured(parts: Iterable[str]) -> None:
    """Writes the lines of a table to a terminal: green for new rows, red for deleted ones, yellow for updates."""
    has_colours = os.environ.get("TERM", "dumb") != "dumb" and not os.environ.get("NO_COLOR")
    for part in parts:
        match part[:4] if has_colours else "":
            case "| + ":
                sys.stdout.write("\x1b[32m" + visible(part.rstrip("\n"), tabs=True) + "\x1b[0m\n")
            case "| - ":
                sys.stdout.write("\x1b[31m" + visible(part.rstrip("\n"), tabs=True) + "\x1b[0m\n")
            case "| ~ ":
                sys.stdout.write("\x1b[33m" + visible(part.rstrip("\n"), tabs=True) + "\x1b[0m\n")
            case _:
                write_rows([part])
    sys.stdout.flush()
