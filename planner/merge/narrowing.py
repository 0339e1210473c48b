"""MERGE with a small source: a filter that keeps the target rows whose keys the source has.

The join of MERGE shuffles all target rows, although only those can match whose key the source contains. If ON compares
columns of the two sides, this filter drops the other rows before the join. Where a column of the target itself is
compared, the scan need not read the files that have no such values either. The executor determines whether the source
is small and may be read twice (spark/scan/source_keys.py, spark/target_pruning.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from acidsql.acid.table import Table
from acidsql.grammar.dialect import to_spark
from acidsql.planner.conditions.row_conditions import conjuncts
from acidsql.planner.plan import KEYS, KeyQuery, Narrowing
from acidsql.planner.queries.key_conditions import has_keys
from acidsql.planner.queries.name_resolution import column, quoted

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


@dataclass(frozen=True, slots=True)
class _Keys:
    """The keys of the source: the target's scan, the comparisons by the names of the keys, and the query for them."""

    view: exp.Table
    pairs: Mapping[str, _Pair]
    query: exp.Select


def narrowing(rows: exp.Query, target: str, source: str) -> Narrowing | None:
    """The narrowing for the bound rows query of a MERGE. `target` and `source` are the names of its sides.

    None if ON compares no columns of the two sides, if MERGE needs the target rows without a match, and for an inner
    join, for which Spark broadcasts a small side itself.
    """
    keys = _keys(rows, target, source)
    if keys is None or rows.args["joins"][0].kind == "INNER":
        return None
    on = exp.and_(*(pair.compared_with(column(name, KEYS)) for name, pair in keys.pairs.items()))
    of_view = exp.Column(this=exp.Star(), table=quoted(target))
    kept = exp.select(of_view).from_(keys.view.copy()).join(exp.Table(this=quoted(KEYS)), on=on, join_type="LEFT SEMI")
    return Narrowing(keys.view.name, to_spark(keys.query), to_spark(kept))


def key_queries(rows: exp.Query, table: Table, target: str, source: str) -> tuple[KeyQuery, ...]:
    """The query for the keys that equal columns of `table`, the target; none under the same conditions."""
    keys = _keys(rows, target, source)
    known = {column.name for column in table.all_columns if has_keys(column)}
    columns = {
        pair.mine.name.lower(): name
        for name, pair in (keys.pairs.items() if keys is not None else ())
        if isinstance(pair.mine, exp.Column) and pair.comparison is exp.EQ and pair.mine.name.lower() in known
    }
    return (KeyQuery(to_spark(keys.query), columns),) if keys is not None and columns else ()


def _keys(rows: exp.Query, target: str, source: str) -> _Keys | None:
    """None if ON compares no columns of the two sides, or if MERGE needs the target rows without a match."""
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
    if not pairs:
        return None
    query = exp.select(*(exp.alias_(pair.key.copy(), quoted(name)) for name, pair in pairs.items()))
    query = query.from_(read.copy())
    if rows.args.get("with_") is not None:
        query.set("with_", rows.args["with_"].copy())
    return _Keys(view, pairs, query)


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
