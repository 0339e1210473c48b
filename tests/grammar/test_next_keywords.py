"""The keywords that may follow the beginning of a statement."""

from __future__ import annotations

import pytest

from acidsql.grammar.next_keywords import NEVER_AN_ALIAS, next_keywords, query_keywords
from acidsql.grammar.statement_reader import statement_starts


def test_every_statement_may_begin_with_what_is_offered_first() -> None:
    assert {phrase.split()[0] for phrase in next_keywords("")} == statement_starts()


@pytest.mark.parametrize(
    ("beginning", "keywords"),
    [
        ("SHOW COMPACTIONS t", ["LIMIT", "ORDER BY", "PARTITION", "POOL", "STATE", "STATUS", "TYPE"]),
        ("MERGE INTO t USING s ON t.id = s.id WHEN", ["MATCHED", "NOT MATCHED"]),
        ("INSERT INTO t", ["FROM", "IF NOT", "PARTITION", "SELECT", "VALUES", "WITH"]),
        ("SET a", []),
        ("START TRANSACTION", ["ISOLATION LEVEL", "READ"]),
    ],
)
def test_the_grammar_says_which_keywords_follow(beginning: str, keywords: list[str]) -> None:
    assert next_keywords(beginning) == keywords


@pytest.mark.parametrize("beginning", ["SELECT a FROM t WHERE", "nonsense", "SELECT #", f"SELECT {'1 + ' * 5000}"])
def test_in_a_query_and_where_the_grammar_is_lost_the_keywords_are_those_of_queries(beginning: str) -> None:
    assert next_keywords(beginning) == sorted(query_keywords())


def test_non_reserved_words_may_be_aliases() -> None:
    assert {"SELECT", "WHERE", "LEFT", "GROUP", "SET", "WHEN"} <= NEVER_AN_ALIAS
    assert not NEVER_AN_ALIAS & {"SOURCE", "TARGET", "STATE", "TYPE", "DATA"}
