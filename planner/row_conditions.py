"""What a query says of the rows of one table that it reads: conditions which every row that it needs fulfils.

They come from WHERE, and from ON where the join gives nothing for a row for which ON is not true. Partitions
(partition_pruning.py), files (value_ranges.py) and row groups (spark/scan/data_skipping.py) without such rows are not
read, and locks keep to such partitions.

This is a positive list. A FROM item that is no bare table, a clause, a name or an expression that is not known here
says nothing. So a name means a column of the table for sure, and a condition is made of comparisons of columns with
literals, AND and OR. None is true where all columns of the table are NULL: therefore a table may be read without the
other rows below an outer join too, which puts NULLs in their places.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from decimal import Decimal as Number
from functools import partial
from typing import Final, TypeAlias

from sqlglot import exp

from acidsql.acid.hive_types import Decimal, Primitive, parse_type
from acidsql.acid.table import Column, Table
from acidsql.planner.literals import fraction_digits, value_of

COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_BARE: Final = frozenset({"this", "db", "catalog", "alias"})
"""What a FROM item consists of that gives a table's rows and columns as they are: no PIVOT, TABLESAMPLE or joins."""
_CLAUSES: Final = frozenset(
    {
        *("with_", "hint", "distinct", "expressions", "from_", "joins", "laterals", "where", "group", "having"),
        *("windows", "qualify", "order", "sort", "distribute", "cluster", "limit", "offset"),
    }
)
"""The clauses of a SELECT beside which its WHERE is applied to the rows that FROM gives, before anything else is."""
_DIGITS: Final = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
"""Of the DECIMAL that Spark compares a column of the type as (DecimalType.forType)."""
_MOST_DIGITS: Final = 38
_ColumnOf: TypeAlias = Callable[[exp.Expr], Column | None]


def partition_filter(query: exp.Expr, item: exp.Table, table: Table) -> tuple[exp.Expr, ...]:
    """Conditions on partition columns that are true of the rows that `query` needs of its FROM item `item`. Columns go
    by the table's names for them, whatever the item calls them."""
    return tuple(_said_of(query, item, table, table.partition_columns))


def row_filter(query: exp.Expr, item: exp.Table, table: Table) -> tuple[exp.Expr, ...]:
    """The same of the table's other columns."""
    return tuple(_said_of(query, item, table, table.columns))


def only_counts(query: exp.Expr, item: exp.Table) -> bool:
    """Whether a SELECT asks of its only FROM item how many rows it has, and for nothing in them: COUNT(*), COUNT(1),
    literals. Told by what it may consist of, for there are functions that look at a row without naming a column."""
    source = query.args.get("from_")
    return (
        isinstance(query, exp.Select)
        and _has_only(query, {"expressions", "from_", "limit"})
        and source is not None
        and source.this is item
        and _has_only(item, _BARE)
        and not item.alias_column_names
        and all(map(_counts, query.expressions))
    )


def _counts(item: exp.Expr) -> bool:
    match item:
        case exp.Alias() | exp.Paren():
            return _counts(item.this)
        case exp.Anonymous() if item.name.lower() == "count" and len(item.expressions) == 1:
            (asked,) = item.expressions
            return isinstance(asked, exp.Literal) or (isinstance(asked, exp.Star) and _has_only(asked, ()))
        case _:
            return isinstance(item, exp.Literal)


def conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(condition, exp.And):
        yield from conjuncts(condition.this)
        yield from conjuncts(condition.expression)
    elif isinstance(condition, exp.Paren):
        yield from conjuncts(condition.this)
    else:
        yield condition


def _has_only(node: exp.Expr, names: Collection[str]) -> bool:
    return all(name in names for name, value in node.args.items() if value)


# ------------------------------------------------------------------------------------------------ FROM


def _said_of(query: exp.Expr, item: exp.Table, table: Table, columns: Sequence[Column]) -> Iterator[exp.Expr]:
    place = _place(query, item) if columns else None
    if place is None:
        return
    joins = query.args.get("joins") or ()
    names = {name: column for name, column in columns_of(item, table).items() if column in columns}
    column_of = partial(_column_of, item.alias_or_name.lower(), names, merges=any(map(_merges, joins)))
    for condition in _conditions(query, joins, place):
        for conjunct in conjuncts(condition):
            weaker = _weaker(conjunct, column_of)
            if weaker is not None:
                yield weaker


def column_meant(node: exp.Column, query: exp.Expr, item: exp.Table, table: Table) -> Column | None:
    """The column of the FROM item `item` that a name in the query's clauses surely means."""
    place = _place(query, item)
    joins = query.args.get("joins") or ()
    if place is None or any(_hides(join) for join in joins):
        return None
    alias, merges = item.alias_or_name.lower(), any(map(_merges, joins))
    return _column_of(alias, columns_of(item, table), node, merges=merges)


def _hides(join: exp.Join) -> bool:
    """SEMI and ANTI: a name of the right side means another column outside of ON."""
    return join.kind in ("SEMI", "ANTI")


def _place(query: exp.Expr, item: exp.Table) -> int | None:
    """The place of a bare table among the FROM items; None where rows or names may be others than the tables'."""
    if not isinstance(query, exp.Select) or not _has_only(query, _CLAUSES) or not _has_only(item, _BARE):
        return None
    first, joins = query.args.get("from_"), query.args.get("joins") or ()
    items = [first.this, *(join.this for join in joins)] if first is not None else []
    if any(node.args.get("pivots") for node in (*items, *joins)):
        return None  # a PIVOT that stands after a join turns all that is joined
    return next((number for number, found in enumerate(items) if found is item), None)


