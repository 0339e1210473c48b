"""What a session tells of itself, of its tables' files, and of the compaction service, beside its statements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Final

from acidsql.acid.object_names import table_of
from acidsql.acid.row_id import RowId
from acidsql.acid.write_ids import WriteId
from acidsql.compactor.diagnosis import Finding, examine
from acidsql.compactor.http_endpoint import LOCAL
from acidsql.compactor.metrics import Metric, metrics, serve_pages
from acidsql.compactor.service import Compactor
from acidsql.errors import AcidSqlError, Condition
from acidsql.frame_api.change_items import ChangeOptionArguments, changes_item
from acidsql.grammar.nesting_depth import depth_limited
from acidsql.metastore.session_metastore import SessionMetastore
from acidsql.metastore.transactions import Transactions
from acidsql.snapshot.event_visibility import StoredEvent, stored_events
from acidsql.snapshot.row_history import RowHistories
from acidsql.snapshot.table_contents import PartContent, TableContent, table_content
from acidsql.spark.engine import Engine
from acidsql.statements.absent_warehouse import telling_absence
from acidsql.statements.dispatch import StatementDispatch
from acidsql.statements.row_changes import RowChanges
from acidsql.statements.settings import Settings
from acidsql.storage.warehouse_files import WarehouseFiles
from acidsql.uses import Uses

_ROW_ID_FIELDS: Final = ("writeid", "bucketid", "rowid")


class SessionInspection(ABC):
    """The methods of a session that change nothing but whose a table is (`claim_tables`)."""

    warehouse: str
    compactor: Compactor
    """Runs compactions, and the background service."""
    _engine: Engine
    _files: WarehouseFiles
    _dispatch: StatementDispatch
    _metastore: SessionMetastore
    _settings: Settings
    _transactions: Transactions
    _uses: Uses

    @property
    @abstractmethod
    def database(self) -> str: ...

    def _telling_absence(self) -> AbstractContextManager[None]:
        return telling_absence(self._metastore, self.warehouse)

    # -- what runs

    def progress(self) -> str:
        """The progress of the running statement in words, or an empty text: for which lock it waits and who has it, or
        how many tasks of its Spark jobs are done. Any thread may call this.

        >>> session.progress()
        ''
        """
        return self.lock_wait() or self._engine.progress()

    def lock_wait(self) -> str:
        """For which lock a statement has waited longer than a second, and which transaction has it; an empty text where
        none waits. Any thread may call this.

        >>> session.lock_wait()
        ''
        """
        return self._transactions.waits.told()

    def running_tasks(self) -> tuple[int, int]:
        """How many tasks of the running stages of Spark jobs are done, and how many tasks these stages have. Any thread
        may call this.

        >>> session.running_tasks()
        (0, 0)
        """
        return self._engine.tasks()

    def cancelled_tasks(self) -> int:
        """How many tasks of cancelled statements still run: Spark cannot interrupt every task.

        >>> session.cancelled_tasks()
        0
        """
        return self._engine.cancelled_tasks()

    # -- the files of tables

    def inspect(self, name: str, partition: str | None = None) -> TableContent:
        """The directories and files of a table, and why a reader ignores some of them. Local tables need no Spark.

        `partition` is the name of the partition that is wanted (`p=1/q=a`), or its beginning.

        Raises DATABASE_NOT_FOUND, TABLE_NOT_FOUND, NOT_PARTITIONED, PARTITION_NOT_FOUND.

        >>> session.inspect("employee").table.qualified
        'default.employee'
        """
        with self._telling_absence():
            found = self._metastore.table(*table_of(name, self.database))
        return table_content(found, self._metastore, self._files.of(found.location), partition)

    def doctor(self, name: str, *, reads_files: bool = True) -> Sequence[Finding]:
        """What is wrong with a table, and the statements that mend it. Changes no table, and needs no Spark for local
        ones. Unless it `reads_files`, damaged files are not noticed, and it only lists directories.

        Raises DATABASE_NOT_FOUND, TABLE_NOT_FOUND.

        >>> session.doctor("employee")
        []
        """
        with self._uses.use(), self._telling_absence():
            found = self._metastore.table(*table_of(name, self.database))
            return examine(found, self._metastore, self._files.of, self._settings.values, reads_files=reads_files)

    def table_names(self) -> Sequence[str]:
        """The names of all tables of all databases, `db.t`, without those of views.

        >>> session.table_names()
        ['default.employee']
        """
        names = [(db.name, name) for db in self._metastore.databases() for name in self._metastore.tables(db.name)]
        return [f"{db}.{name}" for db, name in names if self._metastore.find_table(db, name) is not None]

    def events(self, content: TableContent, part: PartContent) -> Iterator[StoredEvent]:
        """The events in the files of a partition from `inspect`: whether a reader sees them, and why not.

        >>> content = session.inspect("employee")
        >>> sum(1 for part in content.parts for event in session.events(content, part))
        3
        """
        return stored_events(content, part, self._files.of(content.table.location))

    def row_history(
        self,
        name: str,
        *,
        row: Mapping[str, int] | None = None,
        where: str | None = None,
        limit: int | None = None,
    ) -> RowHistories:
        """What happened to single rows of a full ACID table: inserted, updated and deleted by which writes, in which
        files, with which values. It tells of all events whose files are still there, also of rows that were deleted,
        and of aborted and open writes.

        Args:
            name: The table.
            row: A row__id, `{"writeid": 1, "bucketid": 536870912, "rowid": 0}`: of the row now, or of an earlier state.
            where: A condition in HiveQL: rows are meant for which it was ever true. Spark starts only for a condition
                that the Arrow engine cannot evaluate.
            limit: The number of rows at which to stop.

        Raises:
            AcidSqlError: TABLE_NOT_FOUND, COLUMN_NOT_FOUND; INVALID_PARAMETER unless one of `row` and `where` is given;
                NOT_YET_SUPPORTED for a view, for a table that is not full ACID, and for a subquery.

        >>> (row,) = session.row_history("employee", where="id = 2").rows
        >>> [(event.change.value, event.version, event.values["name"]) for event in row.events]
        [('insert', 1, 'Tom')]
        """
        wanted = _wanted(row, where)
        with self._uses.use(), depth_limited(), self._telling_absence():
            return self._dispatch.row_histories(name, wanted, limit)

    def row_changes(
        self, name: str, from_version: int, to_version: int | None = None, *, limit: int | None = None
    ) -> RowChanges:
        """The changes of `Session.changes` as values, by version, and how many rows were inserted, updated and deleted.
        An update has its old and its new values together where the files tell that they are those of one row.

        Args:
            name: The table.
            from_version: The write ID of the first version whose changes are wanted.
            to_version: The write ID of the last one; None for the newest.
            limit: How many changes are wanted; the counts are those of all.

        Raises:
            AcidSqlError: What `Session.changes` raises.

        >>> changes = session.row_changes("employee", 1)
        >>> changes.inserted, changes.rows[0].change, changes.rows[0].new
        (3, 'insert', (1, 'Jerry', 5000))
        """
        item = changes_item(name, (from_version, to_version), (None, None), ChangeOptionArguments())
        with self._uses.use(), depth_limited(), self._telling_absence():
            return self._dispatch.row_changes(name, item, limit)

    # -- the service

    def metrics(self) -> Sequence[Metric]:
        """Figures about transactions and compactions, with Hive's names.

        >>> {metric.name: metric.value for metric in session.metrics()}["num_locks"]
        0
        """
        return metrics(self._metastore, self.compactor)

    def claim_tables(self, *, forget: bool = False, here: bool = False) -> Sequence[str]:
        """Ends the refusal of an embedded metastore that was copied, or moved, without some of its tables
        (CATALOG_MOVED), and returns the names of these tables.

        They are this metastore's from here on. With `forget` it forgets them and leaves their files to the metastore
        that has them. With `here`, the tables of the old warehouse lie below this session's warehouse now.

        Raises METASTORE_READ_ONLY.

        >>> session.claim_tables()
        []
        """
        with self._uses.use():
            warehouse = self.warehouse if here else None
            return self._metastore.claim_tables(forgets=forget, warehouse=warehouse)

    def serve_metrics(self, port: int, listen: str = LOCAL) -> None:
        """Serves the metrics in Prometheus' text format from a thread. Raises CANNOT_START.

        Only this machine can read them, unless `listen` is another address: 0.0.0.0 for all interfaces.

        >>> session.serve_metrics(9464)  # doctest: +SKIP
        """
        serve_pages(port, listen, self._metastore, self.compactor, needs_metrics=True)

    def serve_health(self, port: int, listen: str = LOCAL) -> int:
        """Serves /healthz of the compaction service, and /metrics where prometheus_client is installed, from a thread.
        Returns the port, which the system chooses for 0. Raises CANNOT_START.

        Only this machine can read them, unless `listen` is another address: 0.0.0.0 for all interfaces.

        >>> session.serve_health(8080)  # doctest: +SKIP
        8080
        """
        return serve_pages(port, listen, self._metastore, self.compactor, needs_metrics=False)


def _wanted(row: Mapping[str, int] | None, where: str | None) -> RowId | str:
    """The row or the rows that are meant. Raises INVALID_PARAMETER."""
    if (row is None) == (where is None):
        reason = "give a row__id or a condition, and not both"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="row", reason=reason)
    if row is None:
        return str(where)
    numbers = [row.get(name) for name in _ROW_ID_FIELDS] if isinstance(row, Mapping) and len(row) == 3 else []
    if not numbers or not all(isinstance(each, int) and not isinstance(each, bool) for each in numbers):
        reason = f'{row!r} is no row__id: it has the numbers "writeid", "bucketid" and "rowid"'
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="row", reason=reason)
    return RowId(WriteId(row["writeid"]), row["bucketid"], row["rowid"])
