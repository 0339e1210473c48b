"""Files and standard input as sources of records: how they are read on, and what becomes of a file that is replaced."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from acidsql.acid.table import Column
from acidsql.errors import AcidSqlError
from acidsql.ingest import file_sources as module
from acidsql.ingest.file_sources import FileReading, FileSource, file_sources
from acidsql.ingest.known_files import KnownFiles
from acidsql.ingest.record_text import Delimited, JsonLines, RecordFormat
from acidsql.ingest.text_sources import BLOCK, InputSource, Place, Source

COLUMNS = [Column("a", "int"), Column("b", "string")]


class Reader:
    """Reads sources in a folder as `acidsql ingest` does, and keeps the places."""

    def __init__(self, folder: Path, *, header: bool = False) -> None:
        self.folder = folder
        self.header = header
        self.known = KnownFiles({})
        self.said: list[str] = []

    @property
    def places(self) -> dict[str, Place]:
        return self.known.places

    def new_format(self, head: bytes, source: str) -> RecordFormat:
        return Delimited(COLUMNS, header=True, head=head, source=source) if self.header else JsonLines(COLUMNS)

    def open(self, *names: str, **how: Any) -> list[FileSource]:
        reading = FileReading(self.new_format, self.said.append, **how)
        return file_sources([str(self.folder / name) for name in names], self.known, reading)

    def poll(self, source: Source) -> list[Any] | None:
        """The values of column a, and None at the end."""
        parts = source.poll()
        if parts is None:
            return None
        found = []
        for part in parts:
            for text in part.text.pieces(2):
                self.known.put(source.key, part.place_of(text))
                found += [record["a"] for record in text.records if isinstance(record, dict)]
        if source.place.inode:
            self.known.put(source.key, source.place)
        return found

    def read(self, *names: str, **how: Any) -> list[Any]:
        """Reads files to their ends."""
        return [value for source in self.open(*names, **how) for value in self.rest(source)]

    def rest(self, source: Source) -> list[Any]:
        found: list[Any] = []
        while (values := self.poll(source)) is not None:
            found += values
        source.close()
        return found


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    monkeypatch.setattr(module, "_LEAVE_SECONDS", 0.0)
    return Reader(tmp_path)


def lines(*numbers: int) -> str:
    return "".join(f'{{"a": {number}}}\n' for number in numbers)


def refusal(call: Callable[[], object], condition: str) -> str:
    with pytest.raises(AcidSqlError) as error:
        call()
    assert error.value.condition == condition
    return str(error.value)


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


# ------------------------------------------------------------------------------------------------ files


def test_a_file_is_read_on_from_the_place_before(reader: Reader, tmp_path: Path) -> None:
    file, other = tmp_path / "a", tmp_path / "b"
    file.write_text(lines(*range(500)))
    other.write_text(lines(7))
    assert reader.read("a", "b", "a") == [*range(500), 7]
    assert reader.read("a", "b") == []
    append(file, lines(500))
    assert reader.read("a", "b") == [500]
    place = reader.places[str(file)]
    assert (place.bytes, place.line) == (file.stat().st_size, 501)
    assert Place.of_json(place.json) == place


def test_a_last_line_without_a_line_feed_may_get_one_later_but_not_more(reader: Reader, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text(lines(1) + '{"a": 2}')
    assert reader.read("a") == [1, 2]
    append(file, "\n" + lines(3))
    assert reader.read("a") == [3]
    assert reader.places[str(file)].line == 3
    file = tmp_path / "b"
    file.write_text('{"a": 2}')
    assert reader.read("b") == [2]
    append(file, "  \n")
    assert "Line 1 of" in refusal(lambda: reader.read("b"), "INVALID_LINE")


def test_a_header_is_read_again_where_a_file_goes_on(tmp_path: Path) -> None:
    reader = Reader(tmp_path, header=True)
    (tmp_path / "a").write_text("b,a\nx,1\n")
    assert reader.read("a") == [1]
    append(tmp_path / "a", "y,2\n")
    assert reader.read("a") == [2]


def test_a_file_whose_beginning_has_changed_is_refused(reader: Reader, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text(lines(1, 2))
    assert reader.read("a") == [1, 2]
    for text in (lines(1, 3), lines(1)):
        file.write_text(text)
        assert "its first 18 bytes are not those that were read before" in refusal(
            lambda: reader.read("a"), "INVALID_SOURCE"
        )
    file.write_text(lines(1, 2, 3))
    assert reader.read("a") == [3]


def test_what_is_no_readable_file_is_refused(reader: Reader, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    refusal(lambda: reader.read("nothing"), "CANNOT_START")
    refusal(lambda: reader.read("folder"), "CANNOT_START")


def test_a_renamed_file_is_known_by_its_inode(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(lines(1, 2))
    assert reader.read("log") == [1, 2]
    append(tmp_path / "log", lines(3))
    (tmp_path / "log").rename(tmp_path / "log.1")
    (tmp_path / "log").write_text(lines(10))
    assert reader.read("log.1", "log", rotates=True) == [3, 10]
    assert reader.said == []
    assert reader.read("log.1", "log", rotates=True) == []


def test_the_rest_of_a_rotated_file_is_found_under_its_new_name(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(lines(1, 2))
    assert reader.read("log") == [1, 2]
    append(tmp_path / "log", lines(3))
    (tmp_path / "log").rename(tmp_path / "log.1")
    (tmp_path / "log").write_text(lines(10))
    refusal(lambda: reader.read("log"), "INVALID_SOURCE")
    assert reader.read("log", rotates=True) == [3, 10]
    assert reader.said == [f"{tmp_path}/log was replaced: {tmp_path}/log is read from its beginning"]


@pytest.mark.parametrize("suffixes", [(".1", ".2", ".3"), (".3", ".2", ".1"), ("-20240506", "-20240507", "-20240508")])
def test_a_log_may_be_rotated_several_times(reader: Reader, tmp_path: Path, suffixes: Sequence[str]) -> None:
    log = tmp_path / "log"
    before = log.with_name("log" + suffixes[0].replace("3", "4").replace("2024", "2023"))
    before.write_text(lines(0))
    (tmp_path / "log.bak").write_text("no JSON")
    for number, path in enumerate([before, log]):
        path.write_text(lines(number))
        os.utime(path, ns=(number, number))
    assert reader.read("log") == [1]
    append(log, lines(2))
    os.utime(log, ns=(2, 2))
    for number, suffix in enumerate(suffixes, 10):
        log.rename(log.with_name("log" + suffix))
        log.write_text(lines(number))
        os.utime(log, ns=(number, number))
    assert reader.read("log", rotates=True) == [2, 10, 11, 12]
    assert reader.read("log", rotates=True) == []
    assert reader.places[str(log)].bytes == len(lines(12))


def test_a_lost_rest_of_a_rotated_file_is_told(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(lines(1, 2))
    assert reader.read("log") == [1, 2]
    (tmp_path / "log").unlink()
    (tmp_path / "other").write_text("so that the inode is another one")
    (tmp_path / "log").write_text(lines(10))
    assert reader.read("log", rotates=True) == [10]
    assert "lines of it that were not read before are lost" in reader.said[0]


# ------------------------------------------------------------------------------------------------ growing files


def test_a_followed_file_is_read_as_it_grows(reader: Reader, tmp_path: Path) -> None:
    file = tmp_path / "log"
    (source,) = reader.open("log", follows=True)
    assert reader.said == [f"{file} is not there yet"]
    assert reader.poll(source) == []
    file.write_text(lines(1) + '{"a": ')
    assert reader.poll(source) == [1]
    assert reader.poll(source) == []
    append(file, "2}\n")
    assert reader.poll(source) == [2]
    file.unlink()
    assert reader.poll(source) == []


def test_a_followed_file_that_is_replaced_is_read_to_its_end_first(reader: Reader, tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text(lines(1))
    (source,) = reader.open("log", follows=True)
    assert [reader.poll(source), reader.poll(source)] == [[1], []]
    append(file, '{"a": 2}')
    file.rename(tmp_path / "log.1")
    file.write_text(lines(10))
    assert [reader.poll(source), reader.poll(source)] == [[2], [10]]
    assert reader.places[str(file)].bytes == 10
    assert "was replaced" in reader.said[0]


@pytest.mark.parametrize("text", [lines(10), lines(10, 11, 12), ""], ids=["shorter", "longer", "empty"])
def test_a_followed_file_that_is_cut_is_read_from_its_beginning(reader: Reader, tmp_path: Path, text: str) -> None:
    file = tmp_path / "log"
    file.write_text(lines(1, 2))
    (source,) = reader.open("log", follows=True)
    assert [reader.poll(source), reader.poll(source)] == [[1, 2], []]
    file.write_text(text)
    found = [*(reader.poll(source) or ()), *(reader.poll(source) or ())]
    append(file, lines(20))
    assert [*found, *(reader.poll(source) or ())] == [*([10, 11, 12][: text.count("\n")]), 20]
    assert "was overwritten" in reader.said[0]


# ------------------------------------------------------------------------------------------------ standard input


@pytest.fixture
def pipe() -> Iterator[Callable[[str], int]]:
    """Gives the reading end of a pipe that holds a text."""
    opened = []

    def holding(text: str) -> int:
        reading, writing = os.pipe()
        os.write(writing, text.encode())
        os.close(writing)
        opened.append(reading)
        return reading

    yield holding
    for descriptor in opened:
        os.close(descriptor)


def received(reader: Reader, descriptor: int, place: Place) -> Sequence[Any]:
    source = InputSource(descriptor, place, reader.new_format)
    return reader.rest(source)


def test_standard_input_passes_over_what_was_read(
    reader: Reader, pipe: Callable[[str], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = lines(*range(2000))
    for block in (7, 100, BLOCK):
        monkeypatch.setattr("acidsql.ingest.text_sources.BLOCK", block)
        reader.places.clear()
        assert received(reader, pipe(text), Place()) == list(range(2000))
        place = reader.places["standard input"]
        assert (place.bytes, place.line) == (len(text), 2000)
        assert received(reader, pipe(text + lines(5)), place) == [5]
        assert reader.places["standard input"].line == 2001
        assert received(reader, pipe(text), place) == []


def test_another_standard_input_is_refused(reader: Reader, pipe: Callable[[str], int]) -> None:
    assert received(reader, pipe(lines(1, 2)), Place()) == [1, 2]
    place = reader.places["standard input"]
    assert "--no-skip" in refusal(lambda: received(reader, pipe(lines(1, 3, 4)), place), "INVALID_SOURCE")
    assert "it ended after 9 bytes" in refusal(lambda: received(reader, pipe(lines(1)), place), "INVALID_SOURCE")
    assert received(reader, pipe(lines(3)), Place()) == [3]


def test_standard_input_with_a_header_goes_on(tmp_path: Path, pipe: Callable[[str], int]) -> None:
    reader = Reader(tmp_path, header=True)
    assert received(reader, pipe("b,a\nx,1\ny,2"), Place()) == [1, 2]
    assert received(reader, pipe("b,a\nx,1\ny,2\nz,3"), reader.places["standard input"]) == [3]


@pytest.mark.parametrize("new", ['{"a": 20}\n{"a": 21}\n{"a": 22}\n', "", '{"a": 2', '{"a": 2000000}\n'])
def test_the_place_of_the_last_line_of_a_replaced_file_is_one_in_that_file(
    reader: Reader, tmp_path: Path, new: str
) -> None:
    """The reader stops after this line. What it goes on from must not be a place in the new file."""
    log = tmp_path / "log"
    log.write_text('{"a": 10}\n{"a": 11}')
    (source,) = reader.open("log", rotates=True)
    assert reader.poll(source) == [10]
    log.rename(tmp_path / "log.1")
    log.write_text(new)
    assert reader.poll(source) == [11]
    source.close()
    log.write_text('{"a": 20}\n{"a": 21}\n{"a": 22}\n')
    assert reader.read("log", rotates=True) == [20, 21, 22]
