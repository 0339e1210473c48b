"""When the writes of a table were committed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from acidsql.acid.table import Table
from acidsql.acid.write_ids import WriteId
from acidsql.metastore.client import Metastore


def commit_times(metastore: Metastore, table: Table, write_ids: Collection[WriteId]) -> Mapping[WriteId, datetime]:
    """The times at which these writes were committed, of those whose time the metastore has recorded."""
    wanted = frozenset(write_ids)
    recorded = metastore.commits(table) if wanted else ()
    return {c.write_id: datetime.fromtimestamp(c.committed / 1000, UTC) for c in recorded if c.write_id in wanted}
