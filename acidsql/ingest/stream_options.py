"""When a stream commits, and what it tells about its commits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DEFAULT_COMMIT_ROWS: Final = 10_000
DEFAULT_COMMIT_SECONDS: Final = 1.0
DEFAULT_BATCH_SIZE: Final = 10
_IDLE_COMMITS: Final = 5.0
_LEAST_IDLE_SECONDS: Final = 10.0
_IDLE_BY_HAND_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """When a stream commits, and how many transactions it reserves at once.

    It commits when `commit_rows` rows are waiting, or when the first of them has waited for `commit_seconds`; None
    leaves either to others. `exclusive_write` is the setting hive.txn.xlock.write.
    """

    commit_rows: int | None = DEFAULT_COMMIT_ROWS
    commit_seconds: float | None = DEFAULT_COMMIT_SECONDS
    batch_size: int = DEFAULT_BATCH_SIZE
    exclusive_write: bool = True

    def __post_init__(self) -> None:
        for name, value, least in (
            ("commit_rows", self.commit_rows, 1),
            ("commit_seconds", self.commit_seconds, 0),
            ("batch_size", self.batch_size, 1),
        ):
            if value is not None and value < least:
                raise ValueError(f"{name} is {value}, and must be at least {least}")

    @property
    def idle_seconds(self) -> float:
        """Seconds without a commit after which the reserved transactions end."""
        if self.commit_seconds is None:
            return _IDLE_BY_HAND_SECONDS
        return max(_LEAST_IDLE_SECONDS, _IDLE_COMMITS * self.commit_seconds)


@dataclass(frozen=True, slots=True)
class StreamCounts:
    """What a stream has committed since it was opened. `last_seconds` is the time that the last commit took, from its
    start until its rows were visible; `last_commit` is that moment, in seconds since 1970, or 0."""

    rows: int = 0
    commits: int = 0
    last_seconds: float = 0.0
    last_commit: float = 0.0
