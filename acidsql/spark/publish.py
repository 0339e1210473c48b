"""Staged files to the table's directories: footers finished, names given, everything removed again on abort."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from acidsql.acid.datafiles import File
from acidsql.acid.layout import (
    ACID_VERSION_CONTENT,
    ACID_VERSION_FILE,
    METADATA_FILE,
    STAGING_DIRECTORY,
    TRUNCATED_METADATA,
    base_name,
    bucket_name,
    delete_delta_name,
    delta_name,
    original_name,
)
from acidsql.acid.partitions import DEFAULT_PARTITION, partition_name, unescape
from acidsql.acid.rowid import encode_bucket
from acidsql.acid.table import Table
from acidsql.acid.types import parse_type
from acidsql.acid.writeids import StatementId, TxnId, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.plan import Branch, EventKind
from acidsql.spark.events import PLACE_DIRECTORY, SLOT, Slot
from acidsql.spark.files import FileSystem
from acidsql.spark.orc import (
    BUCKET_COLUMN,
    ORIGINAL_TRANSACTION_COLUMN,
    ROW_ID_COLUMN,
    Tail,
    encode_end,
    nest_row,
    with_instants,
    with_user_metadata,
)
from acidsql.spark.tails import read_file_tail
from acidsql.spark.types import has_instant

_PART: Final = re.compile(r"part-(\d{5,})-")
_THREADS: Final = 8


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A file that a task wrote, and where it goes; `rows` its number of events, `new_partition` the values of a
    partition that the catalog does not know yet."""

    path: str
    slot: Slot
    rows: int
    partition_directory: str
    new_partition: tuple[str | None, ...] | None = None


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """Where a transaction writes: the table's directory, its partitions, the write ID, the branches with their own
    statement IDs.

    `places` are the directories of the target scan's partitions, by number; `partitions` those of all partitions of
    the catalog, by values.
    """

    table: Table
    directory: str
    files: FileSystem
    txn: TxnId
    write_id: WriteId
    branches: tuple[tuple[Branch, StatementId], ...]
    overwrites: bool = False
    places: tuple[str, ...] = ()
    partitions: Mapping[tuple[str | None, ...], str] = field(default_factory=dict)

    @property
    def staging(self) -> str:
        """Hidden from Hive, and this branch of this transaction's alone."""
        statement_id = self.branches[0][1] if self.branches else 0
        return f"{self.directory}/{STAGING_DIRECTORY}_{self.txn}_{self.write_id}_{statement_id}"

    def branch_directory(self, partition_directory: str, number: int) -> str:
        branch, statement_id = self.branches[number]
        if self.overwrites:
            return f"{partition_directory}/{base_name(self.write_id)}"
        name = delete_delta_name if branch.kind is EventKind.DELETE else delta_name
        return f"{partition_directory}/{name(self.write_id, statement_id)}"

    def file_name(self, bucket: int) -> str:
        return original_name(bucket) if self.table.is_insert_only else bucket_name(bucket)


def check_writable(target: WriteTarget) -> None:
    """Raises NOT_YET_SUPPORTED for columns that cannot be filed as Hive files them: as ORC's TIMESTAMP, which is all
    that Spark writes, an instant would be a wall-clock time."""
    table = target.table
    instants = [c for c in table.columns if has_instant(parse_type(c.type))]
    if instants and table.file_format == "orc" and not target.files.can_rewrite:
        feature = f"Writing {instants[0].type} ({instants[0].name} of {table.qualified}) to this file system"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)


def finish_staged(target: WriteTarget, slots: Mapping[int, Slot] | None) -> list[StagedFile]:
    """The staged files that hold events, their footers finished. `slots` are the slots by code; None for an INSERT
    without partitions, whose files are numbered by task."""
    found = [f for f in target.files.list_below(target.staging).files if _PART.match(f.path.rpartition("/")[2])]
    with ThreadPoolExecutor(_THREADS) as pool:
        finished = pool.map(lambda f: _finish(target, f, _place(target, f.path, slots)), found)
        return [f for f in finished if f is not None]


def publish(target: WriteTarget, staged: Sequence[StagedFile]) -> None:
    """Moves the files to `delta_W_W_S/bucket_NNNNN`. Nothing is visible before the transaction commits."""
    for partition_directory, number in sorted({(f.partition_directory, f.slot.branch) for f in staged}):
        directory = target.branch_directory(partition_directory, number)
        target.files.make_directories(directory)
        if not target.table.is_insert_only:
            target.files.write(f"{directory}/{ACID_VERSION_FILE}", ACID_VERSION_CONTENT)
    for file in staged:
        directory = target.branch_directory(file.partition_directory, file.slot.branch)
        target.files.rename(file.path, f"{directory}/{target.file_name(file.slot.bucket)}")
    target.files.delete(target.staging)


