"""`help STATEMENT` at the prompt: the syntax of statements, in the words of the documentation's pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from acidsql.similar_names import similar_names

_OPTIONAL_START: Final = re.compile(r"^(\[[^\]]*\] *)+")
_KEYWORD: Final = re.compile(r"\b[A-Z]+\b")
_BEGINS: Final = re.compile(r"^[A-Z\[]")
_DEFINITION: Final = re.compile(r"^\w+ +=", re.MULTILINE)


def statement_help(topic: str) -> str:
    """The syntax of the statements that begin with the words of `topic`, else of those that have its first word.

    Where there is none, the text says what to type instead.

    >>> print(statement_help("drop table"))
    DROP TABLE [IF EXISTS] table [PURGE]
    """
    words = topic.upper().replace(";", " ").split()
    found = list(_matching(words, _begins_with)) or list(_matching(words[:1], _has))
    if found:
        return "\n\n".join(found)
    known = sorted({_keywords(entry)[0] for block in _blocks() for entry in _entries(block)})
    near = similar_names(words[0], known, most=1, cutoff=0.6) if words else []
    question = f" Did you mean help {near[0]}?" if near else ""
    return f"There is no help for {topic.strip()}.{question} There is for {', '.join(known)}."


def _matching(words: Sequence[str], match: Callable[[str, Sequence[str]], bool]) -> Iterator[str]:
    shown: set[str] = set()
    for block in _blocks():
        entries = [entry for entry in _entries(block) if match(entry, words) and entry not in shown]
        shown.update(entries)
        if entries:
            # What a block defines belongs to all its statements.
            yield block.rstrip() if _DEFINITION.search(block) else "\n".join(entries)


def _begins_with(entry: str, words: Sequence[str]) -> bool:
    """Whether the entry's keywords begin with the first word, and the others follow in this order."""
    keywords = iter(_keywords(entry))
    return bool(words) and words[0] == next(keywords) and all(word in keywords for word in words[1:])


def _has(entry: str, words: Sequence[str]) -> bool:
    return bool(words) and words[0] in _keywords(entry)


def _keywords(entry: str) -> list[str]:
    return _KEYWORD.findall(_OPTIONAL_START.sub("", entry)) or [""]


def _entries(block: str) -> list[str]:
    """The statements of a block, each with the lines that go on with it."""
    entries: list[str] = []
    for line in block.splitlines():
        if _BEGINS.match(line) and _keywords(line) != [""]:
            entries.append(line)
        elif entries and line.startswith(" "):
            entries[-1] += f"\n{line}"
    return entries


@cache
def _blocks() -> tuple[str, ...]:
    text = files(__package__).joinpath("statement_syntax.txt").read_text(encoding="utf-8")
    return tuple(text.split("--\n"))
