"""What the retention of tables holds back: the compactions as SHOW COMPACTIONS lists them, with until when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from acidsql.metastore.client import Metastore
from acidsql.metastore.compactions import Compaction, CompactionState
from acidsql.metastore.history_retention import RETENTION, held_until, moment_text, retention_millis
from acidsql.metastore.process_identity import now


def compactions_shown(metastore: Metastore) -> Sequence[Compaction]:
    """The compactions, the latest first. The text of the error tells until when a table keeps what one has replaced.
    A Hive Metastore has a cleaner of its own, which keeps nothing."""
    found = metastore.compactions()
    return found if metastore.compaction_keeper is None else [_with_hold(metastore, each) for each in found]


def _with_hold(metastore: Metastore, compaction: Compaction) -> Compaction:
    if compaction.state is not CompactionState.READY_FOR_CLEANING or compaction.error:
        return compaction
    table = metastore.find_table(compaction.request.database, compaction.request.table)
    if table is None or not retention_millis(table.properties):
        return compaction
    until = held_until(table, compaction.committed)
    if until <= now().wall:
        return compaction
    return replace(compaction, error=f"{RETENTION} keeps what it replaces {moment_text(until)}")
