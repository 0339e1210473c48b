"""Records in lines of text: an object of JSON in each line, or delimited fields."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from acidsql.acid.hive_types import HiveType, parse_type
from acidsql.acid.table import Column
from acidsql.acid.text_format import is_text
from acidsql.errors import AcidSqlError, Condition
from acidsql.ingest.line_splitter import LONGEST_LINE, Lines, LineSplitter, invalid_line
from acidsql.values.stored_values import Unfit
from acidsql.values.value_texts import has_json_form, json_value, value_of_field, value_of_json

_NOT_ENDED: Final = "unexpected end of data"
"""What Python's csv says where a quoted field goes on in the next line."""
_SHOWN: Final = 100


@dataclass(frozen=True, slots=True)
class TextRecords:
    """Records of some lines.

    For each record, `numbers` has the line that it begins in, `lasts` the line that it ends in, and `ends` the place in
    bytes behind it. `offset` and `line` are the place and the line behind all of these lines.
    """

    records: Sequence[Mapping[str, object] | Sequence[object]]
    numbers: Sequence[int]
    lasts: Sequence[int]
    ends: Sequence[int]
    offset: int
    line: int

    def pieces(self, most: int) -> Iterator[TextRecords]:
        """The records in pieces of at most `most`."""
        starts = range(0, len(self.records), most)
        for start in starts:
            part = slice(start, start + most)
            lasts, ends = self.lasts[part], self.ends[part]
            place = (self.offset, self.line) if start == starts[-1] else (ends[-1], lasts[-1])
            yield TextRecords(self.records[part], self.numbers[part], lasts, ends, *place)


class RecordFormat(Protocol):
    """How records stand in lines."""

    def parse(self, lines: Lines, source: str) -> TextRecords | None:
        """The records that are whole with these lines; None if no line of them is done. Raises INVALID_LINE."""
        ...

    def finish(self, source: str) -> None:
        """Raises INVALID_LINE if the text has ended within a record."""
        ...


class TextReader:
    """Reads the records of a text that arrives in pieces, in bounded memory."""

    def __init__(self, splitter: LineSplitter, form: RecordFormat) -> None:
        self._splitter = splitter
        self._form = form

    def feed(self, data: bytes) -> TextRecords | None:
        """The records that are whole with these bytes, which may be none; None if no line ended.

        Raises INVALID_LINE and LIMIT_EXCEEDED.
        """
        return self._parsed(self._splitter.feed(data))

    def finish(self) -> TextRecords | None:
        """The record of a last line without a line feed. Raises INVALID_LINE."""
        found = self._parsed(self._splitter.finish())
        self._form.finish(self._splitter.source)
        return found

    def _parsed(self, lines: Lines) -> TextRecords | None:
        return self._form.parse(lines, self._splitter.source) if lines.texts else None


# ------------------------------------------------------------------------------------------------ JSON


class JsonLines:
    """An object in each line. Lines of blanks are passed over. `columns` are those that records may have."""

    def __init__(self, columns: Sequence[Column]) -> None:
        kinds = {column.name: parse_type(column.type) for column in columns}
        self._changed = {name: kind for name, kind in kinds.items() if has_json_form(kind)}
        self._spellings: dict[str, HiveType | None] = {}

    def parse(self, lines: Lines, source: str) -> TextRecords:
        """As RecordFormat says."""
        records, numbers, ends = [], [], []
        for number, (text, end) in enumerate(zip(lines.texts, lines.ends, strict=True), lines.first):
            if text and not text.isspace():
                records.append(self._record(text, number, source))
                numbers.append(number)
                ends.append(end)
        return TextRecords(records, numbers, numbers, ends, lines.ends[-1], lines.first + len(lines.texts) - 1)

    def finish(self, source: str) -> None:
        """As RecordFormat says: no object goes on in a further line."""

    def _record(self, text: str, number: int, source: str) -> Mapping[str, object]:
        try:
            record = json_value(text)
        except (ValueError, RecursionError) as error:
            raise invalid_line(number, source, f"it is not JSON ({error})", text) from None
        if not isinstance(record, dict):
            raise invalid_line(number, source, "it is not an object of JSON", text)
        for name in record if self._changed else ():
            kind = self._kind(name)
            if kind is not None and record[name] is not None:
                try:
                    record[name] = value_of_json(record[name], kind)
                except Unfit as error:
                    raise invalid_line(number, source, f"the value of {name} does not fit: {error}", text) from None
        return record

    def _kind(self, name: str) -> HiveType | None:
        """The type of a column whose values `value_of_json` changes, by its name as a record spells it."""
        if name not in self._spellings:
            if len(self._spellings) > 10_000:  # names that are no columns, as many as there are records
                self._spellings.clear()
            self._spellings[name] = self._changed.get(name.lower())
        return self._spellings[name]


# ------------------------------------------------------------------------------------------------ delimited text


