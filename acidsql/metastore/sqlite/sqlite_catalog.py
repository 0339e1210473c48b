"""The catalog of the embedded metastore, with the statistics of tables and partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from acidsql.acid.table import MOVING, Relation, Table, View
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.metastore.catalog import AdoptedWriteIds, Database, Partition, PartitionValues, Place, Redefinition
from acidsql.metastore.partition_changes import ChangeKind, DroppedPartition, PartitionChange
from acidsql.metastore.sqlite import catalog_rows, dropped_partition_rows, partition_change_rows, statistics_rows
from acidsql.metastore.sqlite.database_file import SqliteFile


class SqliteCatalog:
    """A `Catalog` (metastore/catalog.py, which documents the methods)."""

    _file: SqliteFile

    def databases(self) -> Sequence[Database]:
        with self._file.reading() as db:
            return catalog_rows.databases(db)

    def database(self, name: str) -> Database:
        with self._file.reading() as db:
            return catalog_rows.database(db, name)

    def create_database(self, database: Database) -> None:
        with self._file.writing() as db:
            catalog_rows.create_database(db, database)

    def alter_database(self, database: Database) -> None:
        with self._file.writing() as db:
            catalog_rows.alter_database(db, database)

    def drop_database(self, name: str) -> None:
        with self._file.writing() as db:
            catalog_rows.drop_database(db, name)

    def tables(self, database: str) -> Sequence[str]:
        with self._file.reading() as db:
            return catalog_rows.tables(db, database)

    def views(self, database: str) -> Sequence[str]:
        with self._file.reading() as db:
            return catalog_rows.views(db, database)

    def table(self, database: str, name: str) -> Table:
        with self._file.reading() as db:
            return catalog_rows.table(db, database, name)

    def find_table(self, database: str, name: str) -> Table | None:
        with self._file.reading() as db:
            return catalog_rows.find_table(db, database, name)

    def find(self, database: str, name: str) -> Relation | None:
        with self._file.reading() as db:
            return catalog_rows.find(db, database, name)

    def hidden(self, database: str) -> Sequence[Relation]:
        return ()

    def create_view(self, view: View) -> None:
        with self._file.writing() as db:
            catalog_rows.create_view(db, view)

    def alter_view(self, old: View, new: View) -> None:
        with self._file.writing() as db:
            catalog_rows.alter_view(db, old, new)

    def drop_view(self, view: View) -> None:
        with self._file.writing() as db:
            catalog_rows.drop_view(db, view)

    def create_table(
        self, table: Table, *, adopted: AdoptedWriteIds | None = None, partitions: Sequence[Partition] = ()
    ) -> None:
        with self._file.writing() as db:
            catalog_rows.create_table(db, table, adopted, partitions)

    def places(self) -> Sequence[Place]:
        with self._file.reading() as db:
            return [Place(str(self._file.path), None), *catalog_rows.places(db)]

    def drop_table(self, database: str, name: str, *, with_files: bool = True, skips_trash: bool = False) -> None:
        with self._file.writing() as db:
            catalog_rows.drop_table(db, database, name)

    def alter_table(
        self,
        old: Table,
        new: Table,
        *,
        partitions: Mapping[PartitionValues, Partition] | None = None,
        committed_up_to: WriteId | None = None,
    ) -> None:
        with self._file.writing() as db:
            catalog_rows.alter_table(db, old, new)
            catalog_rows.replace_partitions(db, new, partitions or {}, is_move=MOVING in old.properties)
            if committed_up_to is not None:
                catalog_rows.seed_write_ids(db, new, committed_up_to)

    def partitions(self, table: Table) -> Sequence[Partition]:
        with self._file.reading() as db:
            return catalog_rows.partitions(db, table)

    def partition_values(self, table: Table) -> Sequence[PartitionValues]:
        return [p.values for p in self.partitions(table)]

    def partitions_named(self, table: Table, values: Sequence[PartitionValues]) -> Sequence[Partition]:
        with self._file.reading() as db:
            return catalog_rows.partitions_named(db, table, values)

    def partition_changes(self, table: Table) -> Sequence[PartitionChange] | None:
        with self._file.reading() as db:
            return partition_change_rows.changes(db, catalog_rows.same_table_id(db, table))

    def dropped_partitions(self, table: Table) -> Sequence[DroppedPartition]:
        with self._file.reading() as db:
            return dropped_partition_rows.of_table(db, catalog_rows.same_table_id(db, table))

    def add_partitions(self, table: Table, partitions: Sequence[Partition], *, found: bool = False) -> None:
        with self._file.writing() as db:
            catalog_rows.add_partitions(db, table, partitions, ChangeKind.FOUND if found else ChangeKind.ADDED)

    def drop_partitions(self, table: Table, values: Sequence[tuple[str | None, ...]]) -> None:
        with self._file.writing() as db:
            catalog_rows.drop_partitions(db, table, values)

    def exchange_partition(self, partition: Partition, source: Redefinition, target: Redefinition) -> None:
        with self._file.writing() as db:
            catalog_rows.add_partitions(db, target[0], [partition], ChangeKind.FOUND)
            catalog_rows.drop_partitions(db, source[0], [partition.values])
            for before, after in (source, target):
                catalog_rows.alter_table(db, before, after)

    # -- statistics

    def forget_statistics(self, txn: TxnId | None, table: Table, partitions: Sequence[PartitionValues]) -> None:
        with self._file.reading() as db:
            if not statistics_rows.are_known(db, table):
                return
        with self._file.writing() as db:
            statistics_rows.forget(db, table, partitions)

    def statistics(self, table: Table, partition: PartitionValues = ()) -> Mapping[str, str]:
        with self._file.reading() as db:
            return statistics_rows.statistics(db, table, partition)

    def set_statistics(
        self,
        txn: TxnId | None,
        table: Table,
        statistics: Mapping[PartitionValues, Mapping[str, str]],
        *,
        accurate: bool | None,
    ) -> None:
        with self._file.writing() as db:
            statistics_rows.store(db, table, statistics, accurate=accurate)
