"""The statistics of tables and partitions in a Hive Metastore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from acidsql.acid.table import Table
from acidsql.metastore.basic_statistics import ACCURATE_STATISTICS, STATISTICS_STATE
from acidsql.metastore.catalog import PartitionValues
from acidsql.metastore.hive import thrift_tables as mapped
from acidsql.metastore.hive.thrift_alterations import alter_partitions, alter_relation
from acidsql.metastore.hive.thrift_lookups import batches
from acidsql.metastore.hive.thrift_partitions import HivePartitions
from acidsql.metastore.hive.thrift_write_ids import WriteState

_STATISTICS: Final = (STATISTICS_STATE, "numFiles", "numRows", "rawDataSize", "totalSize")


class HiveStatistics(HivePartitions):
    """Reads and changes statistics: those of a transactional table with the `state` of the transaction."""

    def forget_table_statistics(self, table: Table, state: WriteState | None) -> None:
        """Also called for a table without statistics. The write ID that the call sets tells a concurrent writer that
        its own statistics lack these rows (ObjectStore.isCurrentStatsValidForTheQuery)."""
        found = self._find(table.database, table.name) or self._no_table(table.database, table.name)
        found.parameters.pop(STATISTICS_STATE, None)
        if state is not None:
            found.writeId = state.write_id
        alter_relation(self._hive, table, found, mapped.environment(), state)

    def forget_partition_statistics(
        self, table: Table, partitions: Sequence[PartitionValues], state: WriteState | None
    ) -> None:
        for some in batches(partitions):
            found = self.stored_partitions(table, some)
            for partition in found:
                partition.parameters.pop(STATISTICS_STATE, None)
            alter_partitions(self._hive, table, found, state)

    def statistics(self, table: Table, partition: PartitionValues = ()) -> Mapping[str, str]:
        if not table.partition_columns:
            return _from_hive(getattr(self._find(table.database, table.name), "parameters", None))
        found = self.stored_partitions(table, [partition]) if partition else []
        return _from_hive(found[0].parameters) if found else {}

    def set_table_statistics(
        self, table: Table, new: Mapping[str, str], state: WriteState | None, *, accurate: bool | None
    ) -> None:
        found = self._find(table.database, table.name) or self._no_table(table.database, table.name)
        _change(found.parameters, new, accurate=accurate)
        if state is not None:
            found.writeId = state.write_id
        alter_relation(self._hive, table, found, mapped.environment(), state)

    def set_partition_statistics(
        self,
        table: Table,
        new: Mapping[PartitionValues, Mapping[str, str]],
        state: WriteState | None,
        *,
        accurate: bool | None,
    ) -> None:
        for some in batches(list(new)):
            found = self.stored_partitions(table, some)
            for partition in found:
                values = new[mapped.values_from_hive(partition.values)]
                _change(partition.parameters, values, accurate=accurate)
            alter_partitions(self._hive, table, found, state)


def _from_hive(parameters: Mapping[str, str] | None) -> dict[str, str]:
    return {key: value for key, value in (parameters or {}).items() if key in _STATISTICS}


def _change(parameters: dict[str, str], new: Mapping[str, str], *, accurate: bool | None) -> None:
    """Sets the statistics in the parameters of a table or partition. The raw size, and what is known of columns, was
    true of other rows."""
    parameters |= new
    if accurate is None:
        return
    for key in (STATISTICS_STATE, "rawDataSize"):
        parameters.pop(key, None)
    if accurate:
        parameters[STATISTICS_STATE] = ACCURATE_STATISTICS
