"""Conditions on a target's scan that follow from the keys which a small source has.

If the ON of a MERGE compares a target column with a value of the source, or the WHERE of an UPDATE or DELETE with the
values of a subquery (`IN`), the target column of a row that the statement needs equals one of these values. When a
statement knows them (acidsql/snapshot/key_ranges.py), its scan prunes partitions and skips files, stripes and row
groups by them, as by a literal condition in WHERE.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import reduce
from typing import Final, TypeAlias

from sqlglot import exp

from acidsql.acid.table import Column
from acidsql.planner.plan import Scan

Key: TypeAlias = int | str | date
KeyRange: TypeAlias = tuple[Key, Key]
"""The smallest and the largest of some keys, both inclusive."""
_WHOLE: Final = ("tinyint", "smallint", "int", "bigint")


def has_keys(column: Column) -> bool:
    """Whether the order and the equality of the column's values are those of whole numbers, texts or dates."""
    return column.type in (*_WHOLE, "string", "date")


def with_keys(scan: Scan, keys: Mapping[str, Sequence[KeyRange]]) -> Scan:
    """The scan of the rows whose columns have a value in one of the ranges. `keys` has the ranges by column; without a
    range no row fulfils the condition."""
    of_partitions = {column.name for column in scan.table.partition_columns}
    conditions = {name: condition for name, of in keys.items() if (condition := _is_in(name, of)) is not None}
    return replace(
        scan,
        partition_filter=(*scan.partition_filter, *(c for n, c in conditions.items() if n in of_partitions)),
        row_filter=(*scan.row_filter, *(c for n, c in conditions.items() if n not in of_partitions)),
    )


def _is_in(name: str, ranges: Sequence[KeyRange]) -> exp.Expr | None:
    """None if UTF-8 (Spark) and UTF-16 (ORC's statistics) could order the texts differently."""
    if not all(map(_is_ordered, ranges)):
        return None
    column = exp.column(exp.to_identifier(name, quoted=True))
    listed = [_literal(low) for low, high in ranges if low == high]
    found: list[exp.Expr] = [exp.In(this=column, expressions=listed)] if listed else []
    found += [
        exp.Between(this=column.copy(), low=_literal(low), high=_literal(high)) for low, high in ranges if low != high
    ]
    return reduce(lambda one, other: exp.Or(this=one, expression=other), found) if found else exp.false()


def _is_ordered(keys: KeyRange) -> bool:
    return all(not isinstance(key, str) or all(c < "\ud800" for c in key) for key in keys)


def _literal(key: Key) -> exp.Expr:
    match key:
        case str():
            return exp.Literal.string(key)
        case int():
            return exp.Literal.number(key)
        case _:
            return exp.cast(exp.Literal.string(key.isoformat()), "date")
