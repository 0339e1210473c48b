"""The files that frames of a session read, and whether they are still those of the frames' snapshot.

Spark's readers open bare paths, in executors that have no acidsql. So the driver compares the identities of the files
before and after each job of a frame, as long as no lock guards them: statements of the reader's own session take its
locks away, and the locks end with the transaction of START TRANSACTION and with the result. Where a statement of the
session has removed files, `FrameReaders` also makes the file indexes of all frames and views on them name a path that
cannot be read, because a view of the user's session has no Python of acidsql around its jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, TypeVar

from acidsql.storage.file_identity import change_of, file_replaced
from acidsql.storage.file_systems import FileSystem, SizedFile
from acidsql.storage.local_files import LocalFiles

_ROWS_PER_CHECK: Final = 4096
"""How many rows of an iterator are held back until the files are compared: more for a query of many files would take
memory, and fewer would take time."""
_T = TypeVar("_T")


@dataclass(slots=True, eq=False)
class ReadFiles:
    """The files that the frames of one query open. `is_guarded` tells whether the locks of their reader are held, and
    `indexes` are java.lang.ref.WeakReferences to their file indexes."""

    files: Sequence[tuple[FileSystem, SizedFile]]
    is_guarded: Callable[[], bool]
    indexes: list[Any] = field(default_factory=list)
    lost: tuple[str, str] | None = None
    """The path of a file that is gone, and what has become of it."""

    @property
    def are_local(self) -> bool:
        return all(isinstance(files, LocalFiles) for files, _ in self.files)

    def check(self) -> None:
        """Raises FILE_REPLACED if a file is not the one that the query has bound."""
        if self.lost is None and not self.is_guarded():
            self.look()
        if self.lost is not None:
            raise file_replaced(*self.lost)

    def look(self) -> None:
        """Compares the files with those that the query has bound."""
        for files, file in self.files:
            change = change_of(files, file)
            if change is not None:
                self.lost = (file.path, change)
                return


def checked_rows(rows: Iterator[_T], reads: Sequence[ReadFiles]) -> Iterator[_T]:
    """The rows of an iterator whose jobs run while it is consumed. Rows that came without a guard are given when the
    files were found unchanged after them."""
    while True:
        count = 1 if all(read.is_guarded() for read in reads) else _ROWS_PER_CHECK
        some = list(islice(rows, count))
        for read in reads:
            read.check()
        if not some:
            return
        yield from some
