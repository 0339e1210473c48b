"""The tables of the grammar, which lark computes in 0.3 s, kept as a file between processes.

The file lies in the user's cache directory (`$XDG_CACHE_HOME/acidsql` on Linux). Its name tells the grammar and the
versions of lark and Python, so that another version makes a file of its own. It is a pickle, so that it is read only if
nobody but this user could have written it. Without such a directory the tables are computed in each process.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

import lark
from lark import Lark
from platformdirs import user_cache_path

_UNREADABLE: Final = (
    OSError,
    pickle.UnpicklingError,
    EOFError,
    AttributeError,
    ImportError,
    LookupError,
    TypeError,
    ValueError,
)


def kept_tables(grammar: str, build: Callable[[], Lark], directory: Path | None = None) -> Lark:
    """The parser that `build` makes of a grammar. `directory` is the one for the file; None for the user's."""
    if not hasattr(os, "getuid"):  # what other users may write is not told there
        return build()
    place = _place(grammar, directory or user_cache_path("acidsql"))
    with suppress(*_UNREADABLE), place.open("rb") as file:
        if _is_private(file):
            return Lark.load(file)
    made = build()
    with suppress(OSError):
        _keep(made, place)
    return made


def _place(grammar: str, directory: Path) -> Path:
    versions = f"{lark.__version__} {sys.implementation.cache_tag}"
    digest = hashlib.sha256(f"{versions}\n{grammar}".encode()).hexdigest()
    return directory / f"grammar-{digest[:32]}.pickle"


def _is_private(file: BinaryIO) -> bool:
    """Whether the file belongs to this user, and nobody else may write it."""
    found = os.fstat(file.fileno())
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _keep(parser: Lark, place: Path) -> None:
    """Write the file under another name first: a process that starts now sees the whole file or none."""
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = place.with_suffix(f".{os.getpid()}")
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            parser.save(file)
        unfinished.replace(place)
    finally:
        unfinished.unlink(missing_ok=True)
