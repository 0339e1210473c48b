"""Conflicts by row (`acidsql.conflict.detection=row`): writers of different rows of one table all commit.

The delete events of two transactions show which rows they deleted or updated. If they have none in common, there is no
conflict. The events of a MERGE that inserts do not show which rows it matched, so it takes turns with other writers
(planner/lock_requests.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.metastore.transaction_client import Conflict
from acidsql.planner.plan import EventKind
from acidsql.storage.file_systems import FileSystem
from acidsql.writing.publishing import WriteTarget
from acidsql.writing.table_write import TableWrite, committed_writes
from acidsql.writing.write_transaction import WriteTransaction

_KEY: Final = ["originalTransaction", "bucket", "rowId"]


def commit_by_rows(txn: WriteTransaction) -> None:
    """Commits unless another transaction that committed first deleted or updated a row that this one did.

    Raises WRITE_CONFLICT, with the transaction still open.
    """
    compatible: set[TxnId] = set()
    while True:
        later = [c for c in txn.metastore.conflicts(txn.id) if c.txn not in compatible]
        if not later:
            txn.metastore.commit(
                txn.id, compatible=compatible, progress=txn.progress, writes=committed_writes(txn.writes)
            )
            return
        for conflict in later:
            if _share_a_row(txn.writes, conflict):
                raise conflict.error
        compatible.update(c.txn for c in later)


def _share_a_row(writes: Sequence[TableWrite], conflict: Conflict) -> bool:
    mine = [w for w in writes if (w.target.table.database, w.target.table.name) == (conflict.database, conflict.table)]
    if conflict.write_id is None or any(w.target.overwrites for w in mine):
        return True
    return any(_common(w, place, conflict.write_id) for w in mine for place in w.partition_directories)


def _common(write: TableWrite, place: str, theirs: WriteId) -> bool:
    """Whether both have deleted one row of a table's or partition's directory."""
    files = write.target.files
    found = files.list_below(place)
    names = [d for d in found.directories if "/" not in d]
    low = f"{theirs:07d}"
    if f"base_{low}" in names:
        return True
    prefix = f"delete_delta_{low}_{low}"
    their_files = [f"{place}/{f.path}" for f in found.files if f.path.startswith(prefix) and "/bucket_" in f.path]
    if not their_files and not any(n.startswith(f"delta_{low}_{low}") for n in names):
        # The other transaction wrote to other partitions, or a compaction has merged its files with other writes.
        return any(_merged(n, theirs) for n in names)
    my_files = list(_delete_files(write.target, place, files))
    return bool(my_files) and bool(their_files) and not _keys(files, my_files).isdisjoint(_keys(files, their_files))


def _merged(name: str, write_id: WriteId) -> bool:
    """Whether the directory is a compaction's that may hold the write."""
    parts = name.removeprefix("delete_").split("_")
    if parts[0] == "base":
        return int(parts[1]) >= write_id
    return parts[0] == "delta" and int(parts[1]) <= write_id <= int(parts[2])


def _delete_files(target: WriteTarget, place: str, files: FileSystem) -> Iterator[str]:
    for number, (branch, _) in enumerate(target.branches):
        if branch.kind is EventKind.DELETE:
            directory = target.branch_directory(place, number)
            yield from (f"{directory}/{f.path}" for f in files.list_below(directory).files if "bucket_" in f.path)


def _keys(files: FileSystem, paths: Sequence[str]) -> set[tuple[int, int, int]]:
    import pyarrow as pa
    from pyarrow import orc

    found: set[tuple[int, int, int]] = set()
    for path in paths:
        table = orc.ORCFile(pa.BufferReader(files.read(path))).read(columns=_KEY)
        found.update(zip(*(table.column(name).to_pylist() for name in _KEY), strict=True))
    return found
