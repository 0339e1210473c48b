"""Python values as literals of SQL."""

from __future__ import annotations

from datetime import date, datetime
from numbers import Integral

from sqlglot import exp


def literal_of(value: object) -> exp.Expr | None:
    """The literal of None, a boolean, an integer, a text or a date; None for a value of another type.

    >>> literal_of(-3).sql(), literal_of("it's").sql(), literal_of(1.5)
    ('-3', "'it''s'", None)
    """
    match value:
        case None:
            return exp.null()
        case bool():
            return exp.true() if value else exp.false()
        case Integral():
            number = exp.Literal.number(abs(int(value)))
            return exp.Neg(this=number) if value < 0 else number
        case str():
            return exp.Literal.string(str(value))
        case date() if not isinstance(value, datetime):
            return exp.cast(exp.Literal.string(value.isoformat()), "date")
        case _:
            return None
