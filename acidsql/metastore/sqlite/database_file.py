"""A SQLite file that several threads and processes use at once: opening, read and write transactions."""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.catalog import DEFAULT_DATABASE
from acidsql.metastore.sqlite import catalog_connection, catalog_home
from acidsql.metastore.sqlite.catalog_connection import BUSY_SECONDS, CatalogConnection
from acidsql.metastore.sqlite.locations import Locations, resolved_warehouse, stored_warehouse
from acidsql.metastore.sqlite.schema import create_schema, is_empty, is_old, schema_problem, upgrade_schema

_LOCAL_FILE_SYSTEMS = frozenset(
    ("apfs", "bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "overlay", "ramfs", "tmpfs", "xfs", "zfs")
)


class SqliteFile:
    """The file, with one connection for this process; its threads use the connection in turn."""

    def __init__(self, path: str | Path, warehouse: str, *, make: bool = True) -> None:
        """Opens the file. Where there is none, it is made with its directory: at once, or without `make` by the first
        write transaction; until then readers see what a new file would hold. Raises METASTORE_UNAVAILABLE."""
        self.path = Path(os.path.abspath(path))
        self._warehouse = warehouse
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._db: CatalogConnection | None = None
        self._is_wal = False
        self._is_absent = False
        self._is_own = True
        self.is_read_only = False
        """Whether this process must not write the file, or its directory."""
        try:
            with self._named_errors():
                if make or self.path.exists():
                    self._open()
                else:
                    self._open_empty()
        except BaseException:
            self.close()
            raise

    @property
    def is_absent(self) -> bool:
        """Whether there is no file yet."""
        return self._is_absent and not self.path.exists()

    def _open(self) -> None:
        self.is_read_only = catalog_connection.is_read_only(self.path)
        if not self.is_read_only:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        self._connect()
        self._is_absent = False
        self._prepare()

    def _open_empty(self) -> None:
        """Opens in memory what a new file would hold."""
        self._db = catalog_connection.connect(Path(":memory:"))
        self._is_absent = True
        create_schema(self._db, DEFAULT_DATABASE, self._warehouse, self.path)
        self._locate(self._db)

    def close(self) -> None:
        """Closes the connection; closing twice is no error."""
        if os.getpid() != self._process:
            return  # the connection belongs to the parent process (https://sqlite.org/howtocorrupt.html)
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def _connect(self) -> None:
        opens = catalog_connection.connect_read_only if self.is_read_only else catalog_connection.connect
        self._db = opens(self.path)
        self._identity = _identity(self.path)
        self._state = catalog_connection.state(self.path) if self.is_read_only else ()

    @contextmanager
    def reading(self) -> Iterator[CatalogConnection]:
        """A read transaction: it sees one state of the file."""
        with self._transaction(make=False) as db:
            db.execute("BEGIN")
            yield db

    @contextmanager
    def writing(self, *, durable: bool = True, is_change: bool = True) -> Iterator[CatalogConnection]:
        """A write transaction: it excludes other writers, and rolls back if the body raises.

        A durable transaction survives a power cut once this returns. One that is not `durable` survives once the next
        durable one returns; no later transaction is ever kept without it. `is_change` tells whether it changes the
        catalog, or lets a writer change files of tables: then it raises CATALOG_MOVED in a catalog that was moved away
        from its tables. Raises METASTORE_READ_ONLY.
        """
        if self.is_read_only:
            raise self.read_only_error()
        with self._transaction(make=True) as db:
            if durable or not self._is_wal:
                self._begin_immediate(db)
                self._check_own(db, is_change)
                yield db
                return
            db.execute("PRAGMA synchronous = NORMAL")
            try:
                self._begin_immediate(db)
                self._check_own(db, is_change)
                yield db
                db.commit()
            finally:
                if db.in_transaction:
                    db.rollback()
                db.execute("PRAGMA synchronous = FULL")

    @property
    def is_own(self) -> bool:
        """Whether the tables are certainly this catalog's: not where the file was moved away from some of them, and
        nobody has said whose they are (catalog_home.py)."""
        if self._is_own:
            return True
        with self.reading() as db:
            return not catalog_home.has_moved(db, self.path)

    def require_changeable(self) -> None:
        """Raises METASTORE_READ_ONLY, CATALOG_MOVED where `writing` would."""
        if self.is_read_only:
            raise self.read_only_error()
        if not self._is_own:
            with self.reading() as db:
                catalog_home.require_own(db, self.path)

    def claim(self, *, forgets: bool, warehouse: str | None) -> Sequence[str]:
        """Makes this file the catalog of its tables, and gives the names of those that do not move with it, or in which
        another one seems to have written. Those are forgotten with `forgets`. With `warehouse`, what lay below the old
        warehouse lies there now."""
        with self.writing(is_change=False) as db:
            if warehouse is not None:
                db.execute("UPDATE metastore SET warehouse = ?", (stored_warehouse(self.path, warehouse),))
                self._locate(db)
            names = catalog_home.in_doubt(db, self.path)
            if forgets:
                catalog_home.forget_tables(db, names)
            db.execute("UPDATE tables SET foreign_directory = NULL")
            if catalog_home.has_moved(db, self.path):
                catalog_home.end_all(db)
            catalog_home.note_home(db, self.path)
        self._is_own = True
        return names

    def read_only_error(self) -> AcidSqlError:
        return AcidSqlError(Condition.METASTORE_READ_ONLY, uri=f"sqlite:///{self.path}")

    def _check_own(self, db: sqlite3.Connection, is_change: bool) -> None:
        if is_change and not self._is_own:
            catalog_home.require_own(db, self.path)

    def _locate(self, db: CatalogConnection) -> None:
        stored = db.execute("SELECT warehouse FROM metastore").fetchone()["warehouse"]
        db.locations = Locations(resolved_warehouse(self.path, stored))

    @contextmanager
    def _transaction(self, *, make: bool) -> Iterator[CatalogConnection]:
        if os.getpid() != self._process:
            raise self._unavailable(f"process {self._process} opened it, and this one was forked")
        with self._lock, self._named_errors():
            self._look_again(make=make)
            db = self._connection()
            if db.in_transaction:  # the lock is reentrant, and this would commit what the caller has not finished
                raise self._unavailable("this thread uses it inside another transaction, as in a finalizer")
            try:
                yield db
                db.commit()
            finally:
                if db.in_transaction:
                    db.rollback()

    def _look_again(self, *, make: bool) -> None:
        """Opens the file that was absent, if it is to be made or another process has made it."""
        if self._db is None or not self._is_absent or not (make or self.path.exists()):
            return
        self._db.close()
        try:
            self._open()
        except BaseException:
            self._open_empty()
            raise

    def _connection(self) -> CatalogConnection:
        if self._db is None:
            raise self._unavailable("it was closed")
        if self._is_absent:
            return self._db
        if self.is_read_only and not self._db.in_transaction and catalog_connection.state(self.path) != self._state:
            self._reopen(self._db)
        # SQLite would go on writing to a deleted file that nobody reads.
        if _identity(self.path) != self._identity:
            raise self._unavailable("the file was removed or replaced while it was in use")
        return self._db

    def _reopen(self, old: CatalogConnection) -> None:
        """Opens a file again that another process has changed or replaced: a connection that takes it for unchangeable
        would read old pages beside new ones."""
        old.close()
        self._connect()
        assert self._db is not None
        self._check_schema(self._db)
        self._locate(self._db)

    def _check_schema(self, db: CatalogConnection) -> None:
        """Raises METASTORE_UNAVAILABLE for a file that cannot be read without a change."""
        if is_empty(db):
            raise self._unavailable("it is empty, and this process may not write it")
        if problem := schema_problem(db):
            raise self._unavailable(problem)
        if is_old(db):
            reason = "an older acidsql made it: a process that may write it has to open it once"
            raise self._unavailable(reason)

    def _begin_immediate(self, db: sqlite3.Connection) -> None:
        """Waits with even chances for all writers: SQLite's own pauses grow to 100 ms and starve the longest waiter."""
        deadline = time.monotonic() + BUSY_SECONDS
        with _waiting(db, 0):
            while not _begins(db, deadline):
                time.sleep(random.uniform(0.0005, 0.01))

    def _prepare(self) -> None:
        with self._named_errors():
            db = self._connection()
            if self.is_read_only:
                self._check_schema(db)
                self._locate(db)
                self._is_own = False
                return
            # FULL: after a power cut no write ID may be assigned twice.
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA foreign_keys = ON")
        with self.reading() as db:
            new = is_empty(db)
            if not new and (problem := schema_problem(db)):
                raise self._unavailable(problem)
            old = not new and is_old(db)
        if new:
            self._create()
        if old:
            with self.writing() as db:
                upgrade_schema(db, DEFAULT_DATABASE, self.path)
        self._settle()
        if self.journal_mode() != "wal" and _is_local(self.path):
            self._use_wal()
        self._is_wal = self.journal_mode() == "wal"

    def _create(self) -> None:
        with self.writing() as db:
            if is_empty(db):  # no other process was faster
                create_schema(db, DEFAULT_DATABASE, self._warehouse, self.path)

    def _settle(self) -> None:
        """Finds the warehouse, and out whether the file was moved or copied."""
        with self.reading() as db:
            self._locate(db)
            at_home = catalog_home.is_at_home(db, self.path)
        if not at_home:
            with self.writing() as db:
                self._is_own = catalog_home.settle(db, self.path)

    def journal_mode(self) -> str:
        """`wal` or `delete`, a property of the file that all its users share."""
        with self._lock, self._named_errors():
            return str(self._connection().execute("PRAGMA journal_mode").fetchone()["journal_mode"])

    def _use_wal(self) -> None:
        """Switches to a write-ahead log: readers and a writer work side by side. A failure only costs speed."""
        with self._lock, _waiting(self._connection(), 1), suppress(sqlite3.OperationalError):
            self._connection().execute("PRAGMA journal_mode = WAL")

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._unavailable(f"{error.strerror}: {error.filename}") from error
        except sqlite3.DatabaseError as error:
            # The other subclasses (IntegrityError, ..) are errors of this program, not of the file.
            if type(error) not in (sqlite3.OperationalError, sqlite3.DatabaseError):
                raise
            raise self._unavailable(str(error)) from error

    def _unavailable(self, reason: str) -> AcidSqlError:
        return AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=f"sqlite:///{self.path}", reason=reason)


