"""Statements as logs, spans and Spark's UI may show them: without the values of secret settings, and not too long."""

from __future__ import annotations

import os
import re
from typing import Final

STATEMENTS_VARIABLE: Final = "ACIDSQL_LOG_STATEMENTS"
HIDDEN: Final = "*********(redacted)"
"""What stands for a secret, as in Spark's UI (`Utils.REDACTION_REPLACEMENT_TEXT`)."""

_WORD: Final = (
    r"(?<![\w.\-/:])[\w.\-/:]*(?:secret|passw|passphrase|token|credential|private[.\-_]?key|access[.\-_]?key|account[.\-_]?key"
    r"|encryption[.\-_]?key|sas[.\-_]?key)[\w.\-/:]*"
)
"""The whole name of a secret, for Spark's `spark.redaction.regex` or in Hadoop's file systems."""
_ASSIGNED: Final = re.compile(
    rf"(?P<name>{_WORD})(?P<equals>['\"`]?\s*=\s*)(?P<value>'(?:[^'\\]|\\.|'')*'?|\"(?:[^\"\\]|\\.)*\"?|[^\s;,)&?]+)",
    re.IGNORECASE | re.DOTALL,
)
_SET: Final = re.compile(
    rf"(?P<name>(?>(?:\s|--[^\n]*\n|/\*.*?\*/)*)SET\s+[\"'`]?{_WORD}[\"'`]?\s*=).*", re.IGNORECASE | re.DOTALL
)
"""SET, whose value goes to the end of the statement. The comments before it are an atomic group: one that can give back
comments takes exponential time."""
_IN_ADDRESS: Final = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.\-]*://[^\s/@:'\"]*):[^\s/@'\"]+@", re.IGNORECASE)
"""The password in an address (`jdbc:mysql://user:password@host`)."""


def redacted(text: str) -> str:
    """The text with the values of secret settings, and passwords in addresses, replaced.

    >>> redacted("SET spark.hadoop.fs.s3a.secret.key=abc def")
    'SET spark.hadoop.fs.s3a.secret.key=*********(redacted)'
    >>> redacted("CREATE TABLE t (a int) TBLPROPERTIES ('api.token' = 'x', 'k' = 'v')")
    "CREATE TABLE t (a int) TBLPROPERTIES ('api.token' = *********(redacted), 'k' = 'v')"
    >>> redacted("thrift://ann:pw@host:9083")
    'thrift://ann:*********(redacted)@host:9083'
    """
    whole = _SET.fullmatch(text)
    if whole is not None:
        return f"{whole['name']}{HIDDEN}"
    shown = _ASSIGNED.sub(lambda found: f"{found['name']}{found['equals']}{HIDDEN}", text)
    return _IN_ADDRESS.sub(lambda found: f"{found['scheme']}:{HIDDEN}@", shown)


def shown_statement(text: str, most: int) -> str | None:
    """A statement as others may see it, with at most `most` characters; None where ACIDSQL_LOG_STATEMENTS is `off`.

    Literals are shown, and values of parameters are not: they are no part of the text.
    """
    return None if os.environ.get(STATEMENTS_VARIABLE) == "off" else redacted(text[:most])


def clipped(text: str, most: int) -> str:
    """The text in one line of at most `most` characters.

    >>> clipped("SELECT  1,\\n 2", 8)
    'SELECT …'
    """
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
