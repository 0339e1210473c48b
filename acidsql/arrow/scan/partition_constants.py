"""The value of a partition column, which the catalog has as text, as a value of its type."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import Context
from decimal import Decimal as Number
from typing import Any, Final

import pyarrow as pa

from acidsql.acid.hive_types import Char, Decimal, HiveType, Primitive, Varchar, parse_type
from acidsql.acid.partition_values import NUMBER
from acidsql.acid.table import Column
from acidsql.arrow.scan.orc_columns import WAY_OUT
from acidsql.arrow.scan.spark_schema import column_type
from acidsql.errors import AcidSqlError, Condition
from acidsql.values.numpy_arrays import scalar

_INTEGER: Final = re.compile(r"[+-]?\d{1,19}", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIMESTAMP: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?", re.ASCII)
_EXACT: Final = Context(prec=80)
_EPOCH: Final = datetime(1970, 1, 1)
_MICROSECOND: Final = timedelta(microseconds=1)
_ERRORS: Final = (ValueError, ArithmeticError, pa.ArrowException)


def partition_constant(text: str | None, column: Column) -> Any:
    """The value as an Arrow scalar. Raises NOT_YET_SUPPORTED for a text that is not in the usual form of its type.

    >>> partition_constant("007", Column("p", "int")), partition_constant(None, Column("d", "date"))
    (<pyarrow.Int32Scalar: 7>, <pyarrow.Date32Scalar: None>)
    """
    kind = parse_type(column.type)
    wanted = column_type(kind)
    if text is None:
        return scalar(None, wanted)
    try:
        value = _value(text, kind)
        if value is not None:
            return scalar(value, wanted)
    except _ERRORS:
        pass
    feature = f"The value '{text}' of the partition column {column.name} of type {column.type} without Spark"
    raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature, hint=WAY_OUT)


def _value(text: str, kind: HiveType) -> object:
    """A number, or days or microseconds since 1970; None for a text in another form."""
    match kind:
        case Char() | Varchar() | Primitive("string"):
            return text
        case Primitive("tinyint" | "smallint" | "int" | "bigint"):
            return int(text) if _INTEGER.fullmatch(text) else None
        case Primitive("boolean"):
            return {"true": True, "false": False}.get(text.lower())
        case Primitive("date"):
            return date.fromisoformat(text).toordinal() - _EPOCH.toordinal() if _DATE.fullmatch(text) else None
        case Primitive("timestamp"):
            return (datetime.fromisoformat(text) - _EPOCH) // _MICROSECOND if _TIMESTAMP.fullmatch(text) else None
        case Primitive("double"):
            return float(text) if NUMBER.fullmatch(text) else None
        case Decimal(_, scale):
            number = Number(text) if NUMBER.fullmatch(text) else None
            rounded = None if number is None else number.quantize(Number(1).scaleb(-scale), context=_EXACT)
            return rounded if rounded == number else None
        case _:
            return None
