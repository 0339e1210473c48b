"""The values of a statement's parameters as Spark literals."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column
from pyspark.sql import functions as F

from acidsql.acid.hive_types import MOST_DIGITS
from acidsql.errors import AcidSqlError, Condition


class _TooManyDigitsError(ValueError):
    pass


def literals(args: Mapping[str, object]) -> dict[str, Column]:
    """The values as literals. Raises INVALID_PARAMETER for a value that has no literal in Spark."""
    return {name: _literal(name, value) for name, value in args.items()}


def _literal(name: str, value: object) -> Column:
    try:
        return _column(value)
    except (PySparkException, Py4JError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
        said = str(error).splitlines()[0][:200] if isinstance(error, PySparkException | _TooManyDigitsError) else ""
        reason = f"a value of {kind} cannot become one of SQL{said and f' ({said})'}"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name=name, reason=reason) from error


def has_instant(value: object) -> bool:
    """Whether a parameter is a datetime with a time zone, or contains one."""
    match value:
        case datetime():
            return value.tzinfo is not None
        case list() | tuple():
            return any(map(has_instant, value))
        case dict():
            return any(map(has_instant, value.values()))
        case _:
            return isinstance(value, Column)


def _column(value: Any) -> Column:
    kind = type(value)
    if kind is date:
        return F.expr(f"DATE'{value.isoformat()}'")  # java.sql.Date, which PySpark uses, differs before 1582
    if kind is datetime:
        return _time(value)
    if kind is list:
        return F.array(*map(_column, value))
    if kind is dict:
        return F.create_map(*(_column(part) for item in value.items() for part in item))
    if (kind is int and not -(1 << 63) <= value < 1 << 63) or kind is Decimal:
        return F.lit(_decimal(Decimal(value)))
    if kind.__module__ == "numpy" and getattr(value, "ndim", 1) == 0 and value.dtype.kind in "biuf":
        return F.lit(value.item())  # PySpark makes a CAST of NumPy's numbers, which is not a literal
    return F.lit(value)


def _decimal(value: Decimal) -> Decimal:
    _, digits, exponent = value.as_tuple()
    if isinstance(exponent, int) and (max(len(digits) + exponent, 0) + max(-exponent, 0) > MOST_DIGITS):
        raise _TooManyDigitsError(f"a DECIMAL has {MOST_DIGITS} digits at most")
    return value


def _time(value: datetime) -> Column:
    """A datetime without a time zone is a TIMESTAMP; PySpark would take it for a time in the process's zone. A datetime
    with a time zone is an instant."""
    if value.tzinfo is None:
        return F.expr(f"TIMESTAMP_NTZ'{value.isoformat(sep=' ')}'")
    utc = value.astimezone(UTC).replace(tzinfo=None)
    return F.expr(f"TIMESTAMP_LTZ'{utc.isoformat(sep=' ')} UTC'")
