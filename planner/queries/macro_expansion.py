"""Temporary macros: expressions with a name and parameters, which replace their calls before a statement is planned.

As in Hive, a macro that a macro calls is bound when the outer one is created, arguments are cast to the types of the
parameters, and a macro hides a function of its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Final, TypeVar

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.dialect import span_of
from acidsql.grammar.parameter_literals import first_parameter
from acidsql.grammar.parser import parse
from acidsql.grammar.statements import AlterView, CreateMacro, CreateView, Explain, Query, Statement

_POSITION: Final = ("start", "end", "line", "col")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro. `parameters` are the names of its parameters in order, each with a cast to its type."""

    name: str
    parameters: Mapping[str, exp.Cast]
    body: exp.Expr


def defined_macro(statement: CreateMacro) -> Macro:
    """The macro of a statement whose body has no calls of macros any more.

    The messages are those of Hive's CreateMacroAnalyzer. Raises INVALID_MACRO, NOT_YET_SUPPORTED.
    """
    name, body = statement.macro, statement.body
    if name.database is not None:
        raise _invalid("Temporary macro cannot be created with a qualified name.", name.span)
    query = body.find(exp.Query)
    if query is not None:
        span = span_of(query, statement.source) or name.span
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=span, feature="A subquery in a macro")
    parameter = first_parameter(body)
    if parameter is not None:
        raise _invalid("A macro keeps no values of parameters of a call", span_of(parameter, statement.source))
    _check_parameters(statement)
    types = {p.name.value: _cast(p.type) for p in statement.parameters}
    return Macro(name.name, types, _without_positions(body))


def trial(macro: Macro) -> exp.Query:
    """A query that computes the macro for NULLs, to find out whether its body has a meaning."""
    arguments = [exp.Null() for _ in macro.parameters]
    return exp.Select(expressions=[exp.alias_(_applied(macro, arguments), "_c0", quoted=True)])


def with_macros(statement: Statement, macros: Mapping[str, Macro]) -> Statement:
    """The statement with the bodies of macros in the place of their calls. Its trees are changed in place.

    Raises WRONG_ARGUMENT_COUNT, and INVALID_VIEW for a view, whose text other sessions could not read.
    """
    if not macros:
        return statement
    return _expanded(statement, _Expansion(macros, _defines_view(statement)))


@dataclass(frozen=True, slots=True)
class _Expansion:
    macros: Mapping[str, Macro]
    of_view: bool


def _expanded(value: _T, expansion: _Expansion) -> _T:
    """A dataclass of a statement, and all that it holds, without calls of macros."""
    if not is_dataclass(value) or isinstance(value, type):
        return value
    old = {f.name: getattr(value, f.name) for f in fields(value)}
    new = {name: _held(held, expansion) for name, held in old.items()}
    changed = {name: held for name, held in new.items() if held is not old[name]}
    return replace(value, **changed) if changed else value


def _held(value: object, expansion: _Expansion) -> object:
    if isinstance(value, exp.Expr):
        return _tree(value, expansion)
    if isinstance(value, tuple):
        items = tuple(_held(item, expansion) for item in value)
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return _expanded(value, expansion)


def _tree(tree: exp.Expr, expansion: _Expansion) -> exp.Expr:
    """Replaces inner calls before outer ones, so that arguments are expanded and bodies are not."""
    calls = [call for call in tree.find_all(exp.Anonymous) if call.name.lower() in expansion.macros]
    for call in reversed(calls):
        macro, span = expansion.macros[call.name.lower()], _place(call)
        if expansion.of_view:
            message = f"View definition references temporary macro {macro.name}"
            raise AcidSqlError(Condition.INVALID_VIEW, span=span, message=message)
        if len(call.expressions) != len(macro.parameters):
            detail = f"The macro {macro.name} accepts exactly {len(macro.parameters)} arguments."
            raise AcidSqlError(Condition.WRONG_ARGUMENT_COUNT, span=span, detail=detail)
        new = _applied(macro, call.expressions)
        new.meta.update(call.meta)
        if call is tree:
            return new
        call.replace(new)
    return tree


def _place(call: exp.Anonymous) -> Span | None:
    """The place of a function's name in a call."""
    whole = span_of(call)
    return None if whole is None else replace(whole, end=whole.start + len(call.name))


def _applied(macro: Macro, arguments: Sequence[exp.Expr]) -> exp.Paren:
    """The body of a macro with the arguments of a call, each cast to the type of its parameter."""
    given = dict(zip(macro.parameters, arguments, strict=True))
    whole = exp.Paren(this=macro.body.copy())
    for column in list(whole.find_all(exp.Column)):
        first, *path = column.parts
        value: exp.Expr = macro.parameters[first.name.lower()].copy()
        value.set("this", given[first.name.lower()].copy())
        for part in path:  # fields of a struct
            value = exp.Dot(this=value, expression=part.copy())
        column.replace(value)
    return whole


def _check_parameters(statement: CreateMacro) -> None:
    names = [p.name.value for p in statement.parameters]
    used = list(dict.fromkeys(column.parts[0].name.lower() for column in statement.body.find_all(exp.Column)))
    if set(names) != set(used):
        expected = ", ".join(dict.fromkeys(names))
        raise _invalid(f"Expected columns [{expected}] but found [{', '.join(used)}]", statement.macro.span)
    if len(set(names)) != len(names):
        twice = next(p.name for p in statement.parameters if names.count(p.name.value) > 1)
        raise _invalid(f"At least one parameter name was used more than once [{', '.join(names)}]", twice.span)


def _cast(type_text: str) -> exp.Cast:
    query = parse(f"SELECT CAST(NULL AS {type_text})")
    assert isinstance(query, Query)
    (cast,) = query.tree.selects
    assert isinstance(cast, exp.Cast)
    return _without_positions(cast)


_E = TypeVar("_E", bound=exp.Expr)


def _without_positions(tree: _E) -> _E:
    """A copy of the tree whose nodes have no places: they would be places in the text of another statement."""
    copy = tree.copy()
    for node in copy.walk():
        for key in _POSITION:
            node.meta.pop(key, None)
    return copy


def _defines_view(statement: Statement) -> bool:
    inner = statement.statement if isinstance(statement, Explain) else statement
    return isinstance(inner, CreateView | AlterView)


def _invalid(message: str, span: Span | None) -> AcidSqlError:
    return AcidSqlError(Condition.INVALID_MACRO, span=span, message=message)
