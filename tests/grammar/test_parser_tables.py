"""The tables of the grammar are kept between processes, in a file that only this user may write."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from lark import Lark

from acidsql.grammar.parser_tables import kept_tables

GRAMMAR = """
start: "a" WORD
WORD: /[b-z]+/
%ignore " "
"""


class Build:
    """Counts how often the tables are computed."""

    def __init__(self, grammar: str = GRAMMAR) -> None:
        self.count = 0
        self.grammar = grammar

    def __call__(self) -> Lark:
        self.count += 1
        return Lark(self.grammar, parser="lalr", keep_all_tokens=True)


def parsed(parser: Lark) -> list[str]:
    return [str(token) for token in parser.parse("a xyz").children]


def only_file(directory: Path) -> Path:
    (found,) = directory.iterdir()
    return found


def test_tables_are_computed_once(tmp_path: Path) -> None:
    build = Build()
    directory = tmp_path / "not" / "there"
    first, second = (kept_tables(GRAMMAR, build, directory) for _ in range(2))
    assert parsed(first) == parsed(second) == ["a", "xyz"]
    assert build.count == 1
    assert stat.S_IMODE(only_file(directory).stat().st_mode) == 0o600


def test_another_grammar_has_tables_of_its_own(tmp_path: Path) -> None:
    other = Build(GRAMMAR.replace('"a"', '"a"i'))
    for build in (Build(), other):
        assert parsed(kept_tables(build.grammar, build, tmp_path)) == ["a", "xyz"]
    assert other.count == 1
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("content", [b"", b"no pickle", b"\x80\x04N.", b"\x80\x04}."])
def test_a_damaged_file_is_replaced(tmp_path: Path, content: bytes) -> None:
    build = Build()
    kept_tables(GRAMMAR, build, tmp_path)
    only_file(tmp_path).write_bytes(content)
    assert parsed(kept_tables(GRAMMAR, build, tmp_path)) == ["a", "xyz"]
    assert build.count == 2
    kept_tables(GRAMMAR, build, tmp_path)
    assert build.count == 2


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_may_write_is_not_read(tmp_path: Path, mode: int) -> None:
    build = Build()
    kept_tables(GRAMMAR, build, tmp_path)
    only_file(tmp_path).chmod(mode)
    kept_tables(GRAMMAR, build, tmp_path)
    assert build.count == 2
    assert stat.S_IMODE(only_file(tmp_path).stat().st_mode) == 0o600


def test_without_a_directory_the_tables_are_computed(tmp_path: Path) -> None:
    build = Build()
    (tmp_path / "file").write_text("")
    for _ in range(2):
        assert parsed(kept_tables(GRAMMAR, build, tmp_path / "file")) == ["a", "xyz"]
    assert build.count == 2
