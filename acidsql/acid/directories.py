"""Parses and formats the names of ACID directories, and parses the names of the files in them.

The names are those of org.apache.hadoop.hive.ql.io.AcidUtils. Numbers are padded to a minimum width and may be longer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import assert_never

from acidsql.acid.write_ids import StatementId, TxnId, WriteId
from acidsql.errors import AcidSqlError, Condition

ORIGINALS_BASE = WriteId(-(2**63))
"""The write ID of a base that a compaction makes of original files only (java.lang.Long.MIN_VALUE)."""


@dataclass(frozen=True, slots=True)
class Base:
    """`base_N` or `base_N_vT`: all rows up to write ID N."""

    write_id: WriteId
    visibility_txn: TxnId | None = None
    """The transaction of the compactor. None for INSERT OVERWRITE, TRUNCATE, and compactions of Hive 3."""


@dataclass(frozen=True, slots=True)
class Delta:
    """`delta_L_H[_S][_vT]` or `delete_delta_..`: the events of the write IDs from L to H, inclusive."""

    min_write_id: WriteId
    max_write_id: WriteId
    statement_id: StatementId | None = None
    """None if a compactor or a streaming client wrote the directory. It then has all events of its range."""
    visibility_txn: TxnId | None = None
    is_delete: bool = False

    @property
    def may_be_streamed(self) -> bool:
        """Whether a streaming client may have written the directory, for a batch of transactions. Then files in it may
        grow, and some of its write IDs be open or aborted (AcidUtils.ParsedDeltaLight.mayContainSideFile)."""
        of_one_writer = self.statement_id is None and self.visibility_txn is None
        return of_one_writer and not self.is_delete and self.min_write_id < self.max_write_id


@dataclass(frozen=True, slots=True)
class BucketFile:
    """`bucket_B` or `bucket_B_A`: a file with the six ACID columns, written by task attempt A."""

    bucket: int
    attempt: int | None
    name: str


@dataclass(frozen=True, slots=True)
class Original:
    """`B_A` or `B_A_copy_C`: a plain file, from before the table was transactional or from LOAD DATA."""

    bucket: int
    attempt: int
    copy: int
    """0 if the name has no `_copy_`."""


@dataclass(frozen=True, slots=True)
class FlushLength:
    """`bucket_B_flush_length`: how many bytes of the bucket file beside it a streaming client has committed."""

    bucket_file: str
    """The name of the bucket file."""


_BASE = re.compile(r"base_([0-9]+|-9223372036854775808)(?:_v([0-9]+))?")
_DELTA = re.compile(r"(delete_)?delta_([0-9]+)_([0-9]+)(?:_([0-9]+))?(?:_v([0-9]+))?")
_BUCKET = re.compile(r"bucket_([0-9]+)(?:_([0-9]+))?")
_ORIGINAL = re.compile(r"([0-9]+)_([0-9]+)(?:_copy_([0-9]+))?")
_FLUSH_LENGTH = "_flush_length"
_PREFIXES = ("base_", "delta_", "delete_delta_")


def parse_directory(name: str) -> Base | Delta | None:
    """Parses the name of an ACID directory. Returns None for other names.

    Raises MALFORMED_LAYOUT for a name that only begins like one, for which Hive fails too.

    >>> parse_directory("delete_delta_0000001_0000004_v0000699")
    Delta(min_write_id=1, max_write_id=4, statement_id=None, visibility_txn=699, is_delete=True)
    """
    if not name.startswith(_PREFIXES):
        return None
    if base := _BASE.fullmatch(name):
        return Base(WriteId(int(base[1])), _visibility(base[2]))
    if delta := _DELTA.fullmatch(name):
        return _delta(name, delta)
    raise _malformed(name, "the name is neither base_N, delta_L_H nor delete_delta_L_H, with or without _S and _vT")


def format_directory(directory: Base | Delta) -> str:
    """Formats the name of a directory in Hive's way.

    >>> format_directory(Delta(WriteId(1), WriteId(4), StatementId(2)))
    'delta_0000001_0000004_0002'
    """
    match directory:
        case Base(write_id, visibility):
            return f"base_{write_id:07d}{_format_visibility(visibility)}"
        case Delta(low, high, statement, visibility, is_delete):
            prefix = "delete_delta" if is_delete else "delta"
            suffix = "" if statement is None else f"_{statement:04d}"
            return f"{prefix}_{low:07d}_{high:07d}{suffix}{_format_visibility(visibility)}"
        case _:
            assert_never(directory)


def parse_bucket_file(name: str) -> BucketFile | Original | FlushLength | None:
    """Parses the name of a file in a transactional table. Returns None for names that Hive never writes."""
    if bucket := _BUCKET.fullmatch(name):
        return BucketFile(int(bucket[1]), int(bucket[2]) if bucket[2] else None, name)
    if original := _ORIGINAL.fullmatch(name):
        return Original(int(original[1]), int(original[2]), int(original[3] or 0))
    if name.endswith(_FLUSH_LENGTH) and _BUCKET.fullmatch(name.removesuffix(_FLUSH_LENGTH)):
        return FlushLength(name.removesuffix(_FLUSH_LENGTH))
    return None


def side_file(bucket_file: str) -> str:
    """The name of the side file of a bucket file.

    >>> side_file("bucket_00003")
    'bucket_00003_flush_length'
    """
    return f"{bucket_file}{_FLUSH_LENGTH}"


def is_hidden(name: str) -> bool:
    """Whether Hive ignores files and directories with this name (AcidUtils.hiddenFileFilter)."""
    return name.startswith(("_", "."))


def _delta(name: str, found: re.Match[str]) -> Delta:
    low, high = int(found[2]), int(found[3])
    if low > high:
        raise _malformed(name, f"its lowest write ID {low} is above its highest {high}")
    if low < 1:
        raise _malformed(name, "the write IDs of a delta begin at 1")
    return Delta(
        min_write_id=WriteId(low),
        max_write_id=WriteId(high),
        statement_id=StatementId(int(found[4])) if found[4] else None,
        visibility_txn=_visibility(found[5]),
        is_delete=found[1] is not None,
    )


def _visibility(digits: str | None) -> TxnId | None:
    """The transaction of a suffix. `_v0` means the same as no suffix (AcidUtils.addVisibilitySuffix)."""
    return TxnId(int(digits)) if digits and int(digits) else None


def _format_visibility(txn: TxnId | None) -> str:
    return "" if txn is None else f"_v{txn:07d}"


def _malformed(name: str, reason: str) -> AcidSqlError:
    return AcidSqlError(Condition.MALFORMED_LAYOUT, path=name, reason=reason)
