"""The reader of statements: it makes lark's terminals from the tokens, guided by lark's tables of what may come next.

A word is a keyword only where the grammar allows the keyword. Where the grammar allows an expression or a query,
sqlglot's parser reads from that token on, and lark continues with the token after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TypeAlias

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser
from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from acidsql.errors import Span
from acidsql.grammar.lexer import Lexed, is_word
from acidsql.grammar.parser_tables import kept_tables
from acidsql.grammar.setting_text import Autocommit, Setting, read_setting
from acidsql.grammar.sqlglot_fragments import read_tree
from acidsql.grammar.statements import Values
from acidsql.grammar.syntax_errors import syntax_error
from acidsql.grammar.type_syntax import scan_type
from acidsql.grammar.values_rows import read_rows

Island: TypeAlias = "exp.Expression | Values | Setting | Autocommit"

_MARKS = {
    TokenType.COMMA: "COMMA",
    TokenType.L_PAREN: "LPAR",
    TokenType.R_PAREN: "RPAR",
    TokenType.EQ: "EQUAL",
    TokenType.DOT: "DOT",
    TokenType.STAR: "STAR",
    TokenType.LT: "OPERATOR",
    TokenType.LTE: "OPERATOR",
    TokenType.GT: "OPERATOR",
    TokenType.GTE: "OPERATOR",
    TokenType.NEQ: "OPERATOR",
}
RESERVED = frozenset(
    [
        "ALTER",
        "AND",
        "AS",
        "BY",
        "CASE",
        "CREATE",
        "DELETE",
        "DESCRIBE",
        "DROP",
        "ELSE",
        "EXISTS",
        "FROM",
        "GROUP",
        "HAVING",
        "IN",
        "INSERT",
        "INTO",
        "JOIN",
        "LIKE",
        "MERGE",
        "NOT",
        "NULL",
        "ON",
        "OR",
        "ORDER",
        "PARTITION",
        "SELECT",
        "SET",
        "TABLE",
        "THEN",
        "UNION",
        "UPDATE",
        "USING",
        "VALUES",
        "WHEN",
        "WHERE",
        "WITH",
    ]
)
"""Words that are never a name without backquotes: the part of Hive's reserved words that opens a clause here."""
QUERY_STARTS = frozenset({"SELECT", "WITH", "VALUES", "FROM"})
_DML = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE"})


@dataclass(frozen=True, slots=True)
class Leaf:
    """A terminal: its text, its place, and the tree or value that another reader made of it (`island`)."""

    kind: str
    text: str
    span: Span
    island: Island | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """An application of a rule of admin.lark, with its parts."""

    rule: str
    parts: tuple[Node | Leaf, ...]
    span: Span

    def nodes(self, *rules: str) -> tuple[Node, ...]:
        return tuple(part for part in self.parts if isinstance(part, Node) and part.rule in rules)

    def node(self, rule: str) -> Node:
        return self.nodes(rule)[0]

    def maybe(self, rule: str) -> Node | None:
        return next(iter(self.nodes(rule)), None)

    def has(self, rule: str) -> bool:
        return bool(self.nodes(rule))

    def leaves(self, kind: str) -> tuple[Leaf, ...]:
        return tuple(part for part in self.parts if isinstance(part, Leaf) and part.kind == kind)

    def leaf(self, kind: str) -> Leaf:
        return self.leaves(kind)[0]

    def maybe_leaf(self, kind: str) -> Leaf | None:
        return next(iter(self.leaves(kind)), None)


class _Terminal(Token):
    """A lark token that carries its Leaf."""

    leaf: Leaf


@cache
def _grammar() -> Lark:
    text = files(__package__).joinpath("admin.lark").read_text(encoding="utf-8")
    starts = ["start", "order_text"]

    def build() -> Lark:
        return Lark(text, parser="lalr", lexer="basic", start=starts, maybe_placeholders=False, keep_all_tokens=True)

    return kept_tables(text, build)


@cache
def statement_starts() -> frozenset[str]:
    """The words that a statement may begin with."""
    keywords = {terminal.name for terminal in _grammar().terminals if terminal.name.isalpha()}
    return QUERY_STARTS | keywords & Choices(_grammar().parse_interactive(start="start")).all()


