"""Completion of what the catalog and the grammar do not know: paths, file formats, and the values of settings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Final

_SETTING_VALUE: Final = re.compile(r"\s*SET\s+(?P<key>[\w.:-]+)\s*=\s*(?P<typed>[\w.-]*)", re.IGNORECASE)
_FORMAT: Final = re.compile(r".*\b(?:STORED\s+AS|SET\s+FILEFORMAT)\s+(?P<typed>\w*)", re.IGNORECASE | re.DOTALL)
_COMPACTION: Final = re.compile(r"\s*ALTER\s+TABLE\b.*\bCOMPACT\s+'(?P<typed>\w*)", re.IGNORECASE | re.DOTALL)
_PATH: Final = re.compile(
    r".*\b(?:INPATH|LOCATION|DIRECTORY)\s+'(?P<path>(?:file:(?=/))?[^'\\]*)", re.IGNORECASE | re.DOTALL
)
_SCRIPT: Final = re.compile(r"\s*(?:source|[\\.!](?:i|ir|read|run|source))\s+(?P<path>\S*)", re.IGNORECASE)
_SCHEME: Final = re.compile(r"(?!file:/)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_FORMATS: Final = ("orc", "parquet", "textfile", "jsonfile")
_MOST_FILES: Final = 200
_COMMENT_OR_STRING: Final = re.compile(
    r"--[^\n]*(?:\n|(?P<in_comment>\Z)) | /\*.*?(?:\*/|(?P<in_block>\Z)) | '(?:\\.|[^'\\])*(?:'|(?P<in_string>\Z))"
    r'| "(?:\\.|[^"\\])*(?:"|(?P<in_double>\Z))',
    re.VERBOSE | re.DOTALL,
)


def setting_values(before: str) -> tuple[str, Sequence[str]] | None:
    """What is typed of the value of a setting, and the values that it takes where there are few; None elsewhere."""
    from acidsql.statements.settings import KNOWN, known_key

    found = _SETTING_VALUE.fullmatch(before)
    if found is None:
        return None
    known = KNOWN.get(known_key(found["key"]))
    values = known.values if known is not None and isinstance(known.values, tuple) else ()
    return found["typed"], [value for value in values if value.startswith(found["typed"].lower())]


def file_formats(before: str) -> tuple[str, Sequence[str]] | None:
    """What is typed of a file format behind STORED AS or SET FILEFORMAT, and the formats; None elsewhere."""
    found = _FORMAT.fullmatch(before)
    if found is None or _open_at_end(before) is not None:
        return None
    typed = found["typed"]
    fitting = [name for name in _FORMATS if name.startswith(typed.lower())]
    return typed, fitting if typed and typed == typed.lower() else [name.upper() for name in fitting]


def compaction_types(before: str) -> tuple[str, Sequence[str]] | None:
    """What is typed of the type of a compaction behind COMPACT, and the types; None elsewhere."""
    from acidsql.acid.compaction_scope import CompactionType

    found = _COMPACTION.fullmatch(before)
    if found is None or _open_at_end(before) != "in_string":
        return None
    typed = found["typed"]
    return typed, [name for name in (kind.value.lower() for kind in CompactionType) if name.startswith(typed.lower())]


def paths(before: str) -> tuple[str, Sequence[str]] | None:
    """What is typed of the last step of a path on this machine, and the steps that fit it, directories with a slash
    behind them; None where no path is typed.

    A path stands in the string of LOAD DATA INPATH, LOCATION and DIRECTORY, and behind `source`.
    """
    script, sql = _SCRIPT.fullmatch(before), _PATH.fullmatch(before)
    if script is not None:
        path = os.path.expanduser(script["path"]) if "/" in script["path"] else script["path"]
    elif sql is not None and _open_at_end(before) == "in_string":
        path = sql["path"].removeprefix("file:")
    else:
        return None
    directory, slash, typed = path.rpartition("/")
    if _SCHEME.match(path):
        return typed, ()
    return typed, list(_steps(f"{directory}{slash}" or ".", typed))


def _steps(directory: str, typed: str) -> Iterator[str]:
    try:
        with os.scandir(directory) as entries:
            found = sorted((e for e in entries if e.name.startswith(typed)), key=lambda entry: entry.name)
    except OSError:
        return
    shown = (e for e in found if typed.startswith(".") or not e.name.startswith("."))
    for entry, _ in zip(shown, range(_MOST_FILES), strict=False):
        if not re.search(r"['\\\n]", entry.name):
            yield f"{entry.name}/" if entry.is_dir() else entry.name


def _open_at_end(before: str) -> str | None:
    """The string or comment that is open at the end of the text, by its group; None outside of them."""
    found = [match.lastgroup for match in _COMMENT_OR_STRING.finditer(before)]
    return found[-1] if found else None
