"""Functions of dates and times (GenericUDFAddMonths, GenericUDFTrunc, UDFDateFloor, GenericUDFFromUtcTimestamp).

Hive's TIMESTAMP is wall-clock time, and its functions return wall-clock times in the session's time zone. Spark's
functions of the same names return instants.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from acidsql.planner.expressions.hive_functions.intervals import is_interval
from acidsql.planner.expressions.hive_functions.template import (
    Rule,
    call,
    filled,
    number_of,
    optional,
    template,
    text_of,
)

_WALL_CLOCK: Final = exp.DataType.Type.TIMESTAMPNTZ
_INSTANT: Final = exp.DataType.Type.TIMESTAMPLTZ
_UTC: Final = exp.Literal.string("UTC")
_FIELDS: Final = ("year", "month", "day", "dayofmonth", "hour", "minute", "second")
_UNITS: Final = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_TEXT: Final = re.compile(r"'(?:[^']|'')*'")
"""Text within a pattern of date_format."""
_WEEKS: Final = {
    "w": "(dayofyear(w) - 1) div 7 + 1",
    "Y": "year(w)",
    "W": "(day(a) + dayofweek(trunc(a, 'MM')) - 2) div 7 + 1",
    "e": "dayofweek(a)",
    "c": "dayofweek(a)",
}
"""Numbers for the letters of weeks, which Spark refuses, as in the United States: a week begins on Sunday, and the
first one of a year has the 1st of January. `w` is the last day of the week of the date `a`."""
_WEEK: Final = re.compile(r"(w+|Y+|W+|e+|c+|(?<!E)EEEEE(?!E)|(?<![ML])[ML]{5}(?![ML]))")
"""The letters of weeks, and names of one letter, which Spark refuses, too."""
_MONTHS_LATER: Final = "IF(CAST(a AS DATE) = last_day(a), last_day(add_months(a, n)), add_months(a, n))"


def _now(_: list[exp.Expr]) -> exp.Expr:
    return call("localtimestamp")


def _to_utc(arguments: list[exp.Expr]) -> exp.Expr:
    wall_clock, zone = arguments
    return call("convert_timezone", _zone(zone), _UTC.copy(), exp.cast(wall_clock, _WALL_CLOCK))


def _from_utc(arguments: list[exp.Expr]) -> exp.Expr:
    wall_clock, zone = arguments
    return call("convert_timezone", _UTC.copy(), _zone(zone), exp.cast(wall_clock, _WALL_CLOCK))


_ZONES: Final = (
    "ACT AET AGT ART AST BET BST CAT CET CNT CST CST6CDT CTT Cuba EAT ECT EET EST EST5EDT Egypt Eire GB GB-Eire GMT"
    " GMT0 Greenwich HST Hongkong IET IST Iceland Iran Israel JST Jamaica Japan Kwajalein Libya MET MIT MST MST7MDT NET"
    " NST NZ NZ-CHAT Navajo PLT PNT PRC PRT PST PST8PDT Poland Portugal ROK SST Singapore Turkey UCT UTC Universal VST"
    " W-SU WET Zulu"
)
"""The names of time zones without a slash."""
_ZONE: Final = rf"(?:[A-Z]\w*(?:/[A-Z][\w+-]*)+|GMT[+-]\d{{1,2}}(?::?\d{{2}})?|{'|'.join(_ZONES.split())})"


def _zone(zone: exp.Expr) -> exp.Expr:
    """A time zone. Hive takes what names none for UTC: an offset alone, such as +02:00, or any other text
    (java.util.TimeZone.getTimeZone)."""
    name = text_of(zone)
    if name is None:
        return filled(f"IF(z RLIKE '^{_ZONE}$' OR z IS NULL, z, 'UTC')".replace("\\", "\\\\"), {"z": zone})
    return zone if re.fullmatch(_ZONE, name) else _UTC.copy()


def _to_timestamp(arguments: list[exp.Expr]) -> exp.Expr:
    return exp.cast(arguments[0], _WALL_CLOCK)


def _seconds(arguments: list[exp.Expr]) -> exp.Expr:
    """unix_timestamp interprets a TIMESTAMP in the session's time zone. COALESCE with a NULL instant converts a
    TIMESTAMP to an instant and leaves text as it is. A pattern without a day gives NULL, as it gives no date."""
    value, *form = arguments
    pattern = text_of(form[0]) if form else None
    if pattern is not None and not re.search("[dD]", _TEXT.sub("", pattern)):
        return exp.cast(exp.null(), exp.DataType.Type.BIGINT)
    if not (isinstance(value, exp.Literal) and value.is_string):
        value = call("coalesce", value, exp.cast(exp.null(), _INSTANT))
    return call("unix_timestamp", value, *form)


def _formatted(name: str, date_of: str) -> Rule:
    """DATE_FORMAT and FROM_UNIXTIME: `u` is the year in Hive's patterns, those of java.time. `date_of` is SQL for the
    date of the value `a`."""

    def rule(arguments: list[exp.Expr]) -> exp.Expr:
        value, form = arguments
        pattern = text_of(form)
        if pattern is None:
            return call(name, value, form)
        pieces = list(_pieces(pattern))
        if not any(is_week for _, is_week in pieces):
            return call(name, value, exp.Literal.string(_outside_text(pattern)))
        parts = [
            _week(piece, filled(date_of, {"a": value})) if is_week else call(name, value.copy(), _outside(piece))
            for piece, is_week in pieces
        ]
        return call("concat", *parts)

    return rule


def _pieces(pattern: str) -> Iterator[tuple[str, bool]]:
    """The pieces of a pattern in order, each with whether it consists of letters of weeks."""
    plain = ""
    for piece in re.split(f"({_TEXT.pattern})", pattern):
        for part in [piece] if piece.startswith("'") else _WEEK.split(piece):
            if not _WEEK.fullmatch(part):
                plain += part
                continue
            if plain:
                yield plain, False
            yield part, True
            plain = ""
    if plain:
        yield plain, False


def _week(letters: str, date: exp.Expr) -> exp.Expr:
    digits = len(letters)
    if letters[0] in "EML":
        return filled("left(n, 1)", {"n": call("date_format", date, exp.Literal.string(letters[:4]))})
    if letters[0] in "ec" and digits > 2:
        return call("date_format", date, exp.Literal.string("E" * digits))
    number = filled(_WEEKS[letters[0]], {"a": date, "w": filled("date_add(a, 7 - dayofweek(a))", {"a": date})})
    if letters[0] == "Y" and digits == 2:
        number = filled("n % 100", {"n": number})
    return filled(f"lpad(CAST(n AS STRING), greatest({digits}, length(CAST(n AS STRING))), '0')", {"n": number})


def _outside(pattern: str) -> exp.Expr:
    return exp.Literal.string(_outside_text(pattern))


def _outside_text(pattern: str) -> str:
    """The pattern with `y` for `u` outside of quoted text."""
    pieces = re.split(f"({_TEXT.pattern})", pattern)
    return "".join(piece if piece.startswith("'") else piece.replace("u", "y") for piece in pieces)


def _truncated(arguments: list[exp.Expr]) -> exp.Expr:
    """TRUNC of a date, which is text and takes no other units than these; or of a number, toward zero."""
    value, unit = arguments
    if number_of(unit) is not None:
        return filled("IF(a < 0, ceil(a, n), floor(a, n))", {"a": value, "n": unit})
    units = "('MM', 'MON', 'MONTH', 'YEAR', 'YYYY', 'YY', 'Q', 'QUARTER')"
    return filled(
        f"CAST(IF(u IN {units}, trunc(a, IF(u = 'Q', 'QUARTER', u)), NULL) AS STRING)", {"a": value, "u": unit}
    )


def _field(name: str) -> Rule:
    """YEAR, DAY and so on of an interval: Spark's functions take times only."""

    def rule(arguments: list[exp.Expr]) -> exp.Expr:
        value = arguments[0]
        unit = "DAY" if name == "dayofmonth" else name.upper()
        return filled(f"int(EXTRACT({unit} FROM a))", {"a": value}) if is_interval(value) else call(name, value)

    return rule


