"""LOAD DATA: adds files to a table as they are, as `delta_W_W_0000/000000_0` or `base_W/000000_0`.

    find and check the files -> lock -> link (or copy) each into a hidden directory -> rename that directory -> commit
    -> remove the sources of files that were moved

Nothing is removed from its place before the commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from uuid import uuid4

from acidsql.acid.layout import STAGING_DIRECTORY, base_name, delta_name
from acidsql.acid.table import Table
from acidsql.acid.write_ids import StatementId, TxnId, WriteId
from acidsql.acid.written_directories import WrittenDirectory
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.statements import LoadData
from acidsql.metastore.catalog import Partition, PartitionValues
from acidsql.metastore.client import Metastore
from acidsql.metastore.history_retention import keeps_history
from acidsql.metastore.transactions import Transactions
from acidsql.planner.ddl.ddl_plan import LoadFiles
from acidsql.planner.ddl.ddl_planner import load_locks, load_step
from acidsql.snapshot.foreign_directories import Siblings, check_whole
from acidsql.snapshot.read_view import ReadView
from acidsql.snapshot.replaced_files import leave_list
from acidsql.snapshot.statement_snapshots import StatementSnapshots
from acidsql.storage.file_systems import FilesOf, FileSystem, discard, is_local, remove_all
from acidsql.storage.leftovers import is_there, tidy_up
from acidsql.writing.load_sources import LoadedFile, Sources, find_sources, path_span
from acidsql.writing.publishing import add_file, visible_files


@dataclass(frozen=True, slots=True)
class Loaded:
    """The result of LOAD DATA. A load into a plain table has neither transaction nor write ID."""

    rows: int
    txn: TxnId | None = None
    write_id: WriteId | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the files go: a directory of the table. `new` is a partition that is not in the catalog yet."""

    files: FileSystem
    directory: str
    new: Partition | None
    partitions: tuple[PartitionValues, ...] = ()
    """The partition, if it is one."""


