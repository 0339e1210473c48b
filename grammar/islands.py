"""The parts of a statement that sqlglot's parser reads: expressions, queries, relations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.dialect import AcidSql, AcidSqlParser, MisreadError, mark_frame, mark_source
from acidsql.grammar.lexer import Lexed
from acidsql.grammar.syntax_errors import misread_error

_RULES: dict[str, Callable[[AcidSqlParser], exp.Expr | None]] = {
    "EXPR": AcidSqlParser.expression_rule,
    "OPERAND": AcidSqlParser.operand_rule,
    "QUERY": AcidSqlParser.query_rule,
    "RELATION": AcidSqlParser.relation_rule,
    "FROM_SOURCE": AcidSqlParser.from_rule,
    "CTES": AcidSqlParser.with_rule,
}


@cache
def _parser() -> AcidSqlParser:
    return AcidSqlParser(dialect=AcidSql)


def read_tree(lexed: Lexed, index: int, kind: str) -> tuple[exp.Expression, int]:
    """What sqlglot reads as `kind` from the token `index` on, and the index of the token after it."""
    try:
        tree, after = _parser().read(lexed.tokens, index, _RULES[kind])
    except MisreadError as error:
        raise misread_error(lexed, error) from None
    except RecursionError:
        raise AcidSqlError(
            Condition.PARSE_SYNTAX_ERROR, span=lexed.span(index), message="Syntax error: nested too deeply"
        ) from None
    if after <= index:
        raise misread_error(lexed, MisreadError("an expression is missing", index))
    for node in tree.walk():
        _check(node, lexed, index)
    mark_source(tree, lexed.source)
    return tree, after


def _check(node: exp.Expr, lexed: Lexed, index: int) -> None:
    if isinstance(node, exp.Command | exp.DDL | exp.Update | exp.Delete | exp.Merge) and not isinstance(
        node, exp.Query
    ):
        raise AcidSqlError(
            Condition.PARSE_SYNTAX_ERROR, span=lexed.span(index), message="Syntax error: no statement may stand here"
        )
    if isinstance(node, exp.Select) and not node.expressions:
        raise AcidSqlError(
            Condition.PARSE_SYNTAX_ERROR, span=lexed.span(index), message="Syntax error: SELECT of no columns"
        )
    if isinstance(node, exp.Identifier) and lexed.frames and node.meta.get("start") in lexed.frames:
        table = node.parent
        if not isinstance(table, exp.Table) or table.this is not node or table.args.get("db"):
            start = node.meta["start"]
            raise AcidSqlError(
                Condition.PARSE_SYNTAX_ERROR,
                span=Span(lexed.source, start, node.meta["end"] + 1),
                message=f"Syntax error near '{{{node.name}}}': a frame stands where a table is read, nowhere else",
            )
        mark_frame(table, node.name)
