"""MERGE: which rows of the target can match at all, told by the keys of a small source.

The join of a MERGE brings every row of the target together with the source's, wherever it lies. Where ON compares
columns of the two sides, the target's rows without such a key in the source can be left out before that. Whether the
source is small, and whether it can be read twice, the executor sees (spark/scan/source_keys.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from acidsql.grammar.dialect import to_spark
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
        *("md5", "sha2", "hash", "xxhash64"),
    }
)
"""What a key may be made of: nodes and functions that give the same for the same row."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """A comparison of ON: `mine` of the target's columns, `key` of the source's."""

    comparison: type[exp.Binary]
    mine: exp.Expr
    key: exp.Expr

    def compared_with(self, key: exp.Expr) -> exp.Expr:
        return self.comparison(this=self.mine.copy(), expression=key)


def narrowing(rows: exp.Query, target: str, source: str) -> Narrowing | None:
    """For the bound rows of a MERGE; `target` and `source` are the names of its sides.

    None where ON compares no column of the one with one of the other, where the target's rows without a partner are
    needed, and for an inner join: of that Spark broadcasts a small side as it is."""
    join = rows.args["joins"][0]
    first = rows.args["from_"].this
    match join.side, join.kind:
        case "RIGHT", _:
            view, read = first, join.this
        case "LEFT", "ANTI":
            view, read = join.this, first
        case _:
            return None
    pairs = {f"{KEYS}{number}": pair for number, pair in enumerate(_pairs(join.args["on"], target, source))}
    if not pairs:
        return None
    keys = exp.select(*(exp.alias_(pair.key.copy(), quoted(name)) for name, pair in pairs.items()))
    keys = keys.from_(read.copy())
    if rows.args.get("with_") is not None:
        keys.set("with_", rows.args["with_"].copy())
    on = exp.and_(*(pair.compared_with(column(name, KEYS)) for name, pair in pairs.items()))
    of_view = exp.Column(this=exp.Star(), table=quoted(target))
    kept = exp.select(of_view).from_(view.copy()).join(exp.Table(this=quoted(KEYS)), on=on, join_type="LEFT SEMI")
    return Narrowing(view.name, to_spark(keys), to_spark(kept))


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
    """The side that all columns of a value are of; None where there is none, or where a value may differ each time."""
    if not all(map(_is_plain, value.walk())):
        return None
    owners = {".".join(part.name for part in node.parts[:-1]) for node in value.find_all(exp.Column)}
    return owners.pop() if len(owners) == 1 else None


def _is_plain(node: exp.Expr) -> bool:
    return isinstance(node, _PLAIN) or (isinstance(node, exp.Anonymous) and node.name.lower() in _FUNCTIONS)
