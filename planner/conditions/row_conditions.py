"""Row filters: the conditions that a query puts on one of its tables. Every row that the query needs fulfils them.

The conditions come from WHERE, from the ON of joins that drop a row for which ON is not true, and from the queries
around a subquery (derived_tables.py). The scan skips partitions (partition_pruning.py), files (value_ranges.py) and row
groups (spark/scan/data_skipping.py) that hold no such rows, and the locks cover only the remaining partitions.

This module extracts a condition only from what it knows. It ignores FROM items other than bare tables, and unknown
clauses, names and expressions. Each name therefore certainly refers to a column of the table, and a condition consists
of comparisons of columns with literals, AND and OR. No condition is true for a row of NULLs only. This makes it safe to
skip rows below an outer join too, which replaces them by NULLs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from decimal import Decimal as Number
from functools import partial
from typing import Final, TypeAlias

from sqlglot import exp

from acidsql.acid.hive_types import MOST_DIGITS, Decimal, HiveType, Primitive, parse_type
from acidsql.acid.table import Column, Table
from acidsql.planner.expressions.star_columns import hides_right_side
from acidsql.planner.expressions.typed_rules.casts import text_of_number
from acidsql.values.literals import number_digits, value_of

COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
BARE: Final = frozenset({"this", "db", "catalog", "alias"})
"""The arguments of a FROM item that yields a table's rows and columns unchanged: no PIVOT, TABLESAMPLE or joins."""
CLAUSES: Final = frozenset(
    {
        *("with_", "hint", "distinct", "expressions", "from_", "joins", "laterals", "where", "group", "having"),
        *("windows", "qualify", "order", "sort", "distribute", "cluster", "limit", "offset"),
    }
)
"""The clauses of a SELECT in which WHERE filters the rows of FROM before any other clause."""
_DIGITS: Final = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
"""The precision of the DECIMAL to which Spark converts an integer column for a comparison (DecimalType.forType)."""
_ColumnOf: TypeAlias = Callable[[exp.Expr], Column | None]


def partition_filter(
    query: exp.Expr, item: exp.Table, table: Table, inherited: Sequence[exp.Expr] = ()
) -> tuple[exp.Expr, ...]:
    """The conditions on partition columns that every row fulfils which `query` needs of its FROM item `item`. They name
    the columns as the table does, even if the item renames them. `inherited` are conditions of the queries around
    `query` (derived_tables.py)."""
    return tuple(_filter(query, item, table, table.partition_columns, inherited))


def row_filter(
    query: exp.Expr, item: exp.Table, table: Table, inherited: Sequence[exp.Expr] = ()
) -> tuple[exp.Expr, ...]:
    """The same for the columns that are not partition columns."""
    return tuple(_filter(query, item, table, table.columns, inherited))


def only_counts(query: exp.Expr, item: exp.Table) -> bool:
    """Whether a SELECT needs only the number of rows of its one FROM item: its items are COUNT(*), COUNT(1) and
    literals. All other expressions are excluded, because some functions look at a row without naming a column."""
    source = query.args.get("from_")
    return (
        isinstance(query, exp.Select)
        and has_only(query, {"expressions", "from_", "limit"})
        and source is not None
        and source.this is item
        and has_only(item, BARE)
        and not item.alias_column_names
        and all(map(_counts, query.expressions))
    )


def _counts(item: exp.Expr) -> bool:
    match item:
        case exp.Alias() | exp.Paren():
            return _counts(item.this)
        case exp.Anonymous() if item.name.lower() == "count" and len(item.expressions) == 1:
            (asked,) = item.expressions
            return isinstance(asked, exp.Literal) or (isinstance(asked, exp.Star) and has_only(asked, ()))
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


def has_only(node: exp.Expr, names: Collection[str]) -> bool:
    return all(name in names for name, value in node.args.items() if value)


# ------------------------------------------------------------------------------------------------ FROM


