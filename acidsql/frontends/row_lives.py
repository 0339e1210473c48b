"""`acidsql inspect --row | --where`: the life of single rows, as a text on a terminal, else as rows of events."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from acidsql.acid.row_id import RowId
from acidsql.frontends.render import Format, render, rows_in_words
from acidsql.frontends.script import FAILED, OK, OutputClosedError, write_rows
from acidsql.frontends.terminal import tell
from acidsql.frontends.value_text import json_text, json_value, shortest_floats
from acidsql.session import Session
from acidsql.show.history_list import utc_text
from acidsql.snapshot.row_history import RowChange, RowEvent, RowHistories, RowHistory
from acidsql.statements.results import ResultColumn

_COLUMNS: Final = (
    ("row", "bigint"),
    ("version", "bigint"),
    ("timestamp", "string"),
    ("change", "string"),
    ("state", "string"),
    ("operation", "string"),
    ("user", "string"),
    ("txn_id", "bigint"),
    ("partition", "string"),
    ("old_row_id", "string"),
    ("row_id", "string"),
    ("statement", "int"),
    ("bucket", "int"),
    ("values", "string"),
    ("former_values", "string"),
    ("files", "string"),
    ("note", "string"),
)
_Values = Mapping[str, object]


def print_rows(
    session: Session,
    table: str,
    row: Mapping[str, int] | None,
    where: str | None,
    limit: int | None,
    shape: Format | None,
) -> int:
    """Prints what happened to single rows, in a format or as a text, and how many rows there are. Returns the exit
    status, which tells whether there are any. Raises what `Session.row_history` raises."""
    found = session.row_history(table, row=row, where=where, limit=limit)
    exact = _exact(found)
    if shape is None and sys.stdout.isatty():
        pieces = _for_eyes(table, found, exact)
    else:
        columns = [ResultColumn(name, kind) for name, kind in _COLUMNS]
        pieces = render(shape or Format.TSV, columns, _lines(found, exact))
    try:
        write_rows(pieces)
    except OutputClosedError:
        return OK
    tell(f"({rows_in_words(len(found.rows))})")
    if found.has_more:
        tell("There are more rows. --limit N shows more of them, and --limit 0 all.")
    if not found.rows:
        tell(f"No file of {table} holds such a row: it never was there, or a compaction has removed it.")
    return OK if found.rows else FAILED


def _lines(found: RowHistories, exact: Callable[[_Values], _Values]) -> Iterator[tuple[object, ...]]:
    for number, history in enumerate(found.rows, start=1):
        for event in history.events:
            write = event.write
            yield (
                number,
                event.version,
                _time(event),
                event.change.value,
                event.state,
                write.operation if write else None,
                write.user if write else None,
                write.txn if write else None,
                event.partition,
                _row_id(event.old),
                _row_id(event.new),
                event.statement_id,
                event.bucket,
                exact(event.values),
                exact(event.changed),
                list(event.files),
                event.note,
            )


def _exact(found: RowHistories) -> Callable[[_Values], _Values]:
    """Shortens the FLOATs among the values of some columns."""
    types = {column.name: column.type for column in found.columns}

    def exact(values: _Values) -> _Values:
        shorten = shortest_floats([types[name] for name in values])
        return dict(zip(values, shorten(tuple(values.values())), strict=True))

    return exact


def _row_id(row_id: RowId | None) -> dict[str, int] | None:
    if row_id is None:
        return None
    return {"writeid": row_id.write_id, "bucketid": row_id.bucket_property, "rowid": row_id.row_id}


def _time(event: RowEvent) -> str | None:
    return None if event.write is None or event.write.time is None else utc_text(event.write.time)


# ------------------------------------------------------------------------------------------------ for eyes


def _for_eyes(table: str, found: RowHistories, exact: Callable[[_Values], _Values]) -> Iterator[str]:
    for number, history in enumerate(found.rows, start=1):
        yield f"{'' if number == 1 else chr(10)}row {number} of {table}: {_now(history)}\n"
        for event in history.events:
            yield from _event(event, exact)


def _now(history: RowHistory) -> str:
    if history.current is not None:
        return f"readers see it as {json_text(json_value(_row_id(history.current)))}"
    last = next((event for event in reversed(history.events) if event.state == "committed"), None)
    if last is None:
        return "no reader sees it: no write of it has committed"
    if last.change in (RowChange.DELETE, RowChange.OVERWRITE):
        return f"it is gone since version {last.version}"
    return "no reader sees it in this state"


def _event(event: RowEvent, exact: Callable[[_Values], _Values]) -> Iterator[str]:
    state = "" if event.state == "committed" else f" ({event.state})"
    yield f"\n  version {event.version}: {event.change.value}{state}{_by(event)}\n"
    ids = [json_text(json_value(_row_id(each))) for each in (event.old, event.new) if each is not None]
    yield f"    row ID: {' -> '.join(ids)}\n"
    if event.changed:
        values, former = exact(event.values), exact(event.changed)
        for name, value in former.items():
            yield f"    {name}: {_json(value)} -> {_json(values[name])}\n"
    if event.values:
        yield f"    {'values' if event.new is not None else 'old values'}: {_json(exact(event.values))}\n"
    places = [f"statement {event.statement_id}"] if event.statement_id is not None else []
    places += [f"bucket {event.bucket}"] if event.bucket is not None else []
    places += [f"partition {event.partition}"] if event.partition else []
    where = f" ({', '.join(places)})" if places else ""
    yield f"    in {_joined(event.files)}{where}\n"
    if event.note:
        yield f"    {event.note}\n"


def _by(event: RowEvent) -> str:
    """Who wrote an event, and when, as far as the history tells."""
    write = event.write
    if write is None:
        return ""
    who = f"{write.operation}{f' of {write.user}' if write.user else ''}"
    txn = "" if write.txn is None else f", transaction {write.txn}"
    return f" by {who}{txn}{'' if write.time is None else f', {_time(event)}'}"


def _joined(files: Sequence[str]) -> str:
    return ", ".join(files) or "no file that is still there"


def _json(value: object) -> str:
    return json_text(json_value(value))
