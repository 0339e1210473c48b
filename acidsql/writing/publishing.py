"""Publishes staged files: finishes their footers, moves them to the table's directories, removes them on abort."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count, groupby
from typing import Final

from acidsql.acid.data_files import File
from acidsql.acid.layout import (
    ACID_VERSION_CONTENT,
    ACID_VERSION_FILE,
    METADATA_FILE,
    STAGING_DIRECTORY,
    TRUNCATED_METADATA,
    base_name,
    bucket_name,
    copy_name,
    delete_delta_name,
    delta_name,
    original_name,
)
from acidsql.acid.partition_names import DEFAULT_PARTITION, escape, partition_name, unescape
from acidsql.acid.partition_values import PartitionValues, as_known, by_normal_values, check_own_place
from acidsql.acid.row_id import encode_bucket
from acidsql.acid.table import Table
from acidsql.acid.write_ids import StatementId, TxnId, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.plan import Branch, EventKind
from acidsql.snapshot.foreign_directories import Siblings
from acidsql.storage.file_systems import (
    Extent,
    FileSystem,
    Piece,
    discard,
    end_of_pieces,
    length_of,
    place_new,
    placed,
    remove_all,
)
from acidsql.storage.footer_cache import read_file_tail
from acidsql.storage.leftovers import keep_if_open
from acidsql.storage.orc.commit_notes import commit_note
from acidsql.storage.orc.orc_footers import (
    RowsOfOrigin,
    count_rows,
    finish_events,
    finish_joined,
    finish_plain,
    insert_keys,
)
from acidsql.storage.orc.tail import Tail, read_whole_tail
from acidsql.writing.catalog_partitions import CatalogPartitions
from acidsql.writing.file_slots import BY_TASK, SLOT, Slot
from acidsql.writing.placed_columns import PLACE_DIRECTORY
from acidsql.writing.task_files import task_of

_THREADS: Final = 8
BUCKET_DIRECTORY: Final = ":bucket_directory"
"""Partition column of the staged files of a bucketed plain table."""


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A file that a task wrote, and where it goes. `rows` is its number of events, `new_partition` the values of its
    partition if the catalog does not have it yet.

    Where files cannot change, the file that goes there is made of the `pieces`.
    """

    path: str
    slot: Slot
    rows: int
    partition_directory: str
    new_partition: PartitionValues | None = None
    pieces: Sequence[Piece] = ()


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """Where a transaction writes: the table's directory and partitions, the write ID, and the branches with their
    statement IDs.

    `places` are the directories of the partitions that the target's scan reads, by number. `partitions` are the
    partitions of the catalog that the write may reach. `operation` names the statement in the table's history.
    """

    table: Table
    directory: str
    files: FileSystem
    txn: TxnId
    write_id: WriteId
    branches: tuple[tuple[Branch, StatementId], ...]
    partitions: CatalogPartitions
    overwrites: bool = False
    inserts_are_updates: bool = False
    """Whether inserted rows count as updates of their partitions for conflicts: those of a MERGE do."""
    operation: str = "UNKNOWN"
    places: tuple[str, ...] = ()
    part: str = ""
    """A subdirectory of the staging directory, if several writes share it."""

    @property
    def statement_ids(self) -> list[StatementId]:
        """The statement IDs of the branches."""
        return [statement_id for _, statement_id in self.branches]

    @property
    def staging(self) -> str:
        """The staging directory: hidden from Hive, and used by this statement of this transaction only."""
        statement_id = self.branches[0][1] if self.branches else 0
        staging = f"{self.directory}/{STAGING_DIRECTORY}_{self.txn}_{self.write_id}_{statement_id}"
        return f"{staging}/{self.part}" if self.part else staging

    def partition_directory(self, values: PartitionValues) -> str | None:
        """The directory of a partition, None if the catalog does not have it."""
        known = as_known(values, self.table.partition_columns, self.partitions.values)
        return None if known is None else self.partitions.directory(known)

    def branch_directory(self, partition_directory: str, number: int) -> str:
        return f"{partition_directory}/{self.directory_name(number)}"

    def directory_name(self, number: int) -> str:
        """The name of the directory for the events of a branch."""
        branch, statement_id = self.branches[number]
        if self.overwrites:
            return base_name(self.write_id)
        name = delete_delta_name if branch.kind is EventKind.DELETE else delta_name
        return name(self.write_id, statement_id)

    def file_name(self, bucket: int) -> str:
        return original_name(bucket) if self.table.is_insert_only else bucket_name(bucket)


