"""Functions of Python that CREATE TEMPORARY FUNCTION names: their import, their types, and their registration."""

from __future__ import annotations

import datetime
import decimal
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.spark.engine import Engine
from acidsql.spark.session.jvm_loss import SPARK_ERRORS

_TYPES: Final[Mapping[object, str]] = {
    int: "bigint",
    float: "double",
    str: "string",
    bool: "boolean",
    bytes: "binary",
    decimal.Decimal: "decimal(38,18)",
    datetime.date: "date",
    datetime.datetime: "timestamp",
}
_WANTED: Final = (
    "CREATE TEMPORARY FUNCTION name AS 'package.module.function', with the module on Python's path (PYTHONPATH)."
)
_ONLY_PYTHON: Final = f"acidsql runs functions of Python only, and no classes of Java: {_WANTED}"
_ANNOTATE: Final = (
    "Give the function an annotation of its return type, such as `-> str`: int, float, str, bool, bytes, Decimal, date,"
    " datetime, list[..] or dict[..] of them. A function with @udf(type) of pyspark needs none."
)


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A function, and its return type as SQL; None for a function of pyspark, which knows its type."""

    name: str
    call: Callable[..., Any]
    return_type: str | None
    span: Span | None


def imported_function(name: str, span: Span | None) -> PythonFunction:
    """The function `package.module.function`. Its module is imported, and so is run, unless the process has it.

    Raises INVALID_PYTHON_FUNCTION.
    """
    module_name, _, function_name = name.rpartition(".")
    if not all(part.isidentifier() for part in name.split(".")) or not module_name:
        raise _invalid(f"{name!r} is not the name of a function in a module", span, _WANTED)
    found = getattr(_module(name, module_name, span), function_name, None)
    if found is None:
        raise _invalid(f"Function {name} not found: the module {module_name} has no {function_name}", span, _WANTED)
    if not callable(found) or isinstance(found, type | types.ModuleType):
        raise _invalid(f"{name} is no function", span, _WANTED)
    if hasattr(found, "asNondeterministic"):  # as UDFRegistration.register of pyspark tells its own functions
        return PythonFunction(name, found, None, span)
    return PythonFunction(name, found, _return_type(name, found, span), span)


def register(name: str, function: PythonFunction, engine: Engine) -> None:
    """Registers a function in the user's Spark session. Starts Spark. Raises INVALID_PYTHON_FUNCTION."""
    try:
        engine.spark.udf.register(name, function.call, function.return_type)
    except SPARK_ERRORS as error:
        raise _invalid(f"Spark cannot run {function.name}: {error}", function.span, "") from error


def _module(name: str, module_name: str, span: Span | None) -> types.ModuleType:
    try:
        return import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or module_name
        hint = _ONLY_PYTHON if f"{module_name}.".startswith(f"{missing}.") else ""
        raise _invalid(f"Function {name} not found: there is no module {missing}", span, hint) from error
    except Exception as error:  # the module is the user's code, and any error may come out of it
        message = f"The module {module_name} cannot be imported: {type(error).__name__}: {error}"
        raise _invalid(message, span, "") from error


def _return_type(name: str, function: Callable[..., Any], span: Span | None) -> str:
    annotated = function if isinstance(function, types.FunctionType) else type(function).__call__
    try:
        hints = typing.get_type_hints(annotated)
    except (NameError, TypeError, AttributeError) as error:
        raise _invalid(f"The annotations of {name} cannot be read: {error}", span, _ANNOTATE) from error
    if "return" not in hints:
        raise _invalid(f"The return type of {name} is not known", span, _ANNOTATE)
    known = sql_type(hints["return"])
    if known is None:
        shown = getattr(hints["return"], "__name__", str(hints["return"]))
        raise _invalid(f"{name} returns {shown}, which is no type of a column", span, _ANNOTATE)
    return known


def sql_type(annotation: object) -> str | None:
    """The type of a column for an annotation of Python. `X | None` is X, because every column may hold NULL.

    >>> sql_type(dict[str, list[int] | None])
    'map<string,array<bigint>>'
    >>> sql_type(object) is None
    True
    """
    arguments = typing.get_args(annotation)
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        others = [argument for argument in arguments if argument is not types.NoneType]
        return sql_type(others[0]) if len(others) == 1 else None
    inner = [sql_type(argument) for argument in arguments]
    if None in inner:
        return None
    match typing.get_origin(annotation), inner:
        case (origin, [element]) if origin is list:
            return f"array<{element}>"
        case (origin, [key, value]) if origin is dict:
            return f"map<{key},{value}>"
        case (None, _):
            return _TYPES.get(annotation)
        case _:
            return None


def _invalid(message: str, span: Span | None, hint: str) -> AcidSqlError:
    return AcidSqlError(Condition.INVALID_PYTHON_FUNCTION, span=span, message=message, hint=hint)
