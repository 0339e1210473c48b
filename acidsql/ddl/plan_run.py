"""One run of a DDL plan: what its steps change, and the transaction that holds its locks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from acidsql.acid.table import Table
from acidsql.acid.write_ids import WriteId
from acidsql.ddl.ownership import Ownership
from acidsql.metastore.client import Metastore
from acidsql.metastore.transactions import OpenTransaction
from acidsql.snapshot.foreign_directories import check_whole
from acidsql.storage.file_systems import FilesOf, discard
from acidsql.storage.session_scratch import SessionScratch


@dataclass(frozen=True)
class PlanRun:
    """`transaction` is None for a plan without locks. `after_commit` collects what happens once the catalog's change is
    visible to all."""

    metastore: Metastore
    files: FilesOf
    scratch: SessionScratch
    transaction: OpenTransaction | None = None
    after_commit: list[Callable[[], None]] = field(default_factory=list)
    report: list[str] = field(default_factory=list)
    """What the steps tell the user, a line each."""

    @cached_property
    def ownership(self) -> Ownership:
        """Compares directories with those that are known when it is asked first."""
        return Ownership(self.metastore, self.files)

    def require_open(self) -> None:
        """Raises TRANSACTION_ABORTED where others may have the plan's locks by now. Without the locks, a table and its
        directory may be those of another table."""
        if self.transaction is not None:
            self.transaction.require_open()

    def allocate_write_id(self, table: Table) -> WriteId:
        """The write ID that a change of a transactional table uses up, as in Hive (tests/golden/schema_evolution)."""
        assert self.transaction is not None
        check_whole(self.metastore, table, self.files)
        return self.metastore.allocate_write_id(self.transaction.id, table)

    @contextmanager
    def new_directory(self, location: str) -> Iterator[None]:
        """Makes a directory for what the block enters in the catalog, and removes it if the block fails."""
        files = self.files(location)
        path = files.resolve(location)
        existed = files.exists(path)
        files.make_directories(path)
        try:
            yield
        except BaseException:
            if not existed:
                files.delete_empty(path)
            raise

    def delete(self, location: str) -> None:
        """Removes a directory with all that lies in it."""
        files = self.files(location)
        files.delete(files.resolve(location))

    def discard(self, location: str, *, skips_trash: bool) -> None:
        """Removes a directory with all that lies in it, or moves it to the trash of its file system."""
        files = self.files(location)
        discard(files, files.resolve(location), skips_trash=skips_trash)
