"""The four ways to keep a table, behind one protocol: acidsql, plain ORC, Delta, Iceberg.

Files that a system wrote are never changed again in any of them, so a state is kept as hard links (`keep`), and a
repetition starts from it again (`restore`) without a byte copied.
"""

from __future__ import annotations

import gc
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from acidsql import streaming
from acidsql.errors import AcidSqlError, Condition
from acidsql.session import Session

DELETION_VECTORS: Final = "TBLPROPERTIES ('delta.enableDeletionVectors'='true')"
_MODES: Final = ", ".join(f"'write.{verb}.mode'='merge-on-read'" for verb in ("update", "delete", "merge"))
MERGE_ON_READ: Final = f"TBLPROPERTIES ('format-version'='3', {_MODES})"
CHANGE_DATA_FEED: Final = "TBLPROPERTIES ('delta.enableDeletionVectors'='true', 'delta.enableChangeDataFeed'='true')"
COPY_ON_WRITE: Final = "TBLPROPERTIES ('format-version'='3')"
"""Iceberg's changelog scan does not read delete files, so a table whose changes it reads is copied on write."""
"""The properties of the peers' tables."""


class NotThereError(Exception):
    """The system has no such statement (yet)."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A table's columns, as SQL that all systems read; the partition column is the last one."""

    columns: str
    partition: str | None = None
    bucketed_by: str | None = None
    buckets: int = 0
    has_changes: bool = False
    """The system must be able to tell the changes of each statement."""

    @property
    def names(self) -> tuple[str, ...]:
        """
        >>> Layout("id int, price decimal(20,5)").names
        ('id', 'price')
        """
        return tuple(part.split()[0] for part in self.columns.split(", "))


class System(Protocol):
    """One way to keep tables. Names of tables are without database; `table` gives the name for SQL."""

    name: str
    has_dml: bool

    def table(self, name: str) -> str: ...

    def create(self, name: str, layout: Layout) -> None:
        """A new, empty table; what had the name before is gone."""

    def create_as(self, name: str, query: str) -> None:
        """CREATE TABLE .. AS; the name must be free."""

    def run(self, sql: str) -> None:
        """Runs a statement to its end."""

    def frame(self, sql: str) -> DataFrame: ...

    def drop(self, name: str) -> None: ...

    def keep(self, name: str) -> None:
        """Remembers the table's state."""

    def restore(self, name: str) -> None:
        """The table as `keep` found it."""

    def compact(self, name: str) -> None:
        """All rows in new files, without deleted ones. Raises NotThereError."""

    def version(self, name: str, statement: int) -> str:
        """SQL of the table as it was behind a statement, the first one being 1."""

    def changes(self, name: str, statement: int) -> DataFrame:
        """The rows that a statement inserted, deleted and updated, with the kind of each change. Raises
        NotThereError."""

    def stream(self, name: str, source: str, *, by_own_writer: bool = False) -> None:
        """Streams the files of a view into a table, a transaction for each file: by Structured Streaming, or by a
        writer of the system's own if it has one and is asked for it."""

    def directory(self, name: str) -> Path:
        """Where the table's files are."""


