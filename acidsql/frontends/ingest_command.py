"""`acidsql ingest`: lines of files or of standard input as rows of a table, exactly once."""

from __future__ import annotations

import csv
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Final

from acidsql.acid.table import Column
from acidsql.errors import AcidSqlError, Condition
from acidsql.frontends.script import INTERRUPTED, OK
from acidsql.frontends.terminal import replace_line, shows_control_sequences, tell
from acidsql.ingest.file_sources import FileReading, file_sources
from acidsql.ingest.known_files import KnownFiles
from acidsql.ingest.record_text import Delimited, JsonLines, RecordFormat, with_line
from acidsql.ingest.stream import Stream
from acidsql.ingest.text_sources import INPUT, InputSource, Part, Place, Source
from acidsql.metastore.streams import Offset

JSON: Final = "json"
CSV: Final = "csv"
_OF_RECORDS: Final = frozenset(("INVALID_RECORD", "INVALID_LINE", "CONSTRAINT_VIOLATED", "INVALID_PARTITION_VALUE"))
"""The conditions of a record that the table does not take."""
_PAUSE_SECONDS: Final = 0.2
_SHOWN_EVERY: Final = 0.25
_RATE_SECONDS: Final = 5.0
_LONGEST_FIELD: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class TextOptions:
    """How the text is written: JSON lines, or fields between delimiters."""

    form: str = JSON
    delimiter: str = ","
    header: bool = False
    null: str = "\\N"

    def new_format(self, columns: Sequence[Column], head: bytes, source: str) -> RecordFormat:
        """The format for a text; `head` is its beginning if it is read on from its middle."""
        if self.form == JSON:
            return JsonLines(columns)
        return Delimited(
            columns, delimiter=self.delimiter, null=self.null, header=self.header, head=head, source=source
        )


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """Which text is read. No files, or `-`, are standard input, of which `skips` passes over what was read before."""

    files: Sequence[str] = ()
    follows: bool = False
    rotates: bool = False
    skips: bool = True
    same_text: bool = False


def ingest(stream: Stream, text: TextOptions, source: SourceOptions, most: int) -> int:
    """Writes the text to the stream and closes it. Returns the exit status.

    The first Ctrl-C or SIGTERM commits what was read; a second Ctrl-C drops it. `most` is how many records are written
    at once. Raises the errors of records, sources and commits, after a commit of the records before.
    """
    if text.form == CSV:
        csv.field_size_limit(_LONGEST_FIELD)
    run = _Run(stream, most)
    try:
        with _stopping() as stop:
            sources = run.sources(text, source)
            try:
                run.read(sources, stop, together=source.follows)
            finally:
                for one in sources:
                    one.close()
            stream.close()
    except KeyboardInterrupt:
        stream.drop_and_close()
        raise
    except BaseException as error:
        run.note_rejected(error)
        with suppress(AcidSqlError):
            stream.close()  # what was written is right; an error of the stream itself was raised already
        raise
    finally:
        run.show_end()
    if stop.signal != signal.SIGINT:
        return OK
    tell("Interrupted. What was read is committed.")
    return INTERRUPTED


# ------------------------------------------------------------------------------------------------ places


def places_of(offset: Offset) -> dict[str, Place]:
    """The places in a committed offset, by source. Raises INVALID_SOURCE for the offset of another program."""
    if offset is None:
        return {}
    try:
        if not isinstance(offset, Mapping):
            raise TypeError
        return {key: Place.of_json(value) for key, value in offset.items()}  # type: ignore[arg-type]
    except (KeyError, TypeError, ValueError, AttributeError):
        hint = "Use an --id that no other program uses."
        reason = f"the stream's committed offset {offset!r} is not one of acidsql ingest"
        raise AcidSqlError(Condition.INVALID_SOURCE, source="The text", reason=reason, hint=hint) from None


# ------------------------------------------------------------------------------------------------ the loop


@dataclass(slots=True)
class _Stop:
    """Whether to stop, and the signal that said so."""

    event: threading.Event = field(default_factory=threading.Event)
    signal: int | None = None

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        if self.signal is not None and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.signal = number
        self.event.set()


