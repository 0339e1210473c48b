"""How tightly the operators bind, as in Hive 4.0.1 (IdentifiersParser.g): from a sign to OR.

```text
tightest  + - ~ before an operand
          ^
          * / % DIV
          + -
          ||
          << >>                                   (Spark's; Hive has no such operators)
          &
          |
          < <= > >= [NOT] LIKE RLIKE IN BETWEEN   (one of them: a < b < c is an error)
          = <=> <> IS [NOT] DISTINCT FROM
          IS [NOT] NULL, TRUE, FALSE, UNKNOWN     (one of them)
          NOT
          AND
loosest   OR
```

In Spark `^` is between `&` and `|`, `||` is beside `+`, all comparisons bind alike, and LIKE, IN, BETWEEN and IS are
looser than they. An operand that Spark would read otherwise gets parentheses.
"""

from __future__ import annotations

from typing import ClassVar, Final

from sqlglot import exp
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import TokenType

_SIMILAR: Final = frozenset({TokenType.LIKE, TokenType.ILIKE, TokenType.RLIKE, TokenType.IN, TokenType.BETWEEN})
_EQUALITY: Final[dict[TokenType, type[exp.Binary]]] = {
    TokenType.EQ: exp.EQ,
    TokenType.NEQ: exp.NEQ,
    TokenType.NULLSAFE_EQ: exp.NullSafeEQ,
}
_ORDER: Final[dict[TokenType, type[exp.Binary]]] = {
    TokenType.GT: exp.GT,
    TokenType.GTE: exp.GTE,
    TokenType.LT: exp.LT,
    TokenType.LTE: exp.LTE,
}
_OPERATORS: Final[dict[TokenType, tuple[int, type[exp.Binary]]]] = {
    TokenType.PIPE: (1, exp.BitwiseOr),
    TokenType.AMP: (2, exp.BitwiseAnd),
    TokenType.DPIPE: (4, exp.DPipe),
    TokenType.PLUS: (5, exp.Add),
    TokenType.DASH: (5, exp.Sub),
    TokenType.COLLATE: (5, exp.Collate),  # read to be refused by name
    TokenType.STAR: (6, exp.Mul),
    TokenType.SLASH: (6, exp.Div),
    TokenType.MOD: (6, exp.Mod),
    TokenType.DIV: (6, exp.IntDiv),
    TokenType.CARET: (7, exp.BitwiseXor),
}
"""The operators with values on both sides, and how tightly they bind."""
_SHIFTS: Final[dict[TokenType, type[exp.Binary]]] = {
    TokenType.LT: exp.BitwiseLeftShift,
    TokenType.GT: exp.BitwiseRightShift,
}
_LOOSEST, _SHIFT, _SUM, _PRODUCT = 1, 3, 5, 6
_IN_SPARK: Final[dict[type[exp.Expr], int]] = {
    **dict.fromkeys((exp.Neg, exp.BitwiseNot), 1),
    **dict.fromkeys((exp.Mul, exp.Div, exp.Mod, exp.IntDiv), 2),
    **dict.fromkeys((exp.Add, exp.Sub, exp.DPipe, exp.Collate), 3),
    **dict.fromkeys((exp.BitwiseLeftShift, exp.BitwiseRightShift), 4),
    exp.BitwiseAnd: 5,
    exp.BitwiseXor: 6,
    exp.BitwiseOr: 7,
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.NullSafeEQ, *_ORDER.values()), 8),
    **dict.fromkeys((exp.Like, exp.ILike, exp.RegexpLike, exp.Escape, exp.In, exp.Between, exp.Is, exp.NullSafeNEQ), 9),
    exp.Not: 10,
    exp.And: 11,
    exp.Or: 12,
}
"""How loosely Spark's operators bind (SqlBaseParser.g4); other expressions are 0."""
_PREDICATE: Final = 9
_UNITS: Final = frozenset(
    f"{unit}{s}" for unit in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND") for s in ("", "S")
)


