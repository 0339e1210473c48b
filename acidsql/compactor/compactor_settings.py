"""The settings of initiator, workers, cleaner and housekeeper, under Hive's names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from acidsql.acid.compaction_scope import Thresholds
from acidsql.durations import DURATION, seconds
from acidsql.metastore.compactions import Retention

INITIATOR_ON: Final = "hive.compactor.initiator.on"
CLEANER_ON: Final = "hive.compactor.cleaner.on"
WORKERS: Final = "hive.compactor.worker.threads"
CHECK_INTERVAL: Final = "hive.compactor.check.interval"
CLEAN_INTERVAL: Final = "hive.compactor.cleaner.run.interval"
WORKER_TIMEOUT: Final = "hive.compactor.worker.timeout"
DELTA_NUM: Final = "hive.compactor.delta.num.threshold"
DELTA_PCT: Final = "hive.compactor.delta.pct.threshold"
ABORTED_TXNS: Final = "hive.compactor.abortedtxn.threshold"
ABORTED_TIME: Final = "hive.compactor.aborted.txn.time.threshold"
MAX_DELTAS: Final = "hive.compactor.max.num.delta"
INSERT_ONLY: Final = "hive.compactor.compact.insert.only"
FAILED_THRESHOLD: Final = "hive.compactor.initiator.failed.compacts.threshold"
FAILED_RETRY: Final = "metastore.compactor.initiator.failed.retry.time"
KEEP_SUCCEEDED: Final = "hive.compactor.history.retention.succeeded"
KEEP_FAILED: Final = "hive.compactor.history.retention.failed"
KEEP_ATTEMPTED: Final = "hive.compactor.history.retention.attempted"
DELAYED_CLEANING: Final = "hive.compactor.delayed.cleanup.enabled"
CLEANING_DELAY: Final = "hive.compactor.cleaner.retention.time.seconds"

_THRESHOLD_PROPERTY: Final = "compactorthreshold."


def thresholds(settings: Mapping[str, str], properties: Mapping[str, str]) -> Thresholds:
    """The thresholds of the session. A table overrides them by its properties `compactorthreshold.<setting>`.

    A property that is not a number is ignored: one table must not keep the initiator from the others.
    """
    own = {k.lower().removeprefix(_THRESHOLD_PROPERTY): v for k, v in properties.items()}

    def number(key: str) -> float:
        try:
            return float(own[key])
        except (KeyError, ValueError):
            return float(settings[key])

    time = own.get(ABORTED_TIME, settings[ABORTED_TIME])
    if DURATION.fullmatch(time) is None:
        time = settings[ABORTED_TIME]
    return Thresholds(int(number(DELTA_NUM)), number(DELTA_PCT), int(number(ABORTED_TXNS)), seconds(time))


def retention(settings: Mapping[str, str]) -> Retention:
    """How much of the compaction history the housekeeper keeps."""
    return Retention(*(int(settings[key]) for key in (KEEP_SUCCEEDED, KEEP_FAILED, KEEP_ATTEMPTED)))


def cleaning_delay(settings: Mapping[str, str]) -> float:
    """The least number of seconds between the commit of a compaction and its cleaning."""
    return seconds(settings[CLEANING_DELAY]) if settings[DELAYED_CLEANING] == "true" else 0.0
