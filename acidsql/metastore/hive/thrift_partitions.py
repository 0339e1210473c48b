"""The partitions of tables in a Hive Metastore."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from operator import methodcaller
from typing import Any

from pymetastore.hive_metastore import ttypes as t

from acidsql.acid.partition_names import parse_partition_name, partition_name
from acidsql.acid.partition_values import catalog_order
from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.basic_statistics import STATISTICS_STATE
from acidsql.metastore.catalog import Partition, PartitionValues
from acidsql.metastore.hive import thrift_tables as mapped
from acidsql.metastore.hive.thrift_databases import HiveDatabases
from acidsql.metastore.hive.thrift_lookups import batches
from acidsql.metastore.partition_changes import DroppedPartition, PartitionChange


class HivePartitions(HiveDatabases):
    """Methods of `Catalog` (metastore/catalog.py). Those for many partitions make a call for each batch of them."""

    def partitions(self, table: Table) -> Sequence[Partition]:
        try:
            specs = self._hive.ask(
                lambda c: c.get_partitions_pspec(table.database, table.name, -1), t.NoSuchObjectException
            )
        except t.NoSuchObjectException:
            self._no_table(table.database, table.name)
        found = [partition for spec in specs for partition in _partitions_of(spec)]
        return sorted(found, key=lambda p: catalog_order(p.values))

    def partition_values(self, table: Table) -> Sequence[PartitionValues]:
        columns = [c.name for c in table.partition_columns]
        found = [parse_partition_name(name, columns) for name in self._partition_names(table)]
        known = [values for values in found if values is not None]
        if len(known) < len(found):  # a name is not made of the columns
            return [p.values for p in self.partitions(table)]
        return sorted(known, key=catalog_order)

    def _partition_names(self, table: Table) -> Sequence[str]:
        try:
            names: Sequence[str] = self._hive.ask(
                lambda c: c.get_partition_names(table.database, table.name, -1), t.NoSuchObjectException
            )
        except t.NoSuchObjectException:
            self._no_table(table.database, table.name)
        return names

    def partitions_named(self, table: Table, values: Sequence[PartitionValues]) -> Sequence[Partition]:
        stored = (each for some in batches(values) for each in self.stored_partitions(table, some))
        return [mapped.partition_from_hive(each.values, each.sd.location) for each in stored]

    def partition_changes(self, table: Table) -> Sequence[PartitionChange] | None:
        """None: Hive's metastore records no drops."""
        return None

    def dropped_partitions(self, table: Table) -> Sequence[DroppedPartition]:
        return ()

    def add_partitions(self, table: Table, partitions: Sequence[Partition], *, found: bool = False) -> None:
        if not partitions:
            return
        found = self._find(table.database, table.name) or self._no_table(table.database, table.name)
        for some in batches(partitions):
            new = [mapped.partition_to_hive(p, found) for p in some]
            request = t.AddPartitionsRequest(table.database, table.name, new, True, False, mapped.CATALOG)
            # Existing partitions do not change, so that the call may be repeated.
            self._hive.ask(methodcaller("add_partitions_req", request))

    def drop_partitions(self, table: Table, values: Sequence[tuple[str | None, ...]]) -> None:
        for some in batches(values):
            names = [_partition_name(table, v) for v in some]
            request = t.DropPartitionsRequest(
                dbName=table.database,
                tblName=table.name,
                parts=t.RequestPartsSpec(names=names),
                deleteData=False,
                ifExists=True,
                needResult=False,
                catName=mapped.CATALOG,
            )
            self._hive.ask(methodcaller("drop_partitions_req", request))

    def _check_free(self, table: Table, replaced: Mapping[PartitionValues, Partition]) -> None:
        """Raises PARTITION_ALREADY_EXISTS."""
        renamed = [new.values for values, new in replaced.items() if new.values != values]
        if not renamed:
            return
        known = set(self.partition_values(table)) - replaced.keys()
        for values in renamed:
            if values in known:
                raise AcidSqlError(Condition.PARTITION_ALREADY_EXISTS, partition=_partition_name(table, values))

    def _replace_partitions(self, table: Table, replaced: Mapping[PartitionValues, Partition]) -> None:
        """Replaces partitions. The metastore moves a renamed partition of a managed table to its default directory."""
        for values, new in replaced.items():
            if new.values != values:
                self._rename_partition(table, values, new)
        moved = {new.values: new.location for values, new in replaced.items() if new.values == values}
        for some in batches(list(moved)):
            found = self.stored_partitions(table, some)
            for partition in found:
                location = moved[mapped.values_from_hive(partition.values)]
                partition.sd.location = mapped.location_to_hive(location)
                if not table.is_transactional:  # the files there are others
                    partition.parameters.pop(STATISTICS_STATE, None)
            if found:
                self._hive.ask(
                    methodcaller(
                        "alter_partitions_with_environment_context",
                        *(table.database, table.name, found, mapped.environment()),
                    )
                )

    def _rename_partition(self, table: Table, values: PartitionValues, new: Partition) -> None:
        (found,) = self.stored_partitions(table, [values]) or (None,)
        if found is None:
            return
        found.values = mapped.values_to_hive(new.values)
        old = mapped.values_to_hive(values)
        self._hive.tell(lambda c: c.rename_partition(table.database, table.name, old, found))

    def stored_partitions(self, table: Table, values: Sequence[PartitionValues]) -> list[Any]:
        """The metastore's partitions with these values, as far as they exist."""
        names = [_partition_name(table, v) for v in values]
        with suppress(t.NoSuchObjectException):
            return list(
                self._hive.ask(
                    lambda c: c.get_partitions_by_names(table.database, table.name, names), t.NoSuchObjectException
                )
            )
        return []


def _partition_name(table: Table, values: PartitionValues) -> str:
    return partition_name([c.name for c in table.partition_columns], values)


def _partitions_of(spec: Any) -> Iterator[Partition]:
    """The partitions of a PartitionSpec: complete ones, and ones that share all but their location."""
    if spec.partitionList is not None:
        for whole in spec.partitionList.partitions:
            yield mapped.partition_from_hive(whole.values, whole.sd.location)
    if spec.sharedSDPartitionSpec is not None:
        for short in spec.sharedSDPartitionSpec.partitions:
            yield mapped.partition_from_hive(short.values, f"{spec.rootPath}{short.relativePath}")