@contextmanager
def _waiting(db: sqlite3.Connection, seconds: float) -> Iterator[None]:
    """Sets how long SQLite waits for the locks of others during the block, instead of BUSY_SECONDS."""
    db.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
    try:
        yield
    finally:
        db.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")


def _begins(db: sqlite3.Connection, deadline: float) -> bool:
    try:
        db.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if not _is_busy(error) or time.monotonic() > deadline:
            raise
        return False
    return True


def _is_busy(error: sqlite3.OperationalError) -> bool:
    """SQLITE_BUSY with any of its extended codes (https://sqlite.org/rescode.html)."""
    return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _is_local(path: Path) -> bool:
    """Whether a write-ahead log works on this file system: its users must share memory (https://sqlite.org/wal.html).

    An unknown file system counts as remote. Where /proc does not tell the file system, the file counts as local.
    """
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return True
    types = {_unescape(fields[4]): fields[fields.index("-") + 1] for fields in map(str.split, lines)}
    real = Path(os.path.realpath(path))
    return next((types[str(p)] for p in real.parents if str(p) in types), "") in _LOCAL_FILE_SYSTEMS


def _unescape(mount_point: str) -> str:
    """Decodes a mount point: proc(5) writes blanks and backslashes in octal."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        mount_point = mount_point.replace(code, character)
    return mount_point
