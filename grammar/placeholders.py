"""Parameters of statements: `:name` and `?` in the text, and the values of the call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.dialect import span_of
from acidsql.grammar.list_parameters import expand_lists
from acidsql.grammar.statements import Statement


def name_placeholders(
    statement: Statement, args: Mapping[str, object] | Sequence[object] | None
) -> tuple[Statement, dict[str, object]]:
    """The statement with a name for every `?` (`:p1`, `:p2` in the order of the text), and all values by name.

    The planner reorders expressions, so `?` cannot be counted later. A list in `IN (:name)` becomes its elements.
    Raises UNBOUND_PARAMETER, and INVALID_PARAMETER where `args` is neither a mapping nor a sequence, and for a list
    whose elements have different types.
    """
    if isinstance(args, str | bytes | Set) or not isinstance(args, Iterable | None):
        reason = f"they are given as a mapping (:name) or a sequence (?), not as {type(args).__name__}"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="args", reason=reason)
    found = sorted(_placeholders(statement), key=_position)
    bare = [node for node in found if not node.this]
    values = {str(k): v for k, v in args.items()} if isinstance(args, Mapping) else {}
    if not isinstance(args, Mapping):
        values = {f"p{i}": v for i, v in enumerate(() if args is None else args, start=1)}
        for number, node in enumerate(bare, start=1):
            node.set("this", f"p{number}")
    for node in found:
        if not node.this or node.name not in values:
            name = "?" if any(node is one for one in bare) else f":{node.name}"
            raise AcidSqlError(Condition.UNBOUND_PARAMETER, span=span_of(node, statement.source), name=name)
    return statement, expand_lists(found, values, statement.source)


def _position(node: exp.Placeholder) -> int:
    start = node.meta.get("start")
    return start if isinstance(start, int) else -1


def _placeholders(value: object) -> Iterator[exp.Placeholder]:
    if isinstance(value, exp.Expr):
        yield from value.find_all(exp.Placeholder)
    elif isinstance(value, tuple):
        for item in value:
            yield from _placeholders(item)
    elif is_dataclass(value):
        for f in fields(value):
            yield from _placeholders(getattr(value, f.name))
