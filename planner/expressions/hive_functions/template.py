"""SQL templates: the rule of a function as one line of Spark SQL that names the function's arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import HiveType
from acidsql.grammar.parser import parse
from acidsql.grammar.statements import Query

Rule = Callable[[list[exp.Expr]], exp.Expr]
"""Makes the expression that replaces a call, from copies of its arguments."""

ARGUMENT_TYPE: Final = "acidsql_argument_type"
"""Key in the `meta` of an argument of a function whose rule depends on types: its Hive type."""
_REWRITTEN: Final = "acidsql_rewritten"
"""Key in the `meta` of a node that a template made."""
_ONCE: Final = ("rand", "random", "randn", "randstr", "uniform", "uuid", "shuffle", "monotonically_increasing_id")
"""Functions that give another value each time that they are computed."""
_BOUND: Final = "@argument"


def template(parameters: str, sql: str) -> Rule:
    """The rule that puts the arguments of a call where `sql` names the parameters.

    Spark computes an argument once, however often `sql` names it: subexpression elimination shares a plain expression,
    and a variable of a higher-order function holds one that should not be repeated.
    """
    names = tuple(parameters.split())

    def rule(arguments: list[exp.Expr]) -> exp.Expr:
        assert len(arguments) == len(names), sql
        return filled(sql, dict(zip(names, arguments, strict=True)))

    return rule


def filled(sql: str, values: Mapping[str, exp.Expr]) -> exp.Expr:
    """The expression `sql`, in which each column that `values` names is replaced by its value."""
    tree = _parsed(sql).copy()
    uses = [node for node in tree.find_all(exp.Column) if node.name in values]
    repeated = {node.name for node in uses if [use.name for use in uses].count(node.name) > 1}
    if any(_must_not_repeat(values[name]) for name in repeated):
        return marked(_bound(tree, values))
    for node in uses:
        node.replace(enclosed(values[node.name]))
    return marked(enclosed(tree.this))


def marked(tree: exp.Expr) -> exp.Expr:
    """Notes that a rule made the expression, so that no other rule repeats it: nested calls would double each time."""
    tree.meta[_REWRITTEN] = True
    return tree


@cache
def _parsed(sql: str) -> exp.Paren:
    """The expression in parentheses, so that its root can be replaced too."""
    query = parse(f"SELECT {sql}")
    assert isinstance(query, Query)
    tree = exp.Paren(this=query.tree.selects[0].copy())
    for function in list(tree.find_all(exp.Lambda)):
        _rename(function, {variable.name for variable in function.expressions})
    return tree


def _rename(function: exp.Lambda, variables: set[str]) -> None:
    """Gives the variables of a function names that no column has, so that none hides a column in an argument."""
    for node in list(function.find_all(exp.Identifier)):
        is_field = isinstance(node.parent, exp.Dot) and node.arg_key == "expression"
        if node.name in variables and not is_field and not isinstance(node.parent, exp.Column):
            node.replace(exp.to_identifier(f"@{node.name}", quoted=True))


def _bound(tree: exp.Paren, values: Mapping[str, exp.Expr]) -> exp.Expr:
    """The expression with its values as the fields of a variable: the one item of an array that is transformed. Spark
    requires some arguments to be constants, so literals stay where they are."""
    literals = {name: value for name, value in values.items() if isinstance(value, exp.Literal | exp.Null)}
    values = {name: value for name, value in values.items() if name not in literals}
    for node in list(tree.find_all(exp.Column)):
        if node.name in literals:
            node.replace(literals[node.name].copy())
        elif node.name in values:
            variable = exp.to_identifier(_BOUND, quoted=True)
            node.replace(exp.Dot(this=variable, expression=exp.to_identifier(node.name)))
    fields = [part for name, value in values.items() for part in (exp.Literal.string(name), value.copy())]
    items = call("array", call("named_struct", *fields))
    function = exp.Lambda(this=tree.this, expressions=[exp.to_identifier(_BOUND, quoted=True)])
    return call("element_at", call("transform", items, function), exp.Literal.number(1))


def _must_not_repeat(value: exp.Expr) -> bool:
    """Whether Spark should compute the value once. A value with a subquery is repeated nevertheless: Spark allows no
    subquery in an argument of a higher-order function."""
    nodes = list(value.walk())
    changing = any(isinstance(node, exp.Anonymous) and node.name.lower() in _ONCE for node in nodes)
    has_query = any(isinstance(node, exp.Query) for node in nodes)
    nested = any(isinstance(node, exp.Window) or node.meta.get(_REWRITTEN) for node in nodes)
    return changing or (nested and not has_query)


def enclosed(value: exp.Expr) -> exp.Expr:
    """A copy of the value that can stand beside any operator."""
    is_operation = isinstance(value, exp.Binary | exp.Unary | exp.Between | exp.In | exp.Interval)
    alone = isinstance(value, exp.Paren | exp.Dot) or not is_operation
    return value.copy() if alone else exp.Paren(this=value.copy())


def call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(arguments))


def argument_type(value: exp.Expr) -> HiveType | None:
    """The noted type of an argument; None if it is not known."""
    kind = value.meta.get(ARGUMENT_TYPE)
    return kind if isinstance(kind, HiveType) else None


def text_of(node: exp.Expr) -> str | None:
    """The text of a string literal; None for any other expression."""
    return str(node.this) if isinstance(node, exp.Literal) and node.is_string else None


def number_of(node: exp.Expr) -> int | None:
    """The value of an integer literal, with or without a sign; None for any other expression."""
    match node:
        case exp.Paren():
            return number_of(node.this)
        case exp.Neg():
            value = number_of(node.this)
            return None if value is None else -value
        case exp.Literal() if not node.is_string and str(node.this).isdecimal():
            return int(str(node.this))
        case _:
            return None


def optional(names: Sequence[str], rules: Mapping[int, Rule]) -> dict[tuple[str, int], Rule]:
    """The same rules, by number of arguments, for functions with several names."""
    return {(name, count): rule for name in names for count, rule in rules.items()}
