"""The Hive type of each expression of a query, before anything is rewritten.

Rules that make Hive's meaning explicit (planner/typed_rules) depend on types. Where the statement and the schemas of
its tables do not determine a type, it is None, and these rules leave the expression as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal as Number
from typing import Final

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from acidsql.acid.hive_types import MOST_DIGITS, Array, Char, Decimal, HiveType, Map, Struct, Varchar, parse_type
from acidsql.planner.expressions.function_types import function_type
from acidsql.planner.expressions.star_columns import Fields, Pairs, hidden_aliases, merges, star_columns
from acidsql.values.common_types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INSTANT,
    INT,
    STRING,
    TIMESTAMP,
    VOID,
    arithmetic_type,
    common_type,
)

_T: Final = exp.DataType.Type
_PRIMITIVES: Final = {
    **dict.fromkeys((_T.TINYINT, _T.SMALLINT, _T.INT, _T.BIGINT, _T.FLOAT, _T.DOUBLE, _T.BOOLEAN, _T.DATE), None),
    _T.BINARY: BINARY,
    _T.VARBINARY: BINARY,
    **dict.fromkeys((_T.TEXT,), STRING),
    **dict.fromkeys((_T.TIMESTAMP, _T.TIMESTAMPTZ, _T.TIMESTAMPNTZ, _T.DATETIME), TIMESTAMP),
    _T.TIMESTAMPLTZ: INSTANT,
}
_OPERATORS: Final[dict[type[exp.Expr], str]] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%"}
_NUMBER: Final = re.compile(r"(\d*\.?\d*)(e[+-]?\d+)?(bd|[dfysl])?", re.IGNORECASE)
_SUFFIXES: Final = {"y": parse_type("tinyint"), "s": parse_type("smallint"), "l": BIGINT, "d": DOUBLE, "f": FLOAT}


class ExpressionTypes:
    """The types of the expressions of one tree, which must have been normalized. Types of expressions that a rule makes
    are added by `put`."""

    def __init__(self, tree: exp.Query, fields_of: Callable[[exp.Table], Fields | None]) -> None:
        """`fields_of` returns the columns of the table, view or frame that a FROM item names; None if they are not
        known."""
        self._fields_of = fields_of
        self._known: dict[int, tuple[exp.Expr, HiveType | None]] = {}
        """The types by the identity of a node. Holds the nodes: the identity of one that is freed may be used again."""
        self._outputs: dict[int, Fields | None] = {}
        self._scopes: dict[int, Scope] = {}
        for scope in traverse_scope(tree):
            self._add(scope)

    def of(self, node: exp.Expr) -> HiveType | None:
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = (node, self._inferred(node))
        return known[1]

    def put(self, node: exp.Expr, kind: HiveType | None) -> None:
        self._known[id(node)] = (node, kind)

    # -- columns

    def _add(self, scope: Scope) -> None:
        self._scopes[id(scope.expression)] = scope
        for node in scope.columns:
            if id(node) not in self._known:
                self.put(node, self._column(node, scope))
        for part in reversed(list(scope.walk())):  # operands first, so that a deep expression needs no deep recursion
            self.of(part)
        self._outputs[id(scope.expression)] = self._output(scope)

    def _column(self, node: exp.Column, scope: Scope) -> HiveType | None:
        """The type of a column; None if it is not certain to which FROM item it belongs."""
        within: Scope | None = scope
        name, alias = node.name.lower(), node.table.lower()
        while within is not None and not node.args.get("db") and isinstance(node.this, exp.Identifier):
            items = dict(self._items(within))
            if alias:
                if alias in items:
                    return (items[alias] or {}).get(name)
            elif found := _items_with(name, items, within.expression):
                unknown = _adds_columns(within) or (merges(name, within.expression) and None in items.values())
                certain = not unknown and not _is_output_name(node, within)
                return _type_in(name, found, within.expression) if certain else None
            elif None in items.values():
                return None
            if _adds_columns(within):
                return None
            within = within.parent
        return None

    def _items(self, scope: Scope) -> Iterator[tuple[str, Fields | None]]:
        for alias, node in scope.references:
            item = scope.sources.get(alias)
            fields: Fields | None = None
            if isinstance(item, Scope) and not _is_pivoted(node):
                fields = _renamed(self._outputs.get(id(item.expression)), item.expression.parent)
            elif isinstance(item, exp.Table) and not _is_pivoted(node):
                fields = self._fields_of(item)
            yield alias.lower(), _renamed(fields, node)

    def _output(self, scope: Scope) -> Fields | None:
        query = scope.expression
        if isinstance(query, exp.SetOperation):
            sides = [self._outputs.get(id(side.unnest())) for side in (query.left, query.right)]
            left, right = sides
            if left is None or right is None or len(left) != len(right):
                return None
            return {name: common_type(pair) for name, *pair in zip(left, left.values(), right.values(), strict=True)}
        if isinstance(query, exp.Lateral):
            return dict.fromkeys((name.lower() for name in query.alias_column_names), None) or None
        if isinstance(query, exp.Values):
            return self._of_values(query)
        pairs = self._selected(query, scope) if isinstance(query, exp.Select) else None
        if pairs is None:
            return None
        fields: dict[str, HiveType | None] = {}
        for name, kind in pairs:
            # Queries cannot refer to a column without a name, or to the second of two columns of one name.
            fields[name if name and name not in fields else f"@{len(fields)}"] = kind
        return fields

    def _selected(self, query: exp.Select, scope: Scope) -> Pairs | None:
        """The columns of a SELECT list; None if those of a star are not known."""
        found: Pairs = []
        for item in query.expressions:
            if not item.is_star:
                found.append((item.alias_or_name.lower(), self.of(item)))
            elif (columns := self.columns_of_star(item, query)) is None:
                return None
            else:
                found += columns
        return found

    def _of_values(self, values: exp.Values) -> Fields | None:
        rows = [list(row.expressions) if isinstance(row, exp.Tuple) else [row.unnest()] for row in values.expressions]
        if len({len(row) for row in rows}) != 1:
            return None
        return {f"col{n}": common_type(map(self.of, column)) for n, column in enumerate(zip(*rows, strict=True), 1)}

    # -- expressions

    def _inferred(self, node: exp.Expr) -> HiveType | None:
        match node:
            case exp.Paren() | exp.Alias() | exp.Neg() | exp.Window() | exp.Filter() | exp.IgnoreNulls():
                return self.of(node.this)
            case exp.Literal():
                return STRING if node.is_string else _number(str(node.this))
            case exp.Null():
                return VOID
            case exp.HexString():
                return BINARY
            case exp.Boolean() | exp.Predicate() | exp.Connector() | exp.Not():
                return BOOLEAN
            case exp.Cast():
                return hive_type(node.to)
            case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.Mod():
                return arithmetic_type(_OPERATORS[type(node)], self.of(node.this), self.of(node.expression))
            case exp.IntDiv():
                return BIGINT
            case exp.DPipe() | exp.Substring() | exp.Trim():
                return STRING
            case exp.Placeholder():
                return None if node.type is None else hive_type(node.type)
            case exp.CurrentDate():
                return DATE
            case exp.CurrentTimestamp():
                return TIMESTAMP
            case exp.Extract():
                return INT
            case exp.Case():
                default = node.args.get("default")
                results = [branch.args["true"] for branch in node.args["ifs"]]
                return common_type(map(self.of, [*results, default] if default is not None else results))
            case exp.Subquery():
                return self._scalar(node)
            case exp.Distinct() if len(node.expressions) == 1:
                return self.of(node.expressions[0])
            case exp.Bracket():
                return self._element(node)
            case exp.Dot():
                owner = self.of(node.this)
                return dict(owner.fields).get(node.name.lower()) if isinstance(owner, Struct) else None
            case exp.Anonymous() if node.name.lower() in ("struct", "named_struct"):
                return self._struct(node)
            case exp.Anonymous():
                return function_type(node.name.lower(), [self.of(argument) for argument in node.expressions])
            case _:
                return None

    def _struct(self, node: exp.Anonymous) -> HiveType | None:
        values = node.expressions
        names = [f"col{place}" for place in range(1, len(values) + 1)]
        if node.name.lower() == "named_struct":
            names, values = [name.name.lower() for name in values[::2]], values[1::2]
        kinds = [self.of(value) for value in values]
        known = [kind for kind in kinds if kind is not None]
        aliased = any(isinstance(value, exp.Alias) for value in values)  # Spark's STRUCT(a AS name)
        if aliased or not known or len(known) < len(names):
            return None
        return Struct(tuple(zip(names, known, strict=True)))

    def _scalar(self, node: exp.Subquery) -> HiveType | None:
        fields = self._outputs.get(id(node.unnest()))
        return next(iter(fields.values())) if fields is not None and len(fields) == 1 else None

    def _element(self, node: exp.Bracket) -> HiveType | None:
        match self.of(node.this):
            case Array(element):
                return element
            case Map(_, value):
                return value
            case _:
                return None

    def fields_of(self, item: exp.Expr) -> Fields | None:
        """The columns of a FROM item that is a table, a view, a frame or a subquery."""
        fields = self._fields_of(item) if isinstance(item, exp.Table) else self.output(item.unnest())
        return None if _is_pivoted(item) else _renamed(fields, item)

    def columns_of_star(self, star: exp.Expr, query: exp.Select) -> Pairs | None:
        """The columns that a star in a query of the tree stands for; None if they are not known."""
        scope = self._scopes.get(id(query))
        known = scope is not None and not _adds_columns(scope)
        return star_columns(star, query, dict(self._items(scope))) if scope is not None and known else None

    def output(self, query: exp.Expr) -> Fields | None:
        """The columns of a query in the tree."""
        return self._outputs.get(id(query))


def _is_output_name(node: exp.Column, scope: Scope) -> bool:
    """Whether a name behind the SELECT list may be the alias of an item of that list."""
    clause = node.find_ancestor(exp.Order, exp.Having, exp.Group, exp.Select)
    if node.table or isinstance(clause, exp.Select) or not isinstance(scope.expression, exp.Select):
        return False
    aliased = [item for item in scope.expression.expressions if isinstance(item, exp.Alias)]
    return any(item.alias.lower() == node.name.lower() for item in aliased)


def _adds_columns(scope: Scope) -> bool:
    """Whether clauses of a query may add columns whose names are not known."""
    query = scope.expression
    if not isinstance(query, exp.Select):
        return True
    items = [query.args.get("from_"), *(query.args.get("joins") or ())]
    return any(node.args.get("pivots") for item in items if item is not None for node in (item, item.this))


def _is_pivoted(node: exp.Expr) -> bool:
    """Whether PIVOT or UNPIVOT changes the columns of a FROM item, which is a table or the query of a subquery."""
    parent = node.parent
    return bool(node.args.get("pivots") or (isinstance(parent, exp.Subquery) and parent.args.get("pivots")))


def _items_with(name: str, items: Mapping[str, Fields | None], query: exp.Expr) -> list[Fields]:
    """The FROM items that are known to have a column of this name. If an item whose columns are not known has one too,
    Spark reports that the name is ambiguous."""
    hidden = hidden_aliases(query)
    found = {alias: fields for alias, fields in items.items() if fields is not None and name in fields}
    return [fields for alias, fields in found.items() if alias not in hidden] or list(found.values())


def _type_in(name: str, found: Sequence[Fields], query: exp.Expr) -> HiveType | None:
    """The type of a column that one FROM item has, or several whose columns a join merges."""
    kinds = {fields[name] for fields in found}
    is_certain = len(found) == 1 or merges(name, query)
    return kinds.pop() if is_certain and len(kinds) == 1 else None


def _renamed(fields: Fields | None, named: exp.Expr | None) -> Fields | None:
    """The columns of a derived table or CTE, which its alias may rename by position."""
    renames = isinstance(named, exp.Subquery | exp.Table | exp.CTE | exp.Values)
    if fields is None or named is None or not renames or not named.alias_column_names:
        return fields
    names = [name.lower() for name in named.alias_column_names]
    fits = len(set(names)) == len(names) == len(fields)
    return dict(zip(names, fields.values(), strict=True)) if fits else None


def _number(text: str) -> HiveType | None:
    found = _NUMBER.fullmatch(text)
    if found is None or not found[1].strip("."):
        return None
    digits, exponent, suffix = found[1], found[2], (found[3] or "").lower()
    if suffix and suffix != "bd":
        return _SUFFIXES[suffix]
    if exponent and not suffix:
        return DOUBLE
    if "." not in digits and not suffix:
        value = int(digits)
        if value < 2**63:
            return INT if value < 2**31 else BIGINT
    return decimal_of(Number(digits + (exponent or "")))


def decimal_of(number: Number) -> HiveType:
    """The type of a DECIMAL literal: without the zeros at the end of its fraction (HiveDecimal.create)."""
    shortest = number.normalize() if number else Number(0)
    _, digits, exponent = shortest.as_tuple()
    assert isinstance(exponent, int)
    scale = max(-exponent, 0)
    precision = max(len(digits) + max(exponent, 0), scale, 1)
    return Decimal(precision, scale) if precision <= MOST_DIGITS else DOUBLE


def hive_type(kind: exp.DataType) -> HiveType | None:
    """The Hive type of a type in the text of a query; None for a type that Hive does not have."""
    match kind.this:
        case _T.DECIMAL if all(p.name.isdecimal() for p in kind.expressions):
            precision, scale, *_ = [*(int(p.name) for p in kind.expressions), *(10, 0)[len(kind.expressions) :]]
            return Decimal(precision, scale)
        case _T.CHAR | _T.VARCHAR if len(kind.expressions) == 1 and kind.expressions[0].name.isdecimal():
            length = int(kind.expressions[0].name)
            return Char(length) if kind.this == _T.CHAR else Varchar(length)
        case _T.ARRAY if len(kind.expressions) == 1:
            element = hive_type(kind.expressions[0])
            return Array(element) if element is not None else None
        case name if name in _PRIMITIVES:
            return _PRIMITIVES[name] or parse_type(name.value.lower())
        case _:
            return None
