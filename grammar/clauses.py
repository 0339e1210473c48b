"""Builders of the clauses that statements share: names, tables, partitions, properties, ORDER BY."""

from __future__ import annotations

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.statement_reader import Leaf, Node
from acidsql.grammar.statements import Name, OrderItem, PartitionItem, TableName

Properties = tuple[tuple[str, str], ...]


def name(node: Node) -> Name:
    leaf = node.leaf("ID")
    return Name(leaf.text.lower(), leaf.span)


def names(node: Node | None) -> tuple[Name, ...]:
    """The names directly in a node, for example in a list of columns."""
    return tuple(name(part) for part in node.nodes("name")) if node else ()


def table(node: Node) -> TableName:
    """`db.t` or `t` of a `table` node."""
    parts = names(node)
    return TableName(parts[0].value if len(parts) > 1 else None, parts[-1].value, node.span)


def target(node: Node) -> TableName:
    """The table name in a node."""
    return table(node.node("table"))


def tree(leaf: Leaf) -> exp.Expression:
    assert isinstance(leaf.island, exp.Expression)
    return leaf.island


def query(leaf: Leaf) -> exp.Query:
    assert isinstance(leaf.island, exp.Query)
    return leaf.island


def partition(node: Node | None) -> tuple[PartitionItem, ...]:
    return tuple(_partition_item(item) for item in node.nodes("partition_item")) if node else ()


def partition_of(node: Node) -> tuple[PartitionItem, ...]:
    return partition(node.maybe("partition"))


def _partition_item(node: Node) -> PartitionItem:
    column = name(node.node("name"))
    operator = node.maybe("operator")
    if operator is None:
        return PartitionItem(column, None)
    return PartitionItem(column, tree(node.leaf("OPERAND")), operator.parts[0].span.text.replace("==", "="))


def order_items(node: Node) -> tuple[OrderItem, ...]:
    """The items of an ORDER BY."""
    return tuple(_order_item(item) for item in node.nodes("order_item", "order_expression"))


def _order_item(node: Node) -> OrderItem:
    value = node.parts[0]
    assert isinstance(value, Leaf)
    nulls_first = bool(node.leaves("FIRST")) if node.leaves("NULLS") else None
    return OrderItem(node.span.text, tree(value), bool(node.leaves("DESC")), nulls_first)


def string(node: Node) -> str:
    """The only string of a node."""
    return node.leaf("STRING").text


def properties(node: Node | None) -> Properties:
    return tuple(_property(part) for part in node.nodes("property")) if node else ()


def properties_of(node: Node) -> Properties:
    return properties(node.maybe("properties"))


def _property(node: Node) -> tuple[str, str]:
    key = node.node("property_key")
    quoted = key.maybe_leaf("STRING")
    value = node.parts[-1]
    assert isinstance(value, Leaf)
    return (quoted.text if quoted else ".".join(n.value for n in names(key))), value.text


def whole_number(leaf: Leaf) -> int:
    """A whole number of 64 bits, such as an ID. Raises PARSE_SYNTAX_ERROR for a sign, a point or a suffix."""
    number = int(leaf.text) if leaf.text.isdecimal() else -1
    if not 0 <= number < 1 << 63:
        raise AcidSqlError(
            Condition.PARSE_SYNTAX_ERROR,
            span=leaf.span,
            message=f"Syntax error near '{leaf.text}': expected a whole number",
        )
    return number