def finish_staged(
    target: WriteTarget,
    written: Sequence[File],
    slots: Mapping[int, Slot] | None,
    kind: EventKind | None = None,
    *,
    lack_acid_columns: bool = False,
) -> list[StagedFile]:
    """Finishes the footers of the files that tasks have `written` into the staging directory, and gives those that hold
    rows; `kind` selects branches.

    `slots` are the slots by code; None if files are numbered by task, or by BUCKET_DIRECTORY. Files of new rows may
    lack the ACID columns, which are then added.
    """
    if kind is not None and slots is not None:
        codes = (code for code, slot in slots.items() if target.branches[slot.branch][0].kind is kind)
        wanted = {f"{escape(SLOT)}={code}" for code in codes}
        written = [f for f in written if f.path.partition("/")[0] in wanted]
    known = by_normal_values(target.partitions.values, target.table.partition_columns)
    with ThreadPoolExecutor(_THREADS) as pool:
        finished = pool.map(
            lambda f: _finish(target, f, _place(target, f.path, slots, known), lack_acid_columns), written
        )
        return _checked(target, [f for f in finished if f is not None])


@dataclass(frozen=True, slots=True)
class FinishedFile:
    """A file of this process's with its final footer: its path below the staging directory, and its number of rows.
    With `pieces`, it is made of them when it takes its final place, and there is no staged file."""

    path: str
    rows: int
    pieces: Sequence[Piece] = ()


def staged_as_finished(
    target: WriteTarget, written: Iterable[FinishedFile], slots: Mapping[int, Slot] | None
) -> list[StagedFile]:
    """The staged files of `written`. `slots` are the slots by code; None if files are numbered by task."""
    known = by_normal_values(target.partitions.values, target.table.partition_columns)
    staged = []
    for file in written:
        place = _place(target, file.path, slots, known)
        staged.append(place.staged(f"{target.staging}/{file.path}", file.rows, file.pieces))
    return _checked(target, staged)


def staged_tail(target: WriteTarget, file: StagedFile) -> Tail:
    """The tail that an ORC file has when it takes its final place."""
    if file.pieces:
        size = sum(map(length_of, file.pieces))
        return read_whole_tail(file.path, size, lambda count: end_of_pieces(target.files, file.pieces, count))
    found = target.files.file_size(file.path)
    assert found is not None
    return read_file_tail(target.files, file.path, found)


def _checked(target: WriteTarget, staged: list[StagedFile]) -> list[StagedFile]:
    """The files themselves. Raises what `check_own_place` and `_check_distinct_places` raise about their places."""
    if made := {f.partition_directory for f in staged if f.new_partition is not None}:
        places = {place: values for values, place in target.partitions.all_directories().items()}
        for directory in made:
            check_own_place(directory, target.table.partition_columns, places)
    if target.table.is_transactional:
        _check_distinct_places(target, staged)
    return staged


def staged_values(directory: str) -> dict[str, str]:
    """The values of the staging columns in the path of a staged directory, in order and still escaped."""
    parts = (part.partition("=") for part in directory.split("/") if part)
    return {unescape(name): value for name, _, value in parts}


def _check_distinct_places(target: WriteTarget, staged: Sequence[StagedFile]) -> None:
    """Checks that no file takes the place of another: that happens if rows of one bucket lay in files of several."""
    places = {(f.partition_directory, f.slot) for f in staged}
    if len(places) < len(staged):
        reason = "a file holds rows of another bucket than that of its name"
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=target.directory, reason=reason)


def publish(
    target: WriteTarget,
    staged: Sequence[StagedFile],
    made: list[str],
    siblings: Siblings | None,
    require_open: Callable[[], None],
) -> None:
    """Moves the files to `delta_W_W_S/bucket_NNNNN`. Readers do not see them before the transaction commits, except
    for files of plain tables.

    `made` gets the directories, or the files of a plain table, to remove if the transaction does not commit. It stays
    empty once an overwritten plain table cannot be restored. `siblings` checks what lies beside the directories, for a
    table that the catalog knows. `require_open` asks whether the transaction is open.

    Raises CATALOG_BEHIND, TRANSACTION_ABORTED.
    """
    if target.table.is_directory:
        _publish_directory(target, staged, made)
        return
    if not target.table.is_transactional:
        _publish_plain(target, staged, made, require_open)
        return
    directories = sorted({target.branch_directory(f.partition_directory, f.slot.branch) for f in staged})
    of_parents = [list(some) for _, some in groupby(directories, lambda path: path.rpartition("/")[0])]
    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(lambda some: _make(target, some, made, siblings), of_parents))
        keep_if_open([(target.files, directory) for directory in directories], require_open, made)
        versions = () if target.table.is_insert_only else directories
        written = pool.map(lambda directory: _write_version(target, directory), versions)
        list(pool.map(lambda file: _publish_acid(target, file), staged))
        list(written)
    _remove_staging(target, staged)


