"""What a statement gives, as plain values that a test can compare: rows, counts, errors, files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session


def rows(
    session: Session,
    query: str = "SELECT * FROM t ORDER BY id",
    args: Mapping[str, object] | Sequence[object] | None = None,
    **frames: object,
) -> list[tuple[object, ...]]:
    """The rows of a query, in its order."""
    return [tuple(row) for row in session.sql(query, args, **frames).collect()]


@contextmanager
def spark_alone(session: Session) -> Iterator[None]:
    """The session runs its statements by Spark, without the Arrow engine."""
    steering = session._engines.steering
    steering.may_use_arrow = False
    try:
        yield
    finally:
        steering.may_use_arrow = True


def counts(
    session: Session, statement: str, args: Mapping[str, object] | Sequence[object] | None = None, **frames: object
) -> tuple[int, ...]:
    """The counts of a DML statement: affected, updated, deleted, inserted."""
    return tuple(session.sql(statement, args, **frames).collect()[0])


def fails(condition: str, call: Callable[[], object]) -> AcidSqlError:
    """The error of a call that must raise one with this condition."""
    with pytest.raises(AcidSqlError) as caught:
        call()
    assert caught.value.condition == condition, str(caught.value)
    return caught.value


def files_below(directory: Path) -> list[str]:
    """The paths of all files below a directory, relative to it, in order."""
    return sorted(p.relative_to(directory).as_posix() for p in directory.rglob("*") if p.is_file())
