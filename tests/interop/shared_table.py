"""One table in two places: what acidsql commits to its own is committed to Hive's under the same write ID."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from acidsql.session import Session
from tests.interop.hive_client import READ_MODES, Hive, HiveRow
from tests.interop.values import assert_same_rows, rows_of_hive, rows_of_spark

DATABASE: Final = "interop"
_WRITTEN: Final = re.compile(r"(?:delete_)?delta_(\d+)_(\d+)(?:_\d+)?|base_(\d+)")


@dataclass(frozen=True, slots=True)
class SharedTable:
    """A table of acidsql, and its like in Hive's metastore with a copy of its files. `name` is `interop.t` in both."""

    session: Session
    hive: Hive
    name: str
    directory: Path
    """acidsql's."""

    @property
    def hive_directory(self) -> Path:
        return self.hive.home.warehouse / f"{DATABASE}.db" / self.name.partition(".")[2]

    def write(self, statement: str, **frames: object) -> None:
        """Runs a DML statement in acidsql and hands what it wrote to Hive."""
        result = self.session.execute(statement, frames=frames)
        self.hand_over(result.write_ids[self.name])

    def hand_over(self, write_id: int) -> None:
        """Commits the files of a write ID in Hive. The write IDs that acidsql gave up before it are aborted there."""
        self._add_partitions(write_id)
        given = self.hive.begin(self.name)
        while given.write_id < write_id:
            self.hive.abort(given.txn)
            given = self.hive.begin(self.name)
        assert given.write_id == write_id, "Hive is ahead: it wrote to its table itself"
        for path in written_directories(self.directory, write_id):
            shutil.copytree(path, self.hive_directory / path.relative_to(self.directory))
        self.hive.commit(given.txn)

    def _add_partitions(self, write_id: int) -> None:
        """Registers the partitions that a write ID wrote to; Hive derives their directories from their values."""
        written = {path.parent.relative_to(self.directory) for path in written_directories(self.directory, write_id)}
        for path in sorted(written - {Path()}):
            self.hive.add_partition(self.name, str(path))

    def rows(self, columns: str = "row__id, *", where: str = "true") -> list[HiveRow]:
        """Rows as acidsql reads its own table."""
        return rows_of_spark(self.session.sql(f"SELECT {columns} FROM {self.name} WHERE {where}").collect())

    def assert_hive_reads_it(self, columns: str = "row__id, *", where: str = "true") -> list[HiveRow]:
        """Hive must read the rows that acidsql reads, with the same row IDs, with each of its readers."""
        expected = self.rows(columns, where)
        for mode in READ_MODES:
            assert_same_rows(hive_rows(self.hive, self.name, columns, where, mode.name), expected, mode.name)
        return expected


def hive_rows(
    hive: Hive, name: str, columns: str = "row__id, *", where: str = "true", mode_name: str = "fetch task"
) -> list[HiveRow]:
    """Rows of a table as one of Hive's readers gives them."""
    mode = next(mode for mode in READ_MODES if mode.name == mode_name)
    with hive.reading(mode):
        return rows_of_hive(hive.rows(f"SELECT {columns} FROM {name} WHERE {where}"))


def written_directories(directory: Path, write_id: int) -> Iterator[Path]:
    """The delta, delete_delta and base directories of one write ID, in partitions too."""
    for path in sorted(directory.rglob("*_*")):
        named = _WRITTEN.fullmatch(path.name)
        if named and {int(found) for found in named.groups() if found} == {write_id}:
            yield path


def create_in_both(session: Session, hive: Hive, name: str, rest: str) -> SharedTable:
    """CREATE TABLE interop.<name> <rest>, in acidsql and in Hive."""
    qualified = f"{DATABASE}.{name}"
    session.sql(f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
    session.sql(f"CREATE TABLE {qualified} {rest}")
    hive.run(f"DROP TABLE IF EXISTS {qualified}", f"CREATE TABLE {qualified} {rest}")
    location = session.catalog.table(DATABASE, name).location
    return SharedTable(session, hive, qualified, Path(location.removeprefix("file://")))
