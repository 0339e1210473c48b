"""A scan of all that lies in a table's directories: also what no reader reads, because it was replaced, aborted or is
open. Its rows are all that ever were and are still stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias, TypeVar

from acidsql.acid.directories import Base, Delta
from acidsql.acid.layout import METADATA_FILE
from acidsql.acid.row_id import RowId
from acidsql.acid.snapshot_selection import DataFile, SelectedDirectory, Snapshot
from acidsql.acid.write_ids import WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.conditions.partition_pruning import keeps
from acidsql.planner.plan import Scan
from acidsql.snapshot.base_metadata import COMPACTED, data_format
from acidsql.snapshot.delete_applicability import every_delete_file, without_deletes
from acidsql.snapshot.scan_binding import BoundPart, BoundScan, SourceFile, data_files
from acidsql.snapshot.table_contents import DirectoryContent, DirectoryKind, PartContent, TableContent
from acidsql.storage.file_identity import sized
from acidsql.storage.file_systems import FileSystem
from acidsql.storage.footer_cache import FooterCache
from acidsql.storage.hadoop_files import FILE_ERRORS

_WITH_ROWS: Final = (DirectoryKind.BASE, DirectoryKind.DELTA)
_MOST_READS: Final = 5
"""How often directories are listed, if the cleaner removes some of their files each time."""
_T = TypeVar("_T")
Wanted: TypeAlias = Callable[[int, Base | Delta | None], bool]
"""Whether a directory is wanted: by the number of its partition and its name, which is None for plain files that lie in
no ACID directory."""


class RowPlace(NamedTuple):
    """What names a row of a table: the number of its partition among those that are listed, and its row ID."""

    part: int
    id: RowId


@dataclass(frozen=True)
class StoredDirectories:
    """The directories of a full ACID table, as `table_content` lists them, in partitions that the catalog knows."""

    content: TableContent
    files: FileSystem
    footers: FooterCache

    @cached_property
    def parts(self) -> Sequence[PartContent]:
        is_partitioned = bool(self.content.table.partition_columns)
        return [part for part in self.content.parts if part.values or not is_partitioned]

    def bound(self, scan: Scan, is_wanted: Wanted) -> BoundScan:
        """The scan of all rows in some of the directories, deleted or not, beside the delete events in some."""
        parts = (self._bound_part(number, part, is_wanted) for number, part in enumerate(self.parts))
        return BoundScan(scan, self.files, tuple(parts))

    def all_rows(self, scan: Scan) -> BoundScan:
        """The scan of all rows, deleted or not, in the partitions that the scan may need."""
        keeps_part = keeps(scan.partition_filter, scan.table)
        return without_deletes(self.bound(scan, lambda part, _: keeps_part(self.parts[part].values)))

    def files_with_rows(self, is_wanted: Wanted) -> Sequence[SourceFile]:
        """The files with rows in some of the directories. Raises what `data_files` raises."""
        return data_files(self.bound(Scan("", self.content.table), is_wanted), self.footers)

    def files_with_deletes(self, is_wanted: Wanted) -> Sequence[SourceFile]:
        """The files with delete events in some of the directories. Raises MALFORMED_LAYOUT."""
        return every_delete_file(self.bound(Scan("", self.content.table), is_wanted), self.footers)

    def directory_of(self, file: SourceFile) -> DirectoryContent:
        """The directory in which a file of the scan lies."""
        return self._by_name[file.part, self.path_of(file).partition("/")[0]]

    def path_of(self, file: SourceFile) -> str:
        """The path of a file below the directory of its partition."""
        return file.origin.removeprefix(f"{self.parts[file.part].directory}/")

    def place_of(self, row_id: RowId, file: str) -> RowPlace | None:
        """The place of a row by its INPUT__FILE__NAME; None for a file that lies in none of the partitions."""
        path = file.removeprefix("file:") if file.startswith("file:/") else file
        found = [n for n, part in enumerate(self.parts) if path.startswith(f"{part.directory}/")]
        return RowPlace(max(found, key=lambda n: len(self.parts[n].directory)), row_id) if found else None

    def overwrites(self, part: int) -> list[WriteId]:
        """The committed writes that have replaced all rows of a partition, in order."""
        writes = self.content.writes
        found = (d for d in self.parts[part].directories if self._is_overwrite(part, d))
        ids = (d.parsed.write_id for d in found if isinstance(d.parsed, Base))
        return sorted({i for i in ids if writes is not None and writes.is_valid(i)})

    @cached_property
    def _by_name(self) -> dict[tuple[int, str], DirectoryContent]:
        """The directories, under their names. Those that lie outside have the names of all plain files."""
        found = {(n, d.name): d for n, part in enumerate(self.parts) for d in part.directories if d.name}
        for number, part in enumerate(self.parts):
            for own in (d for d in part.directories if d.kind is DirectoryKind.FILES):
                found |= {(number, file.path.partition("/")[0]): own for file in own.files}
        return found

    def _bound_part(self, number: int, part: PartContent, is_wanted: Wanted) -> BoundPart:
        directories = [
            d
            for d in part.directories
            if d.parsed is not None and self._was_committed(d) and is_wanted(number, d.parsed)
        ]
        own = next((d for d in part.directories if d.kind is DirectoryKind.FILES), None)
        snapshot = Snapshot(
            base=None,
            deltas=tuple(self._selected(part, d) for d in directories if d.kind in _WITH_ROWS),
            delete_deltas=tuple(self._selected(part, d) for d in directories if d.kind is DirectoryKind.DELETE_DELTA),
            original_files=tuple(self._whole_files(part, own)) if own is not None and is_wanted(number, None) else (),
            skipped=(),
        )
        return BoundPart(part.values, part.directory, snapshot)

    def _was_committed(self, directory: DirectoryContent) -> bool:
        """Whether the compaction that made the directory has committed; true for the directories of writes."""
        txn = None if directory.parsed is None else directory.parsed.visibility_txn
        return txn is None or self.content.txns.is_valid(txn)

    def _selected(self, part: PartContent, directory: DirectoryContent) -> SelectedDirectory:
        assert directory.parsed is not None
        files = tuple(self._whole_files(part, directory))
        return SelectedDirectory(directory.name, directory.parsed, files, has_version_file=False)

    def _whole_files(self, part: PartContent, directory: DirectoryContent) -> Iterator[DataFile]:
        """The files, without the unfinished ones of writers that died: no reader reads their directories."""
        for file in directory.files:
            if file.data is not None and (directory.is_read or self._is_whole(part, file.data, file.length)):
                yield file.data

    def _is_whole(self, part: PartContent, data: DataFile, length: int) -> bool:
        with suppress(AcidSqlError, *FILE_ERRORS):
            self.footers.tails(
                self.files, [replace(sized(f"{part.directory}/{data.file.path}", data.file), size=length)]
            )
            return True
        return False

    def _is_overwrite(self, part: int, directory: DirectoryContent) -> bool:
        """Whether a base is that of an INSERT OVERWRITE, TRUNCATE or RESTORE. The compactor of Hive 3 marks its own."""
        if not isinstance(directory.parsed, Base) or directory.parsed.visibility_txn is not None:
            return False
        marker = f"{directory.name}/{METADATA_FILE}"
        if not any(file.path == marker for file in directory.files):
            return True
        return data_format(self.files, f"{self.parts[part].directory}/{directory.name}") != COMPACTED


def while_cleaned(read: Callable[[], _T]) -> _T:
    """What is read of such directories. It is read again where the cleaner has removed some files meanwhile: the
    transaction of the reader keeps those of its snapshot, and no others."""
    for _ in range(_MOST_READS - 1):
        try:
            return read()
        except FileNotFoundError:
            pass
        except AcidSqlError as error:
            if error.condition != Condition.FILE_REPLACED.name:
                raise
    return read()
