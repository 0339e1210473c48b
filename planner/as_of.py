"""AS OF: which version of a table a query reads, as the statement names it."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.dialect import span_of

ASSUME_NO_DROPS: Final = "acidsql.history.assume.no.dropped.partitions"
"""Setting: whether no partition was dropped where the metastore does not tell."""

_DATE: Final = len("2026-11-01")
_TIME: Final = re.compile(r"\b(?:timestamp|system_time)\s+as\s+of\b", re.IGNORECASE)
_OFFSET: Final = re.compile(r"(?:UTC|GMT|UT|Z)?(?:([+-])(\d{1,2})(?::?(\d{2}))?)?")
"""The names of time zones that have an offset in the place of rules (java.time.ZoneId.of)."""
_TIMES: Final = (
    exp.DataType.Type.DATE,
    exp.DataType.Type.TIMESTAMP,
    exp.DataType.Type.TIMESTAMPTZ,
    exp.DataType.Type.TIMESTAMPNTZ,
    exp.DataType.Type.TIMESTAMPLTZ,
)


@dataclass(frozen=True, slots=True)
class AsOf:
    """A version of a table: the write ID up to which its writes are read, or the time up to which they were committed.
    A time has an offset."""

    point: int | datetime
    assumes_no_drops: bool = False
    """Whether the user says that no partition was dropped of which the metastore does not tell."""
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        kind = "VERSION" if isinstance(self.point, int) else "TIMESTAMP"
        return f"{kind} AS OF {self.point}"

    def refused(self, reason: str) -> AcidSqlError:
        """INVALID_PARAMETER for a version that cannot be read."""
        return invalid(reason, self.span)


def invalid(reason: str, span: Span | None) -> AcidSqlError:
    """INVALID_PARAMETER for a version that cannot be read."""
    return AcidSqlError(Condition.INVALID_PARAMETER, span=span, name="version", reason=reason)


def as_of(node: exp.Version, source: str, zone: str, *, assumes_no_drops: bool) -> AsOf:
    """What a node of the tree names. A time without an offset is one in the zone. Raises INVALID_PARAMETER."""
    value, span = node.expression, place_of(node, source)
    point = write_id_of(value, span) if node.name == "VERSION" else _time(value, span, zone)
    return AsOf(point, assumes_no_drops, span)


def place_of(node: exp.Version, source: str) -> Span | None:
    """The place of the whole clause; None in the definition of a view, which is not part of the statement."""
    return span_of(node, source) if "start" in node.meta else None


def write_id_of(value: exp.Expr, span: Span | None) -> int:
    """The write ID that a value of the statement is. Raises INVALID_PARAMETER."""
    if isinstance(value, exp.Placeholder):
        raise invalid("the value of its parameter is not known here, or is no integer", span)
    negative = isinstance(value, exp.Neg)
    number = value.this if negative else value
    is_number = isinstance(number, exp.Literal) and not number.is_string and str(number.this).isdecimal()
    if not is_number:
        raise invalid("a version is a write ID of the table, which is an integer", span)
    if negative:
        raise invalid(f"-{number.this} is negative, and a write ID is not", span)
    return int(number.this)


def names_a_time(text: str) -> bool:
    """Whether a statement may read a table as of a time, so that the planner needs the time zone of the session.

    >>> names_a_time("SELECT * FROM t FOR SYSTEM_TIME\nAS OF '2026-11-01'"), names_a_time("SELECT time AS of FROM t")
    (True, False)
    """
    return _TIME.search(text) is not None


def _time(value: exp.Expr, span: Span | None, zone: str) -> datetime:
    literal = value.this if isinstance(value, exp.Cast) and value.to.this in _TIMES else value
    if isinstance(literal, exp.Literal) and literal.is_string and len(literal.name) >= _DATE:
        with suppress(ValueError):
            return _with_offset(datetime.fromisoformat(literal.name), span, zone)
    raise invalid("a time is written as '2026-11-01 00:00:00', with or without the offset of its time zone", span)


def _with_offset(time: datetime, span: Span | None, zone: str) -> datetime:
    if time.tzinfo is not None:
        return time
    known = named_zone(zone)
    if known is None:
        reason = f"the time zone {zone} of the session is not known here: write the time with its offset"
        raise invalid(reason, span)
    return time.replace(tzinfo=known)


def named_zone(name: str) -> tzinfo | None:
    """The time zone of a session, by its name in Spark; None if Python does not know it.

    >>> print(named_zone("GMT+05:30"), named_zone("Europe/Vienna"), named_zone("Atlantis"))
    UTC+05:30 Europe/Vienna None
    """
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        sign, hours, minutes = offset.groups()
        amount = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        return timezone(-amount if sign == "-" else amount) if amount else UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # ZoneInfoNotFoundError is a KeyError
        return None
