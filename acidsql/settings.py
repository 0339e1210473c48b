"""SET: the settings of a session."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from acidsql.errors import AcidSqlError, Condition, suggestion
from acidsql.metastore.client import DEFAULT_PATIENCE, MAX_OPEN_TXNS, Patience
from acidsql.planner.events import STORE_ASSIGNMENT
from acidsql.planner.locks import CONFLICTS, NONACID_LOCKS, XLOCK_MERGE_INSERT, XLOCK_OVERWRITE, XLOCK_WRITE
from acidsql.planner.merge import CARDINALITY_CHECK

LOCK_RETRIES: Final = "hive.lock.numretries"
LOCK_PAUSE: Final = "hive.lock.sleep.between.retries"
OPEN_TXNS: Final = "hive.max.open.txns"
OPEN_BATCH: Final = "hive.txn.max.open.batch"

_UNITS: Final = {"ms": 0.001, "msec": 0.001, "s": 1.0, "sec": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_DURATION: Final = re.compile(r"(\d+)\s*([a-z]*)")
_NUMBER: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Known:
    """A setting that acidsql acts on: its default, and the values it takes (a pattern where they are many)."""

    default: str
    values: tuple[str, ...] | re.Pattern[str]
    rule: str = ""

    def takes(self, value: str) -> bool:
        if isinstance(self.values, tuple):
            return value in self.values
        return self.values.fullmatch(value) is not None and (self.values is not _DURATION or _unit(value) in _UNITS)


def _boolean(default: bool = True) -> Known:
    return Known(str(default).lower(), ("true", "false"), "it takes true or false")


KNOWN: Final[Mapping[str, Known]] = {
    STORE_ASSIGNMENT: Known("hive", ("hive", "ansi"), "it takes hive or ansi"),
    CARDINALITY_CHECK: _boolean(),
    XLOCK_OVERWRITE: _boolean(),
    XLOCK_WRITE: _boolean(),
    XLOCK_MERGE_INSERT: _boolean(),
    NONACID_LOCKS: _boolean(),
    CONFLICTS: Known("table", ("table", "row"), "it takes table or row"),
    LOCK_RETRIES: Known(str(DEFAULT_PATIENCE.retries), _NUMBER, "it takes a number"),
    LOCK_PAUSE: Known(f"{DEFAULT_PATIENCE.longest_pause:g}s", _DURATION, "it takes a duration: 500ms, 6s, 1min"),
    OPEN_TXNS: Known(str(MAX_OPEN_TXNS), _NUMBER, "it takes a number"),
    OPEN_BATCH: Known("1000", _NUMBER, "it takes a number"),
}
"""`hive.txn.max.open.batch` is known, and limits nothing: acidsql opens its transactions one by one."""


def seconds(duration: str) -> float:
    """
    >>> seconds("500ms")
    0.5
    """
    found = _DURATION.fullmatch(duration)
    assert found is not None
    return int(found.group(1)) * _UNITS[found.group(2)]


def _unit(duration: str) -> str:
    found = _DURATION.fullmatch(duration)
    return found.group(2) if found is not None else "?"


@dataclass(slots=True)
class Settings:
    """Values by key. Keys of Hive's that acidsql has no use for are kept and shown, so that scripts run."""

    values: dict[str, str] = field(default_factory=lambda: {key: known.default for key, known in KNOWN.items()})

    def set(self, key: str, value: str) -> None:
        """Raises UNKNOWN_SETTING for an `acidsql.` key that is none, INVALID_SETTING."""
        key = key.lower() if key.lower() in KNOWN else key
        if key in KNOWN:
            if not KNOWN[key].takes(value.lower()):
                raise AcidSqlError(Condition.INVALID_SETTING, name=key, value=value, rule=KNOWN[key].rule)
            value = value.lower()
        elif key.lower().startswith("acidsql."):
            raise AcidSqlError(Condition.UNKNOWN_SETTING, name=key, suggestion=suggestion(key, sorted(KNOWN)))
        self.values[key] = value

    def patience(self) -> Patience:
        """How long to wait for locks (hive.lock.numretries, hive.lock.sleep.between.retries)."""
        return Patience(int(self.values[LOCK_RETRIES]), seconds(self.values[LOCK_PAUSE]))

    def get(self, key: str) -> str | None:
        return self.values.get(key.lower() if key.lower() in KNOWN else key)
