"""Parameters of statements: `:name` and `?` in the text, and the values of the call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.dialect import span_of
from acidsql.grammar.list_parameters import expand_lists
from acidsql.grammar.parameter_literals import with_literals
from acidsql.grammar.statements import Statement


def name_placeholders(
    statement: Statement, args: Mapping[str, object] | Sequence[object] | None
) -> tuple[Statement, dict[str, object]]:
    """The statement with a name for every `?` (`:p1`, `:p2` in the order of the text), and by name the values that
    stay parameters.

    The planner reorders expressions, so `?` cannot be counted later. A list in `IN (:name)` becomes its elements. A
    value becomes a literal of the statement, so that it gets the rules of a literal (`with_literals`); only a value
    that has no literal, such as an instant or a dict, stays a parameter.
    Raises UNBOUND_PARAMETER, and INVALID_PARAMETER where `args` is neither a mapping nor a sequence, for one with more
    values than the statement has `?`, and for a list whose elements have different types.
    """
    _check_shape(args)
    found = sorted(placeholders_of(statement), key=_position)
    bare = [node for node in found if not node.this]
    values = {str(k): v for k, v in args.items()} if isinstance(args, Mapping) else {}
    if not isinstance(args, Mapping):
        values = {f"p{i}": v for i, v in enumerate(() if args is None else args, start=1)}
        _check_none_left(len(values), found, bare)
        for number, node in enumerate(bare, start=1):
            node.set("this", f"p{number}")
    missing = next((node for node in found if not node.this or node.name not in values), None)
    if missing is not None:
        raise _unbound(missing, statement.source, bare=any(missing is one for one in bare))
    values = expand_lists(found, values, statement.source)
    bound = with_literals(statement, values, statement.source)
    return bound, {node.name: values[node.name] for node in placeholders_of(bound)}


def check_all_bound(statement: Statement, rows: Sequence[Mapping[str, object] | Sequence[object] | None]) -> None:
    """Checks that each set of parameters has a value for each parameter of the statement, which is to be run with all.

    Raises UNBOUND_PARAMETER and INVALID_PARAMETER as `name_placeholders` does, with the number of the set, from 1.
    """
    found = sorted(placeholders_of(statement), key=_position)
    named = [node for node in found if node.this]
    bare = [node for node in found if not node.this]
    for number, row in enumerate(rows, start=1):
        try:
            _check_shape(row)
            count = 0 if row is None or isinstance(row, Mapping) else len(row)
            known = {str(name) for name in row} if isinstance(row, Mapping) else {f"p{i + 1}" for i in range(count)}
            for node in [*bare[count:], *(node for node in named if node.name not in known)]:
                raise _unbound(node, statement.source, bare=not node.this)
            _check_none_left(count, found, bare)
        except AcidSqlError as error:
            raise error.with_hint(f"This is set {number} of {len(rows)}; no set was run.") from error.__cause__


def _check_none_left(count: int, found: Sequence[exp.Placeholder], bare: Sequence[exp.Placeholder]) -> None:
    """Raises INVALID_PARAMETER where a sequence has more values than the statement has `?`. One that names its
    parameters (`:p1`) may leave values out, as it may with a mapping."""
    if count > len(bare) == len(found):
        reason = f"{count} values are given for {len(bare)} parameters (?)"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="args", reason=reason)


def _check_shape(args: object) -> None:
    if isinstance(args, str | bytes | Set) or not isinstance(args, Iterable | None):
        reason = f"they are given as a mapping (:name) or a sequence (?), not as {type(args).__name__}"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="args", reason=reason)


def _unbound(node: exp.Placeholder, source: str, *, bare: bool) -> AcidSqlError:
    name = "?" if bare else f":{node.name}"
    return AcidSqlError(Condition.UNBOUND_PARAMETER, span=span_of(node, source), name=name)


def _position(node: exp.Placeholder) -> int:
    start = node.meta.get("start")
    return start if isinstance(start, int) else -1


def placeholders_of(value: object) -> Iterator[exp.Placeholder]:
    """The parameters in the parts of a statement."""
    if isinstance(value, exp.Expr):
        yield from value.find_all(exp.Placeholder)
    elif isinstance(value, tuple):
        for item in value:
            yield from placeholders_of(item)
    elif is_dataclass(value):
        for f in fields(value):
            yield from placeholders_of(getattr(value, f.name))