def _filter(
    query: exp.Expr, item: exp.Table, table: Table, columns: Sequence[Column], inherited: Sequence[exp.Expr]
) -> Iterator[exp.Expr]:
    place = item_index(query, item) if columns else None
    if place is None:
        return
    names = {name: column for name, column in columns_of(item, table).items() if column in columns}
    column_of: _ColumnOf = partial(_column_of, item.alias_or_name.lower(), names, merges=merges_columns(query))
    if columns is table.partition_columns:
        column_of = partial(_column_or_text_of_number, column_of)
    for conjunct in (c for condition in conditions_on(query, place, inherited) for c in conjuncts(condition)):
        implied = _implied(conjunct, column_of)
        if implied is not None:
            yield implied


def _column_or_text_of_number(column_of: _ColumnOf, node: exp.Expr) -> Column | None:
    """The partition column to which a name, or the DOUBLE that its text shows, refers."""
    return column_of(text_of_number(node) or node)


def resolved_column(node: exp.Column, query: exp.Expr, item: exp.Table, table: Table) -> Column | None:
    """The column of the FROM item `item` to which a name in the query's clauses certainly refers; None if in doubt."""
    place = item_index(query, item)
    joins = query.args.get("joins") or ()
    if place is None or any(hides_right_side(join) for join in joins):
        return None
    return _column_of(item.alias_or_name.lower(), columns_of(item, table), node, merges=merges_columns(query))


def item_index(query: exp.Expr, item: exp.Expr) -> int | None:
    """The index of a bare table or subquery among the FROM items; None if a clause may change the rows or the names of
    the items."""
    if not isinstance(query, exp.Select) or not has_only(query, CLAUSES) or not has_only(item, BARE):
        return None
    first, joins = query.args.get("from_"), query.args.get("joins") or ()
    items = [first.this, *(join.this for join in joins)] if first is not None else []
    if any(node.args.get("pivots") for node in (*items, *joins)):
        return None  # a PIVOT behind a join applies to all joined tables
    return next((number for number, found in enumerate(items) if found is item), None)


def columns_of(item: exp.Table, table: Table) -> Mapping[str, Column]:
    """The table's columns by their names in the query: the alias of a FROM item may rename them by position."""
    renamed = [name.lower() for name in item.alias_column_names]
    if not renamed:
        return {column.name: column for column in table.all_columns}
    if len(renamed) != len(table.all_columns) or len(set(renamed)) < len(renamed):
        return {}  # Spark raises the error
    return dict(zip(renamed, table.all_columns, strict=True))


def merges_columns(query: exp.Expr) -> bool:
    """Whether a join merges columns of both sides into one (NATURAL, USING), to which an unqualified name may refer."""
    return any(join.args.get("method") or join.args.get("using") for join in query.args.get("joins") or ())


def _column_of(alias: str, names: Mapping[str, Column], node: exp.Expr, *, merges: bool) -> Column | None:
    """The column to which a name refers. An unqualified name refers to the table's column if the table has one: Spark
    raises an error if another FROM item has one too."""
    if not isinstance(node, exp.Column) or not has_only(node, ("this", "table")):
        return None
    is_of_item = node.table.lower() == alias if node.table else not merges
    return names.get(node.name.lower()) if is_of_item and isinstance(node.this, exp.Identifier) else None


def conditions_on(query: exp.Expr, place: int, inherited: Sequence[exp.Expr] = ()) -> list[exp.Expr]:
    """WHERE, the ON of each join that drops a row of the FROM item at `place` for which ON is not true, and then the
    conditions that the query inherits. For the right side of a SEMI or ANTI join only the ON of that join counts."""
    found = []
    for number, join in enumerate(query.args.get("joins") or (), 1):
        if join.args.get("on") is not None and place <= number and _drops(join, right=place == number):
            found.append(join.args["on"])
        if place == number and hides_right_side(join):
            return found
    where = query.args.get("where")
    return [*found, *([] if where is None else [where.this]), *inherited]


