"""SQL that cuts a text to a number of characters and pads it.

Spark's SUBSTRING goes by the first byte of each character (UTF8String.numBytesForFirstByte). Where a text ends in the
middle of a character, as `caf` and the byte E9 of ISO 8859-1, it copies bytes behind the end of the text, which
are those of another value. RPAD does so where nothing is to be padded. So neither gets a text that need not be cut
(spark-findings.md 14).
"""

from __future__ import annotations


def cut(text: str, length: int) -> str:
    """SQL of the first `length` characters of the text.

    >>> cut("x", 3)
    'IF(LENGTH(x) <= 3, x, SUBSTRING(x, 1, 3))'
    """
    return f"IF(LENGTH({text}) <= {length}, {text}, SUBSTRING({text}, 1, {length}))"


def padded(text: str, length: int) -> str:
    """SQL of a text of at most `length` characters with blanks at its end, so that it has as many.

    >>> padded("x", 3)
    'IF(LENGTH(x) < 3, RPAD(x, 3), x)'
    """
    return f"IF(LENGTH({text}) < {length}, RPAD({text}, {length}), {text})"
