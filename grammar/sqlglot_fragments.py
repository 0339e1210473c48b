"""The parts of a statement that sqlglot's parser reads: expressions, queries, relations."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.dialect import AcidSql, AcidSqlParser, MisreadError, mark_frame, mark_source, span_of
from acidsql.grammar.lexer import Lexed
from acidsql.grammar.nesting_depth import depth_limited, flatten_chains
from acidsql.grammar.syntax_errors import misread_error, star_alias_error

_RULES: dict[str, Callable[[AcidSqlParser], exp.Expr | None]] = {
    "EXPR": AcidSqlParser.expression_rule,
    "OPERAND": AcidSqlParser.operand_rule,
    "QUERY": AcidSqlParser.query_rule,
    "RELATION": AcidSqlParser.relation_rule,
    "FROM_SOURCE": AcidSqlParser.from_rule,
    "CTES": AcidSqlParser.with_rule,
}


# The nodes of Hive's and Spark's queries. sqlglot's other nodes (statements inside queries, SELECT INTO, FOR UPDATE,
# CONNECT BY, JSON arrows ..) are refused: Spark would get different text, or they are not queries.
_KNOWN = (
    exp.Literal, exp.HexString, exp.Null, exp.Boolean, exp.Interval, exp.IntervalSpan, exp.Placeholder, exp.Var,
    exp.Identifier, exp.Column, exp.Dot, exp.Star, exp.Alias, exp.Aliases, exp.TableAlias, exp.Paren, exp.Tuple,
    exp.Bracket, exp.Anonymous, exp.Lambda, exp.Kwarg, exp.Distinct, exp.Cast, exp.TryCast, exp.Case, exp.If,
    exp.And, exp.Or, exp.Not, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.DPipe,
    exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot, exp.BitwiseLeftShift, exp.BitwiseRightShift,
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is, exp.In, exp.Between,
    exp.Like, exp.ILike, exp.Escape, exp.RegexpLike, exp.Exists, exp.Any, exp.All, exp.Subquery, exp.CurrentDate,
    exp.CurrentTimestamp, exp.CurrentUser, exp.SessionUser, exp.Extract, exp.Trim, exp.Substring, exp.StrPosition,
    exp.Overlay, exp.Ceil, exp.Floor, exp.DataType, exp.DataTypeParam, exp.ColumnDef, exp.Filter, exp.IgnoreNulls,
    exp.RespectNulls, exp.Window, exp.WindowSpec, exp.WithinGroup, exp.Transform, exp.QueryTransform, exp.Schema,
    exp.Select, exp.SetOperation, exp.Values, exp.With, exp.CTE, exp.From, exp.Join, exp.Lateral, exp.Table,
    exp.TableSample, exp.Pivot, exp.PivotAlias, exp.UnpivotColumns, exp.Version, exp.Hint, exp.Where, exp.Group,
    exp.Cube, exp.Rollup, exp.GroupingSets, exp.Having, exp.Qualify, exp.Order, exp.Ordered, exp.Sort, exp.Cluster,
    exp.Distribute, exp.Limit, exp.Offset, exp.RowFormatDelimitedProperty, exp.RowFormatSerdeProperty,
    exp.SerdeProperties, exp.Property,
)  # fmt: skip


class _OfThread(threading.local):
    """One sqlglot parser for each thread, because a parser holds the tokens that it reads."""

    def __init__(self) -> None:
        self.parser = AcidSqlParser(dialect=AcidSql)


@cache
def _of_thread() -> _OfThread:
    return _OfThread()


def read_tree(lexed: Lexed, index: int, kind: str) -> tuple[exp.Expression, int]:
    """Reads a tree of `kind` from the token `index` on. Returns it and the index of the next token."""
    try:
        with depth_limited(lexed.span(index)):
            tree, after = _of_thread().parser.read(lexed.tokens, index, _RULES[kind])
    except MisreadError as error:
        raise misread_error(lexed, error) from None
    if after <= index:
        raise misread_error(lexed, MisreadError("an expression is missing", index))
    chained: list[exp.And | exp.Or] = []
    for node in tree.walk():
        _check(node, lexed, index)
        if isinstance(node, exp.And | exp.Or):
            chained.append(node)
    flatten_chains(chained)
    mark_source(tree, lexed.source)
    return tree, after


def _check(node: exp.Expr, lexed: Lexed, index: int) -> None:
    if isinstance(node, exp.QueryTransform):
        span = span_of(node, lexed.source) or lexed.span(index)
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=span, feature="TRANSFORM .. USING")
    if isinstance(node, exp.Alias) and node.this.is_star and isinstance(node.this, exp.Star | exp.Column):
        raise star_alias_error(span_of(node.args["alias"], lexed.source) or lexed.span(index))
    reason = _refusal(node)
    if reason is not None:
        span = span_of(node, lexed.source) or lexed.span(index)
        raise AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=span, message=f"Syntax error: {reason}")
    if isinstance(node, exp.Identifier) and lexed.frames and node.meta.get("start") in lexed.frames:
        _check_frame(node, lexed)


def _refusal(node: exp.Expr) -> str | None:
    """The reason to refuse a node that sqlglot reads but neither Hive nor Spark knows; None to accept it."""
    if not isinstance(node, _KNOWN):
        return f"{node.key.upper()} is not part of Hive's SQL"
    misplaced = next((name for name in node.args if name not in node.arg_types), None)
    if misplaced is not None:  # sqlglot's generator would omit it: `FROM (a JOIN b ON .. WHERE ..)` lost its WHERE
        return f"{misplaced.rstrip('_').upper()} cannot stand here"
    if node.error_messages():
        return "a part is missing"  # sqlglot checks most nodes when it makes them, but not all
    match node:
        case exp.Table() if node.args.get("catalog") is not None or node.args.get("db") == "":
            return "a table is named table or database.table"
        case exp.From() | exp.Join() if isinstance(node.this, exp.Select | exp.SetOperation):
            return "a query in FROM stands in parentheses"
        case exp.Placeholder() if _is_name(node):
            return "a parameter stands for a value, not for a name"
        case exp.Bracket() if len(node.expressions) != 1:
            return "a subscript is one value"
        case exp.Distinct() if node.args.get("on") is not None:
            return "DISTINCT ON is not part of Hive's SQL"
        case exp.TableSample() if node.args.get("method") is not None:
            return "TABLESAMPLE takes (n PERCENT), (n ROWS) or (BUCKET x OUT OF y)"
        case exp.Join() if node.method not in ("", "NATURAL") or node.hint:
            return f"{node.method or node.hint} JOIN is not part of Hive's SQL"
        case exp.Lateral() if node.args.get("cross_apply") is not None:
            return "APPLY is not part of Hive's SQL; use LATERAL VIEW"
        case exp.Select() if not node.expressions:
            return "SELECT of no columns"
        case exp.Star() if isinstance(node.parent, exp.Binary | exp.Unary | exp.In) and not isinstance(
            node.parent, exp.Dot
        ):
            return "* is not a value"
        case exp.TableSample() if not any(node.args.values()):
            return "expected '(' after TABLESAMPLE"
        case exp.In() if not node.expressions and node.args.get("query") is None:
            return "expected '(' after IN"
        case exp.WindowSpec() if node.args.get("exclude"):
            return "EXCLUDE is not part of Hive's SQL"
        case exp.Limit() if node.meta.get("top"):
            return "TOP is not part of Hive's SQL; use LIMIT"
        case _:
            return None


def _is_name(node: exp.Expr) -> bool:
    """Whether a node is in the place of a name: `FROM :t`, `a AS :b`."""
    return node.arg_key == "alias" or isinstance(node.parent, exp.Table | exp.TableAlias | exp.Column)


def _check_frame(node: exp.Identifier, lexed: Lexed) -> None:
    table = node.parent
    if isinstance(table, exp.Table) and table.this is node and not table.args.get("db"):
        mark_frame(table, node.name)
        return
    start = node.meta["start"]
    raise AcidSqlError(
        Condition.PARSE_SYNTAX_ERROR,
        span=Span(lexed.source, start, node.meta["end"] + 1),
        message=f"Syntax error near '{{{node.name}}}': a frame stands where a table is read, nowhere else",
    )
