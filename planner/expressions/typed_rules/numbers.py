"""Literals and arithmetic of numbers.

A DECIMAL literal has no zeros at the end of its fraction: 1.50 is a DECIMAL(2,1) (HiveDecimal). An integer literal of
more than 38 digits is a DOUBLE. A BIGINT beside a DECIMAL is a DECIMAL(19,0). FLOAT with DECIMAL is computed as FLOAT,
and text as DOUBLE (GenericUDFBaseNumeric).
abs of a TINYINT or SMALLINT is an INT, that of a FLOAT a DOUBLE (GenericUDFAbs).
"""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import MOST_DIGITS, Decimal, HiveType
from acidsql.planner.expressions.expression_types import ExpressionTypes
from acidsql.planner.expressions.typed_rules.casts import number_of_text
from acidsql.values.common_types import BIGINT, FLOAT, is_number, is_text

_ENDS_IN_ZEROS: Final = re.compile(r"(\d*)\.(\d*?)0+(BD)?", re.IGNORECASE)
_BEYOND_INT: Final = "2147483648"
"""Hive reads -2147483648 as the negative of this BIGINT; Spark reads the whole as an INT."""
_WIDER: Final = {"tinyint": "int", "smallint": "int", "float": "double"}


def number_in_hive(node: exp.Expr, types: ExpressionTypes) -> exp.Expr | None:
    match node:
        case exp.Literal() if not node.is_string and not isinstance(node.parent, exp.TableSample):
            return _shortened(str(node.this))
        case exp.Neg() if isinstance(node.this, exp.Literal) and str(node.this.this) == _BEYOND_INT:
            return exp.Neg(this=exp.Literal.number(f"{_BEYOND_INT}L"))
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.Mod():
            return _of_texts(node, types) or _as_float(node, types) or _with_exact_bigint(node, types)
        case exp.Anonymous() if node.name.lower() == "abs" and len(node.expressions) == 1:
            (number,) = node.expressions
            wider = _WIDER.get(str(types.of(number)))
            if wider is None:
                return None
            return exp.Anonymous(this=node.name, expressions=[exp.cast(number.copy(), wider)])
        case _:
            return None


def _shortened(text: str) -> exp.Expr | None:
    if text.isdigit() and len(text.lstrip("0")) > MOST_DIGITS:
        return exp.Literal.number(f"{text}D")
    found = _ENDS_IN_ZEROS.fullmatch(text)
    if found is None:
        return None
    whole, fraction = found[1] or "0", found[2]
    return exp.Literal.number(f"{whole}.{fraction}" if fraction else f"{whole}BD")


def _of_texts(node: exp.Expr, types: ExpressionTypes) -> exp.Expr | None:
    sides = (node.this, node.expression)
    if not any(is_text(types.of(side)) for side in sides) or not all(_is_operand(types.of(side)) for side in sides):
        return None
    left, right = (number_of_text(side) if is_text(types.of(side)) else side.copy() for side in sides)
    return type(node)(this=left, expression=right)


def _is_operand(kind: HiveType | None) -> bool:
    return is_text(kind) or is_number(kind)


def _as_float(node: exp.Expr, types: ExpressionTypes) -> exp.Expr | None:
    left, right = types.of(node.this), types.of(node.expression)
    if not (FLOAT in (left, right) and (isinstance(left, Decimal) or isinstance(right, Decimal))):
        return None
    return type(node)(this=_float(node.this, types), expression=_float(node.expression, types))


def _with_exact_bigint(node: exp.Expr, types: ExpressionTypes) -> exp.Expr | None:
    """A BIGINT beside a DECIMAL has 19 digits (HiveDecimalUtils.getPrecisionForType); in Spark it has 20."""
    left, right = types.of(node.this), types.of(node.expression)
    if {left, right} & {BIGINT} == set() or not (isinstance(left, Decimal) or isinstance(right, Decimal)):
        return None
    operand = node.this if left == BIGINT else node.expression
    if isinstance(operand.unnest(), exp.Literal):
        return None
    exact = exp.cast(operand.copy(), "decimal(19,0)")
    sides = (exact, node.expression.copy()) if left == BIGINT else (node.this.copy(), exact)
    return type(node)(this=sides[0], expression=sides[1])


def _float(operand: exp.Expr, types: ExpressionTypes) -> exp.Expr:
    return operand.copy() if types.of(operand) == FLOAT else exp.cast(operand.copy(), "float")
