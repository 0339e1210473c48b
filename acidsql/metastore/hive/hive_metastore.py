"""The client of a Hive Metastore: catalog, transactions and compaction queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.acid.written_directories import WrittenDirectory
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.catalog import Partition, PartitionValues, Redefinition
from acidsql.metastore.commit_history import CommittedWrite, RecordedCommit, WriteIdsAt
from acidsql.metastore.compactions import CompactionRequest, Enqueued
from acidsql.metastore.hive.service_uri import Address
from acidsql.metastore.hive.thrift_catalog import HiveCatalog
from acidsql.metastore.hive.thrift_compactions import HiveCompactions
from acidsql.metastore.hive.thrift_connection import HiveConnections
from acidsql.metastore.hive.thrift_statistics import HiveStatistics
from acidsql.metastore.hive.thrift_stream_tables import STREAMS
from acidsql.metastore.hive.thrift_streams import HiveStreams
from acidsql.metastore.hive.thrift_write_ids import WriteState
from acidsql.metastore.hive.written_files import HiveWrittenFiles
from acidsql.metastore.partition_exchange import exchange_in_steps

_FIRST: Final = WriteId(1)


class HiveMetastore(HiveCatalog, HiveStatistics, HiveCompactions, HiveStreams, HiveWrittenFiles):
    """A `Metastore` (client.py) over Thrift; also a context manager.

    Any call raises METASTORE_UNAVAILABLE if no metastore can be reached, and METASTORE_FAILED with the metastore's
    message for any other failure.
    """

    def __init__(self, address: Address) -> None:
        """Raises METASTORE_UNAVAILABLE."""
        hive = HiveConnections(address)
        HiveCatalog.__init__(self, hive)
        HiveStreams.__init__(self, hive)

    @property
    def compaction_keeper(self) -> None:
        """None: the metastore runs its own initiator, cleaner and housekeeper."""

    @property
    def detects_row_conflicts(self) -> bool:
        return False

    @property
    def absent(self) -> str | None:
        return None

    def limit_open_txns(self, limit: int) -> None:
        """Does nothing: the metastore's own hive.max.open.txns is the limit."""

    def require_changeable(self) -> None:
        """Does nothing: the metastore refuses each change itself."""

    def claim_tables(self, *, forgets: bool = False, warehouse: str | None = None) -> Sequence[str]:
        """Does nothing and returns no name: the metastore's own database is not a file beside the tables."""
        return ()

    def close(self) -> None:
        self._hive.close()

    def __enter__(self) -> HiveMetastore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def drop_table(self, database: str, name: str, *, with_files: bool = True, skips_trash: bool = False) -> None:
        """Also forgets the table's streams. A drop by Hive leaves them, but no later table inherits them."""
        streams = () if database == STREAMS else self._stream_tables.of(database, name)
        super().drop_table(database, name, with_files=with_files, skips_trash=skips_trash)
        self._stream_tables.forget(streams)

    def valid_write_ids(self, table: Table, txns: ValidTxnList) -> ValidWriteIdList:
        """Checks that the table exists: the metastore returns an empty list for an unknown table."""
        found = super().valid_write_ids(table, txns)
        if found.high_watermark == 0:
            self.table(table.database, table.name)
        return found

    def enqueue_compaction(self, request: CompactionRequest) -> Enqueued:
        """Checks that the table exists: the metastore accepts requests for unknown tables."""
        self.table(request.database, request.table)
        return super().enqueue_compaction(request)

    def forget_statistics(self, txn: TxnId | None, table: Table, partitions: Sequence[PartitionValues]) -> None:
        state = self._state(txn, table)
        if table.partition_columns:
            self.forget_partition_statistics(table, partitions, state)
        else:
            self.forget_table_statistics(table, state)

    def set_statistics(
        self,
        txn: TxnId | None,
        table: Table,
        statistics: Mapping[PartitionValues, Mapping[str, str]],
        *,
        accurate: bool | None,
    ) -> None:
        """A metastore does not change the state of a transactional table's statistics without a write ID."""
        state = None if accurate is None else self._state(txn, table)
        if table.partition_columns:
            self.set_partition_statistics(table, statistics, state, accurate=accurate)
        else:
            self.set_table_statistics(table, statistics[()], state, accurate=accurate)

    def _state(self, txn: TxnId | None, table: Table) -> WriteState | None:
        if txn is None:
            return None
        return WriteState(self.allocate_write_id(txn, table), self.valid_write_ids(table, self.valid_txns(txn)))

    def commit_created(
        self,
        txn: TxnId,
        table: Table,
        partitions: Sequence[Partition],
        written: Sequence[WrittenDirectory] = (),
        writes: Sequence[CommittedWrite] = (),
    ) -> None:
        """Other clients see the empty table before the commit. It stays if this process dies before the commit."""
        self.create_table(table, partitions=partitions)
        try:
            if table.is_transactional and (first := self.allocate_write_id(txn, table)) != _FIRST:
                reason = f"it gives the new table {table.qualified} write ID {first}, those of an older one of its name"
                raise AcidSqlError(Condition.METASTORE_FAILED, uri=self._hive.address, reason=reason)
            self.commit(txn)
        except BaseException as error:
            if not isinstance(error, AcidSqlError) or error.condition != Condition.COMMIT_UNKNOWN.name:
                self.drop_table(table.database, table.name, skips_trash=True)
            raise

    def commits(self, table: Table, limit: int | None = None) -> Sequence[RecordedCommit]:
        """Empty: Hive's metastore tells nobody when a transaction committed."""
        return ()

    def write_ids_at(self, table: Table, instant: int) -> WriteIdsAt | None:
        """None, as for `commits`."""
        return None

    def commit_dropped(
        self, txn: TxnId, table: Table, values: Sequence[PartitionValues], kept: Sequence[Partition] = ()
    ) -> None:
        """As in Hive, the partitions go first. If this process dies before the commit, their rows are in the files
        still, and a partition that is made there again has them."""
        self.heartbeat(txn)  # without its locks, the partitions may be others
        self.drop_partitions(table, values)
        self.commit(txn)

    def exchange_partition(self, partition: Partition, source: Redefinition, target: Redefinition) -> None:
        exchange_in_steps(self, partition, source, target)