@dataclass(slots=True)
class Acid:
    """acidsql. A kept state is adopted anew: CREATE TABLE on links to its files."""

    session: Session
    place: Path
    name: str = "acidsql"
    has_dml: bool = True
    _layouts: dict[str, Layout] = field(default_factory=dict)
    _places: dict[str, Path] = field(default_factory=dict)
    _count: int = 0

    def table(self, name: str) -> str:
        return name

    def create(self, name: str, layout: Layout) -> None:
        self.drop(name)
        self._layouts[name] = layout
        self._create_at(name, self._new_place(name))

    def create_as(self, name: str, query: str) -> None:
        self._places[name] = place = self._new_place(name)
        properties = "TBLPROPERTIES ('transactional'='true')"
        self.run(f"CREATE TABLE {name} STORED AS ORC LOCATION '{place}' {properties} AS {query}")

    def run(self, sql: str) -> None:
        self.session.execute(sql)

    def frame(self, sql: str) -> DataFrame:
        return self.session.sql(sql)

    def drop(self, name: str) -> None:
        self.run(f"DROP TABLE IF EXISTS {name}")
        if name in self._places:
            shutil.rmtree(self._places.pop(name), ignore_errors=True)

    def keep(self, name: str) -> None:
        self._clean()
        _link(self._places[name], self._kept(name))

    def _clean(self) -> None:
        """Removes what compactions have merged: frames that Python has not collected yet may keep it until now."""
        deadline = time.monotonic() + 20
        while "ready for cleaning" in str(list(self.session.execute("SHOW COMPACTIONS").rows())):
            assert time.monotonic() < deadline, "a frame is still there"
            gc.collect()
            time.sleep(0.2)
            self.session.compactor.clean()

    def restore(self, name: str) -> None:
        self.drop(name)
        place = self._new_place(name)
        _link(self._kept(name), place)
        self._create_at(name, place)

    def compact(self, name: str) -> None:
        try:
            self.run(f"ALTER TABLE {name} COMPACT 'major' AND WAIT")
        except AcidSqlError as error:
            if error.condition == Condition.NOT_YET_SUPPORTED.name:
                raise NotThereError from error
            raise

    def version(self, name: str, statement: int) -> str:
        return f"{name} VERSION AS OF {statement}"

    def changes(self, name: str, statement: int) -> DataFrame:
        return self.session.sql(f"SELECT * FROM {name} CHANGES FROM VERSION {statement} TO VERSION {statement}")

    def stream(self, name: str, source: str, *, by_own_writer: bool = False) -> None:
        spark = self.session.spark
        self._count += 1
        if by_own_writer:
            with self.session.stream(name, id="bench", commit_rows=None, commit_seconds=None) as stream:
                for number, path in enumerate(sorted(spark.table(source).inputFiles())):
                    stream.write(parquet.read_table(path.removeprefix("file://")), offset=number)
                    stream.commit()
            return
        sink = streaming.append(name, id="bench", session=self.session)
        writer = _streamed(spark, source, self.place / f"checkpoint-{self._count}").foreachBatch(sink)
        writer.start().awaitTermination()

    def directory(self, name: str) -> Path:
        return self._places[name]

    def _create_at(self, name: str, place: Path) -> None:
        layout = self._layouts[name]
        columns, partition = layout.columns, ""
        if layout.partition is not None:
            columns, _, last = columns.rpartition(", ")
            partition = f" PARTITIONED BY ({last})"
        buckets = f" CLUSTERED BY ({layout.bucketed_by}) INTO {layout.buckets} BUCKETS" if layout.buckets else ""
        self._places[name] = place
        self.run(
            f"CREATE TABLE {name} ({columns}){partition}{buckets} STORED AS ORC LOCATION '{place}'"
            " TBLPROPERTIES ('transactional'='true')"
        )

    def _new_place(self, name: str) -> Path:
        """Never one that was there before: what is cached by path would be known already."""
        self._count += 1
        return self.place / f"{name}-{self._count}"

    def _kept(self, name: str) -> Path:
        return self.place / "kept" / name


