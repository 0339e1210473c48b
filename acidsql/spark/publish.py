"""Staged files to the table's directories: footers finished, names given, everything removed again on abort."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from acidsql.acid.layout import (
    ACID_VERSION_CONTENT,
    ACID_VERSION_FILE,
    STAGING_DIRECTORY,
    bucket_name,
    delete_delta_name,
    delta_name,
)
from acidsql.acid.rowid import encode_bucket
from acidsql.acid.table import Table
from acidsql.acid.types import parse_type
from acidsql.acid.writeids import StatementId, TxnId, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.plan import Branch, EventKind
from acidsql.spark.events import SLOT, Slot
from acidsql.spark.files import FileSystem
from acidsql.spark.orc import (
    BUCKET_COLUMN,
    ORIGINAL_TRANSACTION_COLUMN,
    ROW_ID_COLUMN,
    Tail,
    encode_end,
    nest_row,
    with_user_metadata,
)
from acidsql.spark.tails import read_file_tail

_PART: Final = re.compile(r"part-(\d{5,})-")
_SLOT_DIRECTORY: Final = re.compile(rf"{SLOT}=(\d+)")
_THREADS: Final = 8


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A file that a task wrote; `rows` its number of events."""

    path: str
    slot: Slot
    rows: int


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """Where a transaction writes: the table's directory, the write ID, the branches with their own statement IDs."""

    table: Table
    directory: str
    files: FileSystem
    txn: TxnId
    write_id: WriteId
    branches: tuple[tuple[Branch, StatementId], ...]

    @property
    def staging(self) -> str:
        """Hidden from Hive, and this transaction's alone."""
        return f"{self.directory}/{STAGING_DIRECTORY}_{self.txn}_{self.write_id}"

    def branch_directory(self, number: int) -> str:
        branch, statement_id = self.branches[number]
        name = delete_delta_name if branch.kind is EventKind.DELETE else delta_name
        return f"{self.directory}/{name(self.write_id, statement_id)}"


def finish_staged(target: WriteTarget, slots: Mapping[int, Slot] | None) -> list[StagedFile]:
    """The staged files that hold events, their footers finished. `slots` are the slots by code; None for an INSERT,
    whose files are numbered by task."""
    found = target.files.list_below(target.staging).files
    named = [(f"{target.staging}/{f.path}", f.length, _slot(f.path, slots)) for f in found if f.path.endswith(".orc")]
    with ThreadPoolExecutor(_THREADS) as pool:
        return [f for f in pool.map(lambda item: _finish(target, *item), named) if f is not None]


def publish(target: WriteTarget, staged: Sequence[StagedFile]) -> None:
    """Moves the files to `delta_W_W_S/bucket_NNNNN`. Nothing is visible before the transaction commits."""
    for number in sorted({f.slot.branch for f in staged}):
        directory = target.branch_directory(number)
        target.files.make_directories(directory)
        target.files.write(f"{directory}/{ACID_VERSION_FILE}", ACID_VERSION_CONTENT)
    for file in staged:
        target.files.rename(file.path, f"{target.branch_directory(file.slot.branch)}/{bucket_name(file.slot.bucket)}")
    target.files.delete(target.staging)


def remove(target: WriteTarget) -> None:
    """Removes all that the transaction staged and published of this table."""
    target.files.delete(target.staging)
    for number, (branch, _) in enumerate(target.branches):
        if branch.kind is not EventKind.CHECK:
            target.files.delete(target.branch_directory(number))


def orc_options(table: Table) -> dict[str, str]:
    """The table's `orc.*` properties as options of the writer; ZLIB where it names no codec, as in Hive."""
    options = {k.lower(): v for k, v in table.properties.items() if k.lower().startswith("orc.")}
    options.setdefault("orc.compress", "ZLIB")
    blooms = options.get("orc.bloom.filter.columns")
    if blooms is not None:
        options["orc.bloom.filter.columns"] = ",".join(_flat_names(blooms.split(","), table))
    return options


