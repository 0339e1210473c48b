"""PARTITION clauses of ALTER TABLE and LOAD DATA: literals to the texts that partitions have as values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Final

from sqlglot import exp

from acidsql.acid.partitions import DEFAULT_PARTITION
from acidsql.acid.table import Column, Table
from acidsql.acid.types import Char as CharType
from acidsql.acid.types import Decimal as DecimalType
from acidsql.acid.types import Primitive, Varchar, parse_type
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.statements import PartitionItem
from acidsql.metastore.client import PartitionValues

_INTEGERS: Final = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}
_DATE: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_TIMESTAMP: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,9})?")
_ORDERED: Final = ("<", "<=", ">", ">=")


def partition_values(items: Sequence[PartitionItem], table: Table, span: Span | None) -> PartitionValues:
    """The values of the one partition that a clause names, with a value for each partition column.

    Raises NOT_PARTITIONED, PARTITION_COLUMN_UNKNOWN, INVALID_PARTITION_SPEC.
    """
    given = _by_column(items, table, span)
    missing = [c.name for c in table.partition_columns if c.name not in given]
    if missing:
        detail = f"no value for {', '.join(missing)}"
        raise AcidSqlError(Condition.INVALID_PARTITION_SPEC, span=span, detail=detail)
    for item in items:
        if item.value is None or item.operator not in ("=", "=="):
            detail = f"{item.column.value} must be given as {item.column.value} = value"
            raise AcidSqlError(Condition.INVALID_PARTITION_SPEC, span=item.column.span, detail=detail)
    return tuple(_value(given[c.name], c) for c in table.partition_columns)


def partitions_named(
    items: Sequence[PartitionItem], table: Table, known: Sequence[PartitionValues], span: Span | None
) -> list[PartitionValues]:
    """Those of the known partitions that a clause of DROP PARTITION names: some columns, compared with values.

    Raises NOT_PARTITIONED, PARTITION_COLUMN_UNKNOWN, INVALID_PARTITION_SPEC.
    """
    _by_column(items, table, span)
    return [values for values in known if all(_holds(item, table, values) for item in items)]


def _by_column(items: Sequence[PartitionItem], table: Table, span: Span | None) -> dict[str, PartitionItem]:
    if not table.partition_columns:
        raise AcidSqlError(Condition.NOT_PARTITIONED, span=span, table=table.qualified)
    columns = [c.name for c in table.partition_columns]
    for item in items:
        if item.column.value not in columns:
            raise AcidSqlError(
                Condition.PARTITION_COLUMN_UNKNOWN,
                span=item.column.span,
                column=item.column.value,
                hint=f"The partition columns are {', '.join(columns)}.",
            )
    return {item.column.value: item for item in items}


def _holds(item: PartitionItem, table: Table, values: PartitionValues) -> bool:
    if item.value is None:
        return True
    position = [c.name for c in table.partition_columns].index(item.column.value)
    column, found, wanted = table.partition_columns[position], values[position], None
    wanted = _value(item, column)
    if item.operator in ("=", "==", "<=>"):
        return _key(found, column) == _key(wanted, column)
    if found is None or wanted is None:
        return False
    a, b = _key(found, column), _key(wanted, column)
    if item.operator in ("!=", "<>"):
        return a != b
    if item.operator not in _ORDERED or isinstance(a, bytes) != isinstance(b, bytes):
        detail = f"{item.operator} does not compare partition values"
        raise AcidSqlError(Condition.INVALID_PARTITION_SPEC, span=item.column.span, detail=detail)
    below, equal = a < b, a == b  # type: ignore[operator]
    return {"<": below, "<=": below or equal, ">": not below and not equal, ">=": not below}[item.operator]


def _key(value: str | None, column: Column) -> Decimal | bytes | None:
    """What orders as the values do: Hive compares text by its bytes."""
    if value is None:
        return None
    kind = parse_type(column.type)
    is_number = isinstance(kind, DecimalType) or (
        isinstance(kind, Primitive) and kind.name in (*_INTEGERS, "float", "double")
    )
    try:
        return Decimal(value) if is_number else value.encode()
    except InvalidOperation:
        return value.encode()


# ------------------------------------------------------------------------------------------------ values


def _value(item: PartitionItem, column: Column) -> str | None:
    assert item.value is not None
    text = _text(item.value)
    if isinstance(item.value, exp.Null) or text in ("", DEFAULT_PARTITION):
        return None
    stored = None if text is None else _as_type(text, column)
    if stored is None:
        detail = f"{to_spark(item.value)} is no {column.type} literal for {column.name}"
        raise AcidSqlError(Condition.INVALID_PARTITION_SPEC, span=item.column.span, detail=detail)
    return stored


def _text(value: exp.Expr) -> str | None:
    match value:
        case exp.Literal():
            return str(value.this)
        case exp.Boolean():
            return "true" if value.this else "false"
        case exp.Neg(this=exp.Literal(is_string=False) as number):
            return f"-{number.this}"
        case exp.Cast(this=exp.Literal() as literal):  # DATE '2024-01-01'
            return str(literal.this)
        case _:
            return None


def _as_type(text: str, column: Column) -> str | None:
    """The text as a value of the column's type is written in a partition's name; None where it is none."""
    match parse_type(column.type):
        case Primitive(name) if name in _INTEGERS:
            return _integer(text, _INTEGERS[name])
        case Primitive("float" | "double"):
            return _parsed_float(text)
        case DecimalType(precision, scale):
            return _decimal(text, precision, scale)
        case Primitive("boolean"):
            return text.lower() if text.lower() in ("true", "false") else None
        case Primitive("date"):
            return _date(text)
        case Primitive(name) if name.startswith("timestamp"):
            return text if _TIMESTAMP.fullmatch(text) else None
        case Varchar(length) | CharType(length):
            return text if len(text) <= length else None
        case _:
            return text


def _integer(text: str, bits: int) -> str | None:
    if not re.fullmatch(r"[+-]?\d+", text):
        return None
    number = int(text)
    return str(number) if -(1 << bits) <= number < 1 << bits else None


def _parsed_float(text: str) -> str | None:
    try:
        return repr(float(text))
    except ValueError:
        return None


def _decimal(text: str, precision: int, scale: int) -> str | None:
    try:
        number = Decimal(text).quantize(Decimal(1).scaleb(-scale))
    except InvalidOperation:
        return None
    return format(number, "f") if len(number.as_tuple().digits) <= precision else None


def _date(text: str) -> str | None:
    found = _DATE.fullmatch(text)
    if found is None or not (1 <= int(found[2]) <= 12 and 1 <= int(found[3]) <= 31):
        return None
    return f"{found[1]}-{int(found[2]):02d}-{int(found[3]):02d}"
