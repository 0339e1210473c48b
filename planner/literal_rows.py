"""MERGE of rows that stand in the statement itself: what their keys say of the target's rows.

Where ON compares a column of the target with one of a source of literals, its literals are all that the target's column
can be in a row that matches. Said in ON beside the comparison, that prunes partitions and files (partition_pruning.py)
and goes to the reader of the others, as what a WHERE says does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import Decimal, HiveType, Primitive, Varchar, parse_type
from acidsql.acid.table import Table
from acidsql.planner.row_conditions import conjuncts

_MOST: Final = 100
"""Literals that are listed; of more numbers the smallest and the largest is said."""
_WHOLE: Final = tuple(Primitive(name) for name in ("tinyint", "smallint", "int", "bigint"))


@dataclass(frozen=True, slots=True)
class _Rows:
    """Expressions by row, under the names of their columns."""

    names: tuple[str, ...]
    rows: tuple[tuple[exp.Expr, ...], ...]

    def column(self, name: str) -> list[exp.Expr]:
        """The expressions of a column; none where it is not the only one of its name, or some row has none."""
        if self.names.count(name) != 1:
            return []
        place = self.names.index(name)
        return [row[place] for row in self.rows] if all(place < len(row) for row in self.rows) else []


def implied(on: exp.Expr, table: Table, target: str, source: str, using: exp.Expr) -> list[exp.Expr]:
    """What must be true of a target's row that some row of `using` matches; `target` and `source` are the names of the
    sides."""
    rows = _rows(using)
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
    """Columns that ON says to be equal, either way round."""
    for conjunct in conjuncts(on):
        if isinstance(conjunct, exp.EQ):
            left, right = conjunct.this, conjunct.expression
            if isinstance(left, exp.Column) and isinstance(right, exp.Column):
                yield left, right
                yield right, left


def _keys(values: Sequence[exp.Expr], kind: HiveType) -> list[exp.Expr]:
    """The literals that a column of the type can be equal to; none where not all are of its own kind, so that each is
    compared as their common type is. NULL is equal to nothing."""
    known = [value for value in values if not isinstance(value, exp.Null)]
    return known if all(_is_of(value, kind) for value in known) else []


def _is_of(value: exp.Expr, kind: HiveType) -> bool:
    if kind in _WHOLE or isinstance(kind, Decimal):
        number = value.this if isinstance(value, exp.Neg) else value
        return isinstance(number, exp.Literal) and not number.is_string and str(number.this).isdecimal()
    if kind == Primitive("date"):
        return isinstance(value, exp.Cast) and value.to.is_type("date") and isinstance(value.this, exp.Literal)
    is_text = kind == Primitive("string") or isinstance(kind, Varchar)
    return is_text and isinstance(value, exp.Literal) and value.is_string


def _is_one_of(mine: exp.Column, keys: Sequence[exp.Expr]) -> exp.Expr | None:
    listed = list(dict.fromkeys(keys))
    if 0 < len(listed) <= _MOST:
        return exp.In(this=mine.copy(), expressions=[key.copy() for key in listed])
    if listed and all(isinstance(key, exp.Neg) or key.is_number for key in listed):
        numbers = sorted(listed, key=lambda key: int(key.sql()))
        return exp.Between(this=mine.copy(), low=numbers[0].copy(), high=numbers[-1].copy())
    return None


# ------------------------------------------------------------------------------------------------ the source


def _rows(source: exp.Expr) -> _Rows | None:
    """The rows of a FROM item or query that is made of expressions only; None for any other."""
    match source:
        case exp.Subquery() if _has_only(source, "this", "alias"):
            return _renamed(_rows(source.this), source)
        case exp.Values() if _has_only(source, "expressions", "alias"):
            rows = tuple(_items(row) for row in source.expressions)
            names = tuple(f"col{number + 1}" for number in range(len(rows[0])))
            return _renamed(_Rows(names, rows), source)
        case exp.Select() if _has_only(source, "expressions"):
            names = tuple(item.alias.lower() for item in source.expressions)
            return _Rows(names, (tuple(item.unalias() for item in source.expressions),))
        case exp.Select() if _has_only(source, "expressions", "from_") and source.expressions == [exp.Star()]:
            return _rows(source.args["from_"].this)
        case exp.Union() if _has_only(source, "this", "expression", "distinct"):
            return _united(_rows(source.this), _rows(source.expression))
        case _:
            return None


def _has_only(node: exp.Expr, *names: str) -> bool:
    return {name for name, value in node.args.items() if value} <= set(names)


def _items(row: exp.Expr) -> tuple[exp.Expr, ...]:
    return tuple(row.expressions) if isinstance(row, exp.Tuple) else (row.unnest(),)


def _renamed(rows: _Rows | None, item: exp.Expr) -> _Rows | None:
    """The rows under the names of a FROM item's alias, where it has some."""
    names = tuple(name.lower() for name in item.alias_column_names)
    return rows if rows is None or not names else _Rows(names, rows.rows)


def _united(left: _Rows | None, right: _Rows | None) -> _Rows | None:
    return None if left is None or right is None else _Rows(left.names, left.rows + right.rows)
