"""Files of Java's properties, as spark-defaults.conf is one (java.util.Properties.load).

No library of acidsql reads them.
"""

from __future__ import annotations

import re
from typing import Final

_ENTRY: Final = re.compile(r"(?P<key>(?:\\.|[^\s=:\\])*)[ \t\f]*[=:]?[ \t\f]*(?P<value>.*)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SPECIAL: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def properties(text: str) -> dict[str, str]:
    r"""The entries of a file. The later one of two with the same key wins. Values have no white space at their ends.

    >>> properties("# note\nspark.a  1\nspark.b = 2\\\n   3\n")
    {'spark.a': '1', 'spark.b': '23'}
    """
    found: dict[str, str] = {}
    for line in _logical_lines(text):
        entry = _ENTRY.fullmatch(line)
        if entry is not None and entry["key"]:
            found[_unescaped(entry["key"])] = _unescaped(entry["value"]).strip()
    return found


def _logical_lines(text: str) -> list[str]:
    """The lines without comments; a line that ends with an odd number of backslashes goes on in the next one."""
    lines: list[str] = []
    begun: str | None = None
    for natural in re.split(r"\r\n|\r|\n", text):
        line = natural.lstrip(" \t\f")
        if begun is None and (not line or line[0] in "#!"):
            continue
        line = (begun or "") + line
        goes_on = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        begun = line[:-1] if goes_on else None
        if not goes_on:
            lines.append(line)
    return lines if begun is None else [*lines, begun]


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(
        lambda found: chr(int(found[1][1:], 16)) if len(found[1]) == 5 else _SPECIAL.get(found[1], found[1]), text
    )
