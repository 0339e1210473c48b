"""The DEFAULT of a column that a record does not have."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import HiveType, Primitive, is_complex
from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.queries.name_resolution import default_of
from acidsql.values.literals import exact_number
from acidsql.values.stored_values import Unfit, storing
from acidsql.values.value_texts import value_of_text

_SUFFIXES: Final = ("bd", "l", "s", "y", "d")
"""Suffixes of numbers. That of FLOAT is none of them, because it rounds."""


def default_value(column: Column, table: Table, hive_type: HiveType) -> object:
    """The value of the column's DEFAULT; None without one.

    Raises NOT_YET_SUPPORTED for a DEFAULT that is no literal of the column's type, such as CURRENT_TIMESTAMP(), which
    depends on the time zone of a Spark session.
    """
    if column.name not in table.constraints.defaults:
        return None
    try:
        return storing(hive_type)(_literal(default_of(column, table), hive_type))
    except Unfit as error:
        text = table.constraints.defaults[column.name]
        raise AcidSqlError(
            Condition.NOT_YET_SUPPORTED,
            feature=f"DEFAULT {text} of the column {column.name} in a stream ({error})",
            hint=f"Give the column {column.name} in each record.",
        ) from None


def _literal(node: exp.Expr, hive_type: HiveType) -> object:
    match node:
        case exp.Paren():
            return _literal(node.this, hive_type)
        case exp.Null():
            return None
        case exp.Boolean():
            return bool(node.this)
        case exp.Literal(is_string=True) if not is_complex(hive_type):
            return value_of_text(str(node.this), hive_type)
        case exp.Literal(is_string=False):
            return _number(str(node.this))
        case exp.Neg(this=exp.Literal(is_string=False) as number):
            return _number(f"-{number.this}")
        case exp.Cast(this=exp.Literal(is_string=True) as text) if _is_time(node.to, hive_type):  # DATE '2024-01-01'
            return str(text.this)
        case exp.Cast(this=exp.Literal(is_string=False) | exp.Neg() as number) if _is_of(node.to, hive_type):
            return _literal(number, hive_type)
        case _:
            raise Unfit("it is not a literal")


def _number(text: str) -> Decimal:
    number = exact_number(text)
    for suffix in _SUFFIXES:
        number = number if number is not None else exact_number(text.lower().removesuffix(suffix))
    if number is None:
        raise Unfit("it is not a literal")
    return number


def _is_time(kind: exp.DataType, hive_type: HiveType) -> bool:
    """Whether a cast to `kind` gives a time for a column that takes times."""
    return kind.this in exp.DataType.TEMPORAL_TYPES and hive_type in (Primitive("date"), Primitive("timestamp"))


def _is_of(kind: exp.DataType, hive_type: HiveType) -> bool:
    return kind.sql(dialect="hive").lower().replace(" ", "") == str(hive_type)
