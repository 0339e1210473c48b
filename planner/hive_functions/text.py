"""Functions of text (org.apache.hadoop.hive.ql.udf.UDFSubstr, UDFAscii, UDFReplace, UDFSoundex and others)."""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp

from acidsql.grammar.dialect import to_spark
from acidsql.planner.hive_functions.template import (
    Rule,
    call,
    enclosed,
    filled,
    marked,
    number_of,
    optional,
    template,
    text_of,
)

_ARRAYS: Final = frozenset(
    {
        *("array", "split", "collect_list", "collect_set", "map_keys", "map_values", "sort_array", "array_union"),
        *("array_except", "array_intersect", "array_distinct", "array_remove", "array_append", "array_slice", "slice"),
        *("transform", "filter", "flatten", "array_sort", "xpath"),
    }
)
"""Functions that return an array."""
_LONE_BACKSLASH: Final = re.compile(r"\\(?![_%])")
_LETTERS: Final = "regexp_replace(a, '[^A-Za-z]', '')"


def _trim(position: str) -> Rule:
    """TRIM(a, characters): Spark's function takes the characters first."""

    def rule(arguments: list[exp.Expr]) -> exp.Expr:
        text, characters = arguments
        return exp.Trim(this=text, expression=characters, position=position)

    return rule


def _substring(arguments: list[exp.Expr]) -> exp.Expr:
    """SUBSTR with a position before the beginning of the text is empty in Hive."""
    position = number_of(arguments[1])
    if position is not None and position >= 0:
        return call("substr", *arguments)
    names = ("a", "p", "n")[: len(arguments)]
    place = "IF(length(a) < -p, length(a) + 1, p)"
    sql = f"substr(a, {place})" if len(arguments) == 2 else f"substr(a, {place}, n)"
    return filled(sql, dict(zip(names, arguments, strict=True)))


def _split(arguments: list[exp.Expr]) -> exp.Expr:
    """Java's split, by an empty expression too, after which Hive keeps the empty text at the end."""
    pattern = text_of(arguments[1])
    if pattern:
        return call("split", *arguments)
    return filled("split(a, IF(p = '', '(?:)', p))", {"a": arguments[0], "p": arguments[1]})


def _replace(arguments: list[exp.Expr]) -> exp.Expr:
    """REPLACE of the empty text writes the new text before, between and after all characters."""
    if text_of(arguments[1]):
        return call("replace", *arguments)
    quoted = r"regexp_replace(r, '([\\\\$])', '\\\\$1')"
    sql = f"IF(s = '', regexp_replace(a, '(?:)', {quoted}), replace(a, s, r))"
    return filled(sql, dict(zip(("a", "s", "r"), arguments, strict=True)))


def _concat_ws(arguments: list[exp.Expr]) -> exp.Expr:
    """A NULL in an array is the text null, and an empty array is an empty text (GenericUDFConcatWS)."""
    separator, *values = arguments
    joined = [
        call("array_join", value, separator.copy(), exp.Literal.string("null")) if _is_array(value) else value
        for value in values
    ]
    return call("concat_ws", separator, *joined)


def _is_array(value: exp.Expr) -> bool:
    return isinstance(value, exp.Transform) or (isinstance(value, exp.Anonymous) and value.name.lower() in _ARRAYS)


def field(arguments: list[exp.Expr]) -> exp.Expr:
    """The place of the first of the other arguments that equals the first one; 0 without one. Values of different
    types are never equal (ObjectInspectorUtils.compare)."""
    wanted, *others = arguments
    pairs = {f"v{place}": other for place, other in enumerate(others, start=1)}
    equal = "a = v{0} AND typeof(a) = typeof(v{0})"
    whens = " ".join(f"WHEN {equal.format(place)} THEN {place}" for place in range(1, len(others) + 1))
    return filled(f"CASE {whens} ELSE 0 END", {"a": wanted, **pairs})


def like(node: exp.Like) -> exp.Expr:
    """LIKE: a backslash is an escape before _ and % only (UDFLike.likePatternToRegExp). NOT LIKE ANY and ALL negate the
    whole condition, as in Hive's grammar."""
    new = node.copy()
    for pattern in _patterns(new.expression):
        pattern.replace(_pattern(pattern))
    if not (node.args.get("negate") and isinstance(node.expression, exp.Any | exp.All)):
        return marked(new)
    new.set("negate", None)
    return marked(enclosed(exp.Not(this=exp.Paren(this=new))))


def is_like(node: exp.Like) -> bool:
    """Whether Hive takes a LIKE in another way. A LIKE with ESCAPE and one of a subquery stay as they are."""
    if isinstance(node.parent, exp.Escape):
        return False
    if node.args.get("negate") and isinstance(node.expression, exp.Any | exp.All):
        return True
    return any(to_spark(_pattern(pattern)) != to_spark(pattern) for pattern in _patterns(node.expression))


def _patterns(pattern: exp.Expr) -> list[exp.Expr]:
    if isinstance(pattern, exp.Any | exp.All):
        inner = pattern.this
        if isinstance(inner, exp.Tuple):
            return list(inner.expressions)
        return [inner.this] if isinstance(inner, exp.Paren) else []
    return [pattern]


def _pattern(pattern: exp.Expr) -> exp.Expr:
    text = text_of(pattern)
    if text is None:
        return filled(r"regexp_replace(p, '\\\\(?![_%])', '\\\\\\\\')", {"p": pattern})
    places = (text[i + 1 : i + 2] for i in range(len(text)))
    doubled = "".join(
        "\\\\" if c == "\\" and after not in ("_", "%") else c for c, after in zip(text, places, strict=True)
    )
    return exp.Literal.string(doubled)


def regexp_like(node: exp.RegexpLike) -> exp.Expr:
    """An empty regular expression matches nothing (UDFRegExp)."""
    values = {"a": node.this, "p": node.expression}
    return filled("IF(p = '', IF(a IS NULL, NULL, FALSE), a RLIKE p)", values)


def is_regexp_like(node: exp.RegexpLike) -> bool:
    return not text_of(node.expression)


RULES: Final[dict[tuple[str, int], Rule]] = {
    ("trim", 2): _trim("BOTH"),
    ("ltrim", 2): _trim("LEADING"),
    ("rtrim", 2): _trim("TRAILING"),
    **optional(("substr", "substring", "mid"), {2: _substring, 3: _substring}),
    ("split", 2): _split,
    ("replace", 3): _replace,
    ("lpad", 3): template("a n p", "lpad(a, n, IF(p = '', NULL, p))"),
    ("rpad", 3): template("a n p", "rpad(a, n, IF(p = '', NULL, p))"),
    # The first byte, with its sign.
    ("ascii", 1): template(
        "a", "(ascii(decode(substring(CAST(CAST(a AS STRING) AS BINARY), 1, 1), 'ISO-8859-1')) ^ 128) - 128"
    ),
    ("soundex", 1): template("a", f"soundex({_LETTERS})"),
    # HEX of a number with a fraction is that of its text.
    ("hex", 1): template(
        "a",
        "CASE WHEN typeof(a) IN ('double', 'float') OR typeof(a) LIKE 'decimal%' THEN hex(CAST(a AS STRING))"
        " ELSE hex(a) END",
    ),
    ("regexp", 2): template("a p", "IF(p = '', IF(a IS NULL, NULL, FALSE), a RLIKE p)"),
}
VARIADIC: Final[dict[str, Rule]] = {"field": field, "concat_ws": _concat_ws}
