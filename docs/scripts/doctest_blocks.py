"""An extension of Griffe, which reads the docstrings for the Python API page: examples become blocks of code.

Markdown takes `>>>` for three quotes in each other, and an output such as `[('id', 'int')]` for a link.
"""

from __future__ import annotations

import re
from typing import Final

import griffe

_EXAMPLE: Final = re.compile(r"^(?P<indent>[ \t]*)>>> .*(?:\n(?P=indent)\S.*|\n(?P=indent)[ \t]+\S.*)*", re.MULTILINE)
"""From the first `>>>` to the next empty line."""


class DoctestBlocks(griffe.Extension):
    """Puts the examples of docstrings into fences."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Changes the docstring of an object that was read."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(docstring: str) -> str:
    """The docstring with its examples in fences.

    >>> print(fenced("Adds.\\n\\n>>> 1 + 1\\n2\\n\\nEnd."))
    Adds.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    <BLANKLINE>
    End.
    """
    return _EXAMPLE.sub(lambda found: f"{found['indent']}```pycon\n{found[0]}\n{found['indent']}```", docstring)
