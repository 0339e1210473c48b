"""Hive's variable substitution: `${name}` in the text of a statement is replaced before the statement is parsed."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from acidsql.errors import AcidSqlError, Condition, Span

# org.apache.hadoop.hive.conf.SystemVariables.varPat: a name has no `}`, no `$` and no blank. `${a${b}}` therefore
# matches `${b}` first, and the next pass matches what came out of it.
_VARIABLE: Final = re.compile(r"\$\{([^}$ ]+)\}")
_LONGEST: Final = 1 << 26
"""Characters of a statement after substitution. A few variables that name each other twice can double the text 40
times."""
_MOST: Final = 1 << 18
"""Variables in a statement: each of them is remembered for the places of errors."""
_LONGEST_SHOWN: Final = 200

Lookup: TypeAlias = Callable[[str], "str | None"]
"""Maps the text between `${` and `}` to the value, or to None where no such variable is set."""


def without_variables(literal: str) -> str:
    r"""The same string literal, in which nothing looks like a variable.

    >>> print(without_variables("'${env:HOME}'"))
    '\u0024{env:HOME}'
    """
    return literal.replace("${", "\\u0024{")


@dataclass(frozen=True, slots=True)
class _Replacement:
    """A variable at `start:end` of the text before a pass, and the place of its value in the text after the pass."""

    start: int
    end: int
    value_start: int
    value_end: int


@dataclass(frozen=True, slots=True)
class SubstitutedText:
    """A statement before (`source`) and after (`text`) substitution. `passes` holds the replacements of each pass."""

    source: str
    text: str
    passes: tuple[tuple[_Replacement, ...], ...] = ()

    def original_error(self, error: AcidSqlError) -> AcidSqlError:
        """The error with its place in the text that the user wrote.

        A place inside a value becomes the place of the variable, and the hint quotes what was read there. An error with
        a place in another text is returned unchanged.
        """
        span = error.span
        if not self.passes or span is None or span.source != self.text:
            return error
        start, end = self._original(span.start), max(self._original(span.end - 1, last=True) + 1, 0)
        if span.end <= span.start:
            end = start
        moved = error.placed(Span(self.source, start, max(start, end)))
        read, written = span.text, self.source[start:end]
        if read == written:
            return moved
        return moved.with_hint(f"With its variables replaced, this place reads: {_clipped(read)}")

    def _original(self, position: int, *, last: bool = False) -> int:
        """The position in `source` of a character of `text`. A character of a value has the position of the first or,
        with `last`, of the last character of its variable."""
        for replacements in reversed(self.passes):
            position = _before_pass(replacements, position, last=last)
        return position


def substitute(source: str, lookup: Lookup, depth: int) -> SubstitutedText:
    """Replaces variables until none that `lookup` knows is left, as VariableSubstitution.substitute does.

    Variables are also replaced in strings, in comments and in the values of other variables; unknown ones stay as they
    are. Raises VARIABLE_DEPTH where more than `depth` passes over the text find variables, and LIMIT_EXCEEDED.
    """
    text = source
    passes: list[tuple[_Replacement, ...]] = []
    while "${" in text:
        after, replacements = _pass(text, lookup)
        if not replacements:
            break
        if len(passes) == depth:
            raise AcidSqlError(Condition.VARIABLE_DEPTH, depth=depth, expression=_clipped(source))
        passes.append(replacements)
        text = after
    return SubstitutedText(source, text, tuple(passes))


def _pass(text: str, lookup: Lookup) -> tuple[str, tuple[_Replacement, ...]]:
    parts: list[str] = []
    replacements: list[_Replacement] = []
    copied = length = 0
    for match in _VARIABLE.finditer(text):
        value = lookup(match[1])
        if value is None:
            continue
        parts += text[copied : match.start()], value
        length += match.start() - copied + len(value)
        if length > _LONGEST:
            what = "The length of the statement with its variables replaced"
            raise AcidSqlError(Condition.LIMIT_EXCEEDED, what=what, value=length, limit=_LONGEST)
        if len(replacements) == _MOST:
            what = "The number of variables in the statement"
            raise AcidSqlError(Condition.LIMIT_EXCEEDED, what=what, value=_MOST + 1, limit=_MOST)
        replacements.append(_Replacement(match.start(), match.end(), length - len(value), length))
        copied = match.end()
    return "".join(parts) + text[copied:], tuple(replacements)


def _before_pass(replacements: tuple[_Replacement, ...], position: int, *, last: bool) -> int:
    index = bisect_right(replacements, position, key=lambda replacement: replacement.value_start) - 1
    if index < 0:
        return position
    found = replacements[index]
    if position < found.value_end:
        return found.end - 1 if last else found.start
    return position - found.value_end + found.end


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "..."
