"""The splitter of scripts into statements. It knows only strings, quoted identifiers and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from acidsql.errors import AcidSqlError, Condition, Span

# Hive's lexer (HiveLexerParent.g): both quotes delimit strings with backslash escapes; a backquote inside a quoted
# identifier is doubled; comments do not nest. A raw string (r'..', Spark's) has no escapes.
_SKIPPED = re.compile(
    r"""
      (?P<plain>[^'"`;/\-rR\\]+|(?<=\w)[rR])
    | (?P<raw>[rR](?:'[^']*'|"[^"]*"))
    | (?P<string>'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")
    | (?P<identifier>`(?:[^`]|``)*`)
    | (?P<comment>--[^\n]*|/\*.*?\*/)
    | (?P<semicolon>;)
    | (?P<vertical>\\G(?=[^\S\n]*(?:;|\n|--|/\*|\Z)))
    | (?P<open>['"`]|/\*|[rR]['"])
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENED = {"'": "string", '"': "string", "`": "quoted identifier", "/*": "comment"}


@dataclass(frozen=True, slots=True)
class Piece:
    r"""One statement of a script: `source[start:end]`, without the `;` or `\G` that ended it (`terminated`).

    `vertical` means that it ended in `\G`: its rows are to be shown one below the other.
    """

    source: str
    start: int
    end: int
    terminated: bool
    vertical: bool = False

    @property
    def text(self) -> str:
        return self.source[self.start : self.end]


def split_script(text: str) -> tuple[Piece, ...]:
    """The statements of a script in order, without those that hold only blanks and comments.

    A statement ends in `;`, or in `\\G` at the end of a line. An open string, quoted identifier or comment is a
    PARSE_SYNTAX_ERROR under the character that opened it.

    >>> [piece.text for piece in split_script("SELECT ';'; -- a;b\\nSELECT 2")]
    ["SELECT ';'", 'SELECT 2']
    """
    pieces, opened = _scan(text)
    if opened is not None:
        raise unterminated(text, opened)
    return pieces


def is_complete(text: str) -> bool:
    r"""Whether every statement of the text ends in `;` or `\G`. False inside a string, quoted identifier or comment."""
    pieces, opened = _scan(text)
    return opened is None and all(piece.terminated for piece in pieces)


def unterminated(source: str, start: int) -> AcidSqlError:
    """The error for a string, quoted identifier or comment that opens at `start` and never ends."""
    quote = source[start : start + 2]
    width = 2 if quote == "/*" else 1
    return AcidSqlError(
        Condition.PARSE_SYNTAX_ERROR,
        span=Span(source, start, start + width),
        message=f"Syntax error: this {_OPENED[quote[:width]]} is not closed",
    )


def _scan(text: str) -> tuple[tuple[Piece, ...], int | None]:
    pieces: list[Piece] = []
    first = last = -1  # of the current statement's words: comments and blanks around them are not part of it
    for kind, start, end in _parts(text):
        if kind in ("semicolon", "vertical"):
            if first >= 0:
                pieces.append(Piece(text, first, last, terminated=True, vertical=kind == "vertical"))
            first = last = -1
        elif kind == "open":
            at = end - 1 if text[end - 1] != "*" else start
            if first >= 0:
                pieces.append(Piece(text, first, last, terminated=False))
            return tuple(pieces), at
        elif kind != "comment" and not text[start:end].isspace():
            first = first if first >= 0 else start + len(text[start:end]) - len(text[start:end].lstrip())
            last = start + len(text[start:end].rstrip())
    if first >= 0:
        pieces.append(Piece(text, first, last, terminated=False))
    return tuple(pieces), None


def _parts(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _SKIPPED.finditer(text):
        yield match.lastgroup or "", match.start(), match.end()
