"""Values of parameters as literals of the statement, before anything is planned.

The types of literals decide how Hive compares, converts and stores them. A statement with parameters therefore means
the same as one in which their values are written out. In a PARTITION clause a value is written as its text in the name
of the directory would be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, TypeVar, cast

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.dialect import span_of
from acidsql.grammar.statements import PartitionItem
from acidsql.grammar.value_literals import literal_of, plain_value

T = TypeVar("T")
_Bind = Callable[[exp.Placeholder], exp.Expr]
_PARAMETER: Final = "parameter"


def with_literals(statement: T, values: Mapping[str, object], source: str) -> T:
    """The statement with a literal for each parameter whose value has one. Its trees are changed in place.

    Raises INVALID_PARAMETER for a value in a PARTITION clause that has no literal, such as bytes.
    """
    return cast("T", _changed(statement, lambda node: _bound(node, values), values, source))


def literal_for(node: exp.Placeholder, value: object) -> exp.Expr | None:
    """The literal that stands for a parameter, with its place in the text."""
    literal = literal_of(value)
    return None if literal is None else _placed(literal, node)


def is_parameter(node: exp.Expr) -> bool:
    """Whether a node stands for a parameter of the call, as a parameter or as the literal of its value."""
    return isinstance(node, exp.Placeholder) or _PARAMETER in node.meta


def first_parameter(tree: exp.Expr) -> exp.Expr | None:
    return next(filter(is_parameter, tree.walk()), None)


def _placed(literal: exp.Expr, node: exp.Placeholder) -> exp.Expr:
    for part in literal.walk():
        part.meta.update(node.meta)
        part.meta[_PARAMETER] = True
    return literal


def _changed(part: Any, bind: _Bind, values: Mapping[str, object], source: str) -> Any:
    """The part of a statement with its literals; the same object if it has no parameter."""
    match part:
        case PartitionItem(value=exp.Expr()):
            bind = lambda node: _of_partition(node, values, source)  # noqa: E731
        case tuple():
            items = tuple(_changed(item, bind, values, source) for item in part)
            return part if all(new is old for new, old in zip(items, part, strict=True)) else items
        case exp.Placeholder():
            return bind(part)
        case exp.Expr():
            for node in list(part.find_all(exp.Placeholder)):
                if (literal := bind(node)) is not node:
                    node.replace(literal)
            return part
    if not is_dataclass(part) or isinstance(part, type):
        return part
    old = {f.name: getattr(part, f.name) for f in fields(part) if f.init}
    new = {name: _changed(value, bind, values, source) for name, value in old.items()}
    changes = {name: value for name, value in new.items() if value is not old[name]}
    return replace(part, **changes) if changes else part


def _bound(node: exp.Placeholder, values: Mapping[str, object]) -> exp.Expr:
    """The literal of a parameter; the parameter itself, with the type of its value, if there is none."""
    value = values[node.name]
    if isinstance(node.parent, exp.Version) and isinstance(value, datetime):
        return _placed(exp.Literal.string(value.isoformat(sep=" ")), node)
    literal = literal_for(node, value)
    if literal is not None:
        return literal
    if isinstance(value, datetime) and value.tzinfo is not None:
        node.type = exp.DataType.Type.TIMESTAMPLTZ
    elif isinstance(value, float):
        node.type = exp.DataType.Type.DOUBLE
    return node


def _of_partition(node: exp.Placeholder, values: Mapping[str, object], source: str) -> exp.Expr:
    value = values[node.name]
    literal = _partition_literal(plain_value(value))
    if literal is None:
        reason = f"a value of {type(value).__name__} names no partition"
        raise AcidSqlError(Condition.INVALID_PARAMETER, span=span_of(node, source), name=node.name, reason=reason)
    return _placed(literal, node)


def _partition_literal(value: object) -> exp.Expr | None:
    match value:
        case float() | Decimal() if not math.isfinite(value):
            return exp.Literal.string(str(value))
        case float() | Decimal():
            number = exp.Literal.number(format(abs(value), "f") if isinstance(value, Decimal) else repr(abs(value)))
            return exp.Neg(this=number) if value < 0 else number
        case datetime() if value.tzinfo is None:
            return exp.cast(exp.Literal.string(value.isoformat(sep=" ")), "timestamp")
        case bytes() | list():
            return None
        case _:
            return literal_of(value)