class Choices:
    """The terminals that may come next. Each is tried on a copy: LALR's table also lists those of other contexts."""

    def __init__(self, interactive: InteractiveParser) -> None:
        self._interactive = interactive
        self._listed = interactive.choices()  # type: ignore[no-untyped-call]
        self._known: dict[str, bool] = {}

    def __contains__(self, kind: str) -> bool:
        if kind not in self._listed:
            return False
        if kind not in self._known:
            self._known[kind] = self._try(kind)
        return self._known[kind]

    def all(self) -> set[str]:
        """All terminals that may come next. Slow: for error messages and completion."""
        return set(self._interactive.accepts())  # type: ignore[no-untyped-call]

    def after(self, kind: str) -> set[str]:
        """The terminals that may follow one of the choices."""
        trial = self._copy()
        trial.feed_token(Token(kind, ""))
        return Choices(trial).all()

    def _try(self, kind: str) -> bool:
        try:
            self._copy().feed_token(Token(kind, ""))
        except UnexpectedToken:
            return False
        return True

    def _copy(self) -> InteractiveParser:
        trial: InteractiveParser = self._interactive.copy(deepcopy_values=False)  # type: ignore[no-untyped-call]
        # As in InteractiveParser.accepts: lark's callbacks would change lists that the original shares.
        trial.parser_state.parse_conf = copy(trial.parser_state.parse_conf)
        trial.parser_state.parse_conf.callbacks = {}
        return trial


def read_statement(lexed: Lexed) -> Node:
    """The one statement that the tokens make, as a Node of its rule."""
    (statement,) = _read(lexed, "start").parts
    assert isinstance(statement, Node)
    return statement


def read_order(lexed: Lexed) -> Node:
    """The items of ORDER BY that the tokens make, as a Node of `order_text`."""
    return _read(lexed, "order_text")


def read_beginning(lexed: Lexed) -> tuple[Choices, Leaf | None]:
    """What may follow the tokens of an unfinished statement, and the terminal that they end with.

    Raises PARSE_SYNTAX_ERROR also where the tokens end in the middle of a query or an expression.
    """
    interactive, _, last = _feed(lexed, "start")
    return Choices(interactive), last


def _read(lexed: Lexed, start: str) -> Node:
    interactive, previous, _ = _feed(lexed, start)
    choices = Choices(interactive)
    if "$END" not in choices:
        raise syntax_error(lexed, len(lexed.tokens), choices.all(), previous)
    return _as_node(interactive.feed_eof(), lexed)  # type: ignore[no-untyped-call]


def _feed(lexed: Lexed, start: str) -> tuple[InteractiveParser, int, Leaf | None]:
    """The parser behind all tokens, the index of the last terminal's first token, and the last terminal."""
    interactive = _grammar().parse_interactive(start=start)
    index = previous = 0
    leaf: Leaf | None = None
    while index < len(lexed.tokens):
        choices = Choices(interactive)
        leaf, after = _next_leaf(lexed, index, choices)
        if leaf.kind not in choices:
            raise syntax_error(lexed, index, choices.all(), previous)
        terminal = _Terminal(leaf.kind, leaf.text)
        terminal.leaf = leaf
        interactive.feed_token(terminal)
        previous, index = index, after
    return interactive, previous, leaf


def _as_node(tree: Tree[Token], lexed: Lexed) -> Node:
    parts: list[Node | Leaf] = []
    for child in tree.children:
        if isinstance(child, Tree):
            parts.append(_as_node(child, lexed))
        elif isinstance(child, _Terminal):
            parts.append(child.leaf)
    start = parts[0].span.start if parts else lexed.start
    end = parts[-1].span.end if parts else lexed.start
    return Node(str(tree.data), tuple(parts), Span(lexed.source, start, end))


# ------------------------------------------------------------------------------------------------ the next terminal


def _next_leaf(lexed: Lexed, index: int, choices: Choices) -> tuple[Leaf, int]:
    kind = _island_kind(lexed, index, choices)
    if kind is not None:
        return _island(lexed, index, kind)
    token = lexed.tokens[index]
    return Leaf(_plain_kind(lexed, index, choices), token.text, lexed.span(index)), index + 1


def _plain_kind(lexed: Lexed, index: int, choices: Choices) -> str:
    token = lexed.tokens[index]
    if is_word(token):
        word = token.text.upper().replace(" ", "_")
        for keyword in (word, f"_{word}"):
            if keyword in choices and not ("ID" in choices and _is_name_here(lexed, index)):
                return keyword
        return "ID" if word not in RESERVED else word
    if token.token_type is TokenType.IDENTIFIER:
        return "FRAME" if token.start in lexed.frames else "ID"
    if token.token_type is TokenType.STRING:
        return "STRING"
    if token.token_type is TokenType.NUMBER:
        return "NUMBER" if token.text.isdecimal() or "ID" not in choices else "ID"
    if token.text == "==":  # Hive has it in PARTITION (p == 1), beside other comparisons
        return "OPERATOR" if "OPERATOR" in choices else "UNKNOWN"
    kind = _MARKS.get(token.token_type, "UNKNOWN")
    return "MARK" if kind == "UNKNOWN" and "MARK" in choices else kind


