"""Scripts into statements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidsql.errors import AcidSqlError
from acidsql.grammar.script_splitter import Piece, is_complete, split_script

STRINGS = st.one_of(
    st.text(alphabet='ab;-/* \n"`', max_size=6).map(lambda s: f"'{s}'"),
    st.text(alphabet="ab;-/* \n'`", max_size=6).map(lambda s: f'"{s}"'),
    st.text(alphabet="ab;-/* \n'\"", max_size=6).map(lambda s: f"`{s}`"),
    st.sampled_from([r"'\';'", r'"\";"', "'\\\\'", "`a``;b`", r"r'\'"]),
)
COMMENTS = st.one_of(
    st.text(alphabet="ab;'\"`", max_size=6).map(lambda s: f"--{s}\n"),
    st.text(alphabet="ab;'\"` \n", max_size=6).map(lambda s: f"/*{s}*/"),
    st.just("/*+ BROADCAST(a;b) */"),
)
WORDS = st.sampled_from(["SELECT", "rr", "r", "a", "1", "-", "/", "(", ")", "="])
# A word on both sides: a piece leaves out the comments around it.
STATEMENTS = st.lists(st.one_of(WORDS, STRINGS, COMMENTS), max_size=6).map(
    lambda parts: " ".join(["SELECT", *parts, "x"])
)
BLANKS = st.lists(st.one_of(st.sampled_from([" ", "\n", "\t"]), COMMENTS), max_size=3).map("".join)


def split_or_error(text: str) -> tuple[Piece, ...] | AcidSqlError:
    try:
        return split_script(text)
    except AcidSqlError as error:
        return error


@given(st.lists(st.tuples(BLANKS, STATEMENTS, BLANKS), max_size=5))
def test_splitting_gives_back_the_statements_that_were_joined(parts: list[tuple[str, str, str]]) -> None:
    script = ";".join(before + statement + after for before, statement, after in parts)
    assert [piece.text for piece in split_script(script)] == [statement for _, statement, _ in parts]


@given(st.text(alphabet="ab ;'\"`\\-/*\nrR", max_size=40))
def test_nothing_but_blanks_comments_and_semicolons_is_lost(text: str) -> None:
    pieces = split_or_error(text)
    if isinstance(pieces, AcidSqlError):
        assert pieces.condition == "PARSE_SYNTAX_ERROR"
        assert pieces.span is not None
        assert pieces.span.text in ("'", '"', "`", "/*")
        assert not is_complete(text)
        return
    position = 0
    for piece in pieces:
        between = text[position : piece.start]
        assert not split_script(between)
        assert piece.text == text[piece.start : piece.end]
        assert piece.text == piece.text.strip()
        position = piece.end
    assert not split_script(text[position:])
    assert is_complete(text) == all(piece.terminated for piece in pieces)


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("SELECT 1;", True),
        ("SELECT 1", False),
        ("SELECT 1; SELECT 2", False),
        ("SELECT 1; -- done", True),
        ("SELECT ';", False),
        ("SELECT `;", False),
        ("SELECT 1 /* ;", False),
        ("SELECT 1 -- ;", False),
        ("SELECT 'a\\';", False),
        ("", True),
        (";", True),
        ("-- only a comment", True),
    ],
)
def test_input_is_complete_when_its_last_statement_is_ended(text: str, complete: bool) -> None:
    assert is_complete(text) is complete


@pytest.mark.parametrize(
    ("script", "line", "column", "what"),
    [
        ("SELECT 1;\nSELECT 'abc;", 2, 8, "this string is not closed"),
        ('SELECT "a', 1, 8, "this string is not closed"),
        ("SELECT `a", 1, 8, "this quoted identifier is not closed"),
        ("SELECT 1\n  /* a", 2, 3, "this comment is not closed"),
        ("SELECT r'a", 1, 9, "this string is not closed"),
    ],
)
def test_what_is_not_closed_is_an_error_under_the_character_that_opened_it(
    script: str, line: int, column: int, what: str
) -> None:
    with pytest.raises(AcidSqlError) as caught:
        split_script(script)
    assert caught.value.condition == "PARSE_SYNTAX_ERROR"
    assert what in caught.value.message
    assert caught.value.span is not None
    assert (caught.value.span.line, caught.value.span.column) == (line, column)


def test_a_piece_knows_where_it_stands_and_whether_it_was_ended() -> None:
    first, second = split_script(" /* a */ SELECT 1 -- b\n; ;\nSELECT 2 ")
    assert (first.text, first.start, first.end, first.terminated) == ("SELECT 1", 9, 17, True)
    assert (second.text, second.terminated) == ("SELECT 2", False)
    assert second.source[second.start : second.end] == "SELECT 2"
