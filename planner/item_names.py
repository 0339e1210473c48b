"""The names of SELECT items whose expressions are rewritten."""

from __future__ import annotations

from sqlglot import exp

from acidsql.grammar.dialect import to_spark


def keep_name(node: exp.Expr) -> None:
    """Gives the unnamed SELECT item that contains the node its text as its alias. The nodes stay the same objects."""
    while node.parent is not None and not isinstance(node.parent, exp.Select):
        node = node.parent
    if isinstance(node.parent, exp.Select) and node.arg_key == "expressions" and not isinstance(node, exp.Alias):
        named = exp.Alias(alias=exp.to_identifier(to_spark(node), quoted=True))
        node.replace(named)
        named.set("this", node)