class Delimited:
    r"""Fields between delimiters. A field in double quotes may hold delimiters, line feeds, and doubled quotes.

    The fields are those of `columns` in their order. With `header`, the first record names them; `head` is the
    beginning of a text that is read on from its middle. The field `null` (`\N`) is NULL. An empty field is the empty
    string in a column of text and NULL in others, as in Hive's text tables. Empty lines are passed over.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        *,
        delimiter: str = ",",
        null: str = "\\N",
        header: bool = False,
        head: bytes = b"",
        source: str = "",
    ) -> None:
        """Raises INVALID_LINE for the header in `head`, with the name `source`."""
        self._columns = columns
        self._delimiter = delimiter
        self._null = null
        self._waits_for_header = header
        self._waiting: list[str] = []
        self._waits_since = 0
        self.names: Sequence[str] | None = None
        """The names of the header; None without one."""
        if header and head:
            lines = head.decode("utf-8-sig", errors="replace").splitlines(keepends=True)
            rows = csv.reader(lines, delimiter=delimiter, strict=True)
            self.names, self._waits_for_header = next((row for row in rows if row), []), False
            self._check_names(1, source)

    def parse(self, lines: Lines, source: str) -> TextRecords | None:
        """As RecordFormat says."""
        held = len(self._waiting)
        if held and all('"' not in text for text in lines.texts):
            self._wait([*self._waiting, *lines.texts], self._waits_since, source)  # the quotes are still open
            return None
        texts = [*self._waiting, *lines.texts]
        first = self._waits_since if held else lines.first
        rows, starts, lasts, done = self._rows(texts, first, source)
        self._wait(texts[done:], first + done, source)
        if done <= held:
            return None
        if rows and self._waits_for_header:
            self.names, self._waits_for_header = rows.pop(0), False
            self._check_names(starts.pop(0), source)
            lasts.pop(0)
        records = self._records(rows, starts, source)
        ends = [lines.ends[last - lines.first] for last in lasts]
        return TextRecords(records, starts, lasts, ends, lines.ends[done - held - 1], first + done - 1)

    def finish(self, source: str) -> None:
        """As RecordFormat says."""
        if self._waiting:
            raise invalid_line(self._waits_since, source, "its quotes are not closed", self._waiting[0])

    def _wait(self, texts: list[str], first: int, source: str) -> None:
        """Keeps the lines of a record that is not whole. Raises LIMIT_EXCEEDED."""
        self._waiting, self._waits_since = texts, first
        size = sum(map(len, texts))
        if size > LONGEST_LINE:
            what = f"The record that begins in line {first} of {source}"
            raise AcidSqlError(Condition.LIMIT_EXCEEDED, what=what, value=f"{size} characters", limit=LONGEST_LINE)

    def _rows(self, texts: Sequence[str], first: int, source: str) -> tuple[list[list[str]], list[int], list[int], int]:
        """The rows of lines, the lines that each one begins and ends in, and how many lines are done."""
        reader = csv.reader((f"{text}\n" for text in texts), delimiter=self._delimiter, strict=True)
        rows, starts, lasts, done = [], [], [], 0
        try:
            for row in reader:
                if row:
                    rows.append(row)
                    starts.append(first + done)
                    lasts.append(first + reader.line_num - 1)
                done = reader.line_num
        except csv.Error as error:
            if str(error) != _NOT_ENDED:
                raise invalid_line(first + done, source, str(error), texts[done]) from None
        return rows, starts, lasts, done

    def _check_names(self, line: int, source: str) -> None:
        names = [name.strip().lower() for name in self.names or ()]
        known = [column.name for column in self._columns]
        for name in names:
            if name not in known:
                reason = f"the header names {name!r}, and the columns are {', '.join(known)}"
                raise invalid_line(line, source, reason, self._delimiter.join(names))
            if names.count(name) > 1:
                raise invalid_line(line, source, f"the header names {name!r} twice", self._delimiter.join(names))
        self.names = names

    def _records(
        self, rows: Sequence[Sequence[str]], starts: Sequence[int], source: str
    ) -> Sequence[Mapping[str, object] | Sequence[object]]:
        if not rows:
            return []
        kinds = {column.name: parse_type(column.type) for column in self._columns}
        names = list(kinds) if self.names is None else self.names
        if set(map(len, rows)) != {len(names)}:
            place = next(n for n, row in enumerate(rows) if len(row) != len(names))
            reason = f"it has {len(rows[place])} fields for the columns {', '.join(names)}"
            raise invalid_line(starts[place], source, reason, self._delimiter.join(rows[place]))
        columns = [
            self._values(name, kinds[name], fields, starts, source)
            for name, fields in zip(names, zip(*rows, strict=True), strict=True)
        ]
        values = zip(*columns, strict=True)
        return list(values) if self.names is None else [dict(zip(names, row, strict=True)) for row in values]

    def _values(
        self, name: str, kind: HiveType, fields: Sequence[str], starts: Sequence[int], source: str
    ) -> Sequence[object]:
        """The values of a column."""
        null = self._null
        if is_text(kind):
            return [None if field == null else field for field in fields] if null in fields else fields
        values: list[object] = []
        for field in fields:
            try:
                values.append(None if not field or field == null else value_of_field(field, kind))
            except Unfit as error:
                reason = f"the field {name} does not fit its type {kind}: {error}"
                raise invalid_line(starts[len(values)], source, reason, field[:_SHOWN]) from None
        return values


# ------------------------------------------------------------------------------------------------ errors


def with_line(error: AcidSqlError, text: TextRecords, source: str) -> AcidSqlError:
    """The error of a record, with the line that the record begins in."""
    number = error.getMessageParameters().get("number", "")
    if not number.isdecimal() or not 0 < int(number) <= len(text.numbers):
        return error
    return error.with_hint(f"The record is in line {text.numbers[int(number) - 1]} of {source}.")
