"""Functions whose arguments Hive converts by their types, and Spark by others.

Text is a date for the functions of dates if it begins with year, month and day (DateParser): `year('2024')` is NULL.
greatest and least compare text with numbers as DOUBLE (FunctionRegistry.getCommonClassForComparison). sign of a DECIMAL
is an INT (GenericUDFSign). printf shows dates and takes a DECIMAL for %f and %s (GenericUDFPrintf).
FLOAT and DECIMAL results of COALESCE, IF and CASE are FLOAT. typeof knows the types of Hive that Spark lacks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from sqlglot import exp

from acidsql.acid.hive_types import Decimal, HiveType
from acidsql.planner.expressions.expression_types import ExpressionTypes
from acidsql.planner.expressions.hive_functions.template import ARGUMENT_TYPE, filled
from acidsql.planner.expressions.typed_rules.casts import (
    date_of_text,
    exact_timestamp_of_text,
    is_interval,
    number_of_text,
    seconds_of_timestamp,
    timestamp_of_text,
)
from acidsql.values.common_types import BIGINT, DATE, FLOAT, TIMESTAMP, common_type, is_integer, is_number, is_text

_Kinds: TypeAlias = list[HiveType | None]
_Conversion: TypeAlias = Callable[[list[exp.Expr], _Kinds], list[exp.Expr] | None]
"""The converted arguments of a call; None where Spark converts them as Hive does."""

_CONVERSION: Final = re.compile(r"%[-#+ 0,(]*\d*(?:\.\d+)?([a-zA-Z%])")
_AS_DOUBLE: Final = "eEfgGsS"
"""The conversions of printf for which a DECIMAL is a DOUBLE."""
_FIELDS: Final = ("day", "hour", "minute", "second")
"""The functions of a part of a day-time interval."""
_DEPENDING_ON_TYPES: Final = ("hash", "murmur_hash", "concat_ws")
"""Functions whose rules in `hive_functions` depend on the types of their arguments."""


def function_in_hive(node: exp.Expr, types: ExpressionTypes) -> exp.Expr | None:
    if isinstance(node, exp.Case):
        return _case(node, types)
    if not isinstance(node, exp.Anonymous):
        return None
    name = node.name.lower()
    kinds = [types.of(argument) for argument in node.expressions]
    if name in _DEPENDING_ON_TYPES:
        return _with_types(node, kinds)
    if name == "sign" and len(kinds) == 1 and isinstance(kinds[0], Decimal):
        return exp.cast(node.copy(), "int", copy=False)
    if name == "typeof" and len(kinds) == 1 and kinds[0] is not None:
        return exp.Literal.string(str(kinds[0]))
    if name == "to_epoch_milli" and kinds == [TIMESTAMP]:
        return filled("CAST(floor(s * 1000) AS BIGINT)", {"s": seconds_of_timestamp(node.expressions[0])})
    if name in _FIELDS and len(kinds) == 1 and is_interval(node.expressions[0], types):
        return filled(f"int(EXTRACT({name.upper()} FROM a))", {"a": node.expressions[0]})
    conversion = _CONVERSIONS.get(name)
    arguments = conversion(node.expressions, kinds) if conversion is not None else None
    return None if arguments is None else exp.Anonymous(this=node.name, expressions=arguments)


def _with_types(node: exp.Anonymous, kinds: _Kinds) -> exp.Expr | None:
    """Notes the types of the arguments."""
    if not any(kinds):
        return None
    arguments = [argument.copy() for argument in node.expressions]
    for argument, kind in zip(arguments, kinds, strict=True):
        argument.meta[ARGUMENT_TYPE] = kind
    return exp.Anonymous(this=node.name, expressions=arguments)


def _texts_as(convert: Callable[[exp.Expr], exp.Expr], count: int) -> _Conversion:
    """Converts the text among the first `count` arguments."""

    def converted(arguments: list[exp.Expr], kinds: _Kinds) -> list[exp.Expr] | None:
        if not any(map(is_text, kinds[:count])):
            return None
        return [
            convert(argument.copy()) if place < count and is_text(kind) else argument
            for place, (argument, kind) in enumerate(zip(arguments, kinds, strict=True))
        ]

    return converted


def _dates(count: int) -> _Conversion:
    """Converts the text among the first `count` arguments to dates."""
    return _texts_as(date_of_text, count)


def _month_later(arguments: list[exp.Expr], kinds: _Kinds) -> list[exp.Expr] | None:
    """add_months with a format as its third argument keeps the time of day."""
    return _dates(1)(arguments, kinds) if len(arguments) == 2 else None


def _unix_timestamp(arguments: list[exp.Expr], kinds: _Kinds) -> list[exp.Expr] | None:
    """Text without a pattern has a date and a time. A pattern is for text only (GenericUDFToUnixTimeStamp)."""
    if len(arguments) == 1 and is_text(kinds[0]):
        return [exact_timestamp_of_text(arguments[0].copy())]
    return arguments[:1] if len(arguments) == 2 and kinds[0] in (DATE, TIMESTAMP) else None


def _seconds(arguments: list[exp.Expr], kinds: _Kinds) -> list[exp.Expr] | None:
    """SUM and AVG of a TIMESTAMP are those of its seconds (GenericUDAFSum, GenericUDAFAverage)."""
    if kinds != [TIMESTAMP] or isinstance(arguments[0], exp.Distinct):
        return None
    return [exp.cast(seconds_of_timestamp(arguments[0]), "double", copy=False)]


def _time(arguments: list[exp.Expr], kinds: _Kinds) -> list[exp.Expr] | None:
    """Text is a timestamp, and a number is one, too."""
    return _texts_as(timestamp_of_text, 1)(arguments, kinds) or _time_of_number(arguments, kinds)


def _time_of_number(arguments: list[exp.Expr], kinds: _Kinds) -> list[exp.Expr] | None:
    """An integer is a number of milliseconds since 1970-01-01 00:00:00, other numbers are seconds
    (PrimitiveObjectInspectorUtils.getTimestamp)."""
    if not kinds or not is_number(kinds[0]):
        return None
    seconds = "CAST(a AS DECIMAL(20, 0)) / 1000" if is_integer(kinds[0]) else "CAST(a AS DECIMAL(24, 6))"
    sql = f"TIMESTAMP_NTZ '1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, {seconds})"
    return [filled(sql, {"a": arguments[0]}), *arguments[1:]]


def _of_text(arguments: list[exp.Expr], kinds: _Kinds) -> list[exp.Expr] | None:
    """Numbers and times are hashed as text (UDFMd5, UDFSha1, UDFCrc32, GenericUDFSha2)."""
    if not kinds or not (is_number(kinds[0]) or kinds[0] in (DATE, TIMESTAMP)):
        return None
    return [exp.cast(arguments[0].copy(), "string", copy=False), *arguments[1:]]


def _within_int(arguments: list[exp.Expr], kinds: _Kinds) -> list[exp.Expr] | None:
    """A BIGINT place or length that no INT holds makes substr NULL (seen on Hive 4.0.1)."""
    if BIGINT not in kinds[1:]:
        return None
    sql = "CAST(IF(n BETWEEN -2147483648 AND 2147483647, n, NULL) AS INT)"
    return [
        filled(sql, {"n": argument}) if place > 0 and kind == BIGINT else argument
        for place, (argument, kind) in enumerate(zip(arguments, kinds, strict=True))
    ]


def _as_doubles(arguments: list[exp.Expr], kinds: _Kinds) -> list[exp.Expr] | None:
    if not (any(map(is_text, kinds)) and any(map(is_number, kinds)) and all(is_text(k) or is_number(k) for k in kinds)):
        return None
    return [
        number_of_text(argument.copy()) if is_text(kind) else exp.cast(argument.copy(), "double")
        for argument, kind in zip(arguments, kinds, strict=True)
    ]


def _compared(arguments: list[exp.Expr], kinds: _Kinds) -> list[exp.Expr] | None:
    """Text beside a date or a time is one, too; beside a number it is a DOUBLE (getCommonClassForComparison)."""
    times = {kind for kind in kinds if not is_text(kind)}
    if times and times <= {DATE, TIMESTAMP} and any(map(is_text, kinds)):
        convert = timestamp_of_text if TIMESTAMP in times else date_of_text
        return [convert(a.copy()) if is_text(k) else a for a, k in zip(arguments, kinds, strict=True)]
    return _as_doubles(arguments, kinds) or _as_floats(arguments, kinds)


def _as_floats(arguments: list[exp.Expr], kinds: _Kinds) -> list[exp.Expr] | None:
    """The common type of FLOAT and DECIMAL is FLOAT (FunctionRegistry.getCommonClass); in Spark it is DOUBLE."""
    if not any(isinstance(kind, Decimal) for kind in kinds) or common_type(kinds) != FLOAT:
        return None
    return [
        exp.cast(argument.copy(), "float") if isinstance(kind, Decimal) else argument
        for argument, kind in zip(arguments, kinds, strict=True)
    ]


def _results_as_floats(arguments: list[exp.Expr], kinds: _Kinds) -> list[exp.Expr] | None:
    results = _as_floats(arguments[1:], kinds[1:])
    return None if results is None else [arguments[0], *results]


def _case(node: exp.Case, types: ExpressionTypes) -> exp.Expr | None:
    """CASE with the results of the branches as FLOAT where one is a FLOAT and another a DECIMAL."""
    default = node.args.get("default")
    results = [*(branch.args["true"] for branch in node.args["ifs"]), *([] if default is None else [default])]
    floats = _as_floats(results, [types.of(result) for result in results])
    if floats is None:
        return None
    new = node.copy()
    for branch, result in zip(new.args["ifs"], floats, strict=False):
        branch.set("true", result.copy())
    if default is not None:
        new.set("default", floats[-1].copy())
    return new


def _printed(arguments: list[exp.Expr], kinds: _Kinds) -> list[exp.Expr] | None:
    form = arguments[0] if arguments else None
    found = _CONVERSION.findall(str(form.this)) if isinstance(form, exp.Literal) and form.is_string else []
    letters = ["", *(letter for letter in found if letter not in "%n")]
    new: list[exp.Expr] = []
    for place, (argument, kind) in enumerate(zip(arguments, kinds, strict=True)):
        is_fraction = place < len(letters) and letters[place] in _AS_DOUBLE and place > 0
        if kind in (DATE, TIMESTAMP):
            new.append(exp.cast(argument.copy(), "string"))
        elif isinstance(kind, Decimal) and is_fraction:
            new.append(exp.cast(argument.copy(), "double"))
        else:
            new.append(argument)
    return None if all(a is b for a, b in zip(arguments, new, strict=True)) else new


_OF_DATES: Final = "year month day dayofmonth quarter weekofyear dayofweek last_day date_add date_sub next_day to_date"
_CONVERSIONS: Final[dict[str, _Conversion]] = {
    **dict.fromkeys(_OF_DATES.split(), _dates(1)),
    "add_months": _month_later,
    "datediff": _dates(2),
    "date_format": _texts_as(timestamp_of_text, 1),
    **dict.fromkeys(("unix_timestamp", "to_unix_timestamp"), _unix_timestamp),
    **dict.fromkeys(("sum", "avg"), _seconds),
    **dict.fromkeys(("md5", "sha", "sha1", "sha2", "crc32"), _of_text),
    **dict.fromkeys(("greatest", "least"), _compared),
    **dict.fromkeys(("coalesce", "nvl", "array"), _as_floats),
    "if": _results_as_floats,
    "trunc": _dates(1),
    **dict.fromkeys(("substr", "substring", "mid"), _within_int),
    "months_between": _texts_as(timestamp_of_text, 2),
    **dict.fromkeys(("from_utc_timestamp", "to_utc_timestamp"), _time),
    "printf": _printed,
    "format_string": _printed,
}
