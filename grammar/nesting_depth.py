"""Deep trees: a chain of many ANDs or ORs is made a flat one; what is nested more deeply than Python's stack reaches is
an error like any other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from sqlglot import exp
from sqlglot.errors import SqlglotError

from acidsql.errors import AcidSqlError, Condition, Span


@contextmanager
def depth_limited(place: Span | None = None) -> Iterator[None]:
    """Raises PARSE_SYNTAX_ERROR, at `place`, where the block comes to the end of Python's stack: parsers, planners and
    sqlglot's generator call themselves for each level of a statement."""
    try:
        yield
    except (RecursionError, SqlglotError) as error:
        if not _is_of_depth(error):
            raise
        message = "Syntax error: nested too deeply"
        raise AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=place, message=message) from None


def _is_of_depth(error: BaseException) -> bool:
    """Whether it is a RecursionError, or sqlglot's tokenizer raised it because of one."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, RecursionError):
        found = found.__cause__ or found.__context__
    return found is not None


_LONG: Final = 64
"""Operands from which on a chain is rebuilt."""


def flatten_chains(nodes: Iterable[exp.And | exp.Or]) -> None:
    """Long chains of AND, and of OR, as trees of the least depth, which mean the same and are written alike. `nodes`
    are all of a tree.

    The parser makes a chain of 10,000 ORs 10,000 levels deep, and whoever looks up from its columns, as sqlglot's
    scopes do for each of them, passes them all.
    """
    for top in [node for node in nodes if type(node) is not type(node.parent)]:
        operands = list(top.flatten(unnest=False))
        if len(operands) >= _LONG:
            half = len(operands) // 2
            top.set("this", _joined(operands[:half], type(top)))
            top.set("expression", _joined(operands[half:], type(top)))


def _joined(operands: Sequence[exp.Expr], kind: type[exp.Expr]) -> exp.Expr:
    if len(operands) == 1:
        return operands[0]
    half = len(operands) // 2
    return kind(this=_joined(operands[:half], kind), expression=_joined(operands[half:], kind))
