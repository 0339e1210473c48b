"""Logs that are rotated between and during the runs of `acidsql ingest`: each of their lines arrives once."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from acidsql.acid.table import Column
from acidsql.errors import AcidSqlError
from acidsql.ingest import file_sources as module
from acidsql.ingest.file_identity import file_identity, is_same_file
from acidsql.ingest.file_sources import FileReading, FileSource, file_sources
from acidsql.ingest.known_files import KnownFiles
from acidsql.ingest.record_text import JsonLines
from acidsql.ingest.text_sources import Part, Place

SEED = int(os.environ.get("ACIDSQL_SEED", "0"))

HISTORIES = 80
STEPS = 25


class Ingest:
    """Runs of `acidsql ingest` under one ID: what arrived, and the offset that was committed with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.arrived: list[int] = []
        self.offset = "{}"
        self.said: list[str] = []
        self.sources: list[FileSource] = []
        self.known = KnownFiles({})

    def start(self, names: Sequence[str], *, rotates: bool = True, follows: bool = False, same: bool = False) -> None:
        self.known = KnownFiles({key: Place.of_json(place) for key, place in json.loads(self.offset).items()})
        reading = FileReading(
            lambda head, source: JsonLines([Column("a", "int")]), self.said.append, follows, rotates, same
        )
        self.sources = file_sources([str(self.folder / name) for name in names], self.known, reading)
        self.commit()

    def step(self, *, together: bool = False) -> None:
        """Polls the sources once."""
        for source in list(self.sources if together else self.sources[:1]):
            parts = source.poll()
            if parts is None:
                self.sources.remove(source)
                source.close()
            for part in parts or ():
                self.take(part, source.key)
            known = self.known.named(source.key)
            if source.place.inode and (known is None or known.inode != source.place.inode):
                self.known.put(source.key, source.place)
                self.commit()

    def take(self, part: Part, key: str) -> None:
        for text in part.text.pieces(2):
            self.known.put(key, part.place_of(text))
            self.arrived += [int(str(record["a"])) for record in text.records if isinstance(record, dict)]
            self.commit()

    def commit(self) -> None:
        self.offset = json.dumps({key: place.json for key, place in self.known.places.items()})

    def stop(self) -> None:
        """Ends the run as a killed process does: only the offset stays."""
        for source in self.sources:
            source.close()
        self.sources = []

    def run(self, *names: str, rotates: bool = True, same: bool = False) -> list[int]:
        """A whole run. Returns what arrived."""
        before = len(self.arrived)
        self.start(names, rotates=rotates, same=same)
        while self.sources:
            self.step()
        self.stop()
        return self.arrived[before:]


class Logs:
    """A log, its writer and its rotations. With `equal`, all lines are the same."""

    def __init__(self, folder: Path, *, equal: bool = False) -> None:
        self.folder = folder
        self.equal = equal
        self.log = folder / "log"
        self.log.write_text("")
        self.written: list[int] = []
        self.kept: list[int] = []

    def write(self, count: int, path: Path | None = None) -> None:
        numbers = [0 if self.equal else len(self.written) + n for n in range(count)]
        self.written += numbers
        with (path or self.log).open("a") as file:
            file.write("".join(f'{{"a": {number}}}\n' for number in numbers))

    def names(self) -> list[str]:
        """The log and its rotated files, the oldest first."""
        found = [path.name for path in self.folder.iterdir() if not path.name.endswith(".gz")]
        return sorted(found, key=lambda name: -int(name.partition(".")[2] or 0))

    def shift(self) -> None:
        for name in self.names():
            if name != "log":
                number = int(name.partition(".")[2])
                (self.folder / name).rename(self.folder / f"log.{number + 1}")

    def rename(self) -> None:
        self.shift()
        self.log.rename(self.folder / "log.1")
        self.log.write_text("")

    def cut(self) -> None:
        """`copytruncate`"""
        self.shift()
        shutil.copyfile(self.log, self.folder / "log.1")
        os.truncate(self.log, 0)

    def compress(self) -> None:
        """Replaces the oldest rotated log, as gzip does."""
        oldest = self.names()[0]
        if oldest != "log":
            # A file that is open gives its inode to no other one: births of one clock tick would not tell them apart.
            self.kept.append(os.open(self.folder / oldest, os.O_RDONLY))
            (self.folder / f"{oldest}.gz").write_bytes((self.folder / oldest).read_bytes())
            (self.folder / oldest).unlink()

    def close(self) -> None:
        for descriptor in self.kept:
            os.close(descriptor)


