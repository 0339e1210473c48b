"""PARTITION clauses: converts their literals to the texts of partition values, and checks those of an INSERT."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import Char as CharType
from acidsql.acid.hive_types import Decimal as DecimalType
from acidsql.acid.hive_types import Primitive, Varchar, parse_type
from acidsql.acid.partition_names import DEFAULT_PARTITION, partition_name
from acidsql.acid.partition_values import NUMBER, check_names, normal_value
from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.statements import PartitionItem
from acidsql.metastore.catalog import PartitionValues
from acidsql.values.literals import exact_number

_INTEGERS: Final = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}
_DATE: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})", re.ASCII)
_TIMESTAMP: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,9})?", re.ASCII)
_NAMED: Final = {
    "nan": "NaN",
    **dict.fromkeys(("inf", "infinity"), "Infinity"),
    **dict.fromkeys(("-inf", "-infinity"), "-Infinity"),
}
_EXACT: Final = Context(prec=100)
_ORDERED: Final = ("<", "<=", ">", ">=")


def partition_values(items: Sequence[PartitionItem], table: Table, span: Span | None) -> PartitionValues:
    """The values of the partition that a clause names with a value for each partition column.

    Raises NOT_PARTITIONED, PARTITION_COLUMN_UNKNOWN, INVALID_PARTITION_SPEC, INVALID_PARTITION_VALUE.
    """
    given = _by_column(items, table, span)
    missing = [c.name for c in table.partition_columns if c.name not in given]
    if missing:
        detail = f"no value for {', '.join(missing)}"
        raise AcidSqlError(Condition.INVALID_PARTITION_SPEC, span=span, detail=detail)
    check_assignments(items)
    for item in items:
        if item.value is None:
            detail = f"{item.column.value} must be given as {item.column.value} = value"
            raise AcidSqlError(Condition.INVALID_PARTITION_SPEC, span=item.column.span, detail=detail)
    values = tuple(_value(given[c.name], c) for c in table.partition_columns)
    check_names(values, table.partition_columns, span)
    return values


def check_assignments(items: Sequence[PartitionItem]) -> None:
    """Checks that a PARTITION clause gives each column one value, or none where the rows give it.

    Raises INVALID_PARTITION_SPEC.
    """
    seen: set[str] = set()
    for item in items:
        name = item.column.value
        if item.value is not None and item.operator not in ("=", "=="):
            detail = f"{name} must be given as {name} = value"
            raise AcidSqlError(Condition.INVALID_PARTITION_SPEC, span=item.column.span, detail=detail)
        if name in seen:
            detail = f"{name} is named twice"
            raise AcidSqlError(Condition.INVALID_PARTITION_SPEC, span=item.column.span, detail=detail)
        seen.add(name)


def check_static_value(item: PartitionItem, column: Column) -> None:
    """Raises PARTITION_VALUE_TYPE for a text in the PARTITION clause of an INSERT that is no value of the column's type
    (ErrorMsg 10248; BaseSemanticAnalyzer.validatePartColumnType). Stored, it would be NULL."""
    value = item.value
    if isinstance(value, exp.Literal) and value.is_string and not _is_convertible(str(value.this), column):
        raise AcidSqlError(
            Condition.PARTITION_VALUE_TYPE,
            span=item.column.span,
            column=column.name,
            source="string",
            target=column.type,
            hint=f"For the partition of NULL, write {column.name} = NULL.",
        )


def _is_convertible(text: str, column: Column) -> bool:
    if text == DEFAULT_PARTITION:
        return True
    match parse_type(column.type):
        case Primitive(name) if name in _INTEGERS:
            number = exact_number(text.strip(" "))
            return number is not None and _integer(str(int(number)), _INTEGERS[name]) is not None
        case Primitive("float" | "double") | DecimalType():
            return _as_type(text.strip(" "), column) is not None
        case Primitive("date" | "timestamp"):
            return _date(text.strip(" ")[:10].split(" ")[0]) is not None
        case Primitive("boolean"):  # for Hive 'f' is true, and for Spark false
            return _as_type(text, column) is not None
        case _:
            return True


def partitions_named(
    items: Sequence[PartitionItem], table: Table, known: Sequence[PartitionValues], span: Span | None
) -> list[PartitionValues]:
    """The known partitions that a clause of DROP PARTITION selects by comparisons of some columns with values.

    Raises NOT_PARTITIONED, PARTITION_COLUMN_UNKNOWN, INVALID_PARTITION_SPEC.
    """
    _by_column(items, table, span)
    return [values for values in known if all(_holds(item, table, values) for item in items)]


def name_of_partition(table: Table, values: PartitionValues) -> str:
    """`p=a/q=b`"""
    return partition_name([c.name for c in table.partition_columns], values)


def default_location(table: Table, values: PartitionValues) -> str:
    """The directory of a partition that has no LOCATION of its own."""
    return f"{table.location}/{name_of_partition(table, values)}"


def comparison_text(item: PartitionItem) -> str:
    """An item of a clause as SQL: `p >= 3`."""
    return item.column.value if item.value is None else f"{item.column.value} {item.operator} {to_spark(item.value)}"


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
    column = table.partition_columns[position]
    found, wanted = normal_value(values[position], parse_type(column.type)), _value(item, column)
    if item.operator in ("=", "==", "<=>"):
        return found == wanted or _key(found, column) == _key(wanted, column)
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


def _key(value: str | None, column: Column) -> tuple[bool, Decimal] | bytes | None:
    """A key with the order of the values: NaN is greater than all numbers, and text is ordered by its bytes. A CHAR has
    no padding."""
    if value is None:
        return None
    kind = parse_type(column.type)
    if isinstance(kind, CharType):
        return value.rstrip(" ").encode()
    is_number = isinstance(kind, DecimalType) or (
        isinstance(kind, Primitive) and kind.name in (*_INTEGERS, "float", "double")
    )
    if not is_number or not NUMBER.fullmatch(value):
        return value.encode()
    number = Decimal(value)
    return (True, Decimal(0)) if number.is_nan() else (False, number)


# ------------------------------------------------------------------------------------------------ values


def _value(item: PartitionItem, column: Column) -> str | None:
    assert item.value is not None
    text, kind = _text(item.value), parse_type(column.type)
    if isinstance(item.value, exp.Null) or text == DEFAULT_PARTITION or (text == "" and not isinstance(kind, CharType)):
        return None
    stored = None if text is None else _as_type(text, column)
    if stored is None:
        detail = f"{to_spark(item.value)} is not a {column.type} literal for {column.name}"
        raise AcidSqlError(Condition.INVALID_PARTITION_SPEC, span=item.column.span, detail=detail)
    return normal_value(stored, kind)


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
    """The text of a value of the column's type; None if `text` is not one."""
    kind = parse_type(column.type)
    match kind:
        case Primitive(name) if name in _INTEGERS:
            return _integer(text, _INTEGERS[name])
        case Primitive("float" | "double"):
            return _float(text)
        case DecimalType(precision, scale):
            return _decimal(text, precision, scale)
        case Primitive("boolean"):
            return text.lower() if text.lower() in ("true", "false") else None
        case Primitive("date"):
            return _date(text)
        case Primitive(name) if name.startswith("timestamp"):
            return _timestamp(text)
        case Varchar(length) | CharType(length):
            return text if len(text.rstrip(" ") if isinstance(kind, CharType) else text) <= length else None
        case _:
            return text


def _integer(text: str, bits: int) -> str | None:
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        return None
    number = int(text)
    return str(number) if -(1 << bits) <= number < 1 << bits else None


def _float(text: str) -> str | None:
    name = _NAMED.get(text.lower().lstrip("+"))
    return name or (text if NUMBER.fullmatch(text) else None)


def _decimal(text: str, precision: int, scale: int) -> str | None:
    """The text of a number, rounded as Spark rounds a value that it stores."""
    number = exact_number(text.strip(" "))
    if number is None:
        return None
    try:
        number = number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, _EXACT)
    except InvalidOperation:
        return None
    fits = number.is_finite() and len(number.as_tuple().digits) <= precision
    return format(number, "f") if fits else None


def _timestamp(text: str) -> str | None:
    """A date is its midnight, as in Hive."""
    if (day := _date(text)) is not None:
        return f"{day} 00:00:00"
    try:
        datetime.strptime(text[:19], "%Y-%m-%d %H:%M:%S")
    except ValueError:
        return None
    return text if _TIMESTAMP.fullmatch(text) else None


def _date(text: str) -> str | None:
    found = _DATE.fullmatch(text)
    try:
        return None if found is None else date(*map(int, found.groups())).isoformat()
    except ValueError:
        return None
