"""Lists as values of parameters: `x IN (:ids)` compares x with each element of the list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from datetime import date, datetime
from decimal import Decimal
from numbers import Real
from typing import Final, TypeAlias, cast

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.dialect import span_of
from acidsql.grammar.parameter_literals import literal_for

_ONLY_IN_LISTS: Final = (tuple, Set, range)
_LIST: Final = (list, *_ONLY_IN_LISTS)
_ARRAYS: Final = ("numpy.ndarray", "pandas.core.series.Series", "pyarrow.lib.")
"""The types of further lists, as the beginnings of their names: this package imports none of these libraries."""

Values: TypeAlias = dict[str, object]


def expand_lists(found: Sequence[exp.Placeholder], values: Mapping[str, object], source: str) -> Values:
    """Replaces each parameter in the list of an IN whose value is a list by the elements, and returns the values of
    all parameters. `found` are the named parameters of a statement.

    As in SQL, `x IN (..)` without elements is false, also for NULL, and a NULL among the elements makes it NULL for
    an x that is not found. Raises INVALID_PARAMETER where the elements have different types, and for a tuple, a set or
    a range in another place: only a list is a value, an ARRAY.
    """
    known = dict(values)
    lists: set[str] = set()
    kept: set[str] = set()
    for node in found:
        place, elements = node.parent, _elements(values.get(node.name))
        if elements is None or not isinstance(place, exp.In) or node.arg_key != "expressions":
            _check_is_value(node, values.get(node.name), source)
            kept.add(node.name)
            continue
        lists.add(node.name)
        _check_types(node, elements, source)
        items = [_item(node, number, element, known) for number, element in enumerate(elements)]
        others = list(place.expressions)
        at = next(i for i, other in enumerate(others) if other is node)
        place.set("expressions", [*others[:at], *items, *others[at + 1 :]])
        if not place.expressions:
            _make_false(place)
    return {name: value for name, value in known.items() if name in kept or name not in lists}


def _check_is_value(node: exp.Placeholder, value: object, source: str) -> None:
    if isinstance(value, _ONLY_IN_LISTS):
        reason = f"a {type(value).__name__} gives the elements of IN (:{node.name}) and is no value by itself"
        hint = "A Python list becomes an ARRAY."
        span = span_of(node, source)
        raise AcidSqlError(Condition.INVALID_PARAMETER, span=span, hint=hint, name=node.name, reason=reason)


def _elements(value: object) -> Sequence[object] | None:
    """The elements of a list, a tuple, a set, a range, or an array of NumPy, pandas or Arrow; None of other values."""
    if isinstance(value, _LIST):
        return list(cast("Sequence[object]", value))
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    to_list = getattr(value, "tolist", None)
    elements = to_list() if to_list is not None and name.startswith(_ARRAYS) else None
    return elements if isinstance(elements, list) else None


def _check_types(node: exp.Placeholder, elements: Sequence[object], source: str) -> None:
    """Numbers of all kinds agree with each other; any other value agrees with values of its own type only."""
    kinds = dict.fromkeys(_kind(element) for element in elements if element is not None)
    if len(kinds) > 1:
        reason = f"its elements have different types ({', '.join(kinds)})"
        span = span_of(node, source)
        raise AcidSqlError(Condition.INVALID_PARAMETER, span=span, name=node.name, reason=reason)


def _kind(value: object) -> str:
    match value:
        case bool():
            return "bool"
        case Real() | Decimal():
            return "number"
        case datetime():
            return "datetime" if value.tzinfo is None else "datetime with a time zone"
        case str() | date():
            return "str" if isinstance(value, str) else "date"
        case _:
            return type(value).__name__


def _item(node: exp.Placeholder, number: int, value: object, values: Values) -> exp.Expr:
    """An element as a literal, or as a parameter if it has none."""
    literal = literal_for(node, value)
    if literal is not None:
        return literal
    name = f"{node.name}_{number}"
    while name in values:
        name += "_"
    values[name] = value
    item = exp.Placeholder(this=name)
    item.meta.update(node.meta)
    return item


def _make_false(place: exp.In) -> None:
    """Makes an IN without elements a condition that is false for all values, and still names the same columns."""
    is_null = exp.Is(this=exp.paren(place.this.copy(), copy=False), expression=exp.null())
    place.set("this", exp.paren(exp.and_(exp.false(), is_null), copy=False))
    place.set("expressions", [exp.true()])