def _flat_names(names: Iterable[str], table: Table) -> Iterator[str]:
    numbers = {c.name: i for i, c in enumerate(table.columns)}
    return (f"_c{numbers[n.strip().lower()]}" for n in names if n.strip().lower() in numbers)


def _slot(path: str, slots: Mapping[int, Slot] | None) -> Slot:
    directory, _, name = path.rpartition("/")
    if slots is None:
        task = _PART.match(name)
        assert task is not None, f"Spark named a file {path}"
        return Slot(0, int(task.group(1)))
    code = _SLOT_DIRECTORY.fullmatch(directory)
    slot = slots.get(int(code.group(1))) if code else None
    if slot is None:
        # An event that no slot was made for: a row ID that none of the files read can hold.
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason="an event names a bucket without a file")
    return slot


def _finish(target: WriteTarget, path: str, size: int, slot: Slot) -> StagedFile | None:
    """Nests the row and adds Hive's user metadata; an empty file is dropped."""
    tail = read_file_tail(target.files, path, size)
    if tail.rows == 0:
        return None
    if target.files.can_rewrite:
        columns = [(c.name, parse_type(c.type)) for c in target.table.columns]
        branch, statement_id = target.branches[slot.branch]
        is_delete = branch.kind is EventKind.DELETE
        keys = _delete_keys(path, tail) if is_delete else _insert_keys(target.write_id, slot, statement_id, tail)
        finished = with_user_metadata(nest_row(tail, columns), _user_metadata(tail.rows, keys, is_delete=is_delete))
        target.files.replace_end(path, tail.footer_start, encode_end(finished))
    return StagedFile(path, slot, tail.rows)


def _user_metadata(rows: int, keys: Sequence[tuple[int, int, int]], *, is_delete: bool) -> dict[str, str]:
    """What Hive writes (OrcRecordUpdater.KeyIndexBuilder, AcidStats): the last key of each stripe, events by kind."""
    return {
        "hive.acid.key.index": "".join(f"{w},{b},{r};" for w, b, r in keys),
        "hive.acid.stats": f"0,0,{rows}" if is_delete else f"{rows},0,0",
        "hive.acid.version": "2",
    }


def _insert_keys(write_id: WriteId, slot: Slot, statement_id: StatementId, tail: Tail) -> list[tuple[int, int, int]]:
    """All rows share write ID and bucket property: the last row ID of a stripe is its highest."""
    bucket_property = encode_bucket(slot.bucket, statement_id)
    ranges = tail.stripe_integer_ranges(ROW_ID_COLUMN)
    return [(write_id, bucket_property, r[1]) for r in ranges if r is not None]


def _delete_keys(path: str, tail: Tail) -> list[tuple[int, int, int]]:
    """The last key of each stripe, from the statistics where a stripe has one write ID and bucket property, else from
    its last row."""
    columns = (ORIGINAL_TRANSACTION_COLUMN, BUCKET_COLUMN, ROW_ID_COLUMN)
    stripes = list(zip(*(tail.stripe_integer_ranges(c) for c in columns), strict=True))
    keys: list[tuple[int, int, int]] = []
    for number, (write_ids, properties, rows) in enumerate(stripes):
        if write_ids and properties and rows and write_ids[0] == write_ids[1] and properties[0] == properties[1]:
            keys.append((write_ids[1], properties[1], rows[1]))
        else:
            keys.append(_last_key(path, number))
    return keys


def _last_key(path: str, stripe: int) -> tuple[int, int, int]:
    from pyarrow import orc

    batch = orc.ORCFile(path).read_stripe(stripe, columns=["originalTransaction", "bucket", "rowId"])
    last = batch.slice(batch.num_rows - 1, 1).to_pydict()
    return (last["originalTransaction"][0], last["bucket"][0], last["rowId"][0])
