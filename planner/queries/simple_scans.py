"""Queries that are nothing but the scan of one table:
`SELECT * | columns FROM t [WHERE simple] [ORDER BY columns] [LIMIT n]`, `SELECT aggregates FROM t [WHERE simple]`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import MOST_DIGITS, Decimal, HiveType, Primitive, Varchar, parse_type
from acidsql.acid.table import Column
from acidsql.planner.change_range import CHANGE_COLUMNS
from acidsql.planner.conditions.row_conditions import BARE, has_only
from acidsql.planner.conditions.row_predicates import row_predicate
from acidsql.planner.plan import Scan
from acidsql.planner.simple_scan import SUM_DIGITS, Aggregate, Function, OutputColumn, SimpleScan, SortKey

_CLAUSES: Final = ("expressions", "from_", "where", "order", "limit")
_INTEGERS: Final = ("tinyint", "smallint", "int", "bigint")
_ORDERED: Final = (*_INTEGERS, "date", "timestamp", "string", "boolean")
"""The types that are sorted alike everywhere, beside DECIMAL and VARCHAR. FLOAT and DOUBLE have NaN and two zeros."""


@dataclass(frozen=True, slots=True)
class BoundRelation:
    """What a FROM item gives: the view `view` with `columns`, and with further names that only the list of a SELECT may
    have. A star stands for `columns` and `of_changes`."""

    view: str
    columns: tuple[Column, ...]
    virtual: frozenset[str] = frozenset()
    """The columns that a star leaves out."""
    of_changes: tuple[str, ...] = ()

    @classmethod
    def of_scan(cls, scan: Scan) -> BoundRelation:
        of_changes = () if scan.changes is None else tuple(CHANGE_COLUMNS)
        hidden = frozenset(name for name in (scan.row_id, scan.file_name) if name is not None)
        return cls(scan.view, scan.table.all_columns, hidden, of_changes)

    @property
    def names(self) -> tuple[str, ...]:
        return (*(column.name for column in self.columns), *self.of_changes)


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of a query's one FROM item, which is `relation`."""

    relation: BoundRelation
    alias: str

    def output_of(self, node: exp.Expr) -> str | None:
        """The relation's column to which a name refers, virtual columns included."""
        if not isinstance(node, exp.Column) or not has_only(node, ("this", "table")):
            return None
        if node.table not in ("", self.alias) or not isinstance(node.this, exp.Identifier):
            return None
        if node.name in self.relation.virtual:
            return str(node.name)
        found = node.name.lower()
        return found if found in self.relation.names else None

    def column_of(self, node: exp.Expr) -> Column | None:
        name = self.output_of(node)
        return next((c for c in self.relation.columns if c.name == name), None)


def simple_scan(tree: exp.Query, scans: Sequence[Scan]) -> SimpleScan | None:
    """What a query gives of its one table, after names were bound; None for another query. Its predicate may have parts
    that only Spark can evaluate."""
    if len(scans) != 1 or not is_simple(scans[0]):
        return None
    return selected(tree, BoundRelation.of_scan(scans[0]))


def is_simple(scan: Scan) -> bool:
    """Whether a scan gives rows of its table as they are, or changes as they were written."""
    compares_rows = scan.changes is not None and scan.changes.compares_rows
    return not (scan.with_deleted or scan.is_deleted or scan.place or compares_rows)


def selected(tree: exp.Expr, relation: BoundRelation) -> SimpleScan | None:
    """What a query gives of a relation, which must be its one FROM item; None for another query."""
    if not isinstance(tree, exp.Select) or not has_only(tree, _CLAUSES):
        return None
    source, where, limit = tree.args.get("from_"), tree.args.get("where"), tree.args.get("limit")
    item = source.this if source is not None else None
    if item is None or not is_item_of(item, relation):
        return None
    names = _Names(relation, item.alias)
    predicate = None if where is None else row_predicate(where.this, names.column_of)
    aggregates = tuple(_aggregate(item, names) for item in tree.expressions)
    if None not in aggregates:
        rest = limit is None and tree.args.get("order") is None
        return SimpleScan((), predicate, None, (), tuple(filter(None, aggregates))) if rest else None
    outputs = list(_outputs(tree.expressions, names))
    count = _count(limit)
    order = _order(tree, outputs, names)
    if None in outputs or order is None or (limit is not None and count is None):
        return None
    return SimpleScan(tuple(o for o in outputs if o is not None), predicate, count, order)


def is_item_of(item: exp.Expr, relation: BoundRelation) -> bool:
    """Whether a FROM item is a bound relation with its columns under their own names."""
    if not isinstance(item, exp.Table) or item.name != relation.view or not has_only(item, BARE):
        return False
    return not item.alias_column_names and not item.args.get("joins")