def columns_of(item: exp.Table, table: Table) -> Mapping[str, Column]:
    """The table's columns by the names that they have beside a FROM item; its alias may rename them by position."""
    renamed = [name.lower() for name in item.alias_column_names]
    if not renamed:
        return {column.name: column for column in table.all_columns}
    if len(renamed) != len(table.all_columns) or len(set(renamed)) < len(renamed):
        return {}  # Spark says what is wrong with it
    return dict(zip(renamed, table.all_columns, strict=True))


def _merges(join: exp.Join) -> bool:
    """NATURAL and USING: a name without a table's may be a column made of both sides' columns."""
    return bool(join.args.get("method") or join.args.get("using"))


def _column_of(alias: str, names: Mapping[str, Column], node: exp.Expr, *, merges: bool) -> Column | None:
    """The column that a name means. One without a table's name is the table's if the table has such a column: where
    another FROM item has one too, Spark says that it is ambiguous."""
    if not isinstance(node, exp.Column) or not _has_only(node, ("this", "table")):
        return None
    is_its = node.table.lower() == alias if node.table else not merges
    return names.get(node.name.lower()) if is_its and isinstance(node.this, exp.Identifier) else None


def _conditions(query: exp.Expr, joins: Sequence[exp.Join], place: int) -> Iterator[exp.Expr]:
    """WHERE, and the ON of every join that gives nothing for a row of the item for which it is not true. Of an item
    that stands right of a SEMI or ANTI join only the ON of that join can speak."""
    for number, join in enumerate(joins, 1):
        if join.args.get("on") is not None and place <= number and _drops(join, right=place == number):
            yield join.args["on"]
        if place == number and join.kind in ("SEMI", "ANTI"):
            return
    where = query.args.get("where")
    if where is not None:
        yield where.this


def _drops(join: exp.Join, *, right: bool) -> bool:
    """Whether a join gives nothing for a row of its right side, or of its left, for which its ON is not true."""
    match join.kind:
        case "SEMI":
            return True
        case "ANTI":
            return right
        case "" | "INNER" | "CROSS" | "OUTER":
            return join.side in ("", "LEFT" if right else "RIGHT")
        case _:
            return False


# ------------------------------------------------------------------------------------------------ conditions


def _weaker(condition: exp.Expr, column_of: _ColumnOf) -> exp.Expr | None:
    """What is left of a condition, and is true where it is, when all but the comparisons of `column_of`'s columns with
    literals is taken out; None where that is nothing."""
    match condition:
        case exp.Paren():
            inner = _weaker(condition.this, column_of)
            return None if inner is None else exp.Paren(this=inner)
        case exp.And():
            parts = [_weaker(part, column_of) for part in (condition.this, condition.expression)]
            known = [part for part in parts if part is not None]
            return exp.And(this=known[0], expression=known[1]) if len(known) == 2 else known[0] if known else None
        case exp.Or():
            left, right = (_weaker(part, column_of) for part in (condition.this, condition.expression))
            return None if left is None or right is None else exp.Or(this=left, expression=right)
        case exp.In() if condition.expressions and _has_only(condition, ("this", "expressions")):
            return _comparison(condition, {"this": condition.this}, condition.expressions, column_of)
        case exp.Between() if _has_only(condition, ("this", "low", "high")):
            ends = (condition.args["low"], condition.args["high"])
            return _comparison(condition, {"this": condition.this}, ends, column_of)
        case _ if type(condition) in COMPARISONS:
            sides = {"this": condition.this, "expression": condition.expression}
            columns = {key: side for key, side in sides.items() if isinstance(side, exp.Column)}
            literals = [side for side in sides.values() if not isinstance(side, exp.Column)]
            return _comparison(condition, columns, literals, column_of) if len(columns) == 1 else None
        case _:
            return None


def _comparison(
    condition: exp.Expr, columns: Mapping[str, exp.Expr], literals: Sequence[exp.Expr], column_of: _ColumnOf
) -> exp.Expr | None:
    """A comparison with its column under the table's name for it; `columns` has it by its place in the comparison."""
    ((place, node),) = columns.items()
    column = column_of(node)
    if column is None or not all(_is_literal(node) and _is_exact(node, column) for node in literals):
        return None
    found = condition.copy()
    found.set(place, exp.column(exp.to_identifier(column.name, quoted=True)))
    return found


def _is_literal(node: exp.Expr) -> bool:
    """A number, a text, such a one as another type, or what is reckoned of some. Of texts only those whose order is the
    same by UTF-8 bytes, as Spark has it, and by UTF-16 units, as ORC has it."""
    match node:
        case exp.Literal():
            return not node.is_string or all(c < "\ud800" for c in str(node.this))
        case exp.Neg() | exp.Cast() | exp.Paren():
            return _is_literal(node.this)
        case exp.Add() | exp.Sub() | exp.Mul():
            return _is_literal(node.this) and _is_literal(node.expression)
        case _:
            return False


def _is_exact(literal: exp.Expr, column: Column) -> bool:
    """Whether Spark compares all digits of an exact number with all of the column's. It does if both fit into the
    DECIMAL that it makes of both (widerDecimalType); else it rounds them."""
    number = value_of(literal, {})
    if not isinstance(number, Number):
        return True
    match parse_type(column.type):
        case Decimal(precision, scale):
            pass
        case Primitive(name) if name in _DIGITS:
            precision, scale = _DIGITS[name], 0
        case _:
            return True
    fraction = fraction_digits(number)
    return max(precision - scale, len(number.as_tuple().digits) - fraction) + max(scale, fraction) <= _MOST_DIGITS
