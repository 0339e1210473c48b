"""The statistics of a table or partition as parameters with Hive's names, and whether they are true of its rows; and
the protocol that changes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId
from acidsql.metastore.catalog import PartitionValues

STATISTICS_STATE: Final = "COLUMN_STATS_ACCURATE"
"""StatsSetupConst.COLUMN_STATS_ACCURATE: which statistics Hive may answer queries from."""
ACCURATE_STATISTICS: Final = '{"BASIC_STATS":"true"}'
"""Its value where the numbers of rows and files are true, and nothing is said of columns."""


def with_statistics(known: Mapping[str, str], new: Mapping[str, str], *, accurate: bool | None) -> dict[str, str]:
    """The parameters `known` with `new` ones. `accurate` tells whether they are true; None keeps what is known of
    that."""
    changed = {**known, **new}
    if accurate:
        changed[STATISTICS_STATE] = ACCURATE_STATISTICS
    return out_of_date(changed) if accurate is False else changed


def out_of_date(known: Mapping[str, str]) -> dict[str, str]:
    """The parameters, from which Hive answers no query any more."""
    return {key: value for key, value in known.items() if key != STATISTICS_STATE}


class StatisticsKeeper(Protocol):
    """The statistics that `Catalog.statistics` tells."""

    def forget_statistics(self, txn: TxnId | None, table: Table, partitions: Sequence[PartitionValues]) -> None:
        """Marks the statistics of the table, or of these partitions, as out of date, so that Hive does not answer
        queries from them. `txn` is None for a plain table. Allocates the write ID of `txn` if it has none yet.

        Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED, TABLE_NOT_FOUND.
        """
        ...

    def set_statistics(
        self,
        txn: TxnId | None,
        table: Table,
        statistics: Mapping[PartitionValues, Mapping[str, str]],
        *,
        accurate: bool | None,
    ) -> None:
        """Stores statistics of an unpartitioned table (under `()`) or of partitions; other statistics stay.

        `accurate` tells whether they are true of what `txn` sees, so that Hive may answer queries from them. With None,
        what the metastore knows of that stays. `txn` is None for a plain table. The caller keeps writers out.
        Raises TABLE_NOT_FOUND, NO_SUCH_TRANSACTION, TRANSACTION_ABORTED.
        """
        ...
