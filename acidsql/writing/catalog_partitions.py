"""The partitions of a write's target that the catalog has, and their directories."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from acidsql.acid.partition_values import PartitionValues
from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.catalog import Partition
from acidsql.snapshot.read_view import ReadView
from acidsql.storage.file_systems import FileSystem

_MOST_REQUESTS: Final = 8
"""After so many requests for one partition each, the next one is for all."""


class CatalogPartitions:
    """The partitions of a table, by values. A Hive Metastore gives the values of thousands of partitions fast and their
    directories slowly. A directory is therefore requested when it is needed. Threads may share an instance."""

    def __init__(
        self, located: Mapping[PartitionValues, str], table: Table, files: FileSystem, view: ReadView | None
    ) -> None:
        """`located` are the directories that are known. `view` gives the other partitions; None if the write reaches no
        others."""
        self._located = dict(located)
        self._table = table
        self._files = files
        self._view = view
        self._values: Sequence[PartitionValues] | None = None if view is not None else tuple(located)
        self._requests = 0
        self._lock = threading.RLock()

    @property
    def values(self) -> Collection[PartitionValues]:
        """The values of all partitions."""
        with self._lock:
            if self._values is None:
                assert self._view is not None
                self._values = self._view.partition_values(self._table)
            return self._values

    @property
    def located(self) -> Mapping[PartitionValues, str]:
        """The directories of the partitions that are known or were asked for so far."""
        return self._located

    def directory(self, values: PartitionValues) -> str:
        """The directory of one of the partitions. Raises TABLE_CHANGED if it has been dropped."""
        with self._lock:
            if values not in self._located:
                self._locate(values)
            if values not in self._located:
                raise AcidSqlError(Condition.TABLE_CHANGED, table=self._table.qualified)
            return self._located[values]

    def all_directories(self) -> Mapping[PartitionValues, str]:
        """The directories of all partitions."""
        with self._lock:
            if self._view is not None:
                self._add(self._view.partitions(self._table))
            return self._located

    def _locate(self, values: PartitionValues) -> None:
        if self._view is None:
            return
        self._requests += 1
        if self._requests > _MOST_REQUESTS:
            self._add(self._view.partitions(self._table))
        else:
            self._add(self._view.partitions_among(self._table, [values], tuple(self.values)))

    def _add(self, found: Sequence[Partition]) -> None:
        self._located |= {p.values: self._files.resolve(p.location) for p in found if p.values not in self._located}
