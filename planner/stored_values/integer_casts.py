"""CAST of a DECIMAL to TINYINT, SMALLINT, INT or BIGINT. A number that does not fit becomes NULL in Hive; Spark wraps
it.

Both wrap numbers of other types (Hive 4.0.1: 300 cast to TINYINT is 44), so the rewrite depends on the type of the
operand. If the statement does not determine this type, the rewrite contains both casts and a condition on typeof, which
Spark folds to a constant, so that one of the casts remains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal as Number
from enum import Enum
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import Decimal, parse_type
from acidsql.acid.table import Column
from acidsql.grammar.dialect import to_spark
from acidsql.planner.expressions.item_names import keep_name
from acidsql.planner.stored_values.stored_sql import is_strict
from acidsql.values.literals import fraction_digits, value_of

_INTEGERS: Final = {
    exp.DataType.Type.TINYINT: "TINYINT",
    exp.DataType.Type.SMALLINT: "SMALLINT",
    exp.DataType.Type.INT: "INT",
    exp.DataType.Type.BIGINT: "BIGINT",
}
_OTHERS: Final = frozenset(
    {
        *("length", "substr", "substring", "concat", "concat_ws", "trim", "ltrim", "rtrim", "lower", "upper", "lpad"),
        *("rpad", "split", "regexp_extract", "regexp_replace", "replace", "get_json_object", "date_format", "instr"),
        *("year", "month", "day", "hour", "minute", "second", "datediff", "unix_timestamp", "count", "size", "hash"),
        *("rand", "sqrt", "exp", "ln", "pow", "power", "row_number", "rank", "dense_rank"),
    }
)
"""Functions that never return a DECIMAL."""
_VALUE: Final = "@v"


class _Kind(Enum):
    DECIMAL = "decimal"
    OTHER = "other"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class WideCast:
    """A CAST to an integer whose operand is, or may be, a DECIMAL."""

    node: exp.Cast
    is_decimal: bool


def wide_casts(tree: exp.Expr, meant: Mapping[int, Column]) -> list[WideCast]:
    """The wide casts of a query, inner ones first. The query's output columns keep their names. `meant` maps the id of
    a column node to the table's column to which it certainly refers."""
    casts = [node for node in tree.find_all(exp.Cast) if node.to.this in _INTEGERS and not _is_try_cast(node)]
    kinds = [(node, _kind_of(node.this, meant)) for node in casts]
    found = [WideCast(node, kind is _Kind.DECIMAL) for node, kind in kinds if kind is not _Kind.OTHER]
    for cast in found:
        keep_name(cast.node)
    return sorted(found, key=lambda cast: -cast.node.depth)


def narrow(casts: Sequence[WideCast]) -> None:
    """Rewrites the casts in place to Hive's. It copies the operands, so their tables must be bound before."""
    written: set[int] = set()
    for cast in casts:
        value, target = cast.node.this, _INTEGERS[cast.node.to.this]
        if cast.is_decimal:
            cast.node.replace(_exact(value.copy(), target))
        else:
            new = _once(value, target) if _is_long(value, written) else _by_type(value, target)
            written.add(id(new))
            cast.node.replace(new)


def assigned(value: exp.Expr, target: Column, settings: Mapping[str, str]) -> exp.Expr:
    """A value of the statement or a DEFAULT, before `stored_sql.stored` converts it to the column's type. Unless
    store assignment is strict, a DECIMAL that does not fit becomes NULL."""
    wanted = exp.DataType.build(target.type) if is_integer(target) else None
    if wanted is None or is_strict(settings):
        return value
    root = exp.Paren(this=exp.cast(value.copy(), wanted))
    narrow(wide_casts(root, {}))
    return value if root.this == exp.cast(value, wanted) else root.this


def exact_sql(value: str, target: Column) -> str:
    """SQL that converts a DECIMAL to the type of an integer column.

    >>> exact_sql("x", Column("c", "int"))
    'TRY_CAST(TRY_CAST(x AS BIGINT) AS INT)'
    """
    return to_spark(_exact(exp.Var(this=value), target.type.upper()))


