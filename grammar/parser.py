"""One statement's text to its typed Statement."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches

from sqlglot.tokenizer_core import TokenType

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar import admin_statements, alter_table, create_table, dml
from acidsql.grammar.lexer import Lexed, is_word, lex
from acidsql.grammar.nesting_depth import depth_limited
from acidsql.grammar.script_splitter import Piece
from acidsql.grammar.statement_reader import Node, read_statement
from acidsql.grammar.statements import Explain, SetSetting, Statement
from acidsql.grammar.table_names import table_names
from acidsql.grammar.unsupported_statements import refuse_foreign

_BUILDERS: dict[str, Callable[[Node, str], Statement]] = {
    "query": dml.query,
    "insert": dml.insert,
    "multi_insert": dml.multi_insert,
    "update": dml.update,
    "delete": dml.delete,
    "merge": dml.merge,
    "load_data": dml.load_data,
    "create_table": create_table.create_table,
    "alter_table": alter_table.alter_table,
    "drop_table": admin_statements.drop_table,
    "truncate_table": admin_statements.truncate_table,
    "create_database": admin_statements.create_database,
    "drop_database": admin_statements.drop_database,
    "use_database": admin_statements.use_database,
    "create_view": admin_statements.create_view,
    "drop_view": admin_statements.drop_view,
    "start_transaction": admin_statements.start_transaction,
    "commit": admin_statements.commit,
    "rollback": admin_statements.rollback,
    "abort_transactions": admin_statements.abort_transactions,
    "abort_compactions": admin_statements.abort_compactions,
    "show": admin_statements.show,
    "describe": admin_statements.describe,
}
_STARTS = [
    "SELECT",
    "WITH",
    "VALUES",
    "FROM",
    "INSERT",
    "UPDATE",
    "DELETE",
    "MERGE",
    "LOAD",
    "CREATE",
    "DROP",
    "TRUNCATE",
    "ALTER",
    "USE",
    "START",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "ABORT",
    "SHOW",
    "DESCRIBE",
    "DESC",
    "EXPLAIN",
    "SET",
]
# The value of SET is raw text, as in Hive: it may hold anything but is trimmed.
_SET = re.compile(r"\s*([^\s=;][^=;]*?)?\s*(?:(=)\s*(.*?)\s*)?;?\s*", re.DOTALL)


def parse(text: str, piece: Piece | None = None) -> Statement:
    """The one statement of `text`; a `;` at its end is fine.

    With a piece of a script, `text` is the piece's and every place refers to the whole script. Errors:
    PARSE_SYNTAX_ERROR, INVALID_TYPE, and NOT_YET_SUPPORTED for a statement of Hive's that acidsql does not know.
    """
    lexed = lex(piece.source, piece.start, piece.end) if piece else lex(text, 0, len(text))
    with depth_limited(lexed.span(0)):
        return _parse(_one_statement(lexed))


def _parse(lexed: Lexed) -> Statement:
    first = lexed.tokens[0]
    if is_word(first) and first.text.upper() == "SET":
        return _set(lexed)
    if not _starts_well(lexed):
        refuse_foreign(lexed)
        raise _unknown_statement(lexed)
    refuse_foreign(lexed)
    return _build(read_statement(lexed), _text(lexed))


def _text(lexed: Lexed) -> str:
    return lexed.source[lexed.tokens[0].start : lexed.tokens[-1].end + 1]


def _one_statement(lexed: Lexed) -> Lexed:
    """Without the `;` at the end; a `;` before other tokens is an error under the token after it."""
    tokens = lexed.tokens
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens = tokens[:-1]
    if not tokens:
        raise AcidSqlError(
            Condition.PARSE_SYNTAX_ERROR,
            span=Span(lexed.source, lexed.start, lexed.start),
            message="Syntax error: there is no statement",
        )
    end = tokens[-1].end + 1
    for index, token in enumerate(tokens):
        if token.token_type is TokenType.SEMICOLON:
            after = Lexed(lexed.source, lexed.start, end, tokens, lexed.frames).span(index + 1)
            raise AcidSqlError(
                Condition.PARSE_SYNTAX_ERROR,
                span=after,
                message=f"Syntax error near '{after.text}': one statement is expected, and another follows",
            )
    return Lexed(lexed.source, lexed.start, end, tokens, lexed.frames)


def _starts_well(lexed: Lexed) -> bool:
    first = lexed.tokens[0]
    return first.token_type is TokenType.L_PAREN or (is_word(first) and first.text.upper() in _STARTS)


def _unknown_statement(lexed: Lexed) -> AcidSqlError:
    span = lexed.span(0)
    near = get_close_matches(span.text.upper(), _STARTS, n=1, cutoff=0.6)
    detail = f"did you mean {near[0]}?" if near else "no statement begins so"
    return AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=span, message=f"Syntax error near '{span.text}': {detail}")


def _build(node: Node, source: str) -> Statement:
    if node.rule != "explain":
        return _BUILDERS[node.rule](node, source)
    inner = node.parts[-1]
    assert isinstance(inner, Node)
    detail = node.maybe("explain_detail")
    word = detail.span.text.upper() if detail else None
    locks = word == "LOCKS"
    return Explain(source, _build(inner, inner.span.text), locks=locks, detail=None if locks else word)


def _set(lexed: Lexed) -> SetSetting:
    """SET key=value, SET key, SET, SET -v: everything after the word is raw text."""
    refuse_foreign(lexed)
    rest = lexed.source[lexed.tokens[0].end + 1 : lexed.end]
    match = _SET.fullmatch(rest)
    if match is None:
        raise AcidSqlError(
            Condition.PARSE_SYNTAX_ERROR,
            span=lexed.span(1),
            message=f"Syntax error near '{lexed.span(1).text}': expected SET name=value",
        )
    key, equal, value = match.groups()
    if (key is None and equal) or (key and any(character.isspace() for character in key)):
        place = lexed.span(2 if key else 1)
        raise AcidSqlError(
            Condition.PARSE_SYNTAX_ERROR,
            span=place,
            message=f"Syntax error near '{place.text}': expected SET name=value",
        )
    return SetSetting(_text(lexed), None if key == "-v" else key, value if equal else None)


__all__ = ["parse", "table_names"]
