"""Pruning: which partitions, and which rows, a scan can need, from what its query says of its columns alone.

Conjuncts of WHERE, and of ON where the join keeps no rows for which it is not true, that compare partition columns with
literals are evaluated on the driver, before anything is listed. What cannot be decided keeps the partition: Spark
applies the whole condition again. Those that compare other columns are held against the files' statistics (ranges.py)
and handed to their reader (spark/skipping.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Final

from sqlglot import exp

from acidsql.acid.partition_values import normal_value
from acidsql.acid.partitions import value_as_read
from acidsql.acid.table import Column, Table
from acidsql.acid.types import parse_type
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.statements import PartitionItem
from acidsql.planner.literals import UNKNOWN, typed, value_of

_COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def partition_filter(query: exp.Expr, alias: str, table: Table) -> tuple[exp.Expr, ...]:
    """The conjuncts of a SELECT's WHERE that speak of one table's partition columns and literals only."""
    return tuple(c.copy() for c in _said_of(query, alias, table.partition_columns))


def row_filter(query: exp.Expr, alias: str, table: Table) -> tuple[exp.Expr, ...]:
    """The conjuncts that compare one table's other columns with literals, without the table's name. None of them is
    true for NULL, so they may be asked below an outer join too."""
    found = []
    for conjunct in _said_of(query, alias, table.columns):
        if _is_comparison(conjunct):
            bare = conjunct.copy()
            for column in bare.find_all(exp.Column):
                column.set("table", None)
            found.append(bare)
    return tuple(found)


def only_counts(query: exp.Expr) -> bool:
    """Whether a SELECT asks one table how many rows it has, and for nothing in them: COUNT(*), COUNT(1), literals. Told
    by what it may consist of, for there are functions that look at a row without naming a column."""
    clauses = {key for key, value in query.args.items() if value}
    source = query.args.get("from_")
    return (
        isinstance(query, exp.Select)
        and clauses <= {"expressions", "from_", "limit"}
        and source is not None
        and {key for key, value in source.this.args.items() if value} <= {"this", "db", "catalog", "alias"}
        and not source.this.alias_column_names
        and all(map(_counts, query.expressions))
    )


def _counts(item: exp.Expr) -> bool:
    match item:
        case exp.Alias() | exp.Paren():
            return _counts(item.this)
        case exp.Anonymous():
            asked = item.expressions
            return item.name.lower() == "count" and len(asked) == 1 and isinstance(asked[0], exp.Star | exp.Literal)
        case _:
            return isinstance(item, exp.Literal)


def _said_of(query: exp.Expr, alias: str, columns: Sequence[Column]) -> Iterator[exp.Expr]:
    if not columns:
        return
    names = {c.name for c in columns}
    only_table = len(list(query.find_all(exp.Table))) == 1 and not query.args.get("joins")
    for condition in _conditions(query, alias):
        yield from (c for c in conjuncts(condition) if _speaks_of(c, names, alias, only_table=only_table))


def _conditions(query: exp.Expr, alias: str) -> Iterator[exp.Expr]:
    """WHERE, and the ON of every join that gives nothing for a row of the table for which it is not true.

    What is asked of a table below a join must not be true for NULL: the join may give a row of NULLs instead then. That
    holds for all that is made use of, here (`_evaluate`) and in ORC files (`_is_comparison`).
    """
    where, joins = query.args.get("where"), query.args.get("joins") or ()
    if where is not None:
        yield where.this
    first = query.args.get("from_")
    names = [item.this.alias_or_name.lower() for item in ((first,) if first is not None else ()) + tuple(joins)]
    at = names.index(alias.lower()) if alias.lower() in names else len(names)
    for place, join in enumerate(joins, 1):
        if join.args.get("on") is not None and at <= place and _drops(join, right=at == place):
            yield join.args["on"]


def _drops(join: exp.Join, *, right: bool) -> bool:
    """Whether a join gives nothing for a row of its right side, or of its left, for which its ON is not true."""
    if join.kind in ("SEMI", "ANTI"):
        return right or join.kind == "SEMI"
    return join.side in ("", "LEFT" if right else "RIGHT")


def _is_comparison(condition: exp.Expr) -> bool:
    """Of columns with literals; also OR and AND of such."""
    match condition:
        case exp.Paren():
            return _is_comparison(condition.this)
        case exp.And() | exp.Or():
            return _is_comparison(condition.this) and _is_comparison(condition.expression)
        case exp.In():
            items = condition.expressions
            return bool(items) and isinstance(condition.this, exp.Column) and all(map(_is_literal, items))
        case exp.Between():
            ends = (condition.args["low"], condition.args["high"])
            return isinstance(condition.this, exp.Column) and all(map(_is_literal, ends))
        case _ if type(condition) in _COMPARISONS:
            left, right = condition.this, condition.expression
            return (isinstance(left, exp.Column) and _is_literal(right)) or (
                isinstance(right, exp.Column) and _is_literal(left)
            )
        case _:
            return False


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


def keeps(conjuncts: Sequence[exp.Expr], table: Table, values: Sequence[str | None]) -> bool:
    """Whether a partition with these values can hold a row for which all conjuncts are true."""
    known = {
        c.name: typed(value_as_read(value, c.type), c.type.partition("(")[0])
        for c, value in zip(table.partition_columns, values, strict=True)
    }
    return all(_evaluate(c, known) is not False for c in conjuncts)


def has_values(items: Sequence[PartitionItem], table: Table, values: Sequence[str | None]) -> bool:
    """Whether a partition has the values that a PARTITION clause names: as text, or as values of their types.

    Raises PARTITION_COLUMN_UNKNOWN.
    """
    of = {c.name: (c, value) for c, value in zip(table.partition_columns, values, strict=True)}
    for item in items:
        if item.column.value not in of:
            raise AcidSqlError(Condition.PARTITION_COLUMN_UNKNOWN, span=item.column.span, column=item.column.value)
        column, value = of[item.column.value]
        if item.value is not None and not _is_value(item.value, column, value):
            return False
    return True


def _is_value(wanted: exp.Expr, column: Column, value: str | None) -> bool:
    if isinstance(wanted, exp.Null):
        return value is None
    if isinstance(wanted, exp.Boolean):
        return value is not None and value.lower() == str(bool(wanted.this)).lower()
    text = to_spark(wanted) if not isinstance(wanted, exp.Literal) else str(wanted.this)
    kind = parse_type(column.type)
    if normal_value(text, kind) == normal_value(value, kind):
        return True
    equal = exp.EQ(this=exp.column(column.name), expression=wanted.copy())
    return value is not None and _evaluate(equal, {column.name: typed(value, column.type.partition("(")[0])}) is True


def conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(condition, exp.And):
        yield from conjuncts(condition.this)
        yield from conjuncts(condition.expression)
    elif isinstance(condition, exp.Paren):
        yield from conjuncts(condition.this)
    else:
        yield condition


def _speaks_of(condition: exp.Expr, names: set[str], alias: str, *, only_table: bool) -> bool:
    if condition.find(exp.Query, exp.Subquery) is not None:
        return False
    columns = list(condition.find_all(exp.Column))
    return bool(columns) and all(
        c.name.lower() in names
        and (c.table.lower() == alias.lower() if c.table else only_table)
        and not c.args.get("db")
        for c in columns
    )


def _evaluate(condition: exp.Expr, values: dict[str, object]) -> bool | None:
    """SQL's three-valued truth, where the second None stands for "cannot tell" too: both keep the partition."""
    match condition:
        case exp.Paren():
            return _evaluate(condition.this, values)
        case exp.And():
            return _and(_evaluate(condition.this, values), _evaluate(condition.expression, values))
        case exp.Or():
            return _or(_evaluate(condition.this, values), _evaluate(condition.expression, values))
        case exp.In() if condition.expressions and not condition.args.get("query"):
            compared = [_compare(exp.EQ, condition.this, e, values) for e in condition.expressions]
            return True if True in compared else None if None in compared else False
        case exp.Between():
            low = _compare(exp.GTE, condition.this, condition.args["low"], values)
            return _and(low, _compare(exp.LTE, condition.this, condition.args["high"], values))
        case _ if type(condition) in _COMPARISONS:
            return _compare(type(condition), condition.this, condition.expression, values)
        case _:
            return None