def _is_name_here(lexed: Lexed, index: int) -> bool:
    """Whether a possible keyword is a name here: `(check int)`, `if.t`."""
    following = lexed.tokens[index + 1].token_type if index + 1 < len(lexed.tokens) else None
    word = lexed.tokens[index].text.upper()
    if word in ("CHECK", "UNIQUE"):
        return following is not TokenType.L_PAREN
    return following is TokenType.DOT and word not in RESERVED


def _island_kind(lexed: Lexed, index: int, choices: Choices) -> str | None:
    token = lexed.tokens[index]
    word = token.text.upper() if is_word(token) else ""
    if "DEFAULT" in choices and word == "DEFAULT" and _default_alone(lexed, index):
        return None
    for kind in ("EXPR", "OPERAND", "RELATION"):
        if kind in choices:
            return kind
    if "SETTING" in choices:
        return "SETTING"
    if "COLUMN_TYPE" in choices and (word or token.token_type is TokenType.IDENTIFIER):
        return "COLUMN_TYPE"
    if "ROWS" in choices and word == "VALUES":
        return "ROWS"
    if "CTES" in choices and word == "WITH":
        return "CTES" if _opens_dml(lexed, index) else "QUERY"
    if "FROM_SOURCE" in choices and word == "FROM" and _opens_multi_insert(lexed, index):
        return "FROM_SOURCE"
    if "QUERY" in choices and _opens_query(lexed, index):
        return "QUERY"
    return None


def _default_alone(lexed: Lexed, index: int) -> bool:
    following = lexed.tokens[index + 1].token_type if index + 1 < len(lexed.tokens) else None
    return following not in (TokenType.DOT, TokenType.L_PAREN)


def _opens_query(lexed: Lexed, index: int) -> bool:
    for token in lexed.tokens[index:]:
        if token.token_type is not TokenType.L_PAREN:
            return is_word(token) and token.text.upper() in QUERY_STARTS
    return False


def _opens_dml(lexed: Lexed, index: int) -> bool:
    """Whether the WITH at `index` stands before INSERT, UPDATE .. and not before a query."""
    word = _first_outside(lexed, index, _DML | {"SELECT", "VALUES", "FROM"})
    if word == "FROM":
        return _first_outside(lexed, index, _DML | {"SELECT", "VALUES"}) == "INSERT"
    return word in _DML


def _opens_multi_insert(lexed: Lexed, index: int) -> bool:
    return _first_outside(lexed, index, frozenset({"INSERT", "SELECT"})) == "INSERT"


def _first_outside(lexed: Lexed, index: int, words: frozenset[str]) -> str | None:
    """The first of the words from `index` on that is not inside parentheses."""
    depth = 0
    for token in lexed.tokens[index:]:
        if token.token_type is TokenType.L_PAREN:
            depth += 1
        elif token.token_type is TokenType.R_PAREN:
            depth -= 1
        elif depth == 0 and is_word(token) and token.text.upper() in words:
            return token.text.upper()
    return None


# ------------------------------------------------------------------------------------------------ islands


def _island(lexed: Lexed, index: int, kind: str) -> tuple[Leaf, int]:
    if kind == "COLUMN_TYPE":
        return _type(lexed, index)
    if kind == "SETTING":
        end = len(lexed.tokens)
        span = lexed.span(index, end - 1)
        return Leaf("SETTING", span.text, span, read_setting(lexed, index)), end
    if kind == "ROWS":
        rows, after = read_rows(lexed, index + 1)
        return Leaf("ROWS", "VALUES", lexed.span(index), rows), after
    if kind == "QUERY" and lexed.tokens[index].text.upper() == "FROM":
        _check_from_first(lexed, index)
    tree, after = read_tree(lexed, index, kind)
    span = lexed.span(index, after - 1)
    return Leaf(kind, span.text, span, tree), after


def _check_from_first(lexed: Lexed, index: int) -> None:
    """Raises PARSE_SYNTAX_ERROR for a query FROM t .. without SELECT."""
    if _first_outside(lexed, index, frozenset({"SELECT"})) is None:
        raise syntax_error(lexed, len(lexed.tokens), ("SELECT", "INSERT"), len(lexed.tokens))


def _type(lexed: Lexed, index: int) -> tuple[Leaf, int]:
    start = lexed.tokens[index].start
    normalized, end = scan_type(lexed.source[: lexed.end], start)
    after = next((i for i in range(index, len(lexed.tokens)) if lexed.tokens[i].start >= end), len(lexed.tokens))
    return Leaf("COLUMN_TYPE", normalized, Span(lexed.source, start, end)), after


def tree_leaves(node: Node) -> Iterator[exp.Expression]:
    """Every tree in a node, in the order of the text."""
    for part in node.parts:
        if isinstance(part, Node):
            yield from tree_leaves(part)
        elif isinstance(part.island, exp.Expression):
            yield part.island
