"""Comparisons of values of different types: = <> < <= > >= <=>, BETWEEN, IN, NULLIF and CASE with an operand.

Hive compares text with a number or a BOOLEAN as DOUBLE, and so a BOOLEAN with a number; text with a DATE or TIMESTAMP
as that, FLOAT with DECIMAL as FLOAT (FunctionRegistry.getCommonClassForComparison). A literal that is compared with a
column takes the type of the column if it has a value of that type (ExprNodeDescExprFactory.interpretNodeAsConstant). A
text that is compared with a CHAR column thus loses its trailing blanks, as the column's values do in a scan, but not in
BETWEEN (Hive 4.0.1). The text of a frame, which may come from a reader of the table, loses them beside every CHAR value
(frame_texts.py).
"""

from __future__ import annotations

from decimal import Decimal as Number
from typing import Final, TypeAlias

from sqlglot import exp

from acidsql.acid.hive_types import MOST_DIGITS, Char, Decimal, HiveType
from acidsql.planner.expressions.expression_types import ExpressionTypes
from acidsql.planner.expressions.hive_functions.template import filled
from acidsql.planner.expressions.typed_rules.casts import (
    date_of_text,
    is_number_of_text,
    number_of_text,
    timestamp_of_text,
)
from acidsql.planner.expressions.typed_rules.frame_texts import is_padded, without_blanks
from acidsql.values.common_types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    TIMESTAMP,
    is_integer,
    is_number,
    is_text,
)
from acidsql.values.literals import exact_number, fraction_digits, number_digits, value_of

Pair: TypeAlias = tuple[exp.Expr, exp.Expr]

_COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_BITS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}


def comparison_in_hive(node: exp.Expr, types: ExpressionTypes) -> exp.Expr | None:
    match node:
        case _ if isinstance(node, _COMPARISONS):
            pair = converted(node.this, node.expression, types)
            return None if pair is None else type(node)(this=pair[0], expression=pair[1])
        case exp.Between():
            return _between(node, types)
        case exp.In() if node.args.get("query") is not None:
            return _in_query(node, types)
        case exp.In() if node.expressions:
            return _in_list(node, types)
        case exp.Anonymous() if node.name.lower() == "nullif" and len(node.expressions) == 2:
            left, right = node.expressions
            pair = converted(left, right, types)
            return (
                None
                if pair is None
                else exp.case().when(exp.EQ(this=pair[0], expression=pair[1]), exp.null()).else_(left)
            )
        case exp.Case() if node.this is not None:
            return _searched_case(node, types)
        case _:
            return None


def converted(left: exp.Expr, right: exp.Expr, types: ExpressionTypes) -> Pair | None:
    """Copies of the operands, converted to the type in which Hive compares them; None where Spark uses the same."""
    if (number := _beyond_bigint(right, left, types)) is not None:
        return left.copy(), number
    if (number := _beyond_bigint(left, right, types)) is not None:
        return number, right.copy()
    a, b = types.of(left), types.of(right)
    if a is None or b is None or a == b:
        return None
    if is_text(a) and is_text(b):
        texts = _unpadded(left, a, right, b), _unpadded(right, b, left, a)
        return None if texts == (left, right) else texts
    if is_text(b) or (b == DOUBLE and a == FLOAT):
        return _to_other(left, a, right, b)
    if is_text(a) or (a == DOUBLE and b == FLOAT):
        pair = _to_other(right, b, left, a)
        return pair and (pair[1], pair[0])
    if BOOLEAN in (a, b) and (is_number(a) or is_number(b)):
        return _cast(left, "double"), _cast(right, "double")
    if FLOAT in (a, b) and (isinstance(a, Decimal) or isinstance(b, Decimal)):
        return (left.copy(), _cast(right, "float")) if a == FLOAT else (_cast(left, "float"), right.copy())
    return None


def _beyond_bigint(node: exp.Expr, other: exp.Expr, types: ExpressionTypes) -> exp.Expr | None:
    """A copy of a number that no BIGINT reaches, as a cast to its own type, where it is compared with an integer.

    Spark's analyzer replaces the order of an integer and such a literal by TRUE or FALSE, for NULL as well
    (DecimalPrecision.integralAndDecimalLiteral, where ANSI is off). Hive's answer for NULL is NULL, as is Spark's where
    the number is not a literal.
    """
    kind = types.of(other)
    if kind is not None and not is_integer(kind):
        return None
    inner = node.unnest()
    number = value_of(inner, {}) if isinstance(inner, exp.Literal | exp.Neg) else None
    if not isinstance(number, Number) or types.of(inner) in (FLOAT, DOUBLE) or -(2**63) <= number <= 2**63 - 1:
        return None
    whole, fraction = number_digits(number)
    return _cast(inner, f"decimal({whole + max(fraction, 0)},{max(fraction, 0)})")


def _unpadded(text: exp.Expr, text_kind: HiveType, column: exp.Expr, kind: HiveType) -> exp.Expr:
    """A copy of a text that is compared with `column`, whose type is `kind`."""
    if is_padded(text_kind, kind):
        return without_blanks(text)
    new = text.copy()
    if isinstance(new, exp.Literal) and isinstance(column, exp.Column) and isinstance(kind, Char):
        new.set("this", str(new.this).rstrip(" "))
    return new


def _to_other(value: exp.Expr, kind: HiveType, other: exp.Expr, other_kind: HiveType) -> Pair | None:
    """The operands where `other` is text, or a DOUBLE that is compared with a FLOAT."""
    if isinstance(value, exp.Column) and (constant := _constant(other, kind)) is not None:
        return value.copy(), constant
    if not is_text(other_kind):
        return None  # Spark compares FLOAT with DOUBLE as DOUBLE, too
    if is_number(kind) or kind == BOOLEAN:
        return _cast(value, "double"), number_of_text(other.copy())
    if kind == DATE:
        return value.copy(), date_of_text(other.copy())
    if kind == TIMESTAMP:
        return value.copy(), timestamp_of_text(other.copy())
    return None


