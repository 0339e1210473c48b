"""MASK and its relatives (org.apache.hadoop.hive.ql.udf.generic.GenericUDFMask and GenericUDFMaskFirstN).

They replace upper-case letters, lower-case letters, digits and other characters by a character each; -1 keeps a kind.
Hive also masks numbers and dates. Spark's MASK refuses them.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from acidsql.planner.expressions.hive_functions.template import Rule, call, filled, number_of, text_of

_DEFAULTS: Final = ("X", "x", "n", None)
_COUNT: Final = 4
"""The number of characters if the call does not give it."""
_TEXT: Final = "mask(a, NULL, NULL, NULL, NULL)"
"""The text itself. Spark refuses a value that is not a text."""
_HEAD: Final = f"substr({_TEXT}, 1, n)"
_BEHIND: Final = f"substr({_TEXT}, n + 1)"
_TAIL: Final = f"substr({_TEXT}, greatest(length(a) - n, 0) + 1)"
_BEFORE: Final = f"substr({_TEXT}, 1, greatest(length(a) - n, 0))"


def _marks(arguments: list[exp.Expr]) -> list[exp.Expr]:
    """The arguments of Spark's MASK: a character for each kind, NULL to keep it."""
    given = [_mark(argument, default) for argument, default in zip(arguments, _DEFAULTS, strict=False)]
    marks = [*given, *_DEFAULTS[len(given) :]]
    return [exp.null() if mark is None else exp.Literal.string(mark) for mark in marks]


def _mark(given: exp.Expr, default: str | None) -> str | None:
    """The character of an argument. Hive takes the default for an argument that is no constant, or is empty."""
    number = number_of(given)
    if number is not None:
        return None if number == -1 else chr(number)
    return (text_of(given) or default or "")[:1] or None


def _whole(arguments: list[exp.Expr]) -> exp.Expr:
    value, *characters = arguments
    return call("mask", value, *_marks(characters[:4]))


def _part(masked: str, kept: str, *, masked_first: bool) -> Rule:
    """The rule of a function that masks a part of the text. `masked` and `kept` are SQL for both parts; `n` is the
    number of characters in one of them."""

    def rule(arguments: list[exp.Expr]) -> exp.Expr:
        value, *rest = arguments
        count = (number_of(rest[0]) if rest else _COUNT) or 0
        upper, lower, digit, other = _marks(rest[1:5])
        inner = f"mask({masked}, u, l, d, o)"
        return filled(
            f"concat({inner}, {kept})" if masked_first else f"concat({kept}, {inner})",
            {"a": value, "n": exp.Literal.number(max(count, 0)), "u": upper, "l": lower, "d": digit, "o": other},
        )

    return rule


VARIADIC: Final[dict[str, Rule]] = {
    "mask": _whole,
    "mask_first_n": _part(_HEAD, _BEHIND, masked_first=True),
    "mask_last_n": _part(_TAIL, _BEFORE, masked_first=False),
    "mask_show_first_n": _part(_BEHIND, _HEAD, masked_first=False),
    "mask_show_last_n": _part(_BEFORE, _TAIL, masked_first=True),
}


def _hash(arguments: list[exp.Expr]) -> exp.Expr:
    """SHA-256 of a text; NULL for a value of another type."""
    return filled("sha2(IF(typeof(a) = 'string', CAST(a AS STRING), NULL), 256)", {"a": arguments[0]})


RULES: Final[dict[tuple[str, int], Rule]] = {("mask_hash", 1): _hash}
