"""The SQL dialect of expressions and queries: Spark's, read and written without a change of any function.

sqlglot transpiles: it rewrites the functions that it knows into those of a target dialect. Here the target is Spark
itself, so every function, literal, type and join stays as typed (functions are `exp.Anonymous`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import ClassVar, TypeVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ErrorLevel, ParseError, UnsupportedError
from sqlglot.generators.spark import SparkGenerator
from sqlglot.parser import Parser as SqlglotParser
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.lexer import is_word
from acidsql.grammar.precedence import HivePrecedence

# Functions with a special syntax, and the keywords that tell it: TRIM(BOTH 'x' FROM a), FLOOR(a TO DAY).
_SPECIAL_FORMS: dict[str, frozenset[str]] = {
    "EXTRACT": frozenset({"FROM"}),
    "TRIM": frozenset({"FROM"}),
    "SUBSTRING": frozenset({"FROM"}),
    "SUBSTR": frozenset({"FROM"}),
    "POSITION": frozenset({"IN"}),
    "OVERLAY": frozenset({"PLACING"}),
    "CEIL": frozenset({"TO"}),
    "FLOOR": frozenset({"TO"}),
}
_CASTS = frozenset({"CAST", "TRY_CAST"})
_NO_PAREN = frozenset(
    {TokenType.CURRENT_DATE, TokenType.CURRENT_TIMESTAMP, TokenType.CURRENT_USER, TokenType.SESSION_USER}
)
_QUALIFIES = "__acidsql_qualifies"
_TYPED_LITERALS = frozenset(
    {TokenType.DATE, TokenType.TIMESTAMP, TokenType.TIMESTAMPTZ, TokenType.TIMESTAMPNTZ, TokenType.TIMESTAMPLTZ}
)
_BEHIND_JOINS = frozenset(
    {TokenType.WHERE, TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.HAVING, TokenType.LIMIT, TokenType.SELECT}
    | {TokenType.UNION, TokenType.INTERSECT, TokenType.EXCEPT, TokenType.INSERT, TokenType.WHEN, TokenType.COMMA}
)
AS_OF_WORDS = {
    ("VERSION", "AS", "OF"): "VERSION",
    ("FOR", "VERSION"): "VERSION",
    ("FOR", "SYSTEM_VERSION"): "VERSION",
    ("TIMESTAMP", "AS", "OF"): "TIMESTAMP",
    ("FOR", "TIMESTAMP"): "TIMESTAMP",
    ("FOR", "SYSTEM_TIME"): "TIMESTAMP",
}
"""The words before the version of a table, and whether a version or a time follows. AS OF follows FOR too."""
CHANGES_WORDS = ("CHANGES", "FROM")
"""The words before the first of the versions whose changes a query reads."""
_T = TypeVar("_T")
_LITERAL = "literal"
_FRAME = "frame"
_NULLS = "nulls"
_SOURCE = "source"
CHANGES = "CHANGES"
"""The name of an exp.Version that stands for the changes of a range of versions. Its expression is an exp.Tuple of the
first and the last version, each an exp.Version whose kind is INCLUSIVE or EXCLUSIVE, and of the options, each an
exp.Property; the last version may be missing."""
EXCLUSIVE = "EXCLUSIVE"
"""The kind of a bound of CHANGES that is not part of the range."""
_BOUND_WORDS = {"VERSION": "VERSION", "SYSTEM_VERSION": "VERSION", "TIMESTAMP": "TIMESTAMP", "SYSTEM_TIME": "TIMESTAMP"}
_FETCHES_DELETED = "fetches_deleted"
_DELETED_ROWS = "acid.fetch.deleted.rows"
_ESCAPES = str.maketrans(
    {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\0": "\\0", "\x1a": "\\Z"}
)


class MisreadError(ParseError):
    """sqlglot's parser found an unexpected token; `index` is its index in the list of tokens."""

    def __init__(self, description: str, index: int) -> None:
        super().__init__(description)
        self.description = description
        self.index = index


