"""`acidsql inspect`: the content of a table's directories, as tables on a terminal, else as tab-separated lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeVar

from acidsql.acid.directories import Base, Delta
from acidsql.acid.row_id import decode_bucket
from acidsql.errors import AcidSqlError, visible
from acidsql.frontends.arguments import DEFAULT_LIMIT
from acidsql.frontends.render import Format, render
from acidsql.frontends.terminal import report, tell
from acidsql.session import Session
from acidsql.snapshot.event_visibility import StoredEvent
from acidsql.snapshot.table_contents import DirectoryContent, DirectoryKind, FileContent, PartContent, TableContent
from acidsql.statements.results import ResultColumn

_Shown = TypeVar("_Shown")
_OPERATIONS: Final = {0: "insert", 1: "update", 2: "delete"}
_FILE_COLUMNS: Final = (
    ("partition", "string"),
    ("directory", "string"),
    ("kind", "string"),
    ("write_ids", "string"),
    ("statement", "int"),
    ("visibility_txn", "bigint"),
    ("read", "boolean"),
    ("why", "string"),
    ("file", "string"),
    ("bytes", "bigint"),
    ("rows", "bigint"),
    ("note", "string"),
)
_EVENT_COLUMNS: Final = (
    ("operation", "string"),
    ("originalTransaction", "bigint"),
    ("bucketProperty", "int"),
    ("bucket", "int"),
    ("statement", "int"),
    ("rowId", "bigint"),
    ("currentTransaction", "bigint"),
    ("row", "string"),
    ("seen", "boolean"),
    ("why", "string"),
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is shown of a table: a partition or all, events or files only, and how many of them (None: all)."""

    partition: str | None = None
    with_events: bool = True
    limit: int | None = DEFAULT_LIMIT


def print_table(session: Session, name: str, wanted: Wanted) -> bool:
    """Prints a summary, a table's directories and files, and the events. Returns whether the table is readable.

    For programs, the summary goes to standard error, as the error of an unreadable table does. Raises what
    `Session.inspect` raises.
    """
    content = session.inspect(name, wanted.partition)
    rest = _Rest(wanted.limit)
    pieces: Iterator[str]
    if sys.stdout.isatty():
        pieces = chain(_summary(content), _for_eyes(session, content, rest, with_events=wanted.with_events))
    else:
        sys.stderr.write(visible("".join(_summary(content)), tabs=True))
        pieces = _event_lines(session, content, rest) if wanted.with_events else _file_lines(content, rest)
    try:
        for piece in pieces:
            sys.stdout.write(visible(piece, tabs=True))  # names of files are not acidsql's
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes its buffer at exit, and would complain about the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if rest.has_left_out:
        what = "events" if wanted.with_events else "files"
        tell(f"The first {wanted.limit:,} {what} are shown. --limit N shows more, and --limit 0 all of them.")
    problems = [part.problem for part in content.parts if part.problem is not None]
    for problem in problems:
        report(problem)
    return not problems


@dataclass(slots=True)
class _Rest:
    """How many more events or files are shown, and whether some were left out."""

    left: int | None
    has_left_out: bool = False

    def taken(self, found: Iterable[_Shown]) -> Iterator[_Shown]:
        for one in found:
            if self.left == 0:
                self.has_left_out = True
                return
            if self.left is not None:
                self.left -= 1
            yield one


# ------------------------------------------------------------------------------------------------ lines


def _file_lines(content: TableContent, rest: _Rest) -> Iterator[str]:
    found = ((part, d, f) for part in content.parts for d in part.directories for f in _files(d))
    rows = ((*_facts(part, d), *_of_file(f)) for part, d, f in rest.taken(found))
    return render(Format.TSV, _columns(_FILE_COLUMNS), rows)


def _event_lines(session: Session, content: TableContent, rest: _Rest) -> Iterator[str]:
    columns = _columns((("partition", "string"), ("file", "string"), *_EVENT_COLUMNS))
    found = ((part, event) for part in content.parts for event in _events(session, content, part))
    rows = ((part.name, event.file, *_of_event(event)) for part, event in rest.taken(found))
    return render(Format.TSV, columns, rows)


def _columns(named: Iterable[tuple[str, str]]) -> Sequence[ResultColumn]:
    return [ResultColumn(name, kind) for name, kind in named]


def _files(directory: DirectoryContent) -> Sequence[FileContent | None]:
    """The files of a directory, or None for the line of an empty directory."""
    return directory.files or (None,)


def _facts(part: PartContent, directory: DirectoryContent) -> tuple[object, ...]:
    match directory.parsed:
        case Base(write_id, visibility):
            ids: tuple[object, ...] = (f"..{write_id}", None, visibility)
        case Delta(low, high, statement, visibility):
            ids = (str(low) if low == high else f"{low}..{high}", statement, visibility)
        case None:
            ids = (None, None, None)
    return (part.name, directory.name, directory.kind.value, *ids, directory.is_read, directory.why)


