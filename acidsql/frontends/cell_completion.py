"""Completion in a cell: the statements of `%acidsql` and `%%acidsql`, options, and variables of the notebook."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from acidsql.frontends.completion import Candidate, Names, complete
from acidsql.frontends.magic_line import OPTIONS

_CELL: Final = re.compile(r"\s*%%acidsql\b")
_LINE: Final = re.compile(r"[ \t]*(?:[\w., \t]+=[ \t]*)?%acidsql\b")
_OPTION: Final = re.compile(r"(?:\s+\S+)*\s+(?P<typed>--[a-z]*)")
_VARIABLE: Final = re.compile(r"(?:(?<!\$)\{|(?<![\w:]):)(?P<typed>\w*)\Z")
_FRAMES: Final = frozenset({"pandas", "polars", "pyarrow", "pyspark"})
_VALUES: Final = frozenset({"builtins", "datetime", "decimal", "numpy", "pandas"})


class NoNames:
    """A catalog without names: no cell has opened a session yet."""

    current_database = "default"

    def databases(self) -> Sequence[str]:
        return ()

    def tables(self, _database: str) -> Sequence[str]:
        return ()

    def columns(self, _database: str, _table: str) -> Sequence[str]:
        return ()

    def partition_columns(self, _database: str, _table: str) -> Sequence[str]:
        return ()


@dataclass(frozen=True, slots=True)
class Completions:
    """The texts that may replace the `typed` characters before the cursor, each with its kind and a note."""

    typed: int
    found: tuple[Candidate | str, ...]


def sql_before(text: str, cursor: int) -> tuple[str, int] | None:
    """The text behind the magic in whose cell or line the cursor is, and the cursor in it; None for Python.

    >>> sql_before("%%acidsql\\nSELECT 1", 16)
    ('\\nSELECT 1', 7)
    """
    cell = _CELL.match(text)
    if cell is not None:
        return (text[cell.end() :], cursor - cell.end()) if cursor > cell.end() else None
    begin = text.rfind("\n", 0, cursor) + 1
    end = text.find("\n", cursor)
    line = _LINE.match(text, begin)
    if line is None or cursor <= line.end():
        return None
    return text[line.end() : len(text) if end < 0 else end], cursor - line.end()


def cell_completions(text: str, cursor: int, names: Names, namespace: Mapping[str, object]) -> Completions:
    """What may stand at the cursor of the text behind the magic."""
    before = text[:cursor]
    option = _OPTION.fullmatch(before)
    if option is not None and "\n" not in before:
        return _starting(option["typed"], OPTIONS)
    variable = _VARIABLE.search(before)
    if variable is not None:
        return _starting(variable["typed"], _variables(namespace, frames=before[variable.start()] == "{"))
    # The options of the first line are no SQL, but nothing of them is a keyword that begins a statement.
    candidates = complete(text, cursor, names)
    return Completions(candidates[0].typed if candidates else 0, tuple(candidates))


def _starting(typed: str, names: Iterable[str]) -> Completions:
    return Completions(len(typed), tuple(name for name in names if name.startswith(typed)))


def _variables(namespace: Mapping[str, object], *, frames: bool) -> Iterator[str]:
    """The variables that hold frames, or those that hold values."""
    for name, value in sorted(namespace.items()):
        if name.startswith("_") or name in ("In", "Out") or callable(value):
            continue
        module, is_frame = type(value).__module__.partition(".")[0], hasattr(value, "columns")
        if module in (_FRAMES if frames else _VALUES) and is_frame is frames:
            yield name


def matcher(
    names: Callable[[], Names], namespace: Mapping[str, object]
) -> Callable[[CompletionContext], SimpleMatcherResult]:
    """The completion of cells, for IPython. In a statement, IPython's own completions of Python do not appear."""

    @context_matcher(identifier="acidsql", priority=1000)  # type: ignore[untyped-decorator]
    def match(context: CompletionContext) -> SimpleMatcherResult:
        lines = context.full_text.split("\n")[: context.cursor_line]
        cursor = sum(len(line) + 1 for line in lines) + context.cursor_position
        found = sql_before(context.full_text, cursor)
        if found is None:
            return {"completions": [], "suppress": False}
        here = cell_completions(*found, names(), namespace)
        return {
            "completions": [_simple(candidate) for candidate in here.found],
            "matched_fragment": context.full_text[cursor - here.typed : cursor],
            "suppress": True,
            "ordered": True,
        }

    return match  # type: ignore[no-any-return]


def _simple(candidate: Candidate | str) -> SimpleCompletion:
    if isinstance(candidate, str):
        return SimpleCompletion(text=candidate, type="variable")
    return SimpleCompletion(text=candidate.text, type=candidate.kind.value)
