"""The source of a MERGE whose rows need no computation: those of a table, of a frame, or written out in the statement.

The query of the source (arrow_merge.py) then only selects columns of one relation, and its conditions are such as a
program without Spark can evaluate (planner/conditions/row_predicates.py):

    MERGE INTO t USING {changes} s ON t.id = s.id WHEN MATCHED AND s.op = 'D' THEN DELETE ..
    MERGE INTO t USING (SELECT id, name FROM staging WHERE day = 3) s ON ..
    MERGE INTO t USING (VALUES (1, 'a'), (2, 'b')) AS s (id, name) ON ..
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal as Number
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import MOST_DIGITS, Char, parse_type
from acidsql.acid.table import Column
from acidsql.planner.conditions.row_conditions import has_only
from acidsql.planner.conditions.row_predicates import (
    ColumnOf,
    Constant,
    RowPredicate,
    row_predicate,
    undecided,
)
from acidsql.planner.merge.literal_source import rows_of
from acidsql.planner.plan import FrameScan, Scan
from acidsql.planner.queries.simple_scans import BoundRelation, is_item_of, is_simple, selected
from acidsql.planner.source_rows import Actions, SourceRows
from acidsql.values.literal_columns import Kind, literal
from acidsql.values.literals import number_digits

_INT: Final = 1 << 31
_LONG: Final = 1 << 63
_NAMES: Final = {
    Kind.BOOLEAN: "boolean",
    Kind.DOUBLE: "double",
    Kind.STRING: "string",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
}


@dataclass(frozen=True, slots=True)
class _Item:
    """The FROM item of the source's query: a relation with the names that its columns have behind it."""

    view: str | None
    columns: Mapping[str, Column]
    """The columns of the relation by their names behind the item."""
    literals: tuple[tuple[exp.Expr, ...], ...] = ()
    predicate: RowPredicate | None = None


def source_rows(
    query: exp.Select,
    scans: Sequence[Scan],
    frames: Sequence[FrameScan],
    relations: Mapping[str, Mapping[str, str | None]],
    actions: tuple[str, str],
    stored: Mapping[str, Column],
    compared: Collection[str],
) -> SourceRows | None:
    """The rows of the source's bound query; None if somebody has to compute them.

    `relations` are `Facts.relations`, `actions` the names of the columns with the numbers of clauses, and `stored` the
    columns of the target that store each of the other columns, or that ON compares with those in `compared`.
    """
    if not has_only(query, ("expressions", "from_")):
        return None
    node = query.args["from_"].this
    item = _item(node, scans, frames, relations)
    if item is None or (item.predicate is not None and undecided(item.predicate) is not None):
        return None
    alias = node.alias_or_name.lower()

    def column_of(name: exp.Expr) -> Column | None:
        if not isinstance(name, exp.Column) or not has_only(name, ("this", "table")):
            return None
        return item.columns.get(name.name.lower()) if name.table.lower() in ("", alias) else None

    trees = {one.alias: one.this.unnest() for one in query.expressions}
    acting = [_actions(trees.pop(name), column_of) for name in actions]
    outputs: dict[str, str | exp.Expr] = {}
    for name, tree in trees.items():
        column = column_of(tree)
        if column is not None and _is_as_stored(column, stored[name]):
            outputs[name] = column.name
        elif name in compared or tree.find(exp.Column, exp.Query) is not None:
            return None
        else:
            outputs[name] = tree
    if_matched, if_not_matched = acting
    if if_matched is None or if_not_matched is None:
        return None
    every = {column.name: column for column in item.columns.values()}
    rows = SourceRows(item.view, every, item.literals, item.predicate, outputs, if_matched, if_not_matched)
    if rows.view is None:  # rows that are written out have a value for each column
        return rows
    used = rows.tested | {output for output in outputs.values() if isinstance(output, str)}
    return replace(rows, columns={name: column for name, column in every.items() if name in used})


def _is_as_stored(column: Column, target: Column) -> bool:
    """Whether the values are those that are compared or stored. A CHAR gets or loses blanks elsewhere."""
    return not isinstance(parse_type(column.type), Char) or isinstance(parse_type(target.type), Char)