class AcidSqlParser(HivePrecedence):
    """Spark's parser over the tokens of lexer.py. It starts at any token and stops at the end of a rule."""

    FUNCTIONS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {}
    FUNCTION_PARSERS: ClassVar = {
        name: parser
        for name, parser in SparkParser.FUNCTION_PARSERS.items()
        if name in _CASTS or name in _SPECIAL_FORMS
    }
    NO_PAREN_FUNCTIONS: ClassVar = {
        token: node for token, node in SparkParser.NO_PAREN_FUNCTIONS.items() if token in _NO_PAREN
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar = {
        name: parser
        for name, parser in SparkParser.NO_PAREN_FUNCTION_PARSERS.items()
        if name in ("ANY", "CASE", "TRANSFORM")
    }
    PLACEHOLDER_PARSERS: ClassVar = {
        token: parser
        for token, parser in SparkParser.PLACEHOLDER_PARSERS.items()
        if token in (TokenType.PLACEHOLDER, TokenType.COLON)
    }
    LAMBDAS: ClassVar = {
        **SparkParser.LAMBDAS,
        TokenType.FARROW: lambda self, names: _named_argument(self, names),
    }
    ARRAY_CONSTRUCTORS: ClassVar = {}  # array(1, 2)[0] is a call and a subscript
    ADD_JOIN_ON_TRUE = False
    _joins_here: bool = False
    _joined_up_to: int = -1

    def read(
        self, tokens: list[Token], index: int, rule: Callable[[AcidSqlParser], exp.Expr | None]
    ) -> tuple[exp.Expression, int]:
        """Reads one `rule` from `tokens[index]` on. Returns the tree and the index of the first token after it."""
        self.reset()
        self.error_level = ErrorLevel.IMMEDIATE
        self._tokens = tokens
        self._tokens_size = len(tokens)
        self._index = -1
        self._joins_here, self._joined_up_to = False, -1
        self._advance(index + 1)
        tree = rule(self)
        if not isinstance(tree, exp.Expression):
            raise MisreadError("an expression is missing", self._index)
        return tree, self._index

    def raise_error(self, message: str, token: Token | None = None) -> None:
        """Raises the error without sqlglot's picture of its place, which contains ANSI codes."""
        index = self._index
        if token and token is not self._prev:  # the last token was accepted: the next one is the unexpected one
            index = next((i for i, known in enumerate(self._tokens) if known is token), index)
        raise MisreadError(message, index)

    # -- rules to read
    def expression_rule(self) -> exp.Expr | None:
        """A whole expression, without an alias."""
        return self._parse_disjunction()

    def operand_rule(self) -> exp.Expr | None:
        """An expression that ends before NOT, AND and comparisons: a DEFAULT, or the value of a partition column."""
        return self._parse_bitwise()

    def query_rule(self) -> exp.Expr | None:
        """A query with all its clauses. VALUES alone becomes SELECT * FROM VALUES."""
        query = self._parse_select(nested=True, parse_subquery_alias=False)
        if isinstance(query, exp.Values):
            query = self._values_to_select(query)
        return self._parse_query_modifiers(self._parse_set_operations(query))

    def with_rule(self) -> exp.Expr | None:
        return self._parse_with()

    def relation_rule(self) -> exp.Expr | None:
        """One table, subquery or VALUES with its alias: the source of a MERGE."""
        return self._parse_table()

    def from_rule(self) -> exp.Expr | None:
        """The FROM of a multi-insert: a relation with its joins and lateral views."""
        self._match(TokenType.FROM)
        relation = self._parse_table(joins=True)
        if isinstance(relation, exp.Values):  # sqlglot reads no joins behind it, and has no place for them
            alias = relation.args.pop("alias", None)
            relation = exp.Subquery(this=exp.select("*").from_(relation, copy=False), alias=alias)
            for join in self._parse_joins():
                relation.append("joins", join)
        if relation is not None:
            for lateral in iter(self._parse_lateral, None):
                relation.append("laterals", lateral)
        return relation

    # -- rules where sqlglot accepts errors
    def _parse_csv(self, parse_method: Callable[[], _T | None], sep: TokenType = TokenType.COMMA) -> list[_T]:
        def item() -> _T | None:
            after_separator = self._prev is not None and self._prev.token_type == sep
            found = parse_method()
            if found is None and (after_separator or self._curr.token_type == sep):
                self.raise_error("something is missing beside the comma")
            return found

        return super()._parse_csv(item, sep)

    def _parse_ordered(self, parse_method: Callable[[], exp.Expr | None] | None = None) -> exp.Ordered | None:
        key = super()._parse_ordered(parse_method)
        words = [token.text.upper() for token in self._tokens[max(self._index - 2, 0) : self._index]]
        if key is not None and words in (["NULLS", "FIRST"], ["NULLS", "LAST"]):
            key.meta[_NULLS] = True
        return key

    def _parse_placeholder(self) -> exp.Expr | None:
        first = self._curr
        tree = super()._parse_placeholder()
        if isinstance(tree, exp.Placeholder) and first is not None:
            tree.meta["start"], tree.meta["end"] = first.start, self._prev.end
        return tree

    def _parse_from(
        self, joins: bool = False, skip_from_token: bool = False, consume_pipe: bool = False
    ) -> exp.From | None:
        source = super()._parse_from(joins, skip_from_token, consume_pipe)
        if joins and self._curr.token_type not in (TokenType.SELECT, TokenType.INSERT, TokenType.LATERAL):
            self.raise_error("SELECT is missing")  # sqlglot would invent the SELECT of FROM t
        return source

    def _parse_join(
        self,
        skip_join_token: bool = False,
        parse_bracket: bool = False,
        alias_tokens: Collection[TokenType] | None = None,
    ) -> exp.Join | None:
        comma = self._curr.token_type == TokenType.COMMA
        self._joins_here = True
        join = super()._parse_join(skip_join_token, parse_bracket, alias_tokens)
        self._joins_here = False
        if join is None and comma and self._prev.token_type == TokenType.COMMA:
            self.raise_error("a table is missing after the comma")
        return join

    def _parse_table(
        self,
        schema: bool = False,
        joins: bool = False,
        alias_tokens: Collection[TokenType] | None = None,
        parse_bracket: bool = False,
        is_db_reference: bool = False,
        parse_partition: bool = False,
        consume_pipe: bool = False,
    ) -> exp.Expr | None:
        is_joined, self._joins_here = self._joins_here, False
        table = super()._parse_table(
            schema, joins, alias_tokens, parse_bracket, is_db_reference, parse_partition, consume_pipe
        )
        if is_joined:
            self._joined_up_to = self._index
        if isinstance(table, exp.Table):
            _take_scan_properties(table)
        return table

    def _parse_version(self) -> exp.Version | None:
        """The version of a table to read, or the CHANGES of a range of versions."""
        first = self._curr
        if not self._match_text_seq(*CHANGES_WORDS):
            return self._parse_as_of()
        bounds = [self._parse_version_bound("VERSION or TIMESTAMP after FROM of CHANGES")]
        if self._match_text_seq("TO"):
            kind = bounds[0].name
            bounds.append(self._parse_version_bound(f"{kind} after TO of CHANGES FROM {kind}", kind))
        parts = exp.Tuple(expressions=[*bounds, *self._parse_change_options()])
        changes = self.expression(exp.Version(this=CHANGES, kind="FROM", expression=parts))
        changes.meta["start"], changes.meta["end"] = first.start, self._prev.end
        return changes

    def _parse_as_of(self) -> exp.Version | None:
        """`VERSION AS OF n`, `FOR VERSION AS OF n`, `FOR SYSTEM_VERSION AS OF n`, and the same with times. `this` is
        VERSION or TIMESTAMP."""
        first = self._curr
        words = next((each for each in AS_OF_WORDS if self._match_text_seq(*each)), None)
        if words is None:
            return None
        if words[0] == "FOR" and not self._match_text_seq("AS", "OF"):
            self.raise_error(f"expected AS OF after {words[1]}")
        point = self._parse_bitwise()
        if point is None:
            self.raise_error("a value is missing after AS OF")
        version = self.expression(exp.Version(this=AS_OF_WORDS[words], kind="AS OF", expression=point))
        version.meta["start"], version.meta["end"] = first.start, self._prev.end
        return version

    def _parse_version_bound(self, expected: str, wanted: str | None = None) -> exp.Version:
        kind = None if self._curr is None else _BOUND_WORDS.get(self._curr.text.upper())
        if kind is None or (wanted is not None and kind != wanted):
            self.raise_error(f"expected {expected}")
        self._advance()
        point = self._parse_bitwise()
        if point is None:
            self.raise_error(f"a value is missing after {kind}")
        is_given = self._match_texts(("INCLUSIVE", EXCLUSIVE))
        side = self._prev.text.upper() if is_given else "INCLUSIVE"
        return self.expression(exp.Version(this=kind, kind=side, expression=point))

    def _parse_change_options(self) -> list[exp.Property]:
        """`WITH ('key' = 'value', ..)` behind the versions of CHANGES."""
        if not self._match_text_seq("WITH", "("):
            return []
        options = self._parse_csv(self._parse_change_option)
        if not options or not self._match(TokenType.R_PAREN):
            self.raise_error("expected an option, 'key' = 'value', after WITH of CHANGES")
        return options

    def _parse_change_option(self) -> exp.Property:
        key = self._parse_string() or self._parse_var(any_token=True)
        if key is not None and self._match(TokenType.EQ):
            value = self._parse_string() or self._parse_boolean() or self._parse_number()
            if value is not None:
                return self.expression(exp.Property(this=exp.Literal.string(key.name), value=value))
        raise MisreadError("expected an option, 'key' = 'value', after WITH of CHANGES", self._index)

    def _parse_joins(self, alias_tokens: Collection[TokenType] | None = None) -> Iterator[exp.Join]:
        # After a joined table without ON, sqlglot reads the following joins in case its ON comes after them
        # (a JOIN b JOIN c ON .. ON ..), and reads them again where none comes: each such JOIN would double the time.
        if self._index == self._joined_up_to and not self._has_on_behind_joins():
            return iter(())
        return super()._parse_joins(alias_tokens)

    def _has_on_behind_joins(self) -> bool:
        """Whether more ONs than joins follow from here on."""
        joins = depth = 0
        for token in self._tokens[self._index :]:
            depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
            if depth < 0 or (depth == 0 and token.token_type in _BEHIND_JOINS):
                return False
            if depth == 0 and token.token_type == TokenType.JOIN:
                joins += 1
            elif depth == 0 and token.token_type in (TokenType.ON, TokenType.USING):
                joins -= 1
                if joins < 0:
                    return True
        return False

    def _parse_table_alias(self, alias_tokens: Collection[TokenType] | None = None) -> exp.TableAlias | None:
        opened = self._curr.token_type == TokenType.ALIAS
        alias = super()._parse_table_alias(alias_tokens)
        if opened and alias is None:
            self.raise_error("an alias is missing")
        return alias

    def _parse_star_op(self, *keywords: str) -> list[exp.Expr] | None:
        if self._curr.text.upper() in keywords and self._next.token_type != TokenType.L_PAREN:
            return None
        return super()._parse_star_op(*keywords)

    def _parse_string_as_identifier(self) -> exp.Identifier | None:
        return None  # a string is not a name

    def _parse_table_parts(
        self, schema: bool = False, is_db_reference: bool = False, wildcard: bool = False, fast: bool = False
    ) -> exp.Table | exp.Dot | None:
        if not fast and self._curr.token_type == TokenType.DOT:
            self.raise_error("a name is missing before '.'")
        table = super()._parse_table_parts(schema, is_db_reference, wildcard, fast)
        if not fast and self._curr.token_type == TokenType.STAR:
            self.raise_error("a table's name is not followed by '*'")  # sqlglot drops it
        return table

    # -- Hive's own syntax
    def _parse_interval_span(self, this: exp.Expr, parse_function_unit: bool = True) -> exp.Interval:
        interval = super()._parse_interval_span(this, parse_function_unit)
        named = isinstance(this, exp.Literal | exp.Placeholder | exp.Parameter)  # the text may have the unit
        if not named and interval.args.get("unit") is None:
            self.raise_error("a unit is missing behind INTERVAL (..), such as DAY")
        return interval

    def _parse_partition_and_order(self) -> tuple[list[exp.Expr], exp.Expr | None]:
        """CLUSTER BY in a window too, which is PARTITION BY there (SemanticAnalyzer.processPTFPartitionSpec)."""
        if self._match(TokenType.CLUSTER_BY):
            return self._parse_csv(self._parse_assignment), None
        return super()._parse_partition_and_order()

    def _parse_cast(self, strict: bool, safe: bool | None = None) -> exp.Expr:
        """CAST(a AS type FORMAT 'pattern') too, which sqlglot would turn into another function for some types."""
        value = self._parse_assignment()
        if not self._match(TokenType.ALIAS):
            self.raise_error("Expected AS after CAST")
        kind = self._parse_types(with_collation=True)
        if kind is None:
            self.raise_error("Expected TYPE after CAST")
        elif isinstance(kind, exp.Identifier):
            kind = exp.DataType.from_str(kind.name, dialect=self.dialect, udt=True)
        form = self._parse_string() if self._match(TokenType.FORMAT) else None
        return self.build_cast(strict=strict, this=value, to=kind, format=form, safe=safe)

    # -- rules where sqlglot changes the text
    def _parse_statement(self) -> exp.Expr | None:
        # What follows a WITH, or the INSERT of a FROM .. INSERT inside a query, which sqlglot reads in a loop.
        if self._curr.token_type == TokenType.INSERT:
            self.raise_error("no statement may stand inside a query")
        return self.query_rule()

    def _parse_types(self, *args: bool, **kwargs: bool) -> exp.Expr | None:
        # In an expression DATE(..) and STRUCT(..) are calls. sqlglot reads the parentheses as a type first and then
        # again as a call, so that each nested call would double the time.
        if kwargs.get("check_func") and self._next.token_type == TokenType.L_PAREN:
            return None
        if self._curr.token_type == TokenType.IDENTIFIER:
            return None  # the name of a type has no backquotes, and sqlglot would parse the text between them
        return SqlglotParser._parse_types(self, *args, **kwargs)  # sqlglot's Hive turns VARCHAR(3) into STRING

    def _parse_type(self, parse_interval: bool = True, fallback_to_identifier: bool = False) -> exp.Expr | None:
        first = self._curr
        tree = super()._parse_type(parse_interval, fallback_to_identifier)
        if isinstance(tree, exp.Cast) and tree.this.is_string and first.token_type in _TYPED_LITERALS:
            tree.meta[_LITERAL] = True  # DATE '2020-01-01'
        return tree

    def _parse_at_time_zone(self, this: exp.Expr | None) -> exp.Expr | None:
        return this  # Hive and Spark have no AT TIME ZONE, and sqlglot would write a function

    def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
        if this is None and self._curr.token_type == TokenType.L_BRACKET:
            self.raise_error("an array is written array(..)")
        return super()._parse_bracket(this)

    def _parse_hint(self) -> exp.Hint | None:
        if self._curr.token_type == TokenType.ALIAS:
            self.raise_error("an expression is missing")  # sqlglot skips an AS after SELECT
        if not self._match(TokenType.HINT):
            return None
        return exp.Hint(expressions=[self._prev_comments[0].strip()])

    def _parse_function_call(
        self,
        functions: dict[str, Callable[..., exp.Expr]] | None = None,
        anonymous: bool = False,
        optional_parens: bool = True,
        any_token: bool = False,
    ) -> exp.Expr | None:
        words = _SPECIAL_FORMS.get(self._curr.text.upper()) if self._curr else None
        if words is not None and self._next and self._next.token_type == TokenType.L_PAREN:
            anonymous = anonymous or not self._has_word_inside(words)
        call = super()._parse_function_call(functions, anonymous, optional_parens, any_token)
        return call if isinstance(call, exp.Expr) or call is None else None

    def _has_word_inside(self, words: frozenset[str]) -> bool:
        """Whether one of the words is directly inside the parentheses that open at the next token."""
        depth = 0
        for token in self._tokens[self._index + 1 :]:
            if token.token_type == TokenType.L_PAREN:
                depth += 1
            elif token.token_type == TokenType.R_PAREN:
                depth -= 1
                if depth == 0:
                    return False
            elif depth == 1 and token.text.upper() in words and is_word(token):
                return True
        return False


def _named_argument(parser: SqlglotParser, names: list[exp.Expr | None]) -> exp.Expr:
    """`name => value` as an argument of a call. sqlglot also reads several names, or none, and ignores all but one."""
    if len(names) != 1 or names[0] is None:
        parser.raise_error("Expected one name before =>")
    argument: exp.Expr = SparkParser.LAMBDAS[TokenType.FARROW](parser, names)
    return argument


def _without_qualify(query: exp.Select) -> exp.Select:
    """The query with its QUALIFY as the WHERE of a query around it, because Spark has QUALIFY only from version 4.2 on.

    The condition becomes a column of the inner query, which the outer one leaves out. A name in it that is the alias of
    an item stands for that item. DISTINCT and LIMIT apply to the rows that remain.
    """
    aliased = {item.alias.lower(): item.this for item in query.selects if isinstance(item, exp.Alias)}
    condition = exp.paren(query.args["qualify"].pop().this, copy=False)
    for column in list(condition.find_all(exp.Column)):
        if not column.table and column.name.lower() in aliased:
            column.replace(exp.paren(aliased[column.name.lower()]))
    query.append("expressions", exp.alias_(condition, _QUALIFIES, quoted=True))
    outer = exp.Select(expressions=[exp.Star(except_=[exp.to_identifier(_QUALIFIES, quoted=True)])])
    moved = ("distinct", "limit", "offset", *(("order",) if query.args.get("distinct") else ()))
    for clause in moved:
        outer.set(clause, query.args.get(clause))
        query.set(clause, None)
    return outer.from_(query.subquery("_t", copy=False), copy=False).where(
        exp.column(exp.to_identifier(_QUALIFIES, quoted=True)), copy=False
    )


class AcidSqlGenerator(SparkGenerator):
    """Writes Spark SQL as it was typed."""

    # sqlglot would move the CTEs of subqueries to the top, where they hide tables of the same name.
    EXPRESSIONS_WITHOUT_NESTED_CTES: ClassVar[set[type[exp.Expr]]] = set()

    TRANSFORMS: ClassVar = {
        **SparkGenerator.TRANSFORMS,
        exp.Select: lambda self, node: SparkGenerator.TRANSFORMS[exp.Select](
            self, _without_qualify(node) if node.args.get("qualify") else node
        ),
        exp.CurrentDate: lambda self, node: "CURRENT_DATE",
        exp.CurrentTimestamp: lambda self, node: "CURRENT_TIMESTAMP",
        exp.CurrentUser: lambda self, node: "CURRENT_USER",
        exp.SessionUser: lambda self, node: "SESSION_USER",
        exp.NullSafeEQ: lambda self, node: self.binary(node, "<=>"),
        exp.BitwiseLeftShift: lambda self, node: self.binary(node, "<<"),
        exp.BitwiseRightShift: lambda self, node: self.binary(node, ">>"),
    }

    def version_sql(self, expression: exp.Version) -> str:
        if expression.name != CHANGES:
            return super().version_sql(expression)
        parts = expression.expression.expressions
        bounds = (
            f"{bound.name} {self.sql(bound, 'expression')}{f' {EXCLUSIVE}' if bound.args['kind'] == EXCLUSIVE else ''}"
            for bound in parts
            if isinstance(bound, exp.Version)
        )
        options = (f"{self.sql(o, 'this')} = {self.sql(o, 'value')}" for o in parts if isinstance(o, exp.Property))
        with_options = f" WITH ({', '.join(found)})" if (found := list(options)) else ""
        return f"CHANGES FROM {' TO '.join(bounds)}{with_options}"

    def join_sql(self, expression: exp.Join, join_op: str | None = None) -> str:
        # sqlglot would write a JOIN without ON as a comma, which binds less tightly than the JOINs after it.
        ways = ("on", "using", "kind", "side", "method", "hint")
        if isinstance(expression.this, exp.Lateral) or any(expression.args.get(way) for way in ways):
            return super().join_sql(expression, join_op)
        return f" CROSS JOIN {self.sql(expression, 'this')}"

    def literal_sql(self, expression: exp.Literal) -> str:
        if expression.is_string:
            return f"'{str(expression.this).translate(_ESCAPES)}'"
        return str(expression.this)

    def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
        if expression.meta.get(_LITERAL):
            return f"{self.sql(expression, 'to')} {self.sql(expression, 'this')}"
        form = f" FORMAT {self.sql(expression, 'format')}" if expression.args.get("format") else ""
        return f"{safe_prefix or ''}CAST({self.sql(expression, 'this')} AS {self.sql(expression, 'to')}{form})"


class AcidSql(Spark):
    """The dialect, for sqlglot's own entry points (`tree.sql(dialect=AcidSql)`)."""

    NORMALIZE_FUNCTIONS: bool | str = False
    INTERSECT_BINDS_TIGHTER_THAN_UNION_AND_EXCEPT = False  # Hive takes set operations from left to right
    Parser = AcidSqlParser
    Generator = AcidSqlGenerator


def typed_literal(text: str, kind: exp.DType) -> exp.Cast:
    """The literal of a type whose name stands before its text.

    >>> to_spark(typed_literal("2024-02-29", exp.DataType.Type.DATE))
    "DATE '2024-02-29'"
    """
    literal = exp.cast(exp.Literal.string(text), kind)
    literal.meta[_LITERAL] = True
    return literal


def to_spark(tree: exp.Expr) -> str:
    """The tree as one line of Spark SQL; functions keep their names and case.

    >>> to_spark(exp.column("a").eq(exp.Literal.string("it's")))
    "a = 'it\\\\'s'"

    Raises PARSE_SYNTAX_ERROR for a clause that Spark does not have.
    """
    try:
        return tree.sql(
            dialect=AcidSql, normalize_functions=False, comments=False, unsupported_level=ErrorLevel.IMMEDIATE
        )
    except UnsupportedError as error:  # sqlglot would write the tree without that clause
        message = str(error).split("\n", 1)[0]
        raise AcidSqlError(Condition.PARSE_SYNTAX_ERROR, message=f"Syntax error: {message}") from error


def has_explicit_null_order(key: exp.Ordered) -> bool:
    """Whether NULLS FIRST or NULLS LAST follows a sort key."""
    return bool(key.meta.get(_NULLS))


def frame_of(table: exp.Expr) -> str | None:
    """The frame that a table in a tree names; None for a table of the catalog."""
    name = table.meta.get(_FRAME)
    return name if isinstance(name, str) else None


def _take_scan_properties(table: exp.Table) -> None:
    """Makes `t('key'='value', ..)` the table t, with a note of the property that acidsql acts on.

    sqlglot reads it as a call of a table function. As in Hive, unknown properties have no effect.
    """
    call = table.this
    if not isinstance(call, exp.Anonymous) or not call.expressions or not all(map(_is_property, call.expressions)):
        return
    properties = {pair.this.name: pair.expression.name.lower() for pair in call.expressions}
    name = exp.to_identifier(call.name)
    name.meta.update(call.meta)
    table.set("this", name)
    table.meta[_FETCHES_DELETED] = properties.get(_DELETED_ROWS) == "true"


def _is_property(pair: exp.Expr) -> bool:
    return isinstance(pair, exp.EQ) and all(
        isinstance(side, exp.Literal) and side.is_string for side in (pair.this, pair.expression)
    )


def fetches_deleted(table: exp.Expr) -> bool:
    """Whether a table in a tree has `('acid.fetch.deleted.rows'='true')`: its deleted rows are to be read as well."""
    return bool(table.meta.get(_FETCHES_DELETED))


def mark_source(tree: exp.Expr, source: str) -> None:
    """Notes at the root of a tree the text that its offsets refer to."""
    tree.meta[_SOURCE] = source


def mark_frame(table: exp.Table, name: str) -> None:
    table.meta[_FRAME] = name


def span_of(node: exp.Expr, source: str | None = None, offset: int = 0) -> Span | None:
    """The place of a node with its children in `source`; None for a node that does not come from the text.

    Trees of `parse` hold offsets into the whole script, and their root holds the script: without `source` it is
    taken from there. `offset` is for trees read from a part of `source`.
    """
    if source is None:
        source = node.root().meta.get(_SOURCE)
    if not isinstance(source, str):
        return None
    starts: list[int] = []
    ends: list[int] = []
    for part in node.walk():
        start, end = part.meta.get("start"), part.meta.get("end")
        if isinstance(start, int) and isinstance(end, int):
            starts.append(start)
            ends.append(end)  # sqlglot's ends are inclusive
    if not starts:
        return None
    return Span(source, min(starts) + offset, max(ends) + 1 + offset)