def is_integer(column: Column) -> bool:
    return column.type.upper() in _INTEGERS.values()


def _is_try_cast(cast: exp.Cast) -> bool:
    """Whether the cast is a TRY_CAST: sqlglot has one class for TRY_CAST and for the CAST of this dialect."""
    return bool(cast.args.get("safe"))


def _exact(value: exp.Expr, target: str) -> exp.Expr:
    """Casts a DECIMAL through BIGINT, for which Spark uses all digits. Its casts to other integers go through DOUBLE
    (Decimal.roundToInt), for which 5.99999999999999999999 is 6."""
    longs = _try_cast(value, "BIGINT")
    return longs if target == "BIGINT" else _try_cast(longs, target)


def _try_cast(value: exp.Expr, target: str) -> exp.Expr:
    return exp.TryCast(this=value, to=exp.DataType.build(target), safe=True)


def _by_type(value: exp.Expr, target: str) -> exp.Expr:
    is_decimal = exp.Like(
        this=exp.Anonymous(this="typeof", expressions=[value.copy()]), expression=exp.Literal.string("decimal%")
    )
    return exp.case().when(is_decimal, _exact(value.copy(), target)).else_(exp.cast(value.copy(), target))


def _is_long(value: exp.Expr, written: set[int]) -> bool:
    """Whether the rewrite should not repeat a value: it contains a window function or another rewrite. It repeats
    subqueries, which are not allowed in the arguments of a higher-order function; the optimizer merges them again."""
    nodes = list(value.walk())
    has_query = any(isinstance(node, exp.Query) for node in nodes)
    return not has_query and any(isinstance(node, exp.Window) or id(node) in written for node in nodes)


def _once(value: exp.Expr, target: str) -> exp.Expr:
    """As `_by_type`, but with the value written once, as the only item of an array."""
    name = exp.to_identifier(_VALUE, quoted=True)
    of_item = exp.Lambda(this=_by_type(exp.Column(this=name), target), expressions=[name.copy()])
    array = exp.Anonymous(this="array", expressions=[value.copy()])
    items = exp.Anonymous(this="transform", expressions=[array, of_item])
    return exp.Anonymous(this="element_at", expressions=[items, exp.Literal.number(1)])


def _kind_of(node: exp.Expr, meant: Mapping[int, Column]) -> _Kind:
    match node:
        case exp.Paren() | exp.Neg():
            return _kind_of(node.this, meant)
        case exp.Literal():
            return _of_literal(node)
        case exp.Boolean() | exp.Null() | exp.Predicate() | exp.Connector() | exp.Not():
            return _Kind.OTHER
        case exp.Cast():
            return _Kind.DECIMAL if node.to.is_type("decimal") else _Kind.OTHER
        case exp.Column():
            column = meant.get(id(node))
            if column is None:
                return _Kind.UNKNOWN
            return _Kind.DECIMAL if isinstance(parse_type(column.type), Decimal) else _Kind.OTHER
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Mod():
            sides = {_kind_of(side, meant) for side in (node.this, node.expression)}
            return _Kind.OTHER if sides == {_Kind.OTHER} else _Kind.UNKNOWN
        case exp.Anonymous() if node.name.lower() in _OTHERS:
            return _Kind.OTHER
        case _:
            return _Kind.UNKNOWN


def _of_literal(node: exp.Literal) -> _Kind:
    """A number with a decimal point or the suffix BD, or one beyond BIGINT, is a DECIMAL in Spark. 1.5D and 1E2 are
    DOUBLEs."""
    number = None if node.is_string else value_of(node, {})
    if not isinstance(number, Number):
        return _Kind.OTHER
    if str(node.this).upper().endswith("BD"):
        return _Kind.DECIMAL
    return _Kind.DECIMAL if fraction_digits(number) or not -(2**63) < number < 2**63 else _Kind.OTHER
