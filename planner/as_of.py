"""AS OF: which version of a table a query reads, as the statement names it."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.dialect import span_of

ASSUME_NO_DROPS: Final = "acidsql.history.assume.no.dropped.partitions"
"""Setting: whether no partition was dropped where the metastore does not tell."""

_DATE: Final = len("2026-11-01")
_TIME: Final = re.compile(
    r"\b(?:timestamp|system_time)\s+as\s+of\b|\bchanges\s+from\s+(?:timestamp|system_time)\b", re.I
)
_WRITE_SET: Final = re.compile(r"(\d{1,18}):(\d{1,18}(?:,\d{1,18})*)?", re.ASCII)
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
class WriteSet:
    """A version of a table that is not all writes up to one: those up to `highest` without `missing`, which committed
    later. A statement writes it as a text.

    >>> str(WriteSet(9, frozenset({5, 7}))), str(WriteSet(9))
    ('9:5,7', '9:')
    >>> WriteSet.of_text("9:5") == WriteSet(9, frozenset({5})), WriteSet.of_text("9"), WriteSet.of_text("5:9")
    (True, None, None)
    """

    highest: int
    missing: frozenset[int] = frozenset()

    @classmethod
    def of_text(cls, text: str) -> WriteSet | None:
        """The set that a text is; None for another text."""
        found = _WRITE_SET.fullmatch(text)
        if found is None:
            return None
        highest, missing = int(found[1]), frozenset(map(int, found[2].split(","))) if found[2] else frozenset()
        return cls(highest, missing) if all(0 < each <= highest for each in missing) else None

    def __str__(self) -> str:
        return f"{self.highest}:{','.join(map(str, sorted(self.missing)))}"


Point: TypeAlias = "int | WriteSet | datetime"
"""What a statement names as a version: a write ID, a set of writes, or a time, which has an offset."""


@dataclass(frozen=True, slots=True)
class AsOf:
    """A version of a table: the write ID up to which its writes are read, a set of writes, or the time up to which they
    were committed."""

    point: Point
    assumes_no_drops: bool = False
    """Whether the user says that no partition was dropped of which the metastore does not tell."""
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{kind_of(self.point)} AS OF {shown(self.point)}"

    def refused(self, reason: str) -> AcidSqlError:
        """INVALID_PARAMETER for a version that cannot be read."""
        return invalid(reason, self.span)


def invalid(reason: str, span: Span | None) -> AcidSqlError:
    """INVALID_PARAMETER for a version that cannot be read."""
    return AcidSqlError(Condition.INVALID_PARAMETER, span=span, name="version", reason=reason)


def as_of(node: exp.Version, source: str, zone: str, *, assumes_no_drops: bool) -> AsOf:
    """What a node of the tree names. A time without an offset is one in the zone. Raises INVALID_PARAMETER."""
    span = place_of(node, source)
    return AsOf(point_of(node, span, zone), assumes_no_drops, span)


def kind_of(point: Point) -> str:
    """The word before a point in a statement."""
    return "TIMESTAMP" if isinstance(point, datetime) else "VERSION"


def shown(point: Point) -> str:
    """A point as a statement writes it, but a time as it is."""
    return f"'{point}'" if isinstance(point, WriteSet) else str(point)


def point_of(node: exp.Version, span: Span | None, zone: str) -> Point:
    """The version or the time that a node names. Raises INVALID_PARAMETER."""
    value = node.expression
    if node.name != "VERSION":
        return _time(value, span, zone)
    if isinstance(value, exp.Literal) and value.is_string and (found := WriteSet.of_text(value.name)) is not None:
        return found
    return write_id_of(value, span)


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
    """Whether a statement may name a time behind a table, so that the planner needs the time zone of the session.

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
