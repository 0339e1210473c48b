"""Deep trees: long chains of ANDs and ORs are flattened, and nesting beyond Python's stack is a syntax error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from sqlglot import exp
from sqlglot.errors import SqlglotError

from acidsql.errors import AcidSqlError, Condition, Span


@contextmanager
def depth_limited(place: Span | None = None) -> Iterator[None]:
    """Raises PARSE_SYNTAX_ERROR at `place` where the block exceeds Python's stack: parsers, planners and sqlglot's
    generator recurse for each level of a statement."""
    try:
        yield
    except (RecursionError, SqlglotError) as error:
        if not _is_of_depth(error):
            raise
        message = "Syntax error: nested too deeply"
        raise AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=place, message=message) from None


def _is_of_depth(error: BaseException) -> bool:
    """Whether the error is a RecursionError, or sqlglot's tokenizer raised it because of one."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, RecursionError):
        found = found.__cause__ or found.__context__
    return found is not None


_LONG: Final = 64
"""Chains of at least this many operands are rebuilt."""


def flatten_chains(nodes: Iterable[exp.And | exp.Or]) -> None:
    """Rebuilds long chains of AND and of OR as trees of minimal depth, with the same meaning and text. `nodes` are all
    ANDs and ORs of a tree.

    The parser makes a chain of 10,000 ORs 10,000 levels deep. sqlglot's scopes walk from each column to the root, and
    would pass all levels each time.
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
