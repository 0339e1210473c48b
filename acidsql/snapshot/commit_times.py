"""When the writes of a table were committed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from acidsql.acid.table import Table
from acidsql.acid.write_ids import WriteId
from acidsql.metastore.client import Metastore


def commit_times(metastore: Metastore, table: Table, write_ids: Collection[WriteId]) -> Mapping[WriteId, datetime]:
    """The times at which these writes were committed, with the offset of their time zone, of those whose time is
    known."""
    return {}