def publish_empty_base(target: WriteTarget, partition_directory: str) -> None:
    """A base without rows, as TRUNCATE writes it: `base_W/_metadata_acid`."""
    directory = f"{partition_directory}/{base_name(target.write_id)}"
    target.files.make_directories(directory)
    target.files.write(f"{directory}/{METADATA_FILE}", TRUNCATED_METADATA)


def remove(target: WriteTarget, partition_directories: Iterable[str]) -> None:
    """Removes all that the transaction staged and published of this table."""
    target.files.delete(target.staging)
    for partition_directory in partition_directories:
        if target.overwrites:
            target.files.delete(f"{partition_directory}/{base_name(target.write_id)}")
            continue
        for number, (branch, _) in enumerate(target.branches):
            if branch.kind is not EventKind.CHECK:
                target.files.delete(target.branch_directory(partition_directory, number))


SPARK_FORMATS: Final = {"orc": "orc", "parquet": "parquet", "textfile": "text"}
"""Spark's names of the file formats that can be written."""


def writer_options(table: Table) -> dict[str, str]:
    """Options of Spark's writer for a table's format: its `orc.*` properties, ZLIB where it names no codec, as in
    Hive."""
    return _orc_options(table) if table.file_format == "orc" else {}


def _orc_options(table: Table) -> dict[str, str]:
    options = {k.lower(): v for k, v in table.properties.items() if k.lower().startswith("orc.")}
    options.setdefault("orc.compress", "ZLIB")
    blooms = options.get("orc.bloom.filter.columns")
    if blooms is not None and not table.is_insert_only:
        options["orc.bloom.filter.columns"] = ",".join(_flat_names(blooms.split(","), table))
    return options


def _flat_names(names: Iterable[str], table: Table) -> Iterator[str]:
    numbers = {c.name: i for i, c in enumerate(table.columns)}
    return (f"_c{numbers[n.strip().lower()]}" for n in names if n.strip().lower() in numbers)


@dataclass(frozen=True, slots=True)
class _Place:
    """What the path of a staged file says."""

    slot: Slot
    partition_directory: str
    new_partition: tuple[str | None, ...] | None


def _place(target: WriteTarget, path: str, slots: Mapping[int, Slot] | None) -> _Place:
    directory, _, name = path.rpartition("/")
    if slots is None:
        task = _PART.match(name)
        assert task is not None
        return _Place(Slot(0, int(task.group(1))), target.directory, None)
    parts = dict(part.partition("=")[::2] for part in directory.split("/"))
    code = parts.pop(SLOT)
    slot = slots.get(int(code)) if code.isdigit() else None
    if slot is None:
        # An event that no slot was made for: a row ID that none of the files read can hold.
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason="an event names a bucket without a file")
    place = parts.pop(PLACE_DIRECTORY, DEFAULT_PARTITION)
    if place != DEFAULT_PARTITION:
        return _Place(slot, target.places[int(place)], None)
    if not target.table.partition_columns:
        return _Place(slot, target.directory, None)
    values = tuple(None if v == DEFAULT_PARTITION else unescape(v) for v in parts.values())
    known = target.partitions.get(values)
    if known is not None:
        return _Place(slot, known, None)
    name = partition_name([c.name for c in target.table.partition_columns], values)
    return _Place(slot, f"{target.directory}/{name}", values)


def _finish(target: WriteTarget, file: File, place: _Place) -> StagedFile | None:
    """Nests the row and adds Hive's user metadata; an empty file is dropped."""
    path = f"{target.staging}/{file.path}"
    is_orc = target.table.file_format == "orc"
    rows = _finish_orc(target, path, file.length, place.slot) if is_orc else _count_rows(target, path)
    if rows == 0:
        return None
    return StagedFile(path, place.slot, rows, place.partition_directory, place.new_partition)


def _count_rows(target: WriteTarget, path: str) -> int:
    content = target.files.read(path)
    if target.table.file_format == "textfile":
        return content.count(b"\n")
    import pyarrow as pa
    from pyarrow import parquet

    return int(parquet.ParquetFile(pa.BufferReader(content)).metadata.num_rows)


def _finish_orc(target: WriteTarget, path: str, size: int, slot: Slot) -> int:
    tail = read_file_tail(target.files, path, size)
    columns = [(c.name, parse_type(c.type)) for c in target.table.columns]
    types = [kind for _, kind in columns]
    if tail.rows and target.table.is_insert_only and any(map(has_instant, types)):
        target.files.replace_end(path, tail.footer_start, encode_end(with_instants(tail, types)))
    elif tail.rows and target.files.can_rewrite and not target.table.is_insert_only:
        branch, statement_id = target.branches[slot.branch]
        is_delete = branch.kind is EventKind.DELETE
        keys = _delete_keys(path, tail) if is_delete else _insert_keys(target.write_id, slot, statement_id, tail)
        nested = with_instants(nest_row(tail, columns), types)
        finished = with_user_metadata(nested, _user_metadata(tail.rows, keys, is_delete=is_delete))
        target.files.replace_end(path, tail.footer_start, encode_end(finished))
    return tail.rows


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