@dataclass(slots=True)
class SparkTables:
    """Tables of Spark's own catalog at a place: plain ORC, and Delta."""

    spark: SparkSession
    place: Path
    name: str
    using: str
    prefix: str
    has_dml: bool
    properties: str = ""
    _layouts: dict[str, Layout] = field(default_factory=dict)
    _places: dict[str, Path] = field(default_factory=dict)
    _count: int = 0

    def table(self, name: str) -> str:
        return f"{self.prefix}_{name}"

    def create(self, name: str, layout: Layout) -> None:
        self.drop(name)
        self._layouts[name] = layout
        self._create_at(name, self._new_place(name))

    def create_as(self, name: str, query: str) -> None:
        self._places[name] = place = self._new_place(name)
        self.run(f"CREATE TABLE {self.table(name)} USING {self.using} {self._options(place)} AS {query}")

    def run(self, sql: str) -> None:
        self.spark.sql(sql).collect()

    def frame(self, sql: str) -> DataFrame:
        return self.spark.sql(sql)

    def drop(self, name: str) -> None:
        self.run(f"DROP TABLE IF EXISTS {self.table(name)}")
        if name in self._places:
            shutil.rmtree(self._places.pop(name), ignore_errors=True)

    def keep(self, name: str) -> None:
        _link(self._places[name], self._kept(name))

    def restore(self, name: str) -> None:
        self.drop(name)
        place = self._new_place(name)
        _link(self._kept(name), place)
        if self.using == "delta":  # its log knows the rest
            self._places[name] = place
            self.run(f"CREATE TABLE {self.table(name)} USING delta LOCATION '{place}'")
        else:
            self._create_at(name, place)

    def compact(self, name: str) -> None:
        if self.using != "delta":
            return self._rewrite(name)
        self.run(f"OPTIMIZE {self.table(name)}")
        return self.run(f"REORG TABLE {self.table(name)} APPLY (PURGE)")

    def version(self, name: str, statement: int) -> str:
        """Plain ORC has one version only, which is the yardstick."""
        return self.table(name) + (f" VERSION AS OF {statement}" if self.using == "delta" else "")

    def changes(self, name: str, statement: int) -> DataFrame:
        if self.using != "delta":
            raise NotThereError
        return self.spark.sql(f"SELECT * FROM table_changes('{self.table(name)}', {statement}, {statement})")

    def stream(self, name: str, source: str, *, by_own_writer: bool = False) -> None:
        self._count += 1
        place = self.place / self.prefix / f"checkpoint-{self._count}"
        _streamed(self.spark, source, place).format(self.using).toTable(self.table(name)).awaitTermination()

    def directory(self, name: str) -> Path:
        return self._places[name]

    def _rewrite(self, name: str) -> None:
        """The yardstick of a compaction: all rows read and written once, beside the table."""
        beside = self.place / f"{name}-rewritten"
        self.spark.table(self.table(name)).write.mode("overwrite").orc(str(beside))

    def _create_at(self, name: str, place: Path) -> None:
        layout = self._layouts[name]
        partition = f" PARTITIONED BY ({layout.partition})" if layout.partition else ""
        self._places[name] = place
        sql = f"CREATE TABLE {self.table(name)} ({layout.columns}) USING {self.using}{partition}"
        feed = layout.has_changes and self.using == "delta"
        self.run(f"{sql} LOCATION '{place}' {CHANGE_DATA_FEED}" if feed else f"{sql} {self._options(place)}")
        if partition and any(place.glob("*=*")):
            self.run(f"ALTER TABLE {self.table(name)} RECOVER PARTITIONS")

    def _options(self, place: Path) -> str:
        return f"LOCATION '{place}' {self.properties}"

    def _new_place(self, name: str) -> Path:
        self._count += 1
        return self.place / self.prefix / f"{name}-{self._count}"

    def _kept(self, name: str) -> Path:
        return self.place / self.prefix / "kept" / name


