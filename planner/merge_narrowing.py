"""MERGE with a small source: a filter that keeps the target rows whose keys the source has.

The join of MERGE shuffles all target rows, although only those can match whose key the source contains. If ON compares
columns of the two sides, this filter drops the other rows before the join. Where a column of the target itself is
compared, the scan need not read the files that have no such values either. The executor determines whether the source
is small and may be read twice (spark/scan/source_keys.py, spark/target_pruning.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from acidsql.acid.table import Table
from acidsql.grammar.dialect import to_spark
from acidsql.planner.key_conditions import has_keys
from acidsql.planner.name_resolution import column, quoted
from acidsql.planner.plan import KEYS, Narrowing
from acidsql.planner.row_conditions import conjuncts

_PLAIN: Final = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.Paren, exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.DPipe),
    *(exp.Cast, exp.DataType, exp.DataTypeParam),
)
_FUNCTIONS: Final = frozenset(
    {
        *("lower", "upper", "trim", "ltrim", "rtrim", "lpad", "rpad", "substr", "substring", "concat", "concat_ws"),
        *("coalesce", "nvl", "abs", "round", "floor", "to_date", "date", "year", "month", "day", "date_format"),
        *("md5", "sha2", "hash", "xxhash64", "regexp_replace"),
    }
)
"""The nodes and functions of which a key may consist: they are deterministic."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """A comparison in ON of `mine`, an expression over the target, with `key`, one over the source."""

    comparison: type[exp.Binary]
    mine: exp.Expr
    key: exp.Expr

    def compared_with(self, key: exp.Expr) -> exp.Expr:
        return self.comparison(this=self.mine.copy(), expression=key)


def narrowing(rows: exp.Query, table: Table, target: str, source: str) -> Narrowing | None:
    """The narrowing for the bound rows query of a MERGE into `table`. `target` and `source` are the names of its sides.

    None if ON compares no columns of the two sides, or if MERGE needs the target rows without a match. For an inner
    join Spark broadcasts a small side itself.
    """
    join = rows.args["joins"][0]
    first = rows.args["from_"].this
    match join.side, join.kind:
        case ("RIGHT", _) | ("", "INNER"):
            view, read = first, join.this
        case "LEFT", "ANTI":
            view, read = join.this, first
        case _:
            return None
    pairs = {f"{KEYS}{number}": pair for number, pair in enumerate(_pairs(join.args["on"], target, source))}
    known = {column.name for column in table.all_columns if has_keys(column)}
    columns = {
        pair.mine.name.lower(): name
        for name, pair in pairs.items()
        if isinstance(pair.mine, exp.Column) and pair.comparison is exp.EQ and pair.mine.name.lower() in known
    }
    is_inner = join.kind == "INNER"
    if not (columns if is_inner else pairs):
        return None
    keys = exp.select(*(exp.alias_(pair.key.copy(), quoted(name)) for name, pair in pairs.items()))
    keys = keys.from_(read.copy())
    if rows.args.get("with_") is not None:
        keys.set("with_", rows.args["with_"].copy())
    on = exp.and_(*(pair.compared_with(column(name, KEYS)) for name, pair in pairs.items()))
    of_view = exp.Column(this=exp.Star(), table=quoted(target))
    kept = exp.select(of_view).from_(view.copy()).join(exp.Table(this=quoted(KEYS)), on=on, join_type="LEFT SEMI")
    return Narrowing(view.name, to_spark(keys), None if is_inner else to_spark(kept), columns)


def _pairs(on: exp.Expr, target: str, source: str) -> Iterator[_Pair]:
    for conjunct in conjuncts(on):
        if isinstance(conjunct, exp.EQ | exp.NullSafeEQ):
            sides = (conjunct.this, conjunct.expression)
            match [_side(side) for side in sides]:
                case [left, right] if {left, right} == {target, source}:
                    mine, key = sides if left == target else sides[::-1]
                    yield _Pair(type(conjunct), mine, key)
                case _:
                    pass


def _side(value: exp.Expr) -> str | None:
    """The side to which all columns of an expression belong; None if they belong to several, or if it is not
    deterministic."""
    if not all(map(_is_plain, value.walk())):
        return None
    owners = {".".join(part.name for part in node.parts[:-1]) for node in value.find_all(exp.Column)}
    return owners.pop() if len(owners) == 1 else None


def _is_plain(node: exp.Expr) -> bool:
    return isinstance(node, _PLAIN) or (isinstance(node, exp.Anonymous) and node.name.lower() in _FUNCTIONS)
