"""Functions whose arguments Hive converts by their types, and Spark by others.

Text is a date for the functions of dates if it begins with year, month and day (DateParser): `year('2024')` is NULL.
greatest and least compare text with numbers as DOUBLE (FunctionRegistry.getCommonClassForComparison). sign of a DECIMAL
is an INT (GenericUDFSign). printf shows dates and takes a DECIMAL for %f (GenericUDFPrintf).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from sqlglot import exp

from acidsql.acid.hive_types import Decimal, HiveType
from acidsql.planner.common_types import DATE, TIMESTAMP, is_number, is_text
from acidsql.planner.expression_types import ExpressionTypes
from acidsql.planner.typed_rules.casts import date_of_text, number_of_text

_Kinds: TypeAlias = list[HiveType | None]
_Conversion: TypeAlias = Callable[[list[exp.Expr], _Kinds], list[exp.Expr] | None]
"""The converted arguments of a call; None where Spark converts them as Hive does."""

_CONVERSION: Final = re.compile(r"%[-#+ 0,(]*\d*(?:\.\d+)?([a-zA-Z%])")
_FRACTIONS: Final = "eEfgG"


def function_in_hive(node: exp.Expr, types: ExpressionTypes) -> exp.Expr | None:
    if not isinstance(node, exp.Anonymous):
        return None
    name = node.name.lower()
    kinds = [types.of(argument) for argument in node.expressions]
    if name == "sign" and len(kinds) == 1 and isinstance(kinds[0], Decimal):
        return exp.cast(node.copy(), "int", copy=False)
    conversion = _CONVERSIONS.get(name)
    arguments = conversion(node.expressions, kinds) if conversion is not None else None
    return None if arguments is None else exp.Anonymous(this=node.name, expressions=arguments)


def _dates(count: int) -> _Conversion:
    """Converts the text among the first `count` arguments to dates."""

    def converted(arguments: list[exp.Expr], kinds: _Kinds) -> list[exp.Expr] | None:
        if not any(map(is_text, kinds[:count])):
            return None
        return [
            date_of_text(argument.copy()) if place < count and is_text(kind) else argument
            for place, (argument, kind) in enumerate(zip(arguments, kinds, strict=True))
        ]

    return converted


def _month_later(arguments: list[exp.Expr], kinds: _Kinds) -> list[exp.Expr] | None:
    """add_months with a format as its third argument keeps the time of day."""
    return _dates(1)(arguments, kinds) if len(arguments) == 2 else None


def _as_doubles(arguments: list[exp.Expr], kinds: _Kinds) -> list[exp.Expr] | None:
    if not (any(map(is_text, kinds)) and any(map(is_number, kinds)) and all(is_text(k) or is_number(k) for k in kinds)):
        return None
    return [
        number_of_text(argument.copy()) if is_text(kind) else exp.cast(argument.copy(), "double")
        for argument, kind in zip(arguments, kinds, strict=True)
    ]


def _printed(arguments: list[exp.Expr], kinds: _Kinds) -> list[exp.Expr] | None:
    form = arguments[0] if arguments else None
    found = _CONVERSION.findall(str(form.this)) if isinstance(form, exp.Literal) and form.is_string else []
    letters = ["", *(letter for letter in found if letter not in "%n")]
    new: list[exp.Expr] = []
    for place, (argument, kind) in enumerate(zip(arguments, kinds, strict=True)):
        is_fraction = place < len(letters) and letters[place] in _FRACTIONS and place > 0
        if kind in (DATE, TIMESTAMP):
            new.append(exp.cast(argument.copy(), "string"))
        elif isinstance(kind, Decimal) and is_fraction:
            new.append(exp.cast(argument.copy(), "double"))
        else:
            new.append(argument)
    return None if all(a is b for a, b in zip(arguments, new, strict=True)) else new


_OF_DATES: Final = "year month day dayofmonth quarter weekofyear dayofweek last_day date_add date_sub next_day"
_CONVERSIONS: Final[dict[str, _Conversion]] = {
    **dict.fromkeys(_OF_DATES.split(), _dates(1)),
    "add_months": _month_later,
    "datediff": _dates(2),
    "greatest": _as_doubles,
    "least": _as_doubles,
    "printf": _printed,
    "format_string": _printed,
}