def _actions(tree: exp.Expr, column_of: ColumnOf) -> Actions | None:
    """The clauses of a CASE of `actions.first_true`; None if only Spark can evaluate one of the conditions."""
    found: list[tuple[RowPredicate, int]] = []
    match tree:
        case exp.Literal():
            return ((Constant(True), int(tree.name)),)
        case exp.Cast(this=exp.Null()):
            return ()
        case exp.Case() if has_only(tree, ("ifs", "default")):
            found = [(row_predicate(one.this, column_of), int(one.args["true"].name)) for one in tree.args["ifs"]]
            default = tree.args.get("default")
            found += [] if default is None else [(Constant(True), int(default.name))]
        case _:
            return None
    return None if any(undecided(predicate) is not None for predicate, _ in found) else tuple(found)


# ------------------------------------------------------------------------------------------------ the FROM item


def _item(
    node: exp.Expr,
    scans: Sequence[Scan],
    frames: Sequence[FrameScan],
    relations: Mapping[str, Mapping[str, str | None]],
) -> _Item | None:
    if len(scans) + len(frames) == 0:
        return _written_out(node)
    if len(scans) + len(frames) > 1 or any(not is_simple(scan) or scan.changes is not None for scan in scans):
        return None
    relation = BoundRelation.of_scan(scans[0]) if scans else _of_frame(frames[0], relations)
    if is_item_of(node, relation):
        return _Item(relation.view, {column.name: column for column in relation.columns})
    if not isinstance(node, exp.Subquery) or not has_only(node, ("this", "alias")) or node.alias_column_names:
        return None
    inner = selected(node.this, relation)
    if inner is None or inner.limit is not None or inner.order or inner.aggregates:
        return None
    columns = {column.name: column for column in relation.columns}
    names = [output.name.lower() for output in inner.outputs]
    if len(set(names)) < len(names) or any(output.column not in columns for output in inner.outputs):
        return None
    named = {name: columns[output.column] for name, output in zip(names, inner.outputs, strict=True)}
    return _Item(relation.view, named, predicate=inner.predicate)


def _of_frame(frame: FrameScan, relations: Mapping[str, Mapping[str, str | None]]) -> BoundRelation:
    known = relations.get(f"{{{frame.frame}}}", {})
    return BoundRelation(frame.view, tuple(Column(name, kind) for name, kind in known.items() if kind is not None))


def _written_out(node: exp.Expr) -> _Item | None:
    rows = rows_of(node)
    if any(union.args.get("distinct") for union in node.find_all(exp.Union)):
        return None
    if rows is None or len(set(rows.names)) < len(rows.names) or any(len(r) != len(rows.names) for r in rows.rows):
        return None
    kinds = [_type_of(values) for values in zip(*rows.rows, strict=True)]
    if any(kind is None for kind in kinds):
        return None
    columns = {name: Column(name, kind) for name, kind in zip(rows.names, kinds, strict=True) if kind is not None}
    return _Item(None, columns, rows.rows)


def _type_of(values: Sequence[exp.Expr]) -> str | None:
    """The type to which VALUES and UNION bring the literals of all rows; None if they are not of one kind, or no
    literals. That of a column of NULLs is any."""
    found = [literal(tree) for tree in values]
    kinds = {kind for kind, _ in found} - {Kind.NULL}
    if len(kinds) > 1:
        return None
    (kind,) = kinds or {Kind.STRING}
    if kind is Kind.INTEGER:
        numbers = [value for _, value in found if isinstance(value, int)]
        if all(-_INT <= number < _INT for number in numbers):
            return "int"
        return "bigint" if all(-_LONG <= number < _LONG for number in numbers) else None
    if kind is Kind.DECIMAL:
        return _decimal([value for _, value in found if isinstance(value, Number)])
    return _NAMES.get(kind)


def _decimal(values: Sequence[Number]) -> str | None:
    before, behind = zip(*map(number_digits, values), strict=True)
    scale = max(behind)
    digits = max(*before, 1) + scale
    return f"decimal({digits},{scale})" if digits <= MOST_DIGITS else None
