"""What a statement gave, in a form that can be compared: the rows, or that it was refused."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyspark.errors import PySparkException

from acidsql.errors import AcidSqlError
from acidsql.session import Session

Row: TypeAlias = "tuple[Any, ...]"


@dataclass(frozen=True, slots=True)
class Refused:
    """The error's condition and text; `is_known` unless something other than an AcidSqlError came out."""

    condition: str
    text: str
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows, and for DML the counts of rows updated, deleted, inserted."""

    rows: tuple[Row, ...] = ()
    counts: tuple[int, int, int] | None = None


Outcome: TypeAlias = Answer | Refused


def run(
    session: Session,
    text: str,
    frames: Mapping[str, object] | None = None,
    args: Mapping[str, object] | None = None,
    *,
    rows_only: bool = False,
) -> Outcome:
    """Runs a statement to its last row."""
    try:
        result = session.execute(text, args, frames=frames or {}, rows_only=rows_only)
        rows = tuple(tuple(row) for row in result.rows())
        result.close()
    except AcidSqlError as error:
        return Refused(error.condition, str(error))
    except Exception as error:  # noqa: BLE001  # it is what is looked for
        return Refused(type(error).__name__, str(error)[:2000], is_known=False)
    counts = result.counts
    return Answer(rows, (counts.updated, counts.deleted, counts.inserted) if counts is not None else None)


def run_in_spark(spark: Any, text: str) -> Outcome:
    """Runs a query in Spark itself."""
    try:
        return Answer(tuple(tuple(row) for row in spark.sql(text).collect()))
    except PySparkException as error:
        return Refused(error.getCondition() or "", str(error)[:500])


def plain(value: Any, *, exact: bool = True) -> Any:
    """A value that equals another one if SQL cannot tell them apart. Blanks at a text's end do not count: a query
    gives a CHAR column with them, and an expression on it without. `exact` tells -0.0 from 0.0."""
    match value:
        case bool() | None:
            return value
        case str():
            return value.rstrip(" ")
        case float():
            return "NaN" if math.isnan(value) else repr(value if exact else value + 0.0)
        case bytearray() | bytes():
            return bytes(value)
        case tuple() | list():
            return tuple(plain(v, exact=exact) for v in value)
        case dict():
            return tuple(sorted(((plain(k), plain(v, exact=exact)) for k, v in value.items()), key=repr))
        case _:
            return f"{type(value).__name__} {value}" if not isinstance(value, int) else value


def plain_rows(rows: Iterable[Row], *, exact: bool = True) -> list[str]:
    """Each as text: True and 1 differ there."""
    return [repr(plain(row, exact=exact)) for row in rows]


def difference(left: Outcome, right: Outcome, *, exact: bool = True, ordered: bool = False) -> str | None:
    """What one has and the other has not, in words; None where they are equal. Two errors are."""
    if isinstance(left, Refused) or isinstance(right, Refused):
        if isinstance(left, Refused) and isinstance(right, Refused):
            return None
        failed = left if isinstance(left, Refused) else right
        assert isinstance(failed, Refused)
        which = "first" if failed is left else "second"
        return f"only the {which} fails: {failed.condition} {failed.text[:600]}"
    a, b = plain_rows(left.rows, exact=exact), plain_rows(right.rows, exact=exact)
    if a == b or (not ordered and Counter(a) == Counter(b)):
        return None
    return described(a, b)


def described(a: Sequence[str], b: Sequence[str]) -> str:
    only_a, only_b = Counter(a) - Counter(b), Counter(b) - Counter(a)
    if not only_a and not only_b:
        return f"the same rows in another order: {a[:20]} and {b[:20]}"
    shown = [f"{len(a)} rows and {len(b)}"]
    shown += [f"  only the first: {row} x{n}" for row, n in list(only_a.items())[:5]]
    shown += [f"  only the second: {row} x{n}" for row, n in list(only_b.items())[:5]]
    return "\n".join(shown)
