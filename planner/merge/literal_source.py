"""MERGE with a source of literal rows: conditions on the target that follow from the literals.

If ON compares a target column with a column of literals, the target column of a matching row equals one of them. MERGE
adds this as a condition to ON. The scan then prunes partitions and files by it (partition_pruning.py) and pushes it
down to the reader, like a condition in WHERE.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import Decimal, HiveType, Primitive, Varchar, parse_type
from acidsql.acid.table import Table
from acidsql.planner.conditions.row_conditions import conjuncts

_MOST_LITERALS: Final = 100
"""The maximum number of literals in an IN list. More numbers become a BETWEEN of the smallest and the largest."""
_WHOLE: Final = tuple(Primitive(name) for name in ("tinyint", "smallint", "int", "bigint"))


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """The rows of the source as expressions, and the names of their columns."""

    names: tuple[str, ...]
    rows: tuple[tuple[exp.Expr, ...], ...]

    def column(self, name: str) -> list[exp.Expr]:
        """The expressions of a column. Empty if the name is not unique, or if a row lacks the column."""
        if self.names.count(name) != 1:
            return []
        place = self.names.index(name)
        return [row[place] for row in self.rows] if all(place < len(row) for row in self.rows) else []


def implied(on: exp.Expr, table: Table, target: str, source: str, using: exp.Expr) -> list[exp.Expr]:
    """Conditions that hold for each target row which matches a row of `using`. `target` and `source` are the names of
    the two sides."""
    rows = rows_of(using)
    if rows is None:
        return []
    types = {c.name: parse_type(c.type) for c in table.all_columns}
    found = []
    for mine, key in _equal(on):
        if mine.table.lower() == target and key.table.lower() == source and mine.name.lower() in types:
            keys = _keys(rows.column(key.name.lower()), types[mine.name.lower()])
            found.append(_is_one_of(mine, keys))
    return [condition for condition in found if condition is not None]


def _equal(on: exp.Expr) -> Iterator[tuple[exp.Column, exp.Column]]:
    """The pairs of columns that ON requires to be equal, in both orders."""
    for conjunct in conjuncts(on):
        if isinstance(conjunct, exp.EQ):
            left, right = conjunct.this, conjunct.expression
            if isinstance(left, exp.Column) and isinstance(right, exp.Column):
                yield left, right
                yield right, left


def _keys(values: Sequence[exp.Expr], kind: HiveType) -> list[exp.Expr]:
    """The literals that a column of the type may equal, without NULL, which equals nothing. Empty unless all literals
    are of the column's own kind: Spark compares others after a conversion to a common type."""
    known = [value for value in values if not isinstance(value, exp.Null)]
    return known if all(_is_literal_of(value, kind) for value in known) else []


def _is_literal_of(value: exp.Expr, kind: HiveType) -> bool:
    if kind in _WHOLE or isinstance(kind, Decimal):
        number = value.this if isinstance(value, exp.Neg) else value
        return isinstance(number, exp.Literal) and not number.is_string and str(number.this).isdecimal()
    if kind == Primitive("date"):
        return isinstance(value, exp.Cast) and value.to.is_type("date") and isinstance(value.this, exp.Literal)
    is_text = kind == Primitive("string") or isinstance(kind, Varchar)
    return is_text and isinstance(value, exp.Literal) and value.is_string


def _is_one_of(mine: exp.Column, keys: Sequence[exp.Expr]) -> exp.Expr | None:
    listed = list(dict.fromkeys(keys))
    if 0 < len(listed) <= _MOST_LITERALS:
        return exp.In(this=mine.copy(), expressions=[key.copy() for key in listed])
    if listed and all(isinstance(key, exp.Neg) or key.is_number for key in listed):
        numbers = sorted(listed, key=lambda key: int(key.sql()))
        return exp.Between(this=mine.copy(), low=numbers[0].copy(), high=numbers[-1].copy())
    return None


# ------------------------------------------------------------------------------------------------ the source


def rows_of(source: exp.Expr) -> WrittenRows | None:
    """The rows of a FROM item or query that reads no table; None for any other."""
    match source:
        case exp.Subquery() if _has_only(source, "this", "alias"):
            return _renamed(rows_of(source.this), source)
        case exp.Values() if _has_only(source, "expressions", "alias"):
            rows = tuple(_items(row) for row in source.expressions)
            names = tuple(f"col{number + 1}" for number in range(len(rows[0])))
            return _renamed(WrittenRows(names, rows), source)
        case exp.Select() if _has_only(source, "expressions"):
            names = tuple(item.alias.lower() for item in source.expressions)
            return WrittenRows(names, (tuple(item.unalias() for item in source.expressions),))
        case exp.Select() if _has_only(source, "expressions", "from_") and source.expressions == [exp.Star()]:
            return rows_of(source.args["from_"].this)
        case exp.Union() if _has_only(source, "this", "expression", "distinct"):
            return _united(rows_of(source.this), rows_of(source.expression))
        case _:
            return None


def _has_only(node: exp.Expr, *names: str) -> bool:
    return {name for name, value in node.args.items() if value} <= set(names)


def _items(row: exp.Expr) -> tuple[exp.Expr, ...]:
    return tuple(row.expressions) if isinstance(row, exp.Tuple) else (row.unnest(),)


def _renamed(rows: WrittenRows | None, item: exp.Expr) -> WrittenRows | None:
    """The rows with the column names of a FROM item's alias, if the alias has some."""
    names = tuple(name.lower() for name in item.alias_column_names)
    return rows if rows is None or not names else WrittenRows(names, rows.rows)


def _united(left: WrittenRows | None, right: WrittenRows | None) -> WrittenRows | None:
    return None if left is None or right is None else WrittenRows(left.names, left.rows + right.rows)