@pytest.fixture(autouse=True)
def _leaves_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LEAVE_SECONDS", 0.0)


def lines(*numbers: int) -> str:
    return "".join(f'{{"a": {number}}}\n' for number in numbers)


# ------------------------------------------------------------------------------------------------ random histories


def history(folder: Path, seed: int) -> Counter[str]:
    """Writers, rotations and runs in random order, and a last run. Checks that each line arrives once."""
    chance = random.Random(seed)
    equal = chance.random() < 0.3
    logs, ingest = Logs(folder, equal=equal), Ingest(folder)
    follows = chance.random() < 0.3
    # Where all lines are equal, nothing tells a log that was cut from one that has grown.
    rotations = [logs.rename] if equal else chance.choice([[logs.rename], [logs.cut], [logs.rename, logs.cut]])
    done: Counter[str] = Counter()

    def start() -> None:
        ingest.stop()
        names = logs.names()
        given = chance.choice([["log"], names[-2:], names, names[::-1]])
        ingest.start(given, rotates=not follows, follows=follows)

    def finish() -> None:
        ingest.stop()
        ingest.run(*logs.names())

    for _ in range(STEPS):
        what = chance.choice(["write", "write", "late", "rotate", "start", "step", "step", "step", "run", "compress"])
        done[what] += 1
        if what == "write":
            logs.write(chance.choice([0, 1, 3, 200]))
        elif what == "late" and (folder / "log.1").exists() and rotations == [logs.rename]:
            logs.write(chance.choice([1, 2]), folder / "log.1")  # its writer has not moved to the new file yet
        elif what == "rotate":
            chance.choice(rotations)()
        elif what == "start":
            start()
        elif what == "step" and ingest.sources:
            ingest.step(together=follows)
        elif what == "run":
            finish()
        elif what == "compress":
            finish()
            logs.compress()
        surplus = Counter(ingest.arrived) - Counter(logs.written)
        assert not surplus, f"{surplus} arrived twice in history {seed}"
    finish()
    logs.close()
    lost = Counter(logs.written) - Counter(ingest.arrived)
    assert not lost, f"{lost} were lost in history {seed}"
    assert not Counter(ingest.arrived) - Counter(logs.written), seed
    return done


def test_each_line_arrives_once_whatever_is_rotated_when(tmp_path: Path) -> None:
    for seed in range(SEED, SEED + HISTORIES):
        folder = tmp_path / str(seed)
        folder.mkdir()
        history(folder, seed)
        shutil.rmtree(folder)


# ------------------------------------------------------------------------------------------------ single histories


@pytest.mark.parametrize("equal", [False, True], ids=["lines that differ", "equal lines"])
def test_a_renamed_log_is_read_on_where_the_log_was(tmp_path: Path, equal: bool) -> None:
    """The log of the name before begins with the same bytes."""
    ingest = Ingest(tmp_path)
    numbers = [0] * 300 if equal else [0, 1, 2]
    (tmp_path / "log.1").write_text(lines(*numbers[:200] if equal else [0]))
    (tmp_path / "log").write_text(lines(*numbers))
    assert len(ingest.run("log.1", "log")) == (500 if equal else 4)
    (tmp_path / "log.1").rename(tmp_path / "log.2")
    (tmp_path / "log").rename(tmp_path / "log.1")
    (tmp_path / "log").write_text(lines(7))
    assert ingest.run("log.1", "log") == [7]
    assert ingest.run("log.2", "log.1", "log") == []
    assert ingest.said == []


@pytest.mark.parametrize("given", [["log"], ["log.1", "log"], ["log", "log.1"]])
def test_a_log_that_was_copied_and_cut_is_read_to_its_end_in_the_copy(tmp_path: Path, given: list[str]) -> None:
    logs, ingest = Logs(tmp_path), Ingest(tmp_path)
    logs.write(3)
    assert ingest.run("log") == [0, 1, 2]
    logs.write(2)
    logs.cut()
    logs.write(1)
    assert sorted(ingest.run(*given)) == [3, 4, 5]
    assert ingest.run("log.1", "log") == []


def test_a_log_that_was_cut_and_has_no_copy_is_told(tmp_path: Path) -> None:
    logs, ingest = Logs(tmp_path), Ingest(tmp_path)
    logs.write(3)
    ingest.run("log")
    os.truncate(logs.log, 0)
    logs.write(1)
    assert ingest.run("log") == [3]
    assert "lines of it that were not read before are lost" in ingest.said[0]


