"""A data file as Hive's streaming clients write it, by ORC's own writer: footers in its middle, and a side file."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from py4j.java_gateway import get_field, set_field
from pyspark.sql import SparkSession

from acidsql.acid.write_ids import TxnId
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore

_SCHEMA = (
    "struct<operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,currentTransaction:bigint,"
    "row:struct<id:int,name:string>>"
)
_BUCKET = 1 << 29


class StreamingFile:
    """`bucket_00000` in `directory`, whose rows are (id, name). Of a file that is not closed there is what it has."""

    def __init__(self, spark: SparkSession, directory: Path) -> None:
        jvm: Any = spark._jvm
        self.path = directory / "bucket_00000"
        self.side_file = directory / "bucket_00000_flush_length"
        directory.mkdir(parents=True)
        conf = jvm.org.apache.hadoop.conf.Configuration()
        files = jvm.org.apache.hadoop.fs.RawLocalFileSystem()
        files.initialize(jvm.java.net.URI("file:///"), conf)
        self._schema = jvm.org.apache.orc.TypeDescription.fromString(_SCHEMA)
        options = jvm.org.apache.orc.OrcFile.writerOptions(conf).setSchema(self._schema).fileSystem(files)
        self._writer: Any = jvm.org.apache.orc.OrcFile.createWriter(
            jvm.org.apache.hadoop.fs.Path(str(self.path)), options
        )
        self._rows = 0

    def add(self, write_id: int, rows: Sequence[tuple[int, str]]) -> None:
        """Insert events of one transaction; they need not reach the file before `flush`."""
        batch = self._schema.createRowBatch(max(len(rows), 1))
        columns = get_field(batch, "cols")
        fields = get_field(columns[5], "fields")
        for place, (number, name) in enumerate(rows):
            values = (0, write_id, _BUCKET, self._rows + place, write_id)
            for column, value in zip(columns, values, strict=False):
                get_field(column, "vector")[place] = value
            get_field(fields[0], "vector")[place] = number
            fields[1].setVal(place, name.encode())
        set_field(batch, "size", len(rows))
        self._writer.addRowBatch(batch)
        self._rows += len(rows)

    def flush(self) -> int:
        """A stripe and a footer (OrcRecordUpdater.flush); the file's length."""
        return int(self._writer.writeIntermediateFooter())

    def commit(self) -> int:
        """`flush`, and the length into the side file."""
        length = self.flush()
        with self.side_file.open("ab") as side:
            side.write(struct.pack(">q", length))
        return length

    def close(self) -> None:
        """Ends the file with a footer; a client then removes the side file, which stays here."""
        self._writer.close()


class StreamedBatch:
    """A batch of transactions of a table `t` of (id, name) without partitions: a client that commits one after another
    into one file, as Hive's streaming API does."""

    def __init__(self, spark: SparkSession, store: SqliteMetastore, size: int = 3) -> None:
        self.table = store.table("default", "t")
        self._store = store
        self._txns = [store.open_txn() for _ in range(size)]
        self.write_ids = [store.allocate_write_id(txn, self.table) for txn in self._txns]
        low, high = self.write_ids[0], self.write_ids[-1]
        self.directory = Path(self.table.location) / f"delta_{low:07d}_{high:07d}"
        self.file = StreamingFile(spark, self.directory)
        self._next = 0

    def commit(self, *rows: tuple[int, str]) -> None:
        """One transaction with these rows."""
        self._store.commit(self._write(rows))

    def abort(self, *rows: tuple[int, str]) -> None:
        """One transaction that is aborted when its rows are in the file already."""
        self._store.abort(self._write(rows))

    def begin(self, *rows: tuple[int, str]) -> None:
        """One transaction that goes no further than into the file, behind its last committed length."""
        self.file.add(self.write_ids[self._next], rows)
        self.file.flush()
        with self.file.path.open("ab") as more:
            more.write(b"half a stripe")

    def close(self) -> None:
        """The end of the file; transactions that are left commit without rows."""
        self.file.close()
        self.file.side_file.unlink()
        for txn in self._txns[self._next :]:
            self._store.commit(txn)

    def die(self) -> None:
        """Whoever finds the client dead aborts what is left."""
        for txn in self._txns[self._next :]:
            self._store.abort(txn)

    def _write(self, rows: Sequence[tuple[int, str]]) -> TxnId:
        txn, write_id = self._txns[self._next], self.write_ids[self._next]
        self._next += 1
        lock = LockComponent(self.table.database, self.table.name, LockType.SHARED_READ, Operation.INSERT)
        self._store.lock(txn, (lock,))
        self.file.add(write_id, rows)
        self.file.commit()
        return txn