@contextmanager
def _stopping() -> Iterator[_Stop]:
    """Takes SIGINT and SIGTERM for requests to stop. A second SIGINT interrupts."""
    stop = _Stop()
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Run:
    """Writes what sources give to a stream, and shows how far it is."""

    def __init__(self, stream: Stream, most: int) -> None:
        self._stream = stream
        self._most = most
        self._progress = _Progress(stream)
        self._sources: Sequence[Source] = ()
        self._keys_read: set[str] = set()
        self._rejected = 0
        self.known = KnownFiles(places_of(stream.committed_offset))

    def sources(self, text: TextOptions, given: SourceOptions) -> Sequence[Source]:
        """The sources, each from the place on that was committed.

        Raises CANNOT_START for a file that cannot be read, and INVALID_SOURCE.
        """

        def new_format(head: bytes, name: str) -> RecordFormat:
            return text.new_format(self._stream.columns, head, name)

        if not given.files:
            before = (self.known.named(INPUT) or Place()) if given.skips else Place()
            self._sources = [InputSource(sys.stdin.fileno(), before, new_format)]
            return self._sources
        reading = FileReading(
            new_format,
            self._progress.tell,
            follows=given.follows,
            rotates=given.rotates,
            same_text=given.same_text,
        )
        committed = dict(self.known.places)
        self._sources = sources = file_sources(given.files, self.known, reading)
        if self.known.places != committed:
            self._note()  # a later run may find nothing but the new name
        return sources

    def read(self, sources: Sequence[Source], stop: _Stop, *, together: bool) -> None:
        """Reads the sources to their ends, or until it is to stop: one by one, or `together` where they have no end."""
        waiting = list(sources)
        while waiting and not stop.event.is_set():
            is_idle = True
            for source in list(waiting if together else waiting[:1]):
                parts = source.poll()
                if parts is None:
                    waiting.remove(source)
                for part in parts or ():
                    self._write(part, source.key)
                self._note_file(source)
                is_idle = is_idle and parts is not None and not parts
            if is_idle:
                self._stream.write([])  # raises the error of a commit that failed meanwhile
                stop.event.wait(_PAUSE_SECONDS if together else 0)
            self._progress.show()

    def _write(self, part: Part, key: str) -> None:
        self._keys_read.add(key)
        for text in part.text.pieces(self._most):
            place = part.place_of(text)
            self.known.put(key, place)
            try:
                self._stream.write(text.records, offset=self._offset())
            except AcidSqlError as error:
                raise with_line(error, text, part.source) from None
            self._progress.show()

    def _note_file(self, source: Source) -> None:
        """Notes the file that a source has begun to read: it may be rotated before anything is in it."""
        known = self.known.named(source.key)
        if source.place.inode and (known is None or known.inode != source.place.inode):
            self.known.put(source.key, source.place)
            self.known.trim()
            self._note()

    def _note(self) -> None:
        self._stream.write([], offset=self._offset())

    def _offset(self) -> Offset:
        return {name: place.json for name, place in self.known.places.items()}

    def note_rejected(self, error: BaseException) -> None:
        """Counts the record that ended the run, if that is what the error tells."""
        self._rejected = int(isinstance(error, AcidSqlError) and error.condition in _OF_RECORDS)

    def show_end(self) -> None:
        """Shows what was read, committed and rejected."""
        files = sum(source.key != INPUT for source in self._sources)
        unread = len(self._sources) - len(self._keys_read)
        old = f" ({unread:,} without new lines)" if files and unread > 0 else ""
        where = f"{files:,} {'file' if files == 1 else 'files'}{old}" if files else "Standard input"
        self._progress.end(where, self._rejected)


# ------------------------------------------------------------------------------------------------ progress


class _Progress:
    """The line on a terminal: rows, commits, rows in a second, and how long the last commit took."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._is_shown = shows_control_sequences()
        self._started = time.monotonic()
        self._shown_at = 0.0
        self._samples: deque[tuple[float, int]] = deque([(self._started, 0)])

    def show(self) -> None:
        """Shows the line, a few times a second."""
        now = time.monotonic()
        if not self._is_shown or now < self._shown_at + _SHOWN_EVERY:
            return
        self._shown_at = now
        counts = self._stream.counts
        self._samples.append((now, counts.rows))
        while len(self._samples) > 2 and self._samples[1][0] < now - _RATE_SECONDS:
            self._samples.popleft()
        since, rows = self._samples[0]
        rate = (counts.rows - rows) / max(now - since, _SHOWN_EVERY)
        took = f", last commit {counts.last_seconds * 1000:.0f} ms" if counts.commits else ""
        self._put(f"{_committed(counts.rows, counts.commits)}, {rate:,.0f} rows/s{took}")

    def end(self, where: str, rejected: int) -> None:
        """Replaces the line by a last one, which is also written where there is no terminal."""
        counts = self._stream.counts
        seconds = time.monotonic() - self._started
        ended = f"{where}: {_committed(counts.rows, counts.commits)} in {seconds:.1f} s, {rejected} rejected"
        if self._is_shown:
            self._put("")
        tell(ended)

    def tell(self, message: str) -> None:
        """Writes a message above the line."""
        if self._is_shown:
            self._put("")
        tell(message)

    def _put(self, text: str) -> None:
        width = os.get_terminal_size(sys.stderr.fileno()).columns if sys.stderr.isatty() else 0
        shown = text if not width or len(text) < width else text[: width - 1]
        replace_line(shown)


def _committed(rows: int, commits: int) -> str:
    return f"{rows:,} {'row' if rows == 1 else 'rows'} in {commits:,} {'commit' if commits == 1 else 'commits'}"
