"""Builders of CREATE VIEW, ALTER VIEW and DROP VIEW."""

from __future__ import annotations

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar import clauses
from acidsql.grammar.alter_table import rename, set_properties, unset_properties
from acidsql.grammar.statement_reader import Node
from acidsql.grammar.statements import AlterView, AlterViewAction, CreateView, DropView, Name, ViewColumn, ViewQuery


def create_view(node: Node, source: str) -> CreateView:
    comment = None
    partition_columns: tuple[Name, ...] = ()
    properties: clauses.Properties = ()
    for clause in node.nodes("table_comment", "partitioned_on", "table_properties"):
        match clause.rule:
            case "table_comment":
                comment = clauses.string(clause)
            case "partitioned_on":
                partition_columns = clauses.names(clause.node("columns"))
            case _:
                properties = clauses.properties_of(clause)
    query, columns, if_not_exists = node.leaf("QUERY"), node.maybe("view_columns"), node.maybe("if_not_exists")
    if if_not_exists and node.has("replace"):  # as in Hive's CreateViewAnalyzer
        message = "Syntax error: Can't combine IF NOT EXISTS and OR REPLACE."
        raise AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=if_not_exists.span, message=message)
    return CreateView(
        source,
        clauses.target(node),
        clauses.query(query),
        query.span,
        columns=tuple(map(_column, columns.nodes("view_column"))) if columns else (),
        comment=comment,
        partition_columns=partition_columns,
        properties=properties,
        if_not_exists=if_not_exists is not None,
        replace=node.has("replace"),
        temporary=node.has("temporary"),
    )


def _column(node: Node) -> ViewColumn:
    comment = node.maybe_leaf("STRING")
    return ViewColumn(clauses.name(node.node("name")), comment.text if comment else None)


def alter_view(node: Node, source: str) -> AlterView:
    action = node.parts[-1]
    assert isinstance(action, Node)
    return AlterView(source, clauses.target(node), _action(action))


def _action(node: Node) -> AlterViewAction:
    match node.rule:
        case "rename_table":
            return rename(node)
        case "set_properties":
            return set_properties(node)
        case "unset_properties":
            return unset_properties(node)
        case _:
            query = node.leaf("QUERY")
            return ViewQuery(clauses.query(query), query.span)


def drop_view(node: Node, source: str) -> DropView:
    return DropView(source, clauses.target(node), node.has("if_exists"))
