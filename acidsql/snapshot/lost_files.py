"""Files and directories of committed writes that are gone, as the metastore's list of what was written tells."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final

from acidsql.acid.table import Table
from acidsql.acid.write_ids import ValidTxnList, ValidWriteIdList, WriteId
from acidsql.acid.written_directories import IGNORE, MISSING_FILES, WrittenDirectory, lost
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.client import Metastore
from acidsql.snapshot.scan_binding import BoundPart

_SHOWN: Final = 5


def require_complete(
    metastore: Metastore,
    table: Table,
    parts: Sequence[BoundPart],
    writes: ValidWriteIdList,
    txns: ValidTxnList,
    *,
    highest: WriteId | None = None,
) -> None:
    """Checks that the parts of a table have all that transactions have written, as far as a reader with these lists
    reads it. The metastore is asked after the parts were listed, as a compaction may have replaced directories before.
    Directories with write IDs above `highest` are left out of the parts.

    Raises FILES_MISSING, and CATALOG_BEHIND where somebody has found directories of another metastore before.
    """
    known = metastore.written_directories(table, [part.values for part in parts])
    if table.properties.get(MISSING_FILES) == IGNORE:
        return
    for part in parts:
        wanted = [d for d in known.get(part.values, ()) if highest is None or d.range[1] <= highest]
        found = list(islice(lost(wanted, part.snapshot, writes, txns), _SHOWN))
        if found:
            raise _missing(table, part.directory, found)


def _missing(table: Table, path: str, found: Sequence[WrittenDirectory]) -> AcidSqlError:
    shown = ", ".join(directory.name for directory in found)
    hint = (
        "Restore them from a backup. ALTER TABLE"
        f" {table.qualified} SET TBLPROPERTIES ('{MISSING_FILES}' = '{IGNORE}') reads the table without them."
    )
    return AcidSqlError(Condition.FILES_MISSING, hint=hint, path=path, table=table.qualified, lost=shown)