def test_logs_between_one_that_was_compressed_and_the_new_one_are_read(tmp_path: Path) -> None:
    logs, ingest = Logs(tmp_path), Ingest(tmp_path)
    logs.write(2)
    assert ingest.run("log") == [0, 1]
    for _ in range(2):
        logs.rename()
        logs.write(2)
    logs.compress()
    assert ingest.run("log") == [2, 3, 4, 5]
    assert "the file before it is gone" in ingest.said[0]
    logs.close()


def test_an_empty_log_is_known_when_it_is_rotated(tmp_path: Path) -> None:
    logs, ingest = Logs(tmp_path), Ingest(tmp_path)
    assert ingest.run("log") == []
    logs.write(2)
    logs.rename()
    logs.write(1)
    assert ingest.run("log") == [0, 1, 2]


def test_another_file_of_a_name_is_refused_but_for_the_same_text(tmp_path: Path) -> None:
    """An editor that writes a new file and renames it changes the inode."""
    logs, ingest = Logs(tmp_path), Ingest(tmp_path)
    logs.write(2)
    ingest.run("log", rotates=False)
    (tmp_path / "edited").write_text(lines(0, 1, 2))
    (tmp_path / "edited").replace(logs.log)
    with pytest.raises(AcidSqlError, match=r"another file has its name now") as error:
        ingest.run("log", rotates=False)
    assert error.value.condition == "INVALID_SOURCE"
    assert "--same-text" in str(error.value)
    assert ingest.run("log", rotates=False, same=True) == [2]
    assert ingest.run("log", rotates=False) == []
    (tmp_path / "edited").write_text(lines(0, 8, 2))
    (tmp_path / "edited").replace(logs.log)
    with pytest.raises(AcidSqlError, match="its first 27 bytes are not those that were read before"):
        ingest.run("log", rotates=False, same=True)


def test_a_file_with_two_names_is_read_once(tmp_path: Path) -> None:
    logs, ingest = Logs(tmp_path), Ingest(tmp_path)
    logs.write(2)
    (tmp_path / "link").symlink_to(logs.log)
    assert ingest.run("log", "link") == [0, 1]
    assert "is the same file as" in ingest.said[0]


def test_the_birth_tells_files_apart_that_had_the_same_inode() -> None:
    assert is_same_file("1:2:3", "1:2:3")
    assert not is_same_file("1:2:3", "1:2:4")
    assert not is_same_file("1:2:3", "1:5:3")
    # The device has another number after the machine was started, and an earlier version noted no birth.
    assert is_same_file("1:2:3", "7:2:3")
    assert is_same_file("1:2", "1:2:3")
    assert not is_same_file("1:2", "7:2:3")
    assert not is_same_file("1:2", "7:2")


def test_a_device_with_another_number_and_no_birth_is_refused(tmp_path: Path) -> None:
    logs, ingest = Logs(tmp_path), Ingest(tmp_path)
    logs.write(2)
    ingest.run("log")
    places = json.loads(ingest.offset)
    inode = file_identity(str(logs.log)).split(":")[1]
    places[str(logs.log)]["inode"] = f"999999:{inode}"
    ingest.offset = json.dumps(places)
    logs.write(1)
    with pytest.raises(AcidSqlError, match="the number of its device is another one"):
        ingest.run("log")
    assert ingest.run("log", rotates=False, same=True) == [2]


def test_a_place_of_an_earlier_version_has_no_birth(tmp_path: Path) -> None:
    logs, ingest = Logs(tmp_path), Ingest(tmp_path)
    logs.write(2)
    ingest.run("log")
    places = json.loads(ingest.offset)
    device, inode = file_identity(str(logs.log)).split(":")[:2]
    places[str(logs.log)]["inode"] = f"{device}:{inode}"
    ingest.offset = json.dumps(places)
    logs.write(1)
    assert ingest.run("log") == [2]
    assert json.loads(ingest.offset)[str(logs.log)]["inode"] == file_identity(str(logs.log))


def test_a_file_with_the_inode_of_a_removed_one_is_another_file(tmp_path: Path) -> None:
    """The file system gives the number again at once; the bytes before the place are the same, too."""
    logs, ingest = Logs(tmp_path), Ingest(tmp_path)
    logs.write(2)
    ingest.run("log")
    before = file_identity(str(logs.log))
    for _ in range(10_000):  # births of one tick of the clock are the same
        logs.log.unlink()
        logs.log.write_text(lines(0, 1, 5))
        if not is_same_file(before, file_identity(str(logs.log))):
            break
    assert ingest.run("log") == [0, 1, 5]
    assert "the file before it is gone" in ingest.said[0]
