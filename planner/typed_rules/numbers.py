"""Literals and arithmetic of numbers.

A DECIMAL literal has no zeros at the end of its fraction: 1.50 is a DECIMAL(2,1) (HiveDecimal). An integer literal of
more than 38 digits is a DOUBLE. FLOAT with DECIMAL is computed as FLOAT (GenericUDFBaseNumeric), and abs of a TINYINT
or SMALLINT is an INT (GenericUDFAbs).
"""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import Decimal
from acidsql.planner.common_types import FLOAT
from acidsql.planner.expression_types import ExpressionTypes

_ENDS_IN_ZEROS: Final = re.compile(r"(\d*)\.(\d*?)0+")
_MOST_DIGITS: Final = 38
_NARROW: Final = ("tinyint", "smallint")


def number_in_hive(node: exp.Expr, types: ExpressionTypes) -> exp.Expr | None:
    match node:
        case exp.Literal() if not node.is_string:
            return _shortened(str(node.this))
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Mod():
            return _as_float(node, types)
        case exp.Anonymous() if node.name.lower() == "abs" and len(node.expressions) == 1:
            (number,) = node.expressions
            wide = exp.Anonymous(this=node.name, expressions=[exp.cast(number.copy(), "int")])
            return wide if str(types.of(number)) in _NARROW else None
        case _:
            return None


def _shortened(text: str) -> exp.Expr | None:
    if text.isdigit() and len(text.lstrip("0")) > _MOST_DIGITS:
        return exp.Literal.number(f"{text}D")
    found = _ENDS_IN_ZEROS.fullmatch(text)
    if found is None:
        return None
    whole, fraction = found[1] or "0", found[2]
    return exp.Literal.number(f"{whole}.{fraction}" if fraction else f"{whole}BD")


def _as_float(node: exp.Expr, types: ExpressionTypes) -> exp.Expr | None:
    left, right = types.of(node.this), types.of(node.expression)
    if not (FLOAT in (left, right) and (isinstance(left, Decimal) or isinstance(right, Decimal))):
        return None
    return type(node)(this=_float(node.this, types), expression=_float(node.expression, types))


def _float(operand: exp.Expr, types: ExpressionTypes) -> exp.Expr:
    return operand.copy() if types.of(operand) == FLOAT else exp.cast(operand.copy(), "float")
