"""The parser: the text of one statement to its typed Statement."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot.tokenizer_core import TokenType

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar import admin_statements, alter_table, clauses, create_table, dml, macros, views
from acidsql.grammar.foreign_ddl import refuse_foreign_ddl
from acidsql.grammar.foreign_dml import refuse_foreign_dml
from acidsql.grammar.lexer import Lexed, is_word, lex
from acidsql.grammar.nesting_depth import depth_limited
from acidsql.grammar.script_splitter import Piece
from acidsql.grammar.statement_reader import Node, read_order, read_statement, statement_starts
from acidsql.grammar.statements import Explain, OrderItem, Statement
from acidsql.grammar.table_names import table_names
from acidsql.grammar.unsupported_statements import refuse_foreign
from acidsql.similar_names import similar_names

_BUILDERS: dict[str, Callable[[Node, str], Statement]] = {
    "query": dml.query,
    "insert": dml.insert,
    "multi_insert": dml.multi_insert,
    "update": dml.update,
    "delete": dml.delete,
    "merge": dml.merge,
    "load_data": dml.load_data,
    "restore_table": dml.restore_table,
    "create_table": create_table.create_table,
    "alter_table": alter_table.alter_table,
    "drop_table": admin_statements.drop_table,
    "repair_table": admin_statements.repair_table,
    "analyze_table": admin_statements.analyze_table,
    "truncate_table": admin_statements.truncate_table,
    "create_database": admin_statements.create_database,
    "alter_database": admin_statements.alter_database,
    "drop_database": admin_statements.drop_database,
    "use_database": admin_statements.use_database,
    "create_view": views.create_view,
    "alter_view": views.alter_view,
    "drop_view": views.drop_view,
    "create_macro": macros.create_macro,
    "drop_macro": macros.drop_macro,
    "create_function": macros.create_function,
    "drop_function": macros.drop_function,
    "start_transaction": admin_statements.start_transaction,
    "commit": admin_statements.commit,
    "rollback": admin_statements.rollback,
    "abort_transactions": admin_statements.abort_transactions,
    "abort_compactions": admin_statements.abort_compactions,
    "show": admin_statements.show,
    "describe": admin_statements.describe,
    "no_effect": admin_statements.no_effect,
    "reset_settings": admin_statements.reset_settings,
    "set_setting": admin_statements.set_setting,
}


def parse(text: str, piece: Piece | None = None) -> Statement:
    """The one statement of `text`, with or without a `;` at its end.

    With a piece of a script, `text` is the piece's and every place refers to the whole script. Errors:
    PARSE_SYNTAX_ERROR, INVALID_TYPE, and NOT_YET_SUPPORTED for a statement of Hive's that acidsql does not know.
    """
    lexed = lex(piece.source, piece.start, piece.end) if piece else lex(text, 0, len(text))
    with depth_limited(lexed.span(0)):
        return _parse(_one_statement(lexed))


def parsed_or_none(text: str, substituted: Callable[[str], str]) -> Statement | None:
    """The statement with its variables replaced; None where that is not possible: running it raises the error."""
    try:
        return parse(substituted(text))
    except AcidSqlError:
        return None


def parse_order(text: str) -> tuple[OrderItem, ...]:
    """The items of ORDER BY in `text`, which a compaction queue keeps without the words ORDER BY.

    Raises PARSE_SYNTAX_ERROR.
    """
    lexed = lex(text, 0, len(text))
    with depth_limited(lexed.span(0)):
        return clauses.order_items(read_order(lexed))


def _parse(lexed: Lexed) -> Statement:
    try:
        if not _starts_well(lexed):
            refuse_foreign(lexed)
            raise _unknown_statement(lexed)
        refuse_foreign(lexed)
        node = read_statement(lexed)
    except AcidSqlError as error:
        if error.condition != Condition.NOT_YET_SUPPORTED.name:
            refuse_foreign_dml(lexed)
            refuse_foreign_ddl(lexed)
        raise
    return _build(node, _text(lexed))


def _text(lexed: Lexed) -> str:
    return lexed.source[lexed.tokens[0].start : lexed.tokens[-1].end + 1]


def _one_statement(lexed: Lexed) -> Lexed:
    """The tokens without the `;` at the end. A `;` before other tokens is an error under the next token."""
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
    return first.token_type is TokenType.L_PAREN or (is_word(first) and first.text.upper() in statement_starts())


def _unknown_statement(lexed: Lexed) -> AcidSqlError:
    span = lexed.span(0)
    near = similar_names(span.text.upper(), sorted(statement_starts()), most=1, cutoff=0.6)
    detail = f"did you mean {near[0]}?" if near else "no statement begins with this word"
    return AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=span, message=f"Syntax error near '{span.text}': {detail}")


def _build(node: Node, source: str) -> Statement:
    if node.rule != "explain":
        return _BUILDERS[node.rule](node, source)
    inner = node.parts[-1]
    assert isinstance(inner, Node)
    options = [option.span.text.upper() for option in node.nodes("explain_option")]
    details = [option for option in options if option != "LOCKS"]
    return Explain(
        source,
        _build(inner, inner.span.text),
        locks="LOCKS" in options,
        detail=" ".join(details) or None,
    )


__all__ = ["parse", "table_names"]