def _of_file(file: FileContent | None) -> tuple[object, ...]:
    return (None, None, None, None) if file is None else (file.path, file.size, file.rows, file.note)


def _events(session: Session, content: TableContent, part: PartContent) -> Iterator[StoredEvent]:
    """The events of a partition. An unreadable file ends them, and its error goes to standard error."""
    try:
        yield from session.events(content, part)
    except (AcidSqlError, OSError, ValueError) as error:
        tell(f"{part.directory}: {error}")


def _of_event(event: StoredEvent) -> tuple[object, ...]:
    operation = "row" if event.operation is None else _OPERATIONS.get(event.operation, str(event.operation))
    return (
        operation,
        event.original_transaction,
        event.bucket,
        *_decoded(event.bucket),
        event.row_id,
        event.current_transaction,
        event.row,
        event.is_seen,
        event.why,
    )


def _decoded(bucket: int | None) -> tuple[int | None, int | None]:
    """The bucket number and the statement ID; None for a property that Hive does not write."""
    if bucket is None:
        return None, None
    try:
        decoded = decode_bucket(bucket)
    except AcidSqlError:
        return None, None
    return decoded.bucket, decoded.statement_id


# ------------------------------------------------------------------------------------------------ for eyes


def _summary(content: TableContent) -> Iterator[str]:
    yield f"{content.table.qualified}: {_kind(content)}, {content.table.file_format}, {content.table.location}\n"
    yield _snapshot(content)
    directories = [d for part in content.parts for d in part.directories]
    files = [file for d in directories for file in d.files]
    deletes = [f for d in directories if d.is_read and d.kind is DirectoryKind.DELETE_DELTA for f in d.files]
    rows = [f for d in directories if d.is_read and d.kind is not DirectoryKind.DELETE_DELTA for f in d.files]
    parts = f"{_counted(len(content.parts), 'partition')}, " if content.table.partition_columns else ""
    read = sum(d.is_read for d in directories)
    named = "directory" if len(directories) == 1 else "directories"
    yield (
        f"{parts}{len(directories):,} {named} ({read:,} read), {_counted(len(files), 'file')},"
        f" {_counted(sum(f.size for f in files), 'byte')}\n"
        f"read: {_counted(sum(f.rows or 0 for f in rows), 'row')},"
        f" {_counted(sum(f.rows or 0 for f in deletes), 'delete event')}\n"
    )


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _for_eyes(session: Session, content: TableContent, rest: _Rest, *, with_events: bool) -> Iterator[str]:
    for part in content.parts:
        if rest.has_left_out:
            return
        yield f"\n{part.name or part.directory}\n"
        for directory in part.directories:
            yield _directory_line(directory)
            shown = directory.files if with_events else rest.taken(directory.files)
            yield from (_file_line(file) for file in shown)
        if with_events:
            yield from _event_tables(session, content, part, rest)


def _kind(content: TableContent) -> str:
    if not content.table.is_transactional:
        return "plain"
    return "insert-only" if content.table.is_insert_only else "full ACID"


def _snapshot(content: TableContent) -> str:
    if content.writes is None:
        return ""
    left_out = [("open", content.writes.open), ("aborted", content.writes.aborted)]
    words = [f"{word}: {', '.join(map(str, sorted(ids)))}" for word, ids in left_out if ids]
    return f"write IDs up to {content.writes.high_watermark}{''.join(f'; {w}' for w in words)}\n"


def _directory_line(directory: DirectoryContent) -> str:
    name = directory.name or "(its own files)"
    read = "read" if directory.is_read else "not read"
    why = f" ({directory.why})" if directory.why else ""
    return f"{'+' if directory.is_read else '-'} {name}: {read}{why}\n"


def _file_line(file: FileContent) -> str:
    rows = "" if file.rows is None else f", {file.rows} rows" if file.rows != 1 else ", 1 row"
    return f"    {file.path.rpartition('/')[2]}: {file.size} bytes{rows}{f' ({file.note})' if file.note else ''}\n"


def _event_tables(session: Session, content: TableContent, part: PartContent, rest: _Rest) -> Iterator[str]:
    """A table for each file, under its path."""
    waiting: list[StoredEvent] = []
    for event in rest.taken(_events(session, content, part)):
        if waiting and waiting[0].file != event.file:
            yield from _event_table(waiting)
            waiting = []
        waiting.append(event)
    if waiting:
        yield from _event_table(waiting)


def _event_table(events: Sequence[StoredEvent]) -> Iterator[str]:
    yield f"\n{events[0].file}\n"
    yield from render(Format.TABLE, _columns(_EVENT_COLUMNS), map(_of_event, events))
