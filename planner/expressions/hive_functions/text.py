"""Functions of text (org.apache.hadoop.hive.ql.udf.UDFSubstr, UDFAscii, UDFReplace, UDFSoundex and others)."""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import Array
from acidsql.grammar.dialect import to_spark
from acidsql.planner.expressions.hive_functions.template import (
    Rule,
    argument_type,
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
    if isinstance(argument_type(value), Array):
        return True
    return isinstance(value, exp.Transform) or (isinstance(value, exp.Anonymous) and value.name.lower() in _ARRAYS)


_SPECIAL: Final = re.compile(r"\\Q.*?(?:\\E|$)|\\.|\[(?:[^\]\\]|\\.)*\]|\((?!\?(?!<[A-Za-z]))|[|?*]|\{0", re.DOTALL)
"""What matters for groups in a regular expression. Quoted text, escapes and classes of characters are skipped whole."""
# An empty text is what Spark returns for a group that took no part in the match, too. A reference to such a group
# matches nothing, so one of the two groups that follow it is not empty if the group took part.
_TOOK_PART: Final = "concat(regexp_extract(a, q, f), regexp_extract(a, q, s))"
_EXTRACT: Final = (
    f"CASE WHEN regexp_extract(a, p, g) <> '' OR NOT a RLIKE p OR {_TOOK_PART} <> '' OR (a = '' AND a RLIKE e)"
    " THEN regexp_extract(a, p, g) END"
)


def _regexp_extract(arguments: list[exp.Expr]) -> exp.Expr:
    """REGEXP_EXTRACT of a group that takes no part in the match is NULL (UDFRegExpExtract)."""
    text, pattern, *rest = arguments
    regex, group = text_of(pattern), number_of(rest[0]) if rest else 1
    if not regex or not group or group < 0:
        return call("regexp_extract", *arguments)
    found = _SPECIAL.findall(regex)
    groups = found.count("(")
    if group > groups or not any(mark in ("|", "?", "*", "{0") for mark in found):
        return call("regexp_extract", *arguments)
    probe = f"(?:{regex})(?:\\{group}(?:(?<=((?s:.)))|(?=((?s:.)))))?"
    of_empty_text = exp.Literal.string(f"(?:{regex})\\{group}")
    values = {"a": text, "p": pattern, "q": exp.Literal.string(probe), "e": of_empty_text, "g": _place(group)}
    return filled(_EXTRACT, {**values, "f": _place(groups + 1), "s": _place(groups + 2)})


def _place(number: int) -> exp.Expr:
    return exp.Literal.number(str(number))


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
    whole condition, as in Hive's grammar. ANY and ALL are NULL if a pattern is NULL (GenericUDFLikeAny)."""
    new = node.copy()
    for pattern in _patterns(new.expression):
        pattern.replace(_pattern(pattern))
    if not isinstance(node.expression, exp.Any | exp.All):
        return marked(new)
    negated = bool(node.args.get("negate"))
    new.set("negate", None)
    whole = enclosed(exp.Not(this=exp.Paren(this=new))) if negated else new
    missing = [
        exp.Is(this=enclosed(pattern), expression=exp.null())
        for pattern in _patterns(node.expression)
        if text_of(pattern) is None
    ]
    if not missing:
        return marked(whole)
    case = exp.case().when(exp.or_(*missing), exp.cast(exp.null(), "boolean")).else_(whole)
    return marked(exp.Paren(this=case))


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
    **optional(("regexp_extract",), {2: _regexp_extract, 3: _regexp_extract}),
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


def _like_each(kind: type[exp.Expr]) -> Rule:
    """LIKE ANY and LIKE ALL as functions (GenericUDFLikeAny, GenericUDFLikeAll)."""

    def rule(arguments: list[exp.Expr]) -> exp.Expr:
        patterns = exp.Tuple(expressions=arguments[1:])
        node = exp.Like(this=arguments[0], expression=kind(this=patterns))
        return enclosed(like(node))

    return rule


VARIADIC: Final[dict[str, Rule]] = {
    "field": field,
    "concat_ws": _concat_ws,
    "likeany": _like_each(exp.Any),
    "likeall": _like_each(exp.All),
}
