"""Builders of CREATE and DROP TEMPORARY MACRO, and of DROP TEMPORARY FUNCTION."""

from __future__ import annotations

from acidsql.grammar import clauses
from acidsql.grammar.statement_reader import Node
from acidsql.grammar.statements import CreateMacro, DropFunction, DropMacro, MacroParameter


def create_macro(node: Node, source: str) -> CreateMacro:
    parameters = tuple(map(_parameter, node.nodes("macro_parameter")))
    return CreateMacro(source, clauses.target(node), parameters, clauses.tree(node.leaf("EXPR")))


def _parameter(node: Node) -> MacroParameter:
    return MacroParameter(clauses.name(node.node("name")), node.leaf("COLUMN_TYPE").text)


def drop_macro(node: Node, source: str) -> DropMacro:
    return DropMacro(source, clauses.target(node), node.has("if_exists"))


def drop_function(node: Node, source: str) -> DropFunction:
    return DropFunction(source, clauses.target(node), node.has("if_exists"))