def floor_rule(unit: str) -> Rule:
    return template("a", f"CAST(date_trunc('{unit.upper()}', CAST(a AS TIMESTAMP_NTZ)) AS TIMESTAMP_NTZ)")


def extract(node: exp.Extract) -> exp.Expr:
    """EXTRACT(SECOND FROM ..) has no fraction in Hive."""
    return filled("int(EXTRACT(SECOND FROM a))", {"a": node.expression})


def is_extract(node: exp.Extract) -> bool:
    return node.name.lower() == "second"


def floor(node: exp.Floor) -> exp.Expr:
    """FLOOR(time TO unit)."""
    return floor_rule(node.args["to"].name)([node.this.copy()])


def is_floor(node: exp.Floor) -> bool:
    unit = node.args.get("to")
    return unit is not None and unit.name.lower() in _UNITS


RULES: Final[dict[tuple[str, int], Rule]] = {
    ("to_epoch_milli", 1): template("t", "unix_millis(t)"),
    **{(name, 0): _now for name in ("current_timestamp", "now")},
    ("to_utc_timestamp", 2): _to_utc,
    ("from_utc_timestamp", 2): _from_utc,
    ("timestamp", 1): _to_timestamp,
    **optional(("unix_timestamp", "to_unix_timestamp"), {1: _seconds, 2: _seconds}),
    ("date_format", 2): _formatted("date_format", "CAST(a AS DATE)"),
    ("from_unixtime", 2): _formatted("from_unixtime", "CAST(from_unixtime(a) AS DATE)"),
    # The end of a month stays the end of a month. The functions of dates below return text.
    ("add_months", 2): template("a n", f"CAST({_MONTHS_LATER} AS STRING)"),
    ("add_months", 3): template(
        "a n f",
        f"date_format(CAST(concat(CAST({_MONTHS_LATER} AS STRING),"
        " substr(CAST(CAST(a AS TIMESTAMP_NTZ) AS STRING), 11)) AS TIMESTAMP_NTZ), f)",
    ),
    ("last_day", 1): template("a", "CAST(last_day(a) AS STRING)"),
    ("next_day", 2): template("a d", "CAST(next_day(a, d) AS STRING)"),
    ("trunc", 1): template("a", "IF(a < 0, ceil(a), floor(a))"),
    ("trunc", 2): _truncated,
    **{(name, 1): _field(name) for name in _FIELDS},
    **{(f"floor_{unit}", 1): floor_rule(unit) for unit in _UNITS},
}