def _and(left: bool | None, right: bool | None) -> bool | None:
    return False if left is False or right is False else True if left and right else None


def _or(left: bool | None, right: bool | None) -> bool | None:
    return True if left or right else False if left is False and right is False else None


def _compare(kind: type[exp.Expr], left: exp.Expr, right: exp.Expr, values: dict[str, object]) -> bool | None:
    a, b = value_of(left, values), value_of(right, values)
    if a is UNKNOWN or b is UNKNOWN:
        return None
    if a is None or b is None:
        return False  # NULL: no row of the partition passes
    if isinstance(a, Decimal) and isinstance(b, str):
        b = typed(b, "decimal")
    elif isinstance(b, Decimal) and isinstance(a, str):
        return None  # a string column compared with a number: Spark's casts decide
    elif isinstance(a, date) and isinstance(b, str):
        b = typed(b, "date")
    elif isinstance(b, date) and isinstance(a, str):
        a = typed(a, "date")
    if type(a) is not type(b):
        return None
    return _ordered(kind, a, b)


def _ordered(kind: type[exp.Expr], a: object, b: object) -> bool | None:
    if kind is exp.EQ:
        return a == b
    if kind is exp.NEQ:
        return a != b
    if isinstance(a, str):
        return None  # Spark orders by UTF-8 bytes: leave it to Spark
    assert isinstance(a, Decimal | date)
    below, equal = a < b, a == b  # type: ignore[operator]
    if kind is exp.LT:
        return bool(below)
    if kind is exp.LTE:
        return bool(below or equal)
    return not below and not equal if kind is exp.GT else not below
