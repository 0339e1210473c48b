"""Builders of CREATE and DROP TEMPORARY MACRO, and of CREATE and DROP TEMPORARY FUNCTION."""

from __future__ import annotations

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar import clauses
from acidsql.grammar.statement_reader import Node
from acidsql.grammar.statements import CreateFunction, CreateMacro, DropFunction, DropMacro, MacroParameter


def create_macro(node: Node, source: str) -> CreateMacro:
    parameters = tuple(map(_parameter, node.nodes("macro_parameter")))
    return CreateMacro(source, clauses.target(node), parameters, clauses.tree(node.leaf("EXPR")))


def _parameter(node: Node) -> MacroParameter:
    return MacroParameter(clauses.name(node.node("name")), node.leaf("COLUMN_TYPE").text)


def drop_macro(node: Node, source: str) -> DropMacro:
    return DropMacro(source, clauses.target(node), node.has("if_exists"))


def create_function(node: Node, source: str) -> CreateFunction:
    """Raises NOT_YET_SUPPORTED for the files of Java classes."""
    if files := node.maybe("function_files"):
        feature = "CREATE TEMPORARY FUNCTION .. USING JAR, FILE or ARCHIVE"
        hint = "acidsql runs functions of Python: their modules are found on Python's path."
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=files.span, feature=feature, hint=hint)
    named = node.leaf("STRING")
    return CreateFunction(source, clauses.target(node), named.text, named.span)


def drop_function(node: Node, source: str) -> DropFunction:
    return DropFunction(source, clauses.target(node), node.has("if_exists"))
