"""Names of the directories and files that acidsql writes, and the write IDs in the names that others have written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from acidsql.acid.directories import Base, Delta, format_directory, is_hidden, parse_directory
from acidsql.acid.row_id import MAX_BUCKET, MAX_STATEMENT_ID
from acidsql.acid.write_ids import StatementId, TxnId, WriteId
from acidsql.errors import AcidSqlError, Condition

ACID_VERSION_FILE = "_orc_acid_version"
ACID_VERSION_CONTENT = b"2"
METADATA_FILE = "_metadata_acid"
TRUNCATED_METADATA = b'{"thisFileVersion":"0","dataFormat":"truncated"}'
"""The content of METADATA_FILE in the empty base of a TRUNCATE."""
DROPPED_METADATA = b'{"thisFileVersion":"0","dataFormat":"dropped"}'
"""The content of METADATA_FILE in the empty base of a partition that was dropped and whose files stay
(HIVE-25688)."""
STAGING_DIRECTORY = ".acidsql_staging"
SESSIONS_DIRECTORY = ".acidsql/sessions"
"""Below the warehouse: the directories of sessions, which hold those of temporary tables."""
"""Hive ignores names that begin with a dot."""

OPERATION = "operation"
ORIGINAL_TRANSACTION = "originalTransaction"
BUCKET = "bucket"
ROW_ID = "rowId"
CURRENT_TRANSACTION = "currentTransaction"
ROW = "row"
ACID_FIELDS = (OPERATION, ORIGINAL_TRANSACTION, BUCKET, ROW_ID, CURRENT_TRANSACTION, ROW)
"""The columns of an ACID file, in order. Hive's query-based compactor writes their names in lower case."""

OPERATION_INSERT = 0
OPERATION_UPDATE = 1
"""Occurs in files of ACID version 1 only."""
OPERATION_DELETE = 2


def delta_name(write_id: WriteId, statement_id: StatementId) -> str:
    """The directory for the rows that one statement of a transaction inserts. Raises LIMIT_EXCEEDED."""
    return _statement_directory(write_id, statement_id, is_delete=False)


def delete_delta_name(write_id: WriteId, statement_id: StatementId) -> str:
    """The directory for the delete events of one statement of a transaction. Raises LIMIT_EXCEEDED."""
    return _statement_directory(write_id, statement_id, is_delete=True)


def base_name(write_id: WriteId) -> str:
    """The directory that INSERT OVERWRITE and TRUNCATE write."""
    return format_directory(Base(write_id))


def bucket_name(bucket: int) -> str:
    """The file of a bucket, without a task attempt, as in Hive 3. Raises LIMIT_EXCEEDED for buckets above 4095.

    >>> bucket_name(7)
    'bucket_00007'
    """
    if bucket > MAX_BUCKET:
        raise AcidSqlError(Condition.LIMIT_EXCEEDED, what="Bucket number", value=bucket, limit=MAX_BUCKET)
    return f"bucket_{bucket:05d}"


def original_name(bucket: int) -> str:
    """The file of a bucket in insert-only tables and after LOAD DATA.

    >>> original_name(3)
    '000003_0'
    """
    return f"{bucket:06d}_0"


def copy_name(path: str, number: int) -> str:
    """The path of a file beside another one of the same bucket, as Hive names it. The number 0 is that of the first.

    >>> copy_name("t/000003_0", 2)
    't/000003_0_copy_2'
    """
    return f"{path}_copy_{number}" if number else path


def adopted_write_ids(files: Iterable[str], directories: Iterable[str] = ()) -> tuple[WriteId, frozenset[TxnId]]:
    """The high watermark and the committed transactions of a table that is adopted (interface.md, "adopted").

    These are the highest write ID in the names of the directories, or 0, and the transaction IDs behind `_v`. Paths are
    relative to the table's directory and include partitions. Hidden paths are ignored. Raises MALFORMED_LAYOUT.
    """
    high, txns = 0, set[TxnId]()
    for directory in _acid_directories(files, directories):
        match directory:
            case Base(write_id):
                high = max(high, write_id)
            case Delta(max_write_id=write_id):
                high = max(high, write_id)
            case _:
                assert_never(directory)
        if directory.visibility_txn is not None:
            txns.add(directory.visibility_txn)
    return WriteId(high), frozenset(txns)


def _acid_directories(files: Iterable[str], directories: Iterable[str]) -> Iterator[Base | Delta]:
    folders = {path.rpartition("/")[0] for path in files}.union(directories)
    paths = (path.split("/") for path in folders)
    names = {name for parts in paths if not any(map(is_hidden, parts)) for name in parts}
    return (parsed for name in sorted(names) if (parsed := parse_directory(name)) is not None)


def _statement_directory(write_id: WriteId, statement_id: StatementId, *, is_delete: bool) -> str:
    if statement_id > MAX_STATEMENT_ID:
        raise AcidSqlError(Condition.LIMIT_EXCEEDED, what="Statement ID", value=statement_id, limit=MAX_STATEMENT_ID)
    return format_directory(Delta(write_id, write_id, statement_id, is_delete=is_delete))
