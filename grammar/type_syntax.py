"""Hive's column types: reads them from text, checks them, and writes them in one spelling."""

from __future__ import annotations

import re
from collections.abc import Callable

from acidsql.acid.object_names import is_field_name
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.similar_names import similar_names

# Hive's HiveParser.g (rule primitiveType) and serdeConstants: the names that a table's schema holds.
_SIMPLE = {
    **{name: name for name in ("tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary")},
    **{name: name for name in ("boolean", "date", "timestamp", "void")},
    "integer": "int",
    "real": "float",
    "double precision": "double",
}
_NESTED = ("array", "map", "struct", "uniontype")
_SIZED = {"char": 255, "varchar": 65535}
_DECIMALS = ("decimal", "numeric", "dec")
_LOCAL = "timestamp with local time zone"
_KNOWN = (*_SIMPLE, *_NESTED, *_SIZED, *_DECIMALS, "timestamp with local time zone")
_ELSEWHERE = {"text": "string", "long": "bigint", "short": "smallint", "byte": "tinyint", "bool": "boolean"}
_ELSEWHERE |= {"number": "decimal", "datetime": "timestamp", "blob": "binary", "timestamp_ltz": _LOCAL}

_Reader = Callable[[], str]
_PART = re.compile(r"\s*(?:(\w+|`(?:[^`]|``)+`)|([<>(),:]))")
_LOCAL_ZONE = re.compile(r"\s+(?:with\s+)?local\s+time\s+zone\b|\s+with\s+local\s+time\s+zone\b", re.IGNORECASE)
_PRECISION = re.compile(r"\s+precision\b", re.IGNORECASE)


def normalize_type(text: str) -> str:
    """A Hive type in Hive's own spelling: lower case, no spaces, aliases resolved.

    INVALID_TYPE, with the place in `text`, for what is none.

    >>> normalize_type("STRUCT<a: Integer, b: ARRAY<NUMERIC>>")
    'struct<a:int,b:array<decimal(10,0)>>'
    """
    normalized, end = scan_type(text, 0)
    if text[end:].strip():
        raise _invalid(text, end, len(text.rstrip()), "nothing may follow the type")
    return normalized


def scan_type(source: str, start: int) -> tuple[str, int]:
    """The normalized type that begins at `start` of `source`, and the offset of its end."""
    scanner = _Scanner(source, start)
    return scanner.type(), scanner.position


class _Scanner:
    def __init__(self, source: str, start: int) -> None:
        self.source = source
        self.position = start
        self.start = start

    def type(self) -> str:
        name, start = self._word()
        if name in _SIZED:
            return self._sized(name, start)
        if name in _DECIMALS:
            return self._decimal(start)
        if name == "timestamp" and self._phrase(_LOCAL_ZONE):
            return _LOCAL
        if name == "double" and self._phrase(_PRECISION):
            return "double"
        if name in _SIMPLE:
            return _SIMPLE[name]
        if name in _NESTED:
            return self._nested(name, start)
        raise self._error(start, _reason(name))

    def _nested(self, name: str, start: int) -> str:
        if not self._mark("<"):
            example = {"map": "map<string,int>", "struct": "struct<a:int>"}.get(name, f"{name}<int>")
            raise self._error(start, f"it needs its element types, for example {example}")
        match name:
            case "array":
                parts = [self.type()]
            case "map":
                parts = [self.type(), self._after(",", self.type)]
            case "struct":
                parts = self._list(self._field)
            case _:
                parts = self._list(self.type)
        self._expect(">")
        return f"{name}<{','.join(parts)}>"

    def _field(self) -> str:
        name, start = self._word()
        if name.startswith("`"):
            name = name[1:-1].replace("``", "`")
        if not is_field_name(name):
            raise self._error(start, f"its field {name} has a name with a character that a type cannot have")
        self._mark(":")  # Hive requires the colon, Spark also accepts a blank
        field = f"{name}:{self.type()}"
        if match := re.compile(r"\s+comment\s+('(?:[^'\\]|\\.)*'|\"[^\"]*\")", re.IGNORECASE).match(
            self.source, self.position
        ):
            self.position = match.end()
        return field

    def _sized(self, name: str, start: int) -> str:
        if not self._mark("("):
            raise self._error(start, f"it needs a length, for example {name}(10); without one use string")
        length = self._number()
        self._expect(")")
        if not 1 <= length <= _SIZED[name]:
            raise self._error(start, f"its length must be from 1 to {_SIZED[name]}")
        return f"{name}({length})"

    def _decimal(self, start: int) -> str:
        if not self._mark("("):
            return "decimal(10,0)"
        precision = self._number()
        scale = self._number() if self._mark(",") else 0
        self._expect(")")
        if not 1 <= precision <= 38:
            raise self._error(start, "its precision must be from 1 to 38")
        if scale > precision:
            raise self._error(start, "its scale may not be more than its precision")
        return f"decimal({precision},{scale})"

    # -- the text
    def _list(self, read: _Reader) -> list[str]:
        parts = [read()]
        while self._mark(","):
            parts.append(read())
        return parts

    def _after(self, mark: str, read: _Reader) -> str:
        self._expect(mark)
        return read()

    def _word(self) -> tuple[str, int]:
        match = _PART.match(self.source, self.position)
        if match is None or match.group(1) is None:
            raise self._syntax_error("a name is missing")
        self.position = match.end()
        return match.group(1).lower(), match.start(1)

    def _number(self) -> int:
        word, start = self._word()
        if not (word.isascii() and word.isdecimal()):
            self.position = start
            raise self._syntax_error("a number is expected here")
        return int(word)

    def _mark(self, mark: str) -> bool:
        match = _PART.match(self.source, self.position)
        if match is None or match.group(2) != mark:
            return False
        self.position = match.end()
        return True

    def _expect(self, mark: str) -> None:
        if not self._mark(mark):
            raise self._syntax_error(f"'{mark}' is missing")

    def _phrase(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self.source, self.position)
        if match is not None:
            self.position = match.end()
        return match is not None

    def _syntax_error(self, reason: str) -> AcidSqlError:
        match = re.compile(r"\s*(\w+|\S)?").match(self.source, self.position)
        span = Span(self.source, *match.span(1)) if match and match.group(1) else None
        near = f" near '{span.text}'" if span else " at the end"
        span = span or Span(self.source, len(self.source), len(self.source))
        return AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=span, message=f"Syntax error{near}: {reason}")

    def _error(self, start: int, reason: str) -> AcidSqlError:
        match = _PART.match(self.source, start)
        shown = match.end() if match else min(start + 1, len(self.source))
        return _invalid(self.source, start, max(shown, self.position), reason)


def _invalid(source: str, start: int, end: int, reason: str) -> AcidSqlError:
    begin = start + len(source[start:end]) - len(source[start:end].lstrip())
    span = Span(source, min(begin, end), end)
    return AcidSqlError(Condition.INVALID_TYPE, span=span, type=span.text or "the end", reason=reason)


def _reason(name: str) -> str:
    near = [_ELSEWHERE[name]] if name in _ELSEWHERE else similar_names(name, _KNOWN, most=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else "there is no such type"
