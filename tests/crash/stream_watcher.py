"""Watches from a process of its own when commits of streams are visible: takes one snapshot of the metastore after the
other, and writes a line with the time, the stream's ID and its offset when an offset is new and its rows are visible.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import Final

from acidsql.errors import AcidSqlError
from acidsql.metastore.registry import open_metastore

PAUSE: Final = 0.005
"""Seconds between two looks: how exact the times are."""
SERVER_PAUSE: Final = 0.1
"""The same at a Hive Metastore. Each look costs it eight calls: with more of them, a test would measure its watcher."""


def main() -> None:
    """Runs until it is killed; the arguments are warehouse, metastore, table, the path of the log, and the IDs."""
    warehouse, metastore, name, log, *ids = sys.argv[1:]
    seen: dict[str, object] = {}
    pause = SERVER_PAUSE if metastore.startswith("thrift:") else PAUSE
    store = open_metastore(metastore, warehouse).metastore
    table = store.table(*name.split("."))
    with open(log, "a", buffering=1) as out:
        while True:
            for stream_id in ids:
                with suppress(AcidSqlError):  # the metastore is busy
                    state = store.committed(table, stream_id)
                    if state is None or state.txn is None or seen.get(stream_id) == state.offset:
                        continue
                    assert store.valid_txns().is_valid(state.txn)
                    seen[stream_id] = state.offset
                    out.write(f"{time.time()} {stream_id} {state.offset}\n")
            time.sleep(pause)


if __name__ == "__main__":
    main()
