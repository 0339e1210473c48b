"""The files of one transaction batch of a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import pyarrow as pa

from acidsql.acid.directories import Base, Delta, format_directory, parse_directory
from acidsql.acid.layout import ACID_VERSION_CONTENT, ACID_VERSION_FILE, delta_name
from acidsql.acid.table import Table
from acidsql.acid.write_ids import StatementId, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.ingest.growing_file import GrowingFile
from acidsql.ingest.orc_parts import codec
from acidsql.ingest.whole_orc_file import WholeOrcFile
from acidsql.ingest.whole_parquet_file import WholeParquetFile
from acidsql.storage.file_systems import FileSystem
from acidsql.storage.leftovers import keep_if_open
from acidsql.storage.local_files import LocalFiles
from acidsql.values.file_schema import file_schema
from acidsql.values.file_values import storable

_STATEMENT: Final = StatementId(0)


class BucketFile(Protocol):
    """The file of one bucket in one delta."""

    @property
    def is_new(self) -> bool:
        """Whether nothing was flushed yet."""
        ...

    @property
    def is_flushed(self) -> bool:
        """Whether all rows were flushed."""
        ...

    def append(self, write_id: WriteId, rows: pa.Table) -> None: ...

    def flush(self) -> None:
        """Makes all rows readable for those who may see their write IDs."""
        ...

    def drop(self) -> None:
        """Takes back what was appended since the last flush."""
        ...

    def is_intact(self) -> bool: ...

    def close(self) -> None:
        """Takes back what was not flushed, and ends the file."""
        ...


@dataclass(slots=True)
class _Delta:
    """A delta directory that this batch has made, with the files in it by bucket."""

    path: str
    write_id: WriteId | None
    """The transaction that it belongs to; None where it belongs to the whole batch."""
    files: dict[int, BucketFile] = field(default_factory=dict)


class BatchFiles:
    """The files of one transaction batch of a stream in one table.

    A batch of several transactions of a full ACID table on this machine's file system has one delta for all of them in
    each partition, `delta_MIN_MAX`. Otherwise each transaction has a `delta_W_W_0000`, whose files appear when they are
    complete. Row IDs begin at 0 for each write ID and bucket, and all bucket properties have the statement ID 0.
    """

    def __init__(
        self,
        table: Table,
        files: FileSystem,
        write_ids: Sequence[WriteId],
        check: Callable[[str, Sequence[str], WriteId, WriteId], None] | None = None,
        require_open: Callable[[], None] = lambda: None,
    ) -> None:
        """`write_ids` are those of the batch, ascending. `check` gets a directory, the names of the directories in it
        and the write IDs, from first to last, of the delta that is to be made there. `require_open` asks whether the
        running transaction is open. Raises NOT_YET_SUPPORTED for a file format or a codec that cannot be written here.
        """
        _check_format(table)
        self._check = check
        self._require_open = require_open
        self._table = table
        self._files = files
        self._first, self._last = write_ids[0], write_ids[-1]
        # A delta has the rows of all write IDs in its name: others must not write theirs elsewhere.
        is_one_range = self._last - self._first + 1 == len(write_ids)
        self._grows = len(write_ids) > 1 and is_one_range and table.is_full_acid and isinstance(files, LocalFiles)
        self._schema = file_schema(table)
        self._deltas: dict[str, _Delta] = {}
        self._places: set[str] = set() if table.partition_columns else {files.resolve(table.location)}

    def append(self, write_id: WriteId, directory: str, bucket: int, rows: pa.Table) -> None:
        """Adds rows of a transaction to the file of a bucket in the directory of a partition or of the table.

        They have the columns of `file_schema(table)`, in order, and go to the file at once. Write IDs ascend. Raises
        INVALID_STORE_VALUE, before anything is written, for a value that the file cannot hold; FileExistsError if the
        table was dropped and created again and has given out the same write IDs.
        """
        if not rows.num_rows:
            return
        stored = storable(self._table, rows.rename_columns(self._schema.names).cast(self._schema))
        self._forget_others(write_id)
        self._places.add(directory)
        delta = self._delta(write_id, directory)
        if bucket not in delta.files:
            delta.files[bucket] = self._new_file(delta, bucket)
        delta.files[bucket].append(write_id, stored)

    def flush(self, write_id: WriteId) -> None:
        """Makes all that was appended for `write_id` readable as soon as it commits."""
        for delta in self._of(write_id):
            for file in delta.files.values():
                file.flush()

    def made(self, write_id: WriteId, directory: str) -> Iterator[tuple[str, int]]:
        """The names of the directories with rows of a transaction in a partition, with their numbers of files."""
        for delta in self._of(write_id):
            place, _, name = delta.path.rpartition("/")
            if place == directory and delta.files:
                yield name, len(delta.files)

    def drop(self, write_id: WriteId) -> None:
        """Takes back what was appended since the last flush, and removes new files.

        A directory without files is removed too, at once or when the batch is closed.
        """
        for delta in self._of(write_id):
            self._drop(delta)

    def has_flushed(self, write_id: WriteId) -> bool:
        """Whether a transaction has files of its own under their names, which `drop` leaves there."""
        return any(delta.write_id == write_id and delta.files for delta in self._deltas.values())

    def is_intact(self) -> bool:
        """Whether rows of the batch can be seen when they commit.

        They cannot where a file is no longer the one at its path, because the table or the partition was dropped; nor
        where an INSERT OVERWRITE or a TRUNCATE with a higher write ID than the batch's lowest one has made a base.
        """
        if not all(file.is_intact() for file in self._unfinished()):
            return False
        return not any(map(self._is_hidden, self._places))

    def is_hidden(self, directory: str) -> bool:
        """Whether a base hides the rows of the batch in a directory that it has not written to yet: `is_intact` looks
        at the others. The base has all rows with lower write IDs that count, whenever they are committed."""
        return directory not in self._places and self._is_hidden(directory)

    def close(self) -> None:
        """Ends the batch: takes back what was not flushed, and removes the side files. May be called again."""
        for delta in list(self._deltas.values()):
            self._close(delta)

    def _unfinished(self) -> Iterator[BucketFile]:
        """The files that may get more rows, or have rows that were not flushed. The others, of a transaction that has
        committed, are not the batch's any more: a compaction may have replaced them."""
        for delta in self._deltas.values():
            yield from (f for f in delta.files.values() if delta.write_id is None or not f.is_flushed)

    def _of(self, write_id: WriteId) -> list[_Delta]:
        return [d for d in self._deltas.values() if d.write_id in (None, write_id)]

    def _is_hidden(self, directory: str) -> bool:
        names = self._files.directories_named(directory, "base_")
        if self._check is not None and names:
            self._check(directory, names, self._first, self._last)
        return any(map(self._is_hidden_by, names))

    def _is_hidden_by(self, name: str) -> bool:
        match parse_directory(name):
            case Base(write_id, None):
                return write_id >= self._first
            case _:
                return False

    def _delta(self, write_id: WriteId, directory: str) -> _Delta:
        """The delta for rows of a transaction, made if it is not there."""
        if self._grows:
            name, owner = format_directory(Delta(self._first, self._last)), None
            first, last = self._first, self._last
        else:
            name, owner = delta_name(write_id, _STATEMENT), write_id
            first = last = write_id
        path = f"{directory}/{name}"
        if path not in self._deltas:
            names = self._files.directories_named(directory, "")
            if self._check is not None:
                self._check(directory, names, first, last)
            self._files.make_new_directory(path, names)
            keep_if_open([(self._files, path)], self._require_open)
            self._deltas[path] = _Delta(path, owner)
            if self._table.is_full_acid:
                self._files.write(f"{path}/{ACID_VERSION_FILE}", ACID_VERSION_CONTENT)
        return self._deltas[path]

    def _new_file(self, delta: _Delta, bucket: int) -> BucketFile:
        if self._grows:
            return GrowingFile(self._table, delta.path, bucket)
        of_format = WholeOrcFile if self._table.file_format == "orc" else WholeParquetFile
        return of_format(self._table, self._files, delta.path, bucket)

    def _forget_others(self, write_id: WriteId) -> None:
        """Closes the files of earlier transactions, if they have files of their own."""
        for delta in list(self._deltas.values()):
            if delta.write_id not in (None, write_id):
                self._close(delta)

    def _drop(self, delta: _Delta) -> None:
        """Takes back what was not flushed."""
        for bucket, file in list(delta.files.items()):
            if file.is_new:
                file.close()
                del delta.files[bucket]
            else:
                file.drop()
        if not delta.files and not self._grows:
            self._remove(delta)

    def _close(self, delta: _Delta) -> None:
        self._drop(delta)
        for file in delta.files.values():
            file.close()
        self._deltas.pop(delta.path, None)
        if not delta.files:
            self._remove(delta)

    def _remove(self, delta: _Delta) -> None:
        """Removes a delta without files. That of a batch stays until the batch ends: a reader that has listed a file
        which was dropped finds the directory, and knows then that the file was taken back
        (acidsql.snapshot.committed_lengths)."""
        self._files.delete(f"{delta.path}/{ACID_VERSION_FILE}")
        self._files.delete_empty(delta.path)
        self._deltas.pop(delta.path, None)


def _check_format(table: Table) -> None:
    match table.file_format:
        case "orc":
            codec(table)
        case "parquet" if table.is_insert_only:
            pass
        case other:
            feature = f"Streaming into a table stored as {other} ({table.qualified})"
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)