def _outputs(items: Sequence[exp.Expr], names: _Names) -> Iterator[OutputColumn | None]:
    for item in items:
        inner, alias = (item.this, item.alias) if isinstance(item, exp.Alias) else (item, "")
        if _is_star(inner, names) and not alias:
            yield from (OutputColumn(name, name) for name in names.relation.names)
            continue
        column = names.output_of(inner)
        yield None if column is None else OutputColumn(alias or inner.name, column)


def _is_star(item: exp.Expr, names: _Names) -> bool:
    """Whether an item is `*` or `t.*`. The Binder has excluded the virtual columns from it, and nothing else may be."""
    star = item
    if isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
        if item.table != names.alias or not has_only(item, ("this", "table")):
            return False
        star = item.this
    if not isinstance(star, exp.Star) or not has_only(star, ("except_",)):
        return False
    return all(excluded.name in names.relation.virtual for excluded in star.args.get("except_") or ())


def _aggregate(item: exp.Expr, names: _Names) -> Aggregate | None:
    """An item of the list that is an aggregate function; its name is that of Spark's column."""
    call, alias = (item.this, item.alias) if isinstance(item, exp.Alias) else (item, "")
    if not isinstance(call, exp.Anonymous) or not isinstance(call.this, str) or len(call.expressions) != 1:
        return None
    name, (asked,) = call.this.lower(), call.expressions
    if name == "count" and isinstance(asked, exp.Star) and has_only(asked, ()):
        return Aggregate(alias or "count(1)", Function.COUNT_ROWS, None)
    if name == "count" and isinstance(asked, exp.Literal) and str(asked.this).isdecimal() and not asked.is_string:
        return Aggregate(alias or f"count({asked.this})", Function.COUNT_ROWS, None)
    column = names.column_of(asked)
    function = next((f for f in Function if f.value == name), None)
    if column is None or function is None or not _has_one_result(function, parse_type(column.type)):
        return None
    return Aggregate(alias or f"{name}({asked.name})", function, column.name)


def _has_one_result(function: Function, kind: HiveType) -> bool:
    """Whether the result is the same in every order of the rows, which a sum of DOUBLEs is not, and in every engine's
    comparison of values, which that of CHARs is not."""
    match function:
        case Function.MIN | Function.MAX:
            return _is_ordered(kind)
        case Function.SUM if isinstance(kind, Decimal):
            return kind.precision + SUM_DIGITS <= MOST_DIGITS
        case Function.SUM:
            return isinstance(kind, Primitive) and kind.name in _INTEGERS
        case _:
            return True


def _order(tree: exp.Select, outputs: Sequence[OutputColumn | None], names: _Names) -> tuple[SortKey, ...] | None:
    """The keys of ORDER BY: names or numbers of outputs, or names of columns; None if others are among them."""
    clause = tree.args.get("order")
    if clause is None:
        return ()
    found = []
    for item in clause.expressions if has_only(clause, ("expressions",)) else (None,):
        if not isinstance(item, exp.Ordered) or not has_only(item, ("this", "desc", "nulls_first")):
            return None
        column = names.column_of(exp.column(key)) if (key := _sorted_by(item.this, outputs, names)) else None
        if column is None or not _is_ordered(parse_type(column.type)):
            return None
        found.append(SortKey(column.name, bool(item.args.get("desc")), bool(item.args.get("nulls_first"))))
    return tuple(found)


def _sorted_by(key: exp.Expr, outputs: Sequence[OutputColumn | None], names: _Names) -> str | None:
    """The column of the scan that a key of ORDER BY names. The name of an output comes before that of a column."""
    if isinstance(key, exp.Literal) and not key.is_string and str(key.this).isdecimal():
        place = int(key.this)
        output = outputs[place - 1] if 1 <= place <= len(outputs) else None
        return None if output is None else output.column
    if not isinstance(key, exp.Column):
        return None
    of_outputs = [o.column for o in outputs if o is not None and o.name.lower() == key.name.lower()]
    if of_outputs and not key.table:
        return of_outputs[0] if len(set(of_outputs)) == 1 else None
    return names.output_of(key)


def _is_ordered(kind: HiveType) -> bool:
    return isinstance(kind, Decimal | Varchar) or (isinstance(kind, Primitive) and kind.name in _ORDERED)


def _count(limit: exp.Expr | None) -> int | None:
    if not isinstance(limit, exp.Limit) or not has_only(limit, ("expression",)):
        return None
    number = limit.expression
    is_count = isinstance(number, exp.Literal) and not number.is_string and str(number.this).isdecimal()
    return int(number.this) if is_count else None
