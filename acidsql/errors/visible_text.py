"""Texts whose control characters are visible, because a terminal would obey them."""

from __future__ import annotations

import re
from typing import Final

HIDDEN: Final = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a\u202b\u202d\u202e\u2066-\u2068\ud800-\udfff]")
"""Control characters but the line feed, those that change the direction of text, and lone surrogates."""


def visible(text: str, *, tabs: bool = False) -> str:
    r"""The text with escapes for all control characters but line feeds, and tabs if `tabs`: a terminal would obey them.

    These are control characters, those that change the direction of text, and lone surrogates.

    >>> visible("a\tb\x1b[0m")
    'a\\tb\\x1b[0m'
    """
    if text.isprintable():
        return text
    return HIDDEN.sub(lambda found: found[0] if tabs and found[0] == "\t" else repr(found[0])[1:-1], text)


def visible_json(text: str) -> str:
    r"""JSON text with `\u` escapes for the same characters: the values in it stay the same.

    >>> visible_json('{"a": "\x9b"}')
    '{"a": "\\u009b"}'
    """
    return text if text.isprintable() else HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
