"""What a session remembers of immutable files between statements."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from acidsql.spark.scan.deletes.cache import DeleteCache
from acidsql.storage.file_systems import FileSystem, SizedFile
from acidsql.storage.footer_cache import FooterCache
from acidsql.storage.orc.copies import Copies


@dataclass(frozen=True, slots=True)
class ScanCaches:
    """Footers of ORC and Parquet files, and delete events. Files of an ACID table never change once they are there."""

    footers: FooterCache = field(default_factory=FooterCache)
    deletes: DeleteCache = field(default_factory=DeleteCache)
    copies: Copies = field(default_factory=Copies)
    read: list[tuple[FileSystem, SizedFile]] = field(default_factory=list)
    """The files of tables that the scans of a statement open when their jobs run."""

    def of_statement(self) -> ScanCaches:
        """The caches for one statement, which must `end` them when nothing reads its scans any more."""
        return replace(self, footers=replace(self.footers, copies=self.copies.lease()), read=[])

    def end(self) -> None:
        """Gives back the copies of files that the statement has read."""
        self.footers.copies.end()
