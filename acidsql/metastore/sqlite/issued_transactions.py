"""The highest transaction ID that was given to a writer, in a small file beside the catalog file.

A catalog file that was restored from a backup is older than this number, whatever its inode is: a copy into the file
that was there keeps the inode, and a file system may give that of a removed file to the next one. The number is a hint
and needs no lasting write: where it is lost, or must not be written, an older catalog may stay unnoticed, and where it
is too high, directories are listed for nothing.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from acidsql.acid.write_ids import TxnId

_DIGITS: Final = 20
"""One write of a fixed length replaces the number as a whole."""


def highest_issued(catalog: Path) -> TxnId:
    """The number beside a catalog file; 0 where there is none that can be read."""
    try:
        with open(_file(catalog), "rb") as file:
            return TxnId(int(file.read(_DIGITS)))
    except (OSError, ValueError):
        return TxnId(0)


def note_issued(catalog: Path, txn: TxnId) -> None:
    """Stores the number, with the permissions of the catalog file."""
    path = _file(catalog)
    with suppress(OSError):
        try:
            file = os.open(path, os.O_WRONLY)
        except FileNotFoundError:
            file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
            os.fchmod(file, stat.S_IMODE(catalog.stat().st_mode))
        try:
            os.pwrite(file, f"{txn:0{_DIGITS}}\n".encode(), 0)
        finally:
            os.close(file)


def _file(catalog: Path) -> Path:
    real = Path(os.path.realpath(catalog))
    return real.with_name(f"{real.name}-issued")