@dataclass(slots=True)
class Iceberg:
    """Iceberg in a Hadoop catalog. Its metadata has absolute paths, so a state is restored in place: what came later is
    removed, and the hint that names the newest version is written back."""

    spark: SparkSession
    warehouse: Path
    name: str = "Iceberg"
    has_dml: bool = True
    _kept: dict[str, frozenset[Path]] = field(default_factory=dict)
    _hints: dict[str, bytes] = field(default_factory=dict)
    _snapshot_ids: dict[str, list[int]] = field(default_factory=dict)
    _count: int = 0

    def table(self, name: str) -> str:
        return f"ice.db.{name}"

    def create(self, name: str, layout: Layout) -> None:
        self.drop(name)
        self._snapshot_ids.pop(name, None)
        parts = [layout.partition] if layout.partition else []
        parts += [f"bucket({layout.buckets}, {layout.bucketed_by})"] if layout.buckets else []
        partition = f" PARTITIONED BY ({', '.join(parts)})" if parts else ""
        properties = COPY_ON_WRITE if layout.has_changes else MERGE_ON_READ
        self.run(f"CREATE TABLE {self.table(name)} ({layout.columns}) USING iceberg{partition} {properties}")

    def create_as(self, name: str, query: str) -> None:
        self.run(f"CREATE TABLE {self.table(name)} USING iceberg {MERGE_ON_READ} AS {query}")

    def run(self, sql: str) -> None:
        self.spark.sql(sql).collect()

    def frame(self, sql: str) -> DataFrame:
        return self.spark.sql(sql)

    def drop(self, name: str) -> None:
        self.run(f"DROP TABLE IF EXISTS {self.table(name)}")
        shutil.rmtree(self.directory(name), ignore_errors=True)

    def keep(self, name: str) -> None:
        self._kept[name] = frozenset(_files(self.directory(name)))
        self._hints[name] = self._hint(name).read_bytes()

    def restore(self, name: str) -> None:
        for path in _files(self.directory(name)):
            if path not in self._kept[name]:
                path.unlink()
        hint = self._hint(name)
        hint.with_name(f".{hint.name}.crc").unlink(missing_ok=True)
        hint.write_bytes(self._hints[name])
        self.run(f"REFRESH TABLE {self.table(name)}")

    def compact(self, name: str) -> None:
        self.run(f"CALL ice.system.rewrite_data_files(table => 'db.{name}', options => map('rewrite-all', 'true'))")

    def version(self, name: str, statement: int) -> str:
        return f"{self.table(name)} VERSION AS OF {self._snapshots(name)[statement]}"

    def changes(self, name: str, statement: int) -> DataFrame:
        before, of_statement = self._snapshots(name)[statement - 1 : statement + 1]
        between = f"map('start-snapshot-id', '{before}', 'end-snapshot-id', '{of_statement}')"
        view = f"changes_of_{name}"
        self.run(
            f"CALL ice.system.create_changelog_view(table => 'db.{name}', changelog_view => '{view}',"
            f" options => {between}, compute_updates => true, identifier_columns => array('id'))"
        )
        return self.spark.table(view)

    def _snapshots(self, name: str) -> list[int]:
        """The IDs of the snapshots that the statements made, by their numbers from 1 on."""
        if name not in self._snapshot_ids:
            rows = self.frame(f"SELECT snapshot_id FROM {self.table(name)}.snapshots ORDER BY committed_at").collect()
            self._snapshot_ids[name] = [0, *(row[0] for row in rows)]
        return self._snapshot_ids[name]

    def stream(self, name: str, source: str, *, by_own_writer: bool = False) -> None:
        self._count += 1
        place = self.warehouse.with_name(f"iceberg-checkpoint-{self._count}")
        _streamed(self.spark, source, place).format("iceberg").toTable(self.table(name)).awaitTermination()

    def directory(self, name: str) -> Path:
        return self.warehouse / "db" / name

    def _hint(self, name: str) -> Path:
        return self.directory(name) / "metadata" / "version-hint.text"


def systems(spark: SparkSession, session: Session, place: Path, *, peers: bool) -> list[System]:
    """acidsql and plain ORC; Delta and Iceberg too, if their jars are there."""
    found: list[System] = [
        Acid(session, place / "acid"),
        SparkTables(spark, place, "plain ORC", "orc", "plain", has_dml=False),
    ]
    if peers:
        found.append(SparkTables(spark, place, "Delta", "delta", "delta", has_dml=True, properties=DELETION_VECTORS))
        found.append(Iceberg(spark, place / "iceberg"))
    return found


def fill(system: System, name: str, layout: Layout, query: str) -> None:
    """A new table with the rows of a query."""
    system.create(name, layout)
    system.run(f"INSERT INTO {system.table(name)} {query}")


def _streamed(spark: SparkSession, source: str, checkpoint: Path) -> DataStreamWriter:
    """A query over the files of a view, one file in each micro-batch, that ends when it has read them."""
    files = spark.table(source)
    directory = str(Path(files.inputFiles()[0].removeprefix("file://")).parent)
    rows = spark.readStream.schema(files.schema).option("maxFilesPerTrigger", 1).parquet(directory)
    return rows.writeStream.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)


def drain(frame: DataFrame) -> None:
    """Makes every row with all its columns and forgets it. Spark's noop sink would do, but fails on Delta's deletion
    vectors."""
    java: Any = frame._jdf
    java.queryExecution().toRdd().count()


def fingerprint(system: System, name: str, columns: Sequence[str]) -> tuple[object, ...]:
    """Equal where two tables hold the same rows, in any order: their number, and the sum of their hashes."""
    hashed = f"sum(CAST(xxhash64({', '.join(columns)}) AS DECIMAL(38,0)))"
    row = system.frame(f"SELECT count(*), {hashed} FROM {system.table(name)}").collect()[0]
    return tuple(row)


def size(system: System, name: str) -> tuple[int, int]:
    """Files and bytes below the table's directory, what no reader needs any more included."""
    files = list(_files(system.directory(name)))
    return len(files), sum(f.stat().st_size for f in files)


def _files(directory: Path) -> list[Path]:
    return [p for p in directory.rglob("*") if p.is_file()]


def _link(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, copy_function=os.link)
