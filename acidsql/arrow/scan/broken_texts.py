"""Text that is not UTF-8, as Java and Spark read it: with U+FFFD in the place of what is no character."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import pyarrow as pa

_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
"""Half of a character of UTF-16, or its beginning, which is one U+FFFD in Java and several in Python."""
_REPLACEMENT: Final = "\ufffd".encode()


def as_java_reads(text: bytes) -> str:
    """The text that Java makes of bytes.

    >>> as_java_reads(b"M\\xfcller"), as_java_reads(b"\\xed\\xa0\\x80.")
    ('M\ufffdller', '\ufffd.')
    """
    return _SURROGATE.sub(_REPLACEMENT, text).decode(errors="replace")


def padded_to(array: pa.Array, length: int) -> pa.Array:
    """Texts as values of a CHAR: cut, or with blanks at the end."""
    content = array.cast(pa.binary()).to_pylist()
    texts = pa.array([None if text is None else _padded(text, length) for text in content], pa.binary())
    return pa.Array.from_buffers(pa.string(), len(texts), texts.buffers(), texts.null_count)


def _padded(text: bytes, length: int) -> bytes:
    """The first byte of a character tells how many bytes it has (UTF8String.numBytesForFirstByte)."""
    end = count = 0
    while end < len(text) and count < length:
        first = text[end]
        end += 4 if 0xF0 <= first <= 0xF4 else 3 if 0xE0 <= first <= 0xEF else 2 if 0xC2 <= first <= 0xDF else 1
        count += 1
    return text[:end] + b" " * (length - count)


def like(array: pa.Array, pattern: str) -> pa.Array:
    """LIKE, with a pattern without a backslash."""
    matches = _matching(pattern)
    content = array.cast(pa.binary()).to_pylist()
    return pa.array([None if text is None else matches(text) for text in content], pa.bool_())


def _matching(pattern: str) -> Callable[[bytes], bool]:
    """Spark compares bytes where `%` is at one place of the pattern or at both of its ends, and there is no `_`
    (LikeSimplification). Else it compares characters."""
    first, *others = (part.encode() for part in pattern.split("%"))
    if "_" not in pattern and not others:
        return lambda text: text == first
    if "_" not in pattern and len(others) == 1:
        least, last = len(first) + len(others[0]), others[0]
        return lambda text: len(text) >= least and text.startswith(first) and text.endswith(last)
    if "_" not in pattern and len(others) == 2 and not first and not others[1]:
        inside = others[0]
        return lambda text: inside in text
    wanted = "".join(".*" if c == "%" else "." if c == "_" else re.escape(c) for c in pattern)
    compiled = re.compile(wanted, re.DOTALL)
    return lambda text: compiled.fullmatch(as_java_reads(text)) is not None