@dataclass(frozen=True, slots=True)
class Loader:
    """Runs LOAD DATA statements. It needs Spark only for files that are not on this machine."""

    files_of: FilesOf
    transactions: Transactions

    @property
    def metastore(self) -> Metastore:
        return self.transactions.metastore

    def load(self, statement: LoadData, table: Table) -> Loaded:
        """Raises what `load_step` and `find_sources` raise, and CATALOG_BEHIND: then nothing has changed."""
        self._step(statement, table)  # errors of the PARTITION clause come before errors of the files
        sources = find_sources(self.files_of, statement, table)
        load = self._load_in_transaction if table.is_transactional else self._load_plain
        with _path_errors(statement):
            loaded = load(statement, table, sources)
        if not statement.local:
            _remove(statement, sources)
        return loaded

    @contextmanager
    def linked(self, statement: LoadData, loaded: Table, target: Table) -> Iterator[Table]:
        """The table `loaded` with the files of the statement, as links or copies in a hidden directory below that of
        the target. Removes this directory after the block and, if the block succeeded, the files that the statement
        moves.

        Raises what `find_sources` raises.
        """
        expected = replace(loaded, database=target.database, name=target.name, location=target.location)
        sources = find_sources(self.files_of, statement, expected, len(loaded.columns) - len(target.columns))
        files = self.files_of(target.location)
        place = _Place(files, files.resolve(target.location), None)
        staging = f"{place.directory}/{STAGING_DIRECTORY}_{uuid4().hex[:12]}"
        try:
            with _path_errors(statement):
                self._stage(statement, sources, place, staging)
            yield replace(loaded, location=staging)
        finally:
            files.delete(staging)
        if not statement.local:
            _remove(statement, sources)

    def _step(self, statement: LoadData, table: Table) -> LoadFiles:
        """The plan's step, with the partitions as the catalog has them now."""
        return load_step(statement, table, self.metastore.partitions(table) if statement.partition else ())

    def _place(self, step: LoadFiles) -> _Place:
        partition = step.partition
        if partition is None:
            files = self.files_of(step.table.location)
            return _Place(files, files.resolve(step.table.location), None)
        files = self.files_of(partition.location)
        new = partition if step.is_new else None
        return _Place(files, files.resolve(partition.location), new, (partition.values,))

    # -- transactional tables

    def _load_in_transaction(self, statement: LoadData, table: Table, sources: Sources) -> Loaded:
        with self.transactions.run(lambda: load_locks(self._step(statement, table))) as txn:
            self._check_unchanged(table)
            place = self._place(self._step(statement, table))  # a partition may have come or gone during the wait
            check_whole(self.metastore, table, self.files_of)
            write_id = self.metastore.allocate_write_id(txn.id, table)
            staging = f"{place.directory}/{STAGING_DIRECTORY}_{txn.id}_{write_id}"
            name = base_name(write_id) if statement.overwrite else delta_name(write_id, StatementId(0))
            made = [staging]
            txn.undo.append(partial(self._undo, table, place, made))
            self._stage(statement, sources, place, staging)
            if statement.overwrite and keeps_history(table):
                self._note_replaced(table, place, staging)
            txn.require_open()
            beside = Siblings(self.metastore, table, write_id, write_id, txn.id)
            beside.check(place.directory, place.files.directories_named(place.directory, ""), name)
            made.append(f"{place.directory}/{name}")
            place.files.rename(staging, f"{place.directory}/{name}")
            self._register(table, place)
            values = place.partitions[0] if place.partitions else ()
            written = WrittenDirectory(values, name, len(sources.loaded))
            self.metastore.note_written(txn.id, table, [written])
            self.metastore.forget_statistics(txn.id, table, place.partitions)
        tidy_up(self.metastore, self.files_of, [(place.files, place.directory)])
        return Loaded(_rows(sources), txn.id, write_id)

    def _note_replaced(self, table: Table, place: _Place, staging: str) -> None:
        """Leaves the list of the files that readers read before (replaced_files.py)."""
        snapshots = StatementSnapshots(self.files_of, ReadView(self.metastore, self.metastore.valid_txns()))
        parts = snapshots.parts_of(table, place.partitions or [()])
        leave_list(place.files, staging, parts[0].snapshot if parts else None)

    def _undo(self, table: Table, place: _Place, made: Sequence[str]) -> None:
        if is_there(self.metastore, table, self.files_of):
            remove_all(place.files, made)

    def _check_unchanged(self, table: Table) -> None:
        found = self.metastore.find_table(table.database, table.name)
        if found is None or found != table or not found.may_be(table):
            raise AcidSqlError(Condition.TABLE_CHANGED, table=table.qualified)

    def _register(self, table: Table, place: _Place) -> None:
        if place.new is not None:
            self.metastore.add_partitions(table, [place.new])

    # -- plain tables

    def _load_plain(self, statement: LoadData, table: Table, sources: Sources) -> Loaded:
        """Adds the files one by one. OVERWRITE removes the old files after all new ones are there. The transaction is
        there for its locks: the table must not move meanwhile."""
        with self.transactions.run(lambda: load_locks(self._step(statement, table))) as txn:
            self._check_unchanged(table)
            place = self._place(self._step(statement, table))  # a partition may have come or gone during the wait
            old = visible_files(place.files, place.directory) if statement.overwrite else []
            staging = f"{place.directory}/{STAGING_DIRECTORY}_{uuid4().hex[:12]}"
            made = [staging]
            txn.undo.append(partial(self._undo, table, place, made))
            staged = self._stage(statement, sources, place, staging)
            txn.require_open()
            for path, file in zip(staged, sources.loaded, strict=True):
                made.append(add_file(place.files, path, f"{place.directory}/{file.name}"))
            self._register(table, place)
            self.metastore.forget_statistics(None, table, place.partitions)
            if old:
                made.clear()  # the new files are all that the table has
            for path in old:
                txn.require_open()  # without the lock, another table may have files of these names
                discard(place.files, path, skips_trash=table.skips_trash)
            place.files.delete(staging)
        return Loaded(_rows(sources))

    # -- files

    def _stage(self, statement: LoadData, sources: Sources, place: _Place, staging: str) -> list[str]:
        """Links or copies the files into a hidden directory, under their names in the table. A crash loses nothing."""
        place.files.make_directories(staging)
        return [_copy_to(statement, sources, place, file, staging) for file in sources.loaded]


def _copy_to(statement: LoadData, sources: Sources, place: _Place, file: LoadedFile, staging: str) -> str:
    target = _free_name(place.files, staging, file.name)
    if not statement.local:
        place.files.link(file.path, target)
    elif is_local(place.directory):
        place.files.copy(file.path, target)
    else:
        place.files.take_local(file.path, target)
    return target


def _free_name(files: FileSystem, staging: str, name: str) -> str:
    """A path that is not taken: files of several source directories may share a name."""
    stem, dot, extension = name.partition(".")
    candidates = (f"{staging}/{stem}{f'_copy_{n}' if n else ''}{dot}{extension}" for n in range(1 << 31))
    return next(path for path in candidates if not files.exists(path))


def _rows(sources: Sources) -> int:
    return sum(file.rows for file in sources.loaded)


def _remove(statement: LoadData, sources: Sources) -> None:
    """Removes the sources. The rows are in the table, so a source that stays would be loaded a second time: that is an
    error."""
    for file in sources.loaded:
        try:
            sources.files.delete(file.path)
        except OSError as error:
            reason = f"it was loaded, but could not be removed ({error.strerror or error}): remove it yourself"
            raise AcidSqlError(
                Condition.INVALID_PATH, span=path_span(statement), path=file.path, reason=reason
            ) from error


@contextmanager
def _path_errors(statement: LoadData) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        path = error.filename or statement.path
        raise AcidSqlError(
            Condition.INVALID_PATH, span=path_span(statement), path=path, reason=error.strerror or error
        ) from error
