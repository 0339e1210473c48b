"""CAST(.. AS .. FORMAT 'pattern') with the patterns of SQL:2016 (HiveSqlDateTimeFormatter), as patterns of Spark."""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.expressions.hive_functions.template import filled, text_of

_TOKENS: Final = {
    "YYYY": "yyyy",
    "MM": "MM",
    "DD": "dd",
    "DDD": "DDD",
    "HH24": "HH",
    "HH12": "hh",
    "HH": "hh",
    "MI": "mm",
    "SS": "ss",
    "AM": "a",
    "PM": "a",
    **{f"FF{digits}": "S" * digits for digits in range(1, 7)},
    **{mark: mark for mark in ("-", ".", "/", ",", ";", ":", " ")},
}
"""The tokens that mean the same for reading and for writing. Hive has more, which depend on the clock (YY), on blanks
(MONTH) or on weeks (WW)."""
_WRITTEN: Final = {"YY": "yy", "Q": "q", "MON": "MMM"}
"""Tokens that acidsql supports for writing only."""
_PIECE: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"|YYYY|DDD|HH24|HH12|MON(?!TH)|FF[1-9]|[A-Z]{2}|Q|.', re.IGNORECASE | re.DOTALL
)
_TIMES: Final = (exp.DataType.Type.DATE, *exp.DataType.TEMPORAL_TYPES)


def has_format(cast: exp.Cast) -> bool:
    return cast.args.get("format") is not None


def formatted(cast: exp.Cast) -> exp.Expr:
    """The value of a CAST with FORMAT, of text to a time or of a time to text."""
    pattern = text_of(cast.args["format"])
    if pattern is None:
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature="A FORMAT that is not a literal")
    values = {"a": cast.this.copy()}
    if cast.to.this in _TIMES:
        values["f"] = exp.Literal.string(_translated(pattern, _TOKENS))
        return exp.cast(filled("to_timestamp_ntz(a, f)", values), cast.to.copy())
    values["f"] = exp.Literal.string(_translated(pattern, {**_TOKENS, **_WRITTEN}))
    sized = cast.to.expressions
    if not sized:
        return filled("date_format(CAST(a AS TIMESTAMP_NTZ), f)", values)
    values["n"] = exp.Literal.number(sized[0].name)
    return filled("substring(date_format(CAST(a AS TIMESTAMP_NTZ), f), 1, n)", values)


def _translated(pattern: str, tokens: dict[str, str]) -> str:
    return "".join(_token(piece, tokens) for piece in _PIECE.findall(pattern))


def _token(piece: str, tokens: dict[str, str]) -> str:
    if piece.startswith('"'):
        quoted = piece[1:-1].replace("\\", "").replace("'", "''")
        return f"'{quoted}'"
    found = tokens.get(piece.upper())
    if found is None or (piece.upper() == "MON" and piece != "Mon"):
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=f"{piece} in the FORMAT of a CAST")
    return found