class HivePrecedence(SparkParser):
    """The rules of expressions from NOT to the operands, each of which reads what binds more tightly than it."""

    UNARY_PARSERS: ClassVar = {
        token: parser
        for token, parser in SparkParser.UNARY_PARSERS.items()
        if token in (TokenType.PLUS, TokenType.TILDE, TokenType.DASH)
    }

    def _parse_equality(self, parse_is: bool = True) -> exp.Expr | None:
        if self._match(TokenType.NOT):
            return self.expression(exp.Not(this=self._operand(self._parse_equality())))
        this = self._parse_comparison()
        while this is not None and (kind := self._match_equality()) is not None:
            this = self._binary(kind, this, self._parse_comparison())
        return this if this is None or not self._match(TokenType.IS) else self._parse_test(this)

    def _parse_test(self, this: exp.Expr) -> exp.Expr:
        """`NULL`, `NOT NULL` and their kind behind a value and IS."""
        negated = self._match(TokenType.NOT)
        condition = self._parse_null() or self._parse_boolean()
        if condition is None:
            self.raise_error("expected NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM after IS")
        test = self.expression(exp.Is(this=left_operand(exp.Is, this), expression=condition))
        if self._curr.token_type in (TokenType.IS, *_EQUALITY, *_ORDER, *_SIMILAR):
            self._raise_chained("IS")
        return self.expression(exp.Not(this=test)) if negated else test

    def _match_equality(self) -> type[exp.Binary] | None:
        if self._match_set(_EQUALITY):
            return _EQUALITY[self._prev.token_type]
        if self._match_text_seq("IS", "DISTINCT", "FROM"):
            return exp.NullSafeNEQ
        return exp.NullSafeEQ if self._match_text_seq("IS", "NOT", "DISTINCT", "FROM") else None

    def _parse_comparison(self, this: exp.Expr | None = None) -> exp.Expr | None:
        """A value with at most one comparison by order or likeness."""
        this = this or self._parse_operators(_LOOSEST)
        if this is None or not self._is_similar_ahead():
            return this
        negated = self._match(TokenType.NOT)
        operator = self._curr.text.upper()
        if self._match_set(_ORDER):
            found: exp.Expr | None = self._binary(_ORDER[self._prev.token_type], this, self._parse_operators(_LOOSEST))
        else:
            self._advance()
            found = self.RANGE_PARSERS[self._prev.token_type](self, left_operand(exp.In, this))
        if self._is_similar_ahead():
            self._raise_chained(operator)
        return self._negate_range(found) if negated else found

    def _parse_range(self, this: exp.Expr | None = None, parse_is: bool = False) -> exp.Expr | None:
        return self._parse_comparison(this)

    def _parse_between(self, this: exp.Expr | None) -> exp.Between:
        low = self._parse_bitwise()
        if not self._match(TokenType.AND):
            self.raise_error("AND is missing after BETWEEN")
        return self.expression(
            exp.Between(this=this, low=self._operand(low), high=self._operand(self._parse_bitwise()))
        )

    def _is_similar_ahead(self) -> bool:
        if self._curr.token_type == TokenType.NOT:
            return self._next.token_type in _SIMILAR
        return self._curr.token_type in _ORDER or self._curr.token_type in _SIMILAR

    def _raise_chained(self, operator: str) -> None:
        self.raise_error(f"the condition with {operator} needs parentheses before this operator")

    def _parse_bitwise(self) -> exp.Expr | None:
        return self._parse_operators(_LOOSEST)

    def _parse_term(self, parse_mod: bool = True) -> exp.Expr | None:
        return self._parse_operators(_SUM, parse_mod)

    def _parse_factor(self, parse_mod: bool = True) -> exp.Expr | None:
        return self._parse_operators(_PRODUCT, parse_mod)

    def _parse_operators(self, loosest: int, parse_mod: bool = True) -> exp.Expr | None:
        """Values with operators between them that bind at least as tightly as `loosest`, from left to right. One
        function reads all of them, because each function in the way of an operand lessens the depth of nesting that
        Python's stack has room for."""
        this = self._parse_unary()
        while this is not None:
            place = self._index
            level, kind = self._match_operator(loosest, parse_mod)
            if kind is None:
                break
            right = self._parse_operators(level + 1, parse_mod)
            if right is None and self._tokens[place].text.isalpha():  # an alias, as in SELECT a div
                self._retreat(place)
                break
            this = self._binary(kind, this, self._parse_unit(right) if level == _SUM else right)
        return this

    def _match_operator(self, loosest: int, parse_mod: bool) -> tuple[int, type[exp.Binary] | None]:
        token = self._curr.token_type
        if token in _SHIFTS and self._next.token_type == token and loosest <= _SHIFT:
            self._advance(2)
            return _SHIFT, _SHIFTS[token]
        level, kind = _OPERATORS.get(token, (0, None))
        if level < loosest or (token == TokenType.MOD and not parse_mod):
            return 0, None
        self._advance()
        return level, kind

    def _parse_unit(self, operand: exp.Expr | None) -> exp.Expr | None:
        """An operand of `+` and `-`. A number with a unit behind it is an interval: dt + 2 days."""
        if not (isinstance(operand, exp.Literal) and not operand.is_string and self._curr.text.upper() in _UNITS):
            return operand
        self._advance()
        unit = exp.Var(this=self._prev.text.upper())
        return exp.Interval(this=exp.Literal.string(str(operand.this)), unit=unit)

    def _binary(self, kind: type[exp.Binary], left: exp.Expr, right: exp.Expr | None) -> exp.Expr:
        tree = kind(this=left_operand(kind, left), expression=self._operand(right, kind))
        if isinstance(tree, exp.Div):
            tree.set("typed", self.dialect.TYPED_DIVISION)
            tree.set("safe", self.dialect.SAFE_DIVISION)
        if isinstance(tree, exp.DPipe):
            tree.set("safe", not self.dialect.STRICT_STRING_CONCAT)
        return self.expression(tree)

    def _operand(self, operand: exp.Expr | None, kind: type[exp.Expr] | None = None) -> exp.Expr:
        """The right operand of an operator, or one of a kind that encloses it."""
        if operand is None:
            self.raise_error("an operand is missing")
        assert operand is not None
        return operand if kind is None else right_operand(kind, operand)


def left_operand(kind: type[exp.Expr], operand: exp.Expr) -> exp.Expr:
    """The left operand of an operator, in parentheses where Spark would read it otherwise."""
    own, inner = _IN_SPARK[kind], _IN_SPARK.get(type(operand), 0)
    return _enclosed(operand) if inner > own or inner == own == _PREDICATE else operand


def right_operand(kind: type[exp.Expr], operand: exp.Expr) -> exp.Expr:
    """The right operand of an operator, in parentheses where Spark would read it otherwise."""
    return _enclosed(operand) if _IN_SPARK.get(type(operand), 0) >= _IN_SPARK[kind] else operand


def _enclosed(operand: exp.Expr) -> exp.Expr:
    return exp.Paren(this=operand)
