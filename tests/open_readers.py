"""Random histories of a table beside open readers of the same session: each gives its snapshot, or FILE_REPLACED.

Every row has a number of its own, so a row of another snapshot shows. Files of plain tables are loaded with the names,
sizes and modification times of those that they replace: only their inodes differ.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow as pa
from pyarrow import orc, parquet

from acidsql import dbapi
from acidsql.errors import AcidSqlError
from acidsql.session import Session

Rows: TypeAlias = "list[tuple[int, int]]"
Reading: TypeAlias = "Iterator[Rows]"
"""The rows of a reader, some at a time."""

KINDS: Final = {
    "full ACID": "STORED AS ORC TBLPROPERTIES ('transactional'='true')",
    "insert-only": "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')",
    "plain ORC": "STORED AS ORC TBLPROPERTIES ('transactional'='false')",
    "plain Parquet": "STORED AS PARQUET TBLPROPERTIES ('transactional'='false')",
    "plain text": "STORED AS TEXTFILE TBLPROPERTIES ('transactional'='false')",
}
_TIME: Final = 1_700_000_000
_PARTITIONS: Final = (0, 1, 2)


@dataclass
class Reader:
    """`expected` are the rows of its snapshot, `read` those that it has given."""

    name: str
    expected: Rows
    reading: Reading
    read: Rows = field(default_factory=list)
    may_lose_files: bool = False


@dataclass
class History:
    """The table `t`, partitioned by p, and its readers. `ways` open readers of it."""

    session: Session
    kind: str
    directory: Path
    random: random.Random
    ways: Mapping[str, Callable[[Session], Reading]]
    log: list[str] = field(default_factory=list)
    readers: list[Reader] = field(default_factory=list)
    outcomes: dict[str, int] = field(default_factory=lambda: {"snapshot": 0, "FILE_REPLACED": 0})
    _numbers: Iterator[int] = field(default_factory=lambda: count(10_000_000))
    _names: Iterator[int] = field(default_factory=count)

    def run(self, steps: int) -> None:
        self._create()
        for _ in range(steps):
            self.random.choice((self._open, self._open, self._go_on, self._go_on, self._change, self._change))()
        for reader in list(self.readers):
            self._finish(reader)

    # -- readers

    def _open(self) -> None:
        name = self.random.choice(list(self.ways))
        expected = sorted(rows(self.session.sql("SELECT a, p FROM t") if "text" in self.kind else None, self.session))
        self.log.append(f"open {name}: {expected}")
        reader = Reader(name, expected, self.ways[name](self.session))
        self.readers.append(reader)

    def _go_on(self) -> None:
        if self.readers:
            reader = self.random.choice(self.readers)
            if self.random.random() < 0.5:
                self._finish(reader)
            else:
                self._read(reader, 1)

    def _finish(self, reader: Reader) -> None:
        self._read(reader, None)

    def _read(self, reader: Reader, most: int | None) -> None:
        self.log.append(f"read {reader.name}: {most or 'to the end'}")
        try:
            for number, some in enumerate(reader.reading, 1):
                reader.read += some
                assert set(some) <= set(reader.expected), self._told(reader, some)
                if number == most:
                    return
        except AcidSqlError as error:
            if error.condition != "FILE_REPLACED" or not reader.may_lose_files:
                raise AssertionError(self._told(reader, error)) from error
            self.outcomes["FILE_REPLACED"] += 1
        else:
            assert sorted(reader.read) == reader.expected, self._told(reader, reader.read)
            self.outcomes["snapshot"] += 1
        self.readers.remove(reader)

    def _told(self, reader: Reader, what: object) -> str:
        return "\n".join([*self.log, f"{reader.name} should give {reader.expected}: {what}"])

    # -- changes

    def _change(self) -> None:
        changes = [self._insert, self._insert, self._drop, self._rename, self._drop_partition, self._truncate]
        changes.append(self._overwrite)
        if self.kind == "full ACID":
            changes += [self._delete, self._update]
        self.random.choice(changes)()

    def _remove_files(self, text: str) -> None:
        for reader in self.readers:
            reader.may_lose_files = True
        self._sql(text)

    def _sql(self, text: str) -> None:
        self.log.append(text)
        self.session.execute(text)

    def _create(self) -> None:
        self._sql(f"CREATE TABLE t (a INT) PARTITIONED BY (p INT) {KINDS[self.kind]}")
        for p in _PARTITIONS:
            self._insert(p)

    def _insert(self, p: int | None = None) -> None:
        p = self.random.choice(_PARTITIONS) if p is None else p
        if self.kind.startswith("plain"):
            self._load(p, "")
        else:
            self._sql(f"INSERT INTO t PARTITION (p={p}) VALUES ({next(self._numbers)})")

    def _overwrite(self) -> None:
        p = self.random.choice(_PARTITIONS)
        if self.kind.startswith("plain"):
            self._load(p, "OVERWRITE")
        else:
            self._sql(f"INSERT OVERWRITE TABLE t PARTITION (p={p}) VALUES ({next(self._numbers)})")

    def _load(self, p: int, overwrite: str) -> None:
        directory = self.directory / f"load{next(self._names)}"
        directory.mkdir()
        path = directory / "000000_0"
        number = next(self._numbers)
        column = pa.table({"a": pa.array([number], pa.int32())})
        if "ORC" in self.kind:
            orc.write_table(column, path)
        elif "Parquet" in self.kind:
            parquet.write_table(column, path)
        else:
            path.write_text(f"{number}\n")
        run = self._remove_files if overwrite else self._sql
        run(f"LOAD DATA LOCAL INPATH '{directory}' {overwrite} INTO TABLE t PARTITION (p={p})")
        for loaded in (Path(self.session.warehouse) / "t").rglob("0*"):
            if loaded.is_file() and loaded.stat().st_mtime != _TIME:
                os.utime(loaded, (_TIME, _TIME))

    def _drop(self) -> None:
        self._remove_files("DROP TABLE t")
        self._create()

    def _rename(self) -> None:
        self._remove_files(f"ALTER TABLE t RENAME TO t{next(self._names)}")
        self._create()

    def _drop_partition(self) -> None:
        p = self.random.choice(_PARTITIONS)
        self._remove_files(f"ALTER TABLE t DROP IF EXISTS PARTITION (p={p})")
        self._sql(f"ALTER TABLE t ADD PARTITION (p={p})")
        self._insert(p)

    def _truncate(self) -> None:
        (self._remove_files if self.kind.startswith("plain") else self._sql)("TRUNCATE TABLE t")
        self._insert()

    def _delete(self) -> None:
        self._sql(f"DELETE FROM t WHERE p = {self.random.choice(_PARTITIONS)} AND a % 2 = 0")

    def _update(self) -> None:
        self._sql(f"UPDATE t SET a = {next(self._numbers)} WHERE p = {self.random.choice(_PARTITIONS)}")


def rows(frame: Any | None, session: Session) -> Rows:
    """The rows of `t`, read at once."""
    if frame is not None:
        return [(row.a, row.p) for row in frame.collect()]
    return _of_batch(session.read_arrow("t", ["a", "p"]).read_all())


def _of_batch(batch: Any) -> Rows:
    return [(row["a"], row["p"]) for row in batch.to_pylist()]


def arrow_reader(session: Session) -> Reading:
    return map(_of_batch, session.read_arrow("t", ["a", "p"]))


def cursor(session: Session) -> Reading:
    found = dbapi.Connection(session).cursor()
    found.execute("SELECT a, p FROM t")
    return ([(int(str(a)), int(str(p)))] for a, p in found)


WITHOUT_SPARK: Final = {"read_arrow": arrow_reader, "a DB-API cursor": cursor}
