"""The protocol of a metastore, which joins those of its subjects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from acidsql.metastore.basic_statistics import StatisticsKeeper
from acidsql.metastore.catalog import Catalog
from acidsql.metastore.commit_history import CommitHistory
from acidsql.metastore.compactions import CompactionKeeper, CompactionQueue
from acidsql.metastore.locks import LockKeeper
from acidsql.metastore.streams import StreamKeeper
from acidsql.metastore.transaction_client import TransactionClient
from acidsql.metastore.written_files import WrittenFiles


class Metastore(
    Catalog,
    StatisticsKeeper,
    TransactionClient,
    CommitHistory,
    LockKeeper,
    WrittenFiles,
    CompactionQueue,
    StreamKeeper,
    Protocol,
):
    """The subjects of its base classes as one connection, usable from several threads.

    Callers ask a metastore for what it can do by the attributes below, and never for its class. registry.py opens one.
    """

    @property
    def compaction_keeper(self) -> CompactionKeeper | None:
        """The queue for acidsql's own initiator, cleaner and housekeeper; None where the metastore has its own, as a
        Hive Metastore has."""
        ...

    @property
    def detects_row_conflicts(self) -> bool:
        """Whether `commit` accepts `compatible`, which acidsql.conflict.detection=row needs."""
        ...

    @property
    def absent(self) -> str | None:
        """The URI of the file of an embedded metastore that nobody has made yet, and that the first write makes. None
        where there is a metastore."""
        ...

    def limit_open_txns(self, limit: int) -> None:
        """Sets how many transactions this connection lets be open at once (hive.max.open.txns). A Hive Metastore has
        its own limit and ignores this one."""
        ...

    def require_changeable(self) -> None:
        """Raises METASTORE_READ_ONLY and CATALOG_MOVED where each change of the catalog would, before anything is done
        for one."""
        ...

    def claim_tables(self, *, forgets: bool = False, warehouse: str | None = None) -> Sequence[str]:
        """Ends the refusal of CATALOG_MOVED and CATALOG_BEHIND: the tables that did not move with the catalog, and
        those with foreign directories, are this catalog's, or are forgotten with `forgets`, and no file is touched.
        With `warehouse`, what lay below the old warehouse lies below that directory now. Returns their names. A Hive
        Metastore does nothing.

        Raises METASTORE_READ_ONLY.
        """
        ...

    def close(self) -> None: ...
