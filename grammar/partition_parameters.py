"""Parameters in PARTITION clauses. Their values become literals of the statement, so that the planner checks them and
finds the partition as it does for a statement that is written with literals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar, cast

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.dialect import span_of
from acidsql.grammar.statements import PartitionItem
from acidsql.grammar.value_literals import literal_of

T = TypeVar("T")


def with_partition_literals(statement: T, values: Mapping[str, object], source: str) -> T:
    """The statement with a literal for each parameter in a PARTITION clause.

    Raises INVALID_PARAMETER for a value that has no literal, such as a list.
    """
    return cast("T", _changed(statement, values, source))


def _changed(part: Any, values: Mapping[str, object], source: str) -> Any:
    """The part of a statement with its literals; the same object if it has no such parameter."""
    match part:
        case PartitionItem(value=exp.Expr() as value) if value.find(exp.Placeholder) is not None:
            literal = value.transform(lambda node: _bound(node, values, source))
            return replace(part, value=cast("exp.Expression", literal))
        case tuple():
            items = tuple(_changed(item, values, source) for item in part)
            return part if all(new is old for new, old in zip(items, part, strict=True)) else items
        case exp.Expr():
            return part
    if not is_dataclass(part) or isinstance(part, type):
        return part
    old = {f.name: getattr(part, f.name) for f in fields(part) if f.init}
    new = {name: _changed(value, values, source) for name, value in old.items()}
    changes = {name: value for name, value in new.items() if value is not old[name]}
    return replace(part, **changes) if changes else part


def _bound(node: exp.Expr, values: Mapping[str, object], source: str) -> exp.Expr:
    if not isinstance(node, exp.Placeholder):
        return node
    value = values[node.name]
    literal = _literal(value.item() if type(value).__module__ == "numpy" else value)  # type: ignore[attr-defined]
    if literal is None:
        reason = f"a value of {type(value).__name__} names no partition"
        raise AcidSqlError(Condition.INVALID_PARAMETER, span=span_of(node, source), name=node.name, reason=reason)
    for inner in literal.walk():
        inner.meta.update(node.meta)
    return literal


def _literal(value: object) -> exp.Expr | None:
    match value:
        case float() | Decimal() if not math.isfinite(value):
            return exp.Literal.string(str(value))
        case float() | Decimal():
            number = exp.Literal.number(format(abs(value), "f") if isinstance(value, Decimal) else repr(abs(value)))
            return exp.Neg(this=number) if value < 0 else number
        case datetime() if value.tzinfo is None:
            return exp.cast(exp.Literal.string(value.isoformat(sep=" ")), "timestamp")
        case _:
            return literal_of(value)
