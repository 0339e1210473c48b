"""SET: the settings of a session."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from acidsql.compactor import compactor_settings
from acidsql.durations import DURATION, seconds
from acidsql.errors import AcidSqlError, Condition, suggestion
from acidsql.metastore.client import DEFAULT_PATIENCE, MAX_OPEN_TXNS, Patience
from acidsql.planner.event_queries import STORE_ASSIGNMENT
from acidsql.planner.lock_requests import CONFLICTS, NONACID_LOCKS, XLOCK_MERGE_INSERT, XLOCK_OVERWRITE, XLOCK_WRITE
from acidsql.planner.merge import CARDINALITY_CHECK
from acidsql.planner.plan import DRIVER_BYTES

LOCK_RETRIES: Final = "hive.lock.numretries"
LOCK_PAUSE: Final = "hive.lock.sleep.between.retries"
OPEN_TXNS: Final = "hive.max.open.txns"
OPEN_BATCH: Final = "hive.txn.max.open.batch"

_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_FRACTION: Final = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})?")


@dataclass(frozen=True, slots=True)
class Known:
    """A setting that acidsql acts on: its default, and the values it takes (a pattern where they are many)."""

    default: str
    values: tuple[str, ...] | re.Pattern[str]
    rule: str = ""

    def takes(self, value: str) -> bool:
        if isinstance(self.values, tuple):
            return value in self.values
        return self.values.fullmatch(value) is not None


def _boolean(default: bool = True) -> Known:
    return Known(str(default).lower(), ("true", "false"), "it takes true or false")


def _number(default: int) -> Known:
    return Known(str(default), _NUMBER, "it takes a number")


def _duration(default: str) -> Known:
    return Known(default, DURATION, "it takes a duration: 500ms, 6s, 1min")


KNOWN: Final[Mapping[str, Known]] = {
    STORE_ASSIGNMENT: Known("hive", ("hive", "ansi"), "it takes hive or ansi"),
    CARDINALITY_CHECK: _boolean(),
    XLOCK_OVERWRITE: _boolean(),
    XLOCK_WRITE: _boolean(),
    XLOCK_MERGE_INSERT: _boolean(),
    NONACID_LOCKS: _boolean(),
    CONFLICTS: Known("table", ("table", "row"), "it takes table or row"),
    DRIVER_BYTES: _number(1 << 25),
    LOCK_RETRIES: _number(DEFAULT_PATIENCE.retries),
    LOCK_PAUSE: _duration(f"{DEFAULT_PATIENCE.longest_pause:g}s"),
    OPEN_TXNS: _number(MAX_OPEN_TXNS),
    OPEN_BATCH: _number(1000),
    compactor_settings.INITIATOR_ON: _boolean(False),
    compactor_settings.CLEANER_ON: _boolean(),
    compactor_settings.WORKERS: _number(1),
    compactor_settings.CHECK_INTERVAL: _duration("300s"),
    compactor_settings.CLEAN_INTERVAL: _duration("5000ms"),
    compactor_settings.WORKER_TIMEOUT: _duration("86400s"),
    compactor_settings.DELTA_NUM: _number(10),
    compactor_settings.DELTA_PCT: Known("0.1", _FRACTION, "it takes a number: 0.1 is 10 %"),
    compactor_settings.ABORTED_TXNS: _number(1000),
    compactor_settings.ABORTED_TIME: _duration("12h"),
    compactor_settings.MAX_DELTAS: _number(500),
    compactor_settings.INSERT_ONLY: _boolean(),
    compactor_settings.FAILED_THRESHOLD: _number(2),
    compactor_settings.FAILED_RETRY: _duration("7d"),
    compactor_settings.KEEP_SUCCEEDED: _number(3),
    compactor_settings.KEEP_FAILED: _number(3),
    compactor_settings.KEEP_ATTEMPTED: _number(2),
    compactor_settings.DELAYED_CLEANING: _boolean(False),
    compactor_settings.CLEANING_DELAY: _duration("300s"),
}
"""`hive.txn.max.open.batch` is known, and limits nothing: acidsql opens its transactions one by one."""


_NEW: Final = "metastore.compactor."
_OLD: Final = "hive.compactor."
_RENAMED: Final = {
    "metastore.compactor.history.retention.did.not.initiate": compactor_settings.KEEP_ATTEMPTED,
    "hive.compactor.initiator.failed.retry.time": compactor_settings.FAILED_RETRY,
}


def known_key(key: str) -> str:
    """The key as acidsql knows it: in lower case, and where Hive 4 has a new name for an old one, the one of both that
    is in KNOWN; `key` itself if it is in neither.

    >>> known_key("metastore.compactor.initiator.on")
    'hive.compactor.initiator.on'
    """
    lower = key.lower()
    names = (lower, _RENAMED.get(lower, ""), lower.replace(_NEW, _OLD, 1))
    return next((name for name in names if name in KNOWN), key)


@dataclass(slots=True)
class Settings:
    """Values by key. Keys of Hive's that acidsql has no use for are kept and shown, so that scripts run."""

    values: dict[str, str] = field(default_factory=lambda: {key: known.default for key, known in KNOWN.items()})

    def set(self, key: str, value: str) -> None:
        """Raises UNKNOWN_SETTING for an `acidsql.` key that is none, INVALID_SETTING."""
        key = known_key(key)
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
        return self.values.get(known_key(key))