def _drops(join: exp.Join, *, right: bool) -> bool:
    """Whether a join drops a row of its right (or left) side for which ON is not true."""
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


def _implied(condition: exp.Expr, column_of: _ColumnOf) -> exp.Expr | None:
    """A condition that follows from `condition` and consists only of comparisons of `column_of`'s columns with
    literals; None if there is none."""
    match condition:
        case exp.Paren():
            inner = _implied(condition.this, column_of)
            return None if inner is None else exp.Paren(this=inner)
        case exp.And():
            parts = [_implied(part, column_of) for part in (condition.this, condition.expression)]
            known = [part for part in parts if part is not None]
            return exp.And(this=known[0], expression=known[1]) if len(known) == 2 else known[0] if known else None
        case exp.Or():
            left, right = (_implied(part, column_of) for part in (condition.this, condition.expression))
            return None if left is None or right is None else exp.Or(this=left, expression=right)
        case exp.In() if condition.expressions and has_only(condition, ("this", "expressions")):
            return _comparison(condition, {"this": condition.this}, condition.expressions, column_of)
        case exp.Between() if has_only(condition, ("this", "low", "high")):
            ends = (condition.args["low"], condition.args["high"])
            return _comparison(condition, {"this": condition.this}, ends, column_of)
        case _ if type(condition) in COMPARISONS:
            sides = {"this": condition.this, "expression": condition.expression}
            columns = {key: side for key, side in sides.items() if _names_column(side)}
            literals = [side for side in sides.values() if not _names_column(side)]
            return _comparison(condition, columns, literals, column_of) if len(columns) == 1 else None
        case _:
            return None


def _comparison(
    condition: exp.Expr, columns: Mapping[str, exp.Expr], literals: Sequence[exp.Expr], column_of: _ColumnOf
) -> exp.Expr | None:
    """The comparison with the table's name for its column; `columns` holds the column by its argument's name."""
    ((place, node),) = columns.items()
    column = column_of(node)
    if column is None or not all(_is_literal(node) and is_exact(node, column) for node in literals):
        return None
    name = exp.column(exp.to_identifier(column.name, quoted=True))
    found = condition.copy()
    found.set(place, name if isinstance(node, exp.Column) else exp.cast(name, "double"))
    return found


def _names_column(side: exp.Expr) -> bool:
    return isinstance(side, exp.Column) or text_of_number(side) is not None


def _is_literal(node: exp.Expr) -> bool:
    """Whether an expression consists of literals, casts and arithmetic. A string must have the same order by UTF-8
    bytes (Spark) and by UTF-16 units (ORC), so it has no character from U+D800 on."""
    match node:
        case exp.Literal():
            return not node.is_string or all(c < "\ud800" for c in str(node.this))
        case exp.Neg() | exp.Cast() | exp.Paren():
            return _is_literal(node.this)
        case exp.Add() | exp.Sub() | exp.Mul():
            return _is_literal(node.this) and _is_literal(node.expression)
        case _:
            return False


def is_exact(literal: exp.Expr, column: Column) -> bool:
    """Whether Spark compares a number with the column without rounding: both fit into the DECIMAL to which Spark
    converts them (widerDecimalType)."""
    number = value_of(literal, {})
    digits = decimal_digits(parse_type(column.type))
    if not isinstance(number, Number) or digits is None:
        return True
    (whole, fraction), (of_column, scale) = number_digits(number), digits
    return max(whole, of_column) + max(fraction, scale) <= MOST_DIGITS


def decimal_digits(kind: HiveType) -> tuple[int, int] | None:
    """The digits before and behind the point of the DECIMAL to which Spark converts a number of this type; None for
    another type."""
    match kind:
        case Decimal(precision, scale):
            return precision - scale, scale
        case Primitive(name) if name in _DIGITS:
            return _DIGITS[name], 0
        case _:
            return None
