"""A statement's literals as values of parameters, which must mean the same."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Final

_LITERAL: Final = re.compile(
    r"""(?P<skipped>/\*.*?\*/|--[^\n]*|`[^`]*`|"[^"\\]*"|INTERVAL\s*'[^']*'|FORMAT\s*'[^']*'|'[^'\\]*\\.[^']*')
    |(?P<date>\bdate\s*'[^']*')|(?P<timestamp>\btimestamp\s*'[^']*')|(?P<binary>\bX'(?:[0-9A-F]{2})*')|(?P<text>'[^'\\]*'(?!'))
    |(?P<number>(?<![\w.})'"])(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?(?:BD|[DLSYF])?\b(?!\s*[.'"]))
    |(?P<word>\b(?:true|false|null)\b)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_KEPT_BEHIND: Final = re.compile(
    r"(?:\b(?:is|is\s+not|limit|offset|escape|as|by|rows|range|preceding|between|interval)|\w+\((?:[0-9]+,\s*)?|=>)\s*$",
    re.IGNORECASE,
)
"""What a literal stands behind that no parameter may take the place of, or that another word belongs to."""
_IN: Final = re.compile(r"\bIN \(([^()]+)\)")
_NUMBERS: Final = {int, float, Decimal}
_TYPE: Final = re.compile(r"\b(?:decimal|char|varchar|numeric)\s*\((?:[0-9]+,\s*)?$", re.IGNORECASE)


def with_parameters(
    text: str, r: random.Random, share: float = 1.0, start: int = 0
) -> tuple[str, dict[str, object]] | None:
    """The text from `start` on with parameters in the place of a share of its literals, and their values; None if it
    has no literal that can be a parameter. The literals in the list of an IN may become one list."""
    args: dict[str, object] = {}

    def listed(found: re.Match[str]) -> str:
        values = _list(found[1].split(", "))
        if values is None or r.random() < 0.5:
            return found.group()
        name = f"list{len(args)}"
        args[name] = values
        return f"IN (:{name})"

    def bound(found: re.Match[str]) -> str:
        value = None if found.lastgroup == "skipped" else _value(found)
        behind = text[max(0, found.start() - 40) : found.start()]
        if value is None or _TYPE.search(behind) or _is_word(behind) or r.random() > share:
            return found.group()
        name = f"v{len(args)}"
        args[name] = value[0]
        return f":{name}"

    changed = text[:start] + _LITERAL.sub(bound, _IN.sub(listed, text[start:]))
    return (changed, args) if args else None


def _list(items: Sequence[str]) -> list[object] | None:
    """Literals as the values of one parameter; None if one of them has no value, or they are of several types."""
    found = [(match, _value(match)) for item in items if (match := _LITERAL.fullmatch(item)) is not None]
    values = [value[0] for _, value in found if value is not None]
    kinds = {type(value) for value in values if value is not None}
    return values if len(values) == len(items) and (len(kinds) <= 1 or kinds <= _NUMBERS) else None


def _is_word(behind: str) -> bool:
    return _KEPT_BEHIND.search(behind) is not None and not behind.rstrip().endswith("(")


def _value(found: re.Match[str]) -> tuple[object] | None:
    """The value of a literal as a tuple of one; None where Python has no value of the literal's type."""
    text = found.group()
    inner = text[text.find("'") + 1 : -1]
    try:
        match found.lastgroup:
            case "text":
                return (inner,)
            case "date":
                return (date.fromisoformat(inner),)
            case "timestamp":
                return (datetime.fromisoformat(inner),)
            case "binary":
                return (bytes.fromhex(inner),)
            case "word":
                return ({"true": True, "false": False, "null": None}[text.lower()],)
            case _:
                return _number(text.lower())
    except ValueError:
        return None


def _number(text: str) -> tuple[object] | None:
    if text.endswith("bd"):
        return (Decimal(text[:-2]),)
    if text[-1] in "lsyf":
        return None
    if text.endswith("d") or "e" in text:
        return (float(text.rstrip("d")),)
    return (int(text),) if text.isdigit() else (Decimal(text),)