def _constant(node: exp.Expr, kind: HiveType) -> exp.Expr | None:
    """A literal as a literal of a column's type; None if it is not a literal or not a value of that type."""
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string:
        constant = _constant(node.this, kind)
        return None if constant is None else exp.Neg(this=constant)
    if not isinstance(node, exp.Literal) or not is_number(kind):
        return None
    if kind in (FLOAT, DOUBLE):
        return _cast(node, str(kind))
    number = exact_number(str(node.this).strip(" "))
    if number is None or (is_integer(kind) and not _fits(number, str(kind))):
        return None
    if not is_integer(kind) and max(number.adjusted() + 1, 0) + max(fraction_digits(number), 0) > MOST_DIGITS:
        return None
    return exp.Literal.number(f"{number.to_integral_value():f}" if is_integer(kind) else f"{number:f}")


def _fits(number: Number, kind: str) -> bool:
    bits = _BITS[kind]
    return number == number.to_integral_value() and -(2 ** (bits - 1)) <= number < 2 ** (bits - 1)


def _cast(node: exp.Expr, kind: str) -> exp.Expr:
    return exp.cast(node.copy(), kind)


def _between(node: exp.Between, types: ExpressionTypes) -> exp.Expr | None:
    value, low, high = node.this, node.args["low"], node.args["high"]
    above, below = (_converted_end(value, end, types) for end in (low, high))
    if above is None and below is None:
        return None
    least, most = above or (value.copy(), low.copy()), below or (value.copy(), high.copy())
    if least[0] == most[0]:
        return exp.Between(this=least[0], low=least[1], high=most[1])
    return exp.and_(exp.GTE(this=least[0], expression=least[1]), exp.LTE(this=most[0], expression=most[1]), copy=False)


def _converted_end(value: exp.Expr, end: exp.Expr, types: ExpressionTypes) -> Pair | None:
    """The value and an end of BETWEEN, whose blanks count beside a CHAR column."""
    kind, end_kind = types.of(value), types.of(end)
    is_text_of_char = isinstance(kind, Char) and is_text(end_kind) and not is_padded(end_kind, kind)
    return None if is_text_of_char else converted(value, end, types)


def _in_list(node: exp.In, types: ExpressionTypes) -> exp.Expr | None:
    pairs = [converted(node.this, item, types) for item in node.expressions]
    if not any(pairs):
        return None
    filled = [pair or (node.this.copy(), item.copy()) for pair, item in zip(pairs, node.expressions, strict=True)]
    if all(value == filled[0][0] for value, _ in filled):
        return exp.In(this=filled[0][0], expressions=[item for _, item in filled])
    if node.this.find(exp.Query) is not None:
        return None  # Spark would run the subquery once for each item
    return exp.paren(exp.or_(*(exp.EQ(this=value, expression=item) for value, item in filled), copy=False), copy=False)


def _in_query(node: exp.In, types: ExpressionTypes) -> exp.Expr | None:
    """`x IN (SELECT c ..)` and `(x, y) IN (SELECT c, d ..)` with converted operands: the query becomes the source of
    one that converts its columns."""
    subquery = node.args["query"]
    fields = types.output(subquery.unnest())
    values = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
    if fields is None or len(fields) != len(values):
        return None
    columns = [exp.column(f"@value{number}", quoted=True) for number in range(len(values))]
    for column, kind in zip(columns, fields.values(), strict=True):
        types.put(column, kind)
    pairs = [converted(value, column, types) for value, column in zip(values, columns, strict=True)]
    if not any(pairs):
        return None
    if _is_negated(node):
        pairs = [
            pair and (_never_missing(pair[0], value), _never_missing(pair[1], column))
            for pair, value, column in zip(pairs, values, columns, strict=True)
        ]
    alias = exp.TableAlias(this=exp.to_identifier("@items", quoted=True), columns=[c.this.copy() for c in columns])
    source = exp.Subquery(this=subquery.unnest(), alias=alias)
    both = [pair or (value.copy(), column) for pair, value, column in zip(pairs, values, columns, strict=True)]
    compared = [value for value, _ in both]
    query = exp.Subquery(this=exp.select(*(item for _, item in both)).from_(source, copy=False))
    return exp.In(this=exp.Tuple(expressions=compared) if len(compared) > 1 else compared[0], query=query)


def _is_negated(node: exp.Expr) -> bool:
    above = node.parent
    while isinstance(above, exp.Paren):
        above = above.parent
    return isinstance(above, exp.Not)


def _never_missing(number: exp.Expr, text: exp.Expr) -> exp.Expr:
    """NaN for a text that is not a number, which thus equals no number: Hive's NOT IN asks whether the text itself is
    NULL (seen on Hive 4.0.1)."""
    if not is_number_of_text(number):
        return number
    return filled("IF(t IS NULL, NULL, coalesce(n, CAST('NaN' AS DOUBLE)))", {"t": text, "n": number})


def _searched_case(node: exp.Case, types: ExpressionTypes) -> exp.Expr | None:
    pairs = [converted(node.this, branch.this, types) for branch in node.args["ifs"]]
    if not any(pairs):
        return None
    branches = []
    for pair, branch in zip(pairs, node.args["ifs"], strict=True):
        value, wanted = pair or (node.this.copy(), branch.this.copy())
        branches.append(exp.If(this=exp.EQ(this=value, expression=wanted), true=branch.args["true"]))
    return exp.Case(ifs=branches, default=node.args.get("default"))