def _write_version(target: WriteTarget, directory: str) -> None:
    target.files.write(f"{directory}/{ACID_VERSION_FILE}", ACID_VERSION_CONTENT)


def _remove_staging(target: WriteTarget, staged: Sequence[StagedFile]) -> None:
    """Removes the staging directory. There is none if this process has made all files of bytes that it had."""
    if not staged or any(not file.pieces or any(isinstance(p, Extent) for p in file.pieces) for file in staged):
        target.files.delete(target.staging)


def _publish_acid(target: WriteTarget, file: StagedFile) -> None:
    directory = target.branch_directory(file.partition_directory, file.slot.branch)
    place_new(target.files, file.path, f"{directory}/{target.file_name(file.slot.bucket)}", file.pieces)


def _make(target: WriteTarget, directories: Sequence[str], made: list[str], siblings: Siblings | None) -> None:
    """Makes directories of a write that lie in one directory. They must not exist. If they do, the table was dropped
    and created again, and has given out the same write ID."""
    parent = directories[0].rpartition("/")[0]
    made.extend(directories)  # before the check, which other threads of this transaction make at the same time
    try:
        names = target.files.directories_named(parent, "")
        if siblings is not None:
            for directory in directories:
                siblings.check(parent, names, directory.rpartition("/")[2])
    except BaseException:
        _forget(made, directories)
        raise
    for number, directory in enumerate(directories):
        try:
            target.files.make_new_directory(directory, names)
        except BaseException as error:
            _forget(made, directories[number if isinstance(error, FileExistsError) else number + 1 :])
            raise


def _forget(made: list[str], directories: Iterable[str]) -> None:
    """Leaves directories out that the transaction has not made."""
    for directory in directories:
        made.remove(directory)


def _publish_plain(
    target: WriteTarget, staged: Sequence[StagedFile], shown: list[str], require_open: Callable[[], None]
) -> None:
    """Adds the files to a plain table. If the write overwrites, removes the old files after all new ones are there."""
    directories = sorted({f.partition_directory for f in staged})
    old = [path for d in directories for path in visible_files(target.files, d)] if target.overwrites else []
    for directory in directories:
        target.files.make_directories(directory)
    for file in staged:
        name = original_name(file.slot.bucket)
        shown.append(add_file(target.files, file.path, f"{file.partition_directory}/{name}", file.pieces))
    if target.overwrites:
        require_open()
        shown.clear()  # the old files are removed next: there is no way back
    _discard(target, old, require_open)
    target.files.delete(target.staging)


def _discard(target: WriteTarget, paths: Iterable[str], require_open: Callable[[], None] = lambda: None) -> None:
    """Removes the old files of a plain table or of a directory. Without the lock, another table may have files of these
    names, so `require_open` asks before each of them."""
    for path in paths:
        require_open()
        discard(target.files, path, skips_trash=target.table.skips_trash)


def _publish_directory(target: WriteTarget, staged: Sequence[StagedFile], shown: list[str]) -> None:
    """Replaces the files of a directory, those of its subdirectories too. The new files are all there before the first
    old one is removed, and then get the names of Hive's files. Hidden files stay."""
    old = visible_files(target.files, target.directory)
    below = target.files.list_below(target.directory).directories
    names = [f"{target.directory}/{original_name(file.slot.bucket)}" for file in staged]
    for file, name in zip(staged, names, strict=True):
        shown.append(add_file(target.files, file.path, name, file.pieces))
    placed = [*shown]
    shown.clear()  # the old files are removed next: there is no way back
    _discard(target, old)
    target.files.delete(target.staging)
    for directory in sorted(below, reverse=True):
        target.files.delete_empty(f"{target.directory}/{directory}")
    for path, name in zip(placed, names, strict=True):
        if path != name:
            target.files.place(path, name)


def add_file(files: FileSystem, source: str, target: str, pieces: Sequence[Piece] = ()) -> str:
    """Moves a file, or the one of its `pieces`, to `target`, or, if that is taken, to `target_copy_1`, `_copy_2` and so
    on, and returns its path. Hive uses these names, and a conversion to full ACID accepts no others."""
    directory, _, name = target.rpartition("/")
    stem, dot, extension = name.partition(".")  # readers of text recognize .gz
    paths = (f"{copy_name(f'{directory}/{stem}', number)}{dot}{extension}" for number in count())
    return next(path for path in paths if placed(files, source, path, pieces))


def visible_files(files: FileSystem, directory: str) -> list[str]:
    """The files of a plain table in a directory."""
    listing = files.list_below(directory)
    return [f"{directory}/{f.path}" for f in listing.files if not f.path.startswith(("_", "."))]


