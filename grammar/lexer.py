"""The lexer: a statement as sqlglot's `Token`s, with places in the whole script.

sqlglot's tokenizer is not used: it decodes Spark's literal suffixes into casts, does not know `{frame}`, counts from
the statement's start, and reports an unknown character without its place.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from sqlglot.dialects.spark import Spark
from sqlglot.tokenizer_core import Token, TokenType

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.script_splitter import unterminated

_LEXEME = re.compile(
    r"""
      (?P<blank>\s+|--[^\n]*|/\*(?!\+).*?\*/)
    | (?P<number>(?:[0-9]+\.[0-9]*|(?<![\w`)\]])\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]+)?(?:[bB][dD]|[yYsSlLdDfF])?(?!\w))
    | (?P<raw>[rR](?:'[^']*'|"[^"]*"))
    | (?P<hex>[xX](?:'[^']*'|"[^"]*"))
    | (?P<word>\w+)
    | (?P<string>'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")
    | (?P<quoted>`(?:[^`]|``)*`)
    | (?P<hint>/\*\+.*?\*/)
    | (?P<open>['"`]|/\*)
    | (?P<frame>\{[^\W\d]\w*\})
    | (?P<operator><=>|->|=>|::|==|<=|>=|<>|!=|\|\||[()\[\]&^:,.\-=><%!|+;/*~?])
    """,
    re.VERBOSE | re.DOTALL,
)
_ANY = re.compile(r"(?P<any>.)", re.DOTALL)
# Words that sqlglot reads as operators or clauses of other systems, and Hive and Spark as plain names.
_FOREIGN = {"GLOB", "XOR", "RETURNING", "CONNECT BY", "SIMILAR TO", "SQL SECURITY", "PARTITIONED_BY", "UNCACHE"}
_KEYWORDS: dict[str, TokenType] = {
    word: kind
    for word, kind in Spark.Tokenizer.KEYWORDS.items()
    if word.replace(" ", "").replace("_", "").isalnum() and word not in _FOREIGN and kind is not TokenType.COMMAND
}
_PHRASES: dict[str, list[tuple[str, ...]]] = {}
for _words in sorted((tuple(k.split()) for k in _KEYWORDS if " " in k), key=len, reverse=True):
    _PHRASES.setdefault(_words[0], []).append(_words)
_OPERATORS: dict[str, TokenType] = {
    **Spark.Tokenizer.SINGLE_TOKENS,
    **{text: kind for text, kind in Spark.Tokenizer.KEYWORDS.items() if not text[0].isalnum()},
}
# org.apache.hadoop.hive.ql.parse.BaseSemanticAnalyzer.unescapeSQLString, and Spark's unescapeSQLString: `\%` and
# `\_` keep their backslash (for LIKE), any other unknown escape drops it.
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))", re.DOTALL)
# Java's \u is a unit of UTF-16: a pair makes a character beyond U+FFFF, and a single surrogate is not valid.
_LONGEST_NUMBER = 1000
"""Characters. The largest DOUBLE has 309 digits, the smallest 324 decimals; Python reads up to 4300 digits."""
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}


@dataclass(frozen=True, slots=True)
class Lexed:
    """The tokens of `source[start:end]`, and the starts of the tokens that name a frame."""

    source: str
    start: int
    end: int
    tokens: list[Token]
    frames: frozenset[int]

    def span(self, index: int, last: int | None = None) -> Span:
        """The place of the tokens `index` to `last` (inclusive); past the last token, the statement's end."""
        if index >= len(self.tokens):
            return Span(self.source, self.end, self.end)
        stop = self.tokens[index if last is None else max(last, index)]
        return Span(self.source, self.tokens[index].start, stop.end + 1)


def lex(source: str, start: int, end: int) -> Lexed:
    """The tokens of a statement. Raises PARSE_SYNTAX_ERROR under a character that starts no token."""
    if lone := _SURROGATE.search(source, start, end):
        raise _no_character(Span(source, lone.start(), lone.end()), lone[0])
    tokens: list[Token] = []
    frames: list[int] = []
    position = start
    line, line_start = source.count("\n", 0, start) + 1, source.rfind("\n", 0, start) + 1
    while position < end:
        match = _LEXEME.match(source, position, end)
        if match is None and tokens and tokens[0].text.upper() == "SET":  # its value is raw text: `SET a=${b}`
            match = _ANY.match(source, position, end)
        if match is None:
            raise _unknown_character(source, position)
        kind, text = match.lastgroup, match.group()
        if kind == "open":
            raise unterminated(source, position)
        if kind == "number" and len(text) > _LONGEST_NUMBER:
            raise _too_long(Span(source, position, match.end()))
        if kind != "blank":
            token = _token(kind or "", text)
            if "\\" in text and (lone := _SURROGATE.search(token.text)):
                raise _no_character(Span(source, position, match.end()), lone[0])
            token.line, token.col, token.start, token.end = line, position - line_start + 1, position, match.end() - 1
            if kind == "frame":
                frames.append(position)
            tokens.append(token)
        if "\n" in text:
            line += text.count("\n")
            line_start = source.rfind("\n", position, match.end()) + 1
        position = match.end()
    return Lexed(source, start, end, _joined(tokens), frozenset(frames))


def _token(kind: str, text: str) -> Token:
    match kind:
        case "any":
            return Token(TokenType.VAR, text)
        case "word":
            return Token(_KEYWORDS.get(text.upper(), TokenType.VAR), text)
        case "number":
            return Token(TokenType.NUMBER, text)
        case "string":
            return Token(TokenType.STRING, unescape(text[1:-1]))
        case "raw":
            return Token(TokenType.STRING, text[2:-1])
        case "hex":
            return Token(TokenType.HEX_STRING, text[2:-1])
        case "quoted":
            return Token(TokenType.IDENTIFIER, text[1:-1].replace("``", "`"))
        case "frame":
            return Token(TokenType.IDENTIFIER, text[1:-1])
        case "hint":
            return Token(TokenType.HINT, text, comments=[text[3:-2]])
        case _:
            return Token(_OPERATORS[text], text)


def _joined(tokens: list[Token]) -> list[Token]:
    """Words that are one keyword together (GROUP BY) as one token, and neighbouring strings as one string.

    Hive and Spark read 'a' 'b' as 'ab', and so 'it''s' as 'its'.
    """
    joined: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.token_type is TokenType.STRING and joined and joined[-1].token_type is TokenType.STRING:
            joined[-1] = _merged(joined[-1], token, TokenType.STRING, joined[-1].text + token.text)
            index += 1
            continue
        length = _phrase_length(tokens, index)
        if length > 1:
            text = " ".join(t.text for t in tokens[index : index + length])
            token = _merged(token, tokens[index + length - 1], _KEYWORDS[text.upper()], text)
        joined.append(token)
        index += length
    return joined


def _phrase_length(tokens: list[Token], index: int) -> int:
    if is_word(tokens[index]):
        for words in _PHRASES.get(tokens[index].text.upper(), ()):
            following = tokens[index : index + len(words)]
            if tuple(t.text.upper() if is_word(t) else "" for t in following) == words:
                return len(words)
    return 1


def _merged(first: Token, last: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, first.line, first.col, first.start, last.end)


def is_word(token: Token) -> bool:
    """Whether the token is an unquoted word: a keyword or a name."""
    return token.token_type not in _NO_WORDS and (token.text[0].isalnum() or token.text[0] == "_")


_NO_WORDS = {TokenType.STRING, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.HEX_STRING, TokenType.HINT}


def unescape(body: str) -> str:
    r"""The value of a string whose text between the quotes is `body`.

    >>> unescape(r"it\'s \\d \u0041 \% \x")
    "it's \\d A \\% x"
    """
    return _PAIR.sub(_paired, _ESCAPE.sub(_unescaped, body)) if "\\" in body else body


def _unescaped(match: re.Match[str]) -> str:
    short, long, octal, other = match.groups()
    if short or long:
        code = int(short or long, 16)
        return chr(code) if code < 0x110000 else match.group()
    return chr(int(octal, 8)) if octal else _ESCAPED.get(other, other)


def _paired(match: re.Match[str]) -> str:
    return match[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def keywords_of(kinds: Collection[TokenType]) -> frozenset[str]:
    """The keywords, upper case, that become tokens of these kinds."""
    return frozenset(phrase for phrase, kind in _KEYWORDS.items() if kind in kinds)


@cache
def keywords() -> frozenset[str]:
    """Every word that has a meaning in a query, upper case."""
    return frozenset(word for phrase in _KEYWORDS for word in phrase.split())


def _too_long(span: Span) -> AcidSqlError:
    message = f"Syntax error: a number of {span.end - span.start} characters, more than {_LONGEST_NUMBER}"
    return AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=span, message=message)


def _no_character(span: Span, surrogate: str) -> AcidSqlError:
    message = f"Syntax error: U+{ord(surrogate):04X} is half a character, the text is not valid Unicode"
    return AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=span, message=message)


def _unknown_character(source: str, position: int) -> AcidSqlError:
    character = source[position]
    span = Span(source, position, position + 1)
    if character == "{":
        hint = "{name} stands for a frame given with the call: a name in braces, without blanks."
        return AcidSqlError(
            Condition.PARSE_SYNTAX_ERROR, span=span, hint=hint, message="Syntax error near '{': no frame's name"
        )
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    return AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=span, message=f"Syntax error near '{shown}'")
