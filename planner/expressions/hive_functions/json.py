"""GET_JSON_OBJECT (UDFJson)."""

from __future__ import annotations

import re
from itertools import product
from typing import Final

from sqlglot import exp

from acidsql.planner.expressions.hive_functions.template import Rule, call, filled, text_of

_KEYS: Final = re.compile(r"\$(?:\.[^.\[\]]+)+")
"""A path of keys alone."""
_MOST_KEYS: Final = 3
"""The number of keys up to which arrays between them are looked for."""


def _get_json_object(arguments: list[exp.Expr]) -> exp.Expr:
    """A key of an array is that key of each of its elements: $.a.b is $.a[*].b where a is an array. The text of a
    scalar is no JSON."""
    text, path = arguments
    keys = text_of(path) or ""
    if keys == "$":
        sql = "IF(left(ltrim(a), 1) IN ('{', '['), get_json_object(a, p), NULL)"
        return filled(sql, {"a": text, "p": path})
    if not _KEYS.fullmatch(keys) or not 1 < keys.count(".") <= _MOST_KEYS:
        return call("get_json_object", text, path)
    values = {f"p{place}": exp.Literal.string(each) for place, each in enumerate(_paths(keys[2:].split(".")))}
    return filled(f"coalesce({', '.join(f'get_json_object(a, {name})' for name in values)})", {"a": text, **values})


def _paths(keys: list[str]) -> list[str]:
    """The paths with and without [*] after each key but the last, the plain path first."""
    marks = product(("", "[*]"), repeat=len(keys) - 1)
    return ["$." + ".".join(key + mark for key, mark in zip(keys, (*each, ""), strict=True)) for each in marks]


RULES: Final[dict[tuple[str, int], Rule]] = {("get_json_object", 2): _get_json_object}