def empty(
    target: WriteTarget,
    partition_directory: str,
    made: list[str],
    siblings: Siblings | None,
    require_open: Callable[[], None],
) -> None:
    """Hides all rows behind a base without rows, `base_W/_metadata_acid`, as TRUNCATE does. Removes the files of a
    plain table. Raises CATALOG_BEHIND, TRANSACTION_ABORTED."""
    if target.table.is_directory:
        _publish_directory(target, (), made)
        return
    if not target.table.is_transactional:
        _discard(target, visible_files(target.files, partition_directory), require_open)
        return
    directory = f"{partition_directory}/{base_name(target.write_id)}"
    if directory not in made:
        _make(target, [directory], made, siblings)
        keep_if_open([(target.files, directory)], require_open, made)
    target.files.write(f"{directory}/{METADATA_FILE}", TRUNCATED_METADATA)


def remove(target: WriteTarget, made: Iterable[str]) -> bool:
    """Removes everything that the transaction staged for this table, and all it has `made`; whether all is gone."""
    return remove_all(target.files, [target.staging, *made])


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a staged file goes, by its path."""

    slot: Slot
    partition_directory: str
    new_partition: PartitionValues | None

    def staged(self, path: str, rows: int, pieces: Sequence[Piece]) -> StagedFile:
        """The staged file of a path that goes here."""
        return StagedFile(path, self.slot, rows, self.partition_directory, self.new_partition, pieces)


def _place(
    target: WriteTarget, path: str, slots: Mapping[int, Slot] | None, known: Mapping[PartitionValues, PartitionValues]
) -> _Place:
    directory, _, name = path.rpartition("/")
    parts = staged_values(directory)
    slot = _slot(parts, path, slots) if slots is not None else Slot(0, _number(parts, path))
    place = parts.pop(PLACE_DIRECTORY, DEFAULT_PARTITION)
    if place != DEFAULT_PARTITION:
        return _Place(slot, target.places[int(place)], None)
    if not target.table.partition_columns:
        return _Place(slot, target.directory, None)
    values = tuple(None if v == DEFAULT_PARTITION else unescape(v) for v in parts.values())
    if values in known:
        return _Place(slot, target.partitions.directory(known[values]), None)
    name = partition_name([c.name for c in target.table.partition_columns], values)
    return _Place(slot, f"{target.directory}/{name}", values)


def _slot(parts: dict[str, str], path: str, slots: Mapping[int, Slot]) -> Slot:
    """The slot of a file. Removes the slot's code from the parts of its path."""
    code = parts.pop(SLOT)
    slot = slots.get(int(code)) if code.isdigit() else None
    if slot is None:
        # There is no slot for the event: its row ID is one that no file of the scan can hold.
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason="an event names a bucket without a file")
    return slot if slot.bucket != BY_TASK else Slot(slot.branch, _number(parts, path))


def _number(parts: dict[str, str], path: str) -> int:
    """The bucket in the parts of the path, which it removes, or the number of the task that wrote the file."""
    bucket = parts.pop(BUCKET_DIRECTORY, None)
    number = task_of(path) if bucket is None else int(bucket)
    assert number is not None
    return number


def _finish(target: WriteTarget, file: File, place: _Place, lacks_acid_columns: bool) -> StagedFile | None:
    """Finishes the footer of a staged file; None for a file without rows."""
    path = f"{target.staging}/{file.path}"
    if target.table.file_format != "orc":
        rows = count_rows(target.files, path, target.table.file_format)
        return place.staged(path, rows, ()) if rows else None
    tail = read_file_tail(target.files, path, file.length)
    return _finish_orc(target, tail, place, lacks_acid_columns) if tail.rows else None


def _finish_orc(target: WriteTarget, tail: Tail, place: _Place, lacks_acid_columns: bool) -> StagedFile:
    """Finishes a file with rows."""
    if not target.table.is_full_acid:
        return place.staged(tail.path, tail.rows, finish_plain(target.files, tail, target.table))
    branch, statement_id = target.branches[place.slot.branch]
    bucket_property = encode_bucket(place.slot.bucket, statement_id)
    note = commit_note(target.operation, target.txn, statement_id)
    if lacks_acid_columns:
        rows = RowsOfOrigin(tail, target.write_id, bucket_property)
        return place.staged(finish_joined(target.files, [rows], target.table, note), tail.rows, ())
    is_delete = branch.kind is EventKind.DELETE
    keys = None if is_delete else insert_keys(target.write_id, bucket_property, tail)
    pieces = finish_events(target.files, tail, target.table, is_delete=is_delete, keys=keys, note=note)
    return place.staged(tail.path, tail.rows, pieces)
