"""The settings of a session, which SET changes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Final

from acidsql.compactor import compactor_settings
from acidsql.durations import DURATION, seconds
from acidsql.errors import AcidSqlError, Condition, suggestion
from acidsql.metastore.locks import DEFAULT_PATIENCE, Patience
from acidsql.metastore.transaction_client import MAX_OPEN_TXNS
from acidsql.planner.as_of import ASSUME_NO_DROPS
from acidsql.planner.ddl.ddl_settings import (
    CREATE_AS_ACID,
    CREATE_AS_INSERT_ONLY,
    DEFAULT_FORMAT,
    DROP_IGNORES_MISSING,
    FILE_FORMATS,
    MANAGED_FORMAT,
    NO_FORMAT,
)
from acidsql.planner.expressions.typed_rules.null_order import NULLS_LAST
from acidsql.planner.lock_requests import CONFLICTS, NONACID_LOCKS, XLOCK_MERGE_INSERT, XLOCK_OVERWRITE, XLOCK_WRITE
from acidsql.planner.merge.cardinality import CARDINALITY_CHECK
from acidsql.planner.plan import DRIVER_BYTES
from acidsql.planner.stored_values.stored_sql import STORE_ASSIGNMENT
from acidsql.similar_names import similar_names

LOCK_RETRIES: Final = "hive.lock.numretries"
LOCK_PAUSE: Final = "hive.lock.sleep.between.retries"
SUBSTITUTE: Final = "hive.variable.substitute"
SUBSTITUTE_DEPTH: Final = "hive.variable.substitute.depth"
WAREHOUSE: Final = "hive.metastore.warehouse.dir"
OPEN_TXNS: Final = "hive.max.open.txns"
OPEN_BATCH: Final = "hive.txn.max.open.batch"
OWN_CLIENTS: Final = "acidsql.storage.own.clients"
CONFIRM_ALL_ROWS: Final = "acidsql.shell.confirm.all.rows"

_OF_TRANSACTIONS: Final = "hive.txn."
"""How settings begin that decide what a transaction does: a wrong name would be a wrong promise."""
_MANAGER: Final = "hive.txn.manager"
"""Scripts set it to DbTxnManager, whose transactions acidsql has anyway."""
_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_FRACTION: Final = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})?")


@dataclass(frozen=True, slots=True)
class Known:
    """A setting that acidsql acts on.

    `values` lists the accepted values, or is a pattern where there are too many to list. `meaning` is the sentence
    about the setting in docs/reference/settings.md, and `rule` the reason that INVALID_SETTING gives.
    """

    default: str
    values: tuple[str, ...] | re.Pattern[str]
    meaning: str
    rule: str

    def takes(self, value: str) -> bool:
        if isinstance(self.values, tuple):
            return value in self.values
        return self.values.fullmatch(value) is not None


def _words(meaning: str, default: str, other: str) -> Known:
    return Known(default, (default, other), meaning, f"it takes {default} or {other}")


def _choice(meaning: str, values: tuple[str, ...]) -> Known:
    """A setting with several words as values; the first one is the default."""
    return Known(values[0], values, meaning, f"it takes one of {', '.join(values)}")


def _boolean(meaning: str, *, default: bool = True) -> Known:
    return Known(str(default).lower(), ("true", "false"), meaning, "it takes true or false")


def _number(meaning: str, default: int) -> Known:
    return Known(str(default), _NUMBER, meaning, "it takes a number")


def _duration(meaning: str, default: str) -> Known:
    return Known(default, DURATION, meaning, "it takes a duration: 500ms, 6s, 1min")


KNOWN: Final[Mapping[str, Known]] = {
    STORE_ASSIGNMENT: _words(
        "What happens to a value that does not fit its column: `hive` stores NULL, wraps a number around or cuts a"
        " text; `ansi` raises `INVALID_STORE_VALUE`. Methods with frames do so unless `strict=False` is given.",
        "hive",
        "ansi",
    ),
    NULLS_LAST: _boolean(
        "Whether NULLs come last in ascending and first in descending order, where ORDER BY, SORT BY or a window does"
        " not say NULLS FIRST or NULLS LAST. With `false` NULLs come first in ascending order and last in descending."
    ),
    DEFAULT_FORMAT: _choice(
        "The file format of a table whose CREATE TABLE has neither STORED AS nor ROW FORMAT. Hive's default is"
        " `textfile`.",
        FILE_FORMATS,
    ),
    MANAGED_FORMAT: _choice(
        "The same for managed tables only. With `none` they have the format of `hive.default.fileformat`.",
        (NO_FORMAT, *FILE_FORMATS),
    ),
    CREATE_AS_ACID: _boolean(
        "Whether CREATE TABLE makes a managed table full ACID if it is stored as ORC and not sorted. The property"
        " `transactional` of a statement has precedence.",
        default=False,
    ),
    CREATE_AS_INSERT_ONLY: _boolean(
        "Whether CREATE TABLE makes a managed table insert-only, unless it makes the table full ACID. The property"
        " `transactional` of a statement has precedence.",
        default=False,
    ),
    DROP_IGNORES_MISSING: _boolean(
        "Whether DROP TABLE, DROP VIEW and ALTER TABLE .. DROP PARTITION of what does not exist do nothing. With"
        " `false` they raise an error, unless they have IF EXISTS."
    ),
    CARDINALITY_CHECK: _boolean(
        "Whether MERGE raises `CARDINALITY_VIOLATION` when more than one source row would change one target row."
    ),
    DRIVER_BYTES: _number(
        "The largest amount of compressed data, in bytes, that an UPDATE, DELETE or MERGE may read for the driver to"
        " write the rows itself, without Spark's writer. An INSERT may read 1 MiB of it at most, a statement whose"
        " table Hadoop's client reads and writes 16 MiB, and none more than 1/64 of the driver's heap. A statement"
        " without Spark may insert rows of frames, and write events, that take eight times as much memory. `0` turns"
        " driver writes off, and statements and compactions without Spark.",
        1 << 26,
    ),
    OWN_CLIENTS: _boolean(
        "Whether acidsql reads and writes object stores and HDFS by clients of its own, without a JVM, where their"
        " packages are installed (`acidsql[s3]`, `acidsql[hdfs]`) and know all settings of Hadoop's client that are"
        " set. With `false` Hadoop's client in Spark's JVM reads and writes them."
    ),
    XLOCK_WRITE: _boolean(
        "Whether UPDATE, DELETE and MERGE of one table wait for each other. With `false` they run side by side, and"
        " the first one to commit wins."
    ),
    XLOCK_OVERWRITE: _boolean("Whether INSERT OVERWRITE takes an EXCLUSIVE lock, for which readers wait."),
    XLOCK_MERGE_INSERT: _boolean(
        "Whether MERGE statements that insert rows wait for each other, so that two of them cannot insert the same new"
        " key. Hive's default is `false`."
    ),
    NONACID_LOCKS: _boolean("Whether statements that read a plain table lock it."),
    CONFLICTS: _words(
        "What two writers that run side by side must not have in common when both commit: the `table` (or partition),"
        " or a `row`. `row` needs the embedded metastore.",
        "table",
        "row",
    ),
    ASSUME_NO_DROPS: _boolean(
        "Whether an earlier version of a partitioned table (`VERSION AS OF`) is read where the metastore does not tell"
        " which partitions were dropped since, as no Hive Metastore does. With `true` the user says that none was"
        " dropped, and that none was added with files in it.",
        default=False,
    ),
    SUBSTITUTE: _boolean("Whether `${name}` in a statement is replaced by the value of the variable `name`."),
    SUBSTITUTE_DEPTH: _number("How many times the values of variables may name further variables.", 40),
    LOCK_RETRIES: _number("How often a statement asks for a lock before it fails.", DEFAULT_PATIENCE.retries),
    LOCK_PAUSE: _duration(
        "The longest pause between two attempts to get a lock. Pauses begin at 100 ms and double.",
        f"{DEFAULT_PATIENCE.longest_pause:g}s",
    ),
    CONFIRM_ALL_ROWS: _boolean(
        "Whether the prompt of the shell asks before it runs an UPDATE or DELETE without WHERE."
    ),
    OPEN_TXNS: _number("How many transactions may be open at once in the embedded metastore.", MAX_OPEN_TXNS),
    OPEN_BATCH: _number("No effect: acidsql opens transactions one by one. Accepted so that scripts run.", 1000),
    compactor_settings.INITIATOR_ON: _boolean(
        "Whether this session runs the compaction service beside its statements.", default=False
    ),
    compactor_settings.CLEANER_ON: _boolean(
        "Whether the service removes the directories that a compaction made obsolete."
    ),
    compactor_settings.WORKERS: _number("How many compactions the service runs at once.", 1),
    compactor_settings.CHECK_INTERVAL: _duration(
        "How often the service looks for tables that need a compaction.", "10s"
    ),
    compactor_settings.CLEAN_INTERVAL: _duration("How often the cleaner runs.", "5000ms"),
    compactor_settings.WORKER_TIMEOUT: _duration(
        "How long a compaction may run before it is given to another worker.", "86400s"
    ),
    compactor_settings.DELTA_NUM: _number(
        "A table with more deltas than this is compacted: minor, or major if it has no base.", 10
    ),
    compactor_settings.DELTA_PCT: Known(
        "0.1",
        _FRACTION,
        "A table whose deltas have more than this fraction of the size of its base gets a major compaction.",
        "it takes a number: 0.1 is 10 %",
    ),
    compactor_settings.ABORTED_TXNS: _number(
        "A table with more aborted transactions than this gets a major compaction.", 1000
    ),
    compactor_settings.ABORTED_TIME: _duration(
        "A table with an aborted transaction older than this gets a major compaction.", "12h"
    ),
    compactor_settings.MAX_DELTAS: _number("How many directories one minor compaction merges at most.", 500),
    compactor_settings.INSERT_ONLY: _boolean("Whether the service compacts insert-only tables."),
    compactor_settings.FAILED_THRESHOLD: _number(
        "After this many failures in a row the service requests no further compaction of the table or partition.", 2
    ),
    compactor_settings.FAILED_RETRY: _duration(
        "How long the service waits after these failures before it tries again.", "7d"
    ),
    compactor_settings.KEEP_SUCCEEDED: _number(
        "How many succeeded compactions SHOW COMPACTIONS keeps for each table or partition.", 3
    ),
    compactor_settings.KEEP_FAILED: _number("How many failed ones it keeps.", 3),
    compactor_settings.KEEP_ATTEMPTED: _number("How many refused, aborted or not initiated ones it keeps.", 2),
    compactor_settings.DELAYED_CLEANING: _boolean(
        "Whether the cleaner waits after a compaction before it removes anything.", default=False
    ),
    compactor_settings.CLEANING_DELAY: _duration("How long the cleaner waits, if it does.", "300s"),
}


_NEW: Final = "metastore.compactor."
_OLD: Final = "hive.compactor."
_RENAMED: Final = {
    "metastore.compactor.history.retention.did.not.initiate": compactor_settings.KEEP_ATTEMPTED,
    "hive.compactor.initiator.failed.retry.time": compactor_settings.FAILED_RETRY,
    "hive.create.as.acid": CREATE_AS_ACID,
}


def known_key(key: str) -> str:
    """The spelling of a key in KNOWN: in lower case, and Hive 3's name where Hive 4 has renamed the setting.

    A key that is not in KNOWN is returned as it is.

    >>> known_key("metastore.compactor.initiator.on")
    'hive.compactor.initiator.on'
    """
    lower = key.lower()
    names = (lower, _RENAMED.get(lower, ""), lower.replace(_NEW, _OLD, 1))
    return next((name for name in names if name in KNOWN), key)


@cache
def _hive_settings() -> frozenset[str]:
    """The names of the settings of Hive 4.0.1, from the constants of HiveConf and MetastoreConf."""
    text = files(__package__).joinpath("hive_settings.txt").read_text(encoding="utf-8")
    return frozenset(text.split()) | KNOWN.keys()


def setting_names() -> list[str]:
    """The names of all settings, those that have an effect first."""
    return [*sorted(KNOWN), *sorted(_hive_settings() - KNOWN.keys())]


def note_on_unknown(key: str) -> str:
    """The note about a setting `hive.*` that Hive 4 does not have, with the most similar name, or about one of Hive's
    transactions that acidsql does not act on; else an empty text."""
    wanted = key.lower()
    if wanted == "autocommit":
        return "autocommit is not a setting and has no effect: SET AUTOCOMMIT FALSE, without =, is the statement."
    if wanted.startswith(_OF_TRANSACTIONS) and wanted not in (*KNOWN, _MANAGER):
        return f"{key} has no effect: acidsql does not act on this setting of Hive's transactions."
    if not wanted.startswith("hive.") or wanted in _hive_settings():
        return ""
    near = similar_names(wanted, sorted(_hive_settings()), most=1, cutoff=0.7)
    question = f" Did you mean {near[0]}?" if near else ""
    return f"{key} is not a setting of Hive 4 and has no effect.{question}"


def settings_of_file(path: str | os.PathLike[str]) -> Mapping[str, str]:
    """The settings that a TOML file gives: `acidsql.store.assignment = "ansi"`, or the same in a table
    `[acidsql.store]`. A number or a Boolean stands for its text.

    Raises INVALID_SETTINGS_FILE for a file that cannot be read, and for another value.
    """
    import tomllib

    try:
        with open(path, "rb") as file:
            found = dict(_flat(tomllib.load(file)))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise AcidSqlError(Condition.INVALID_SETTINGS_FILE, path=os.fspath(path), reason=reason) from error
    return found


def _flat(table: Mapping[str, object], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        match value:
            case dict():
                yield from _flat(value, f"{before}{name}.")
            case bool():
                yield f"{before}{name}", str(value).lower()
            case str() | int() | float():
                yield f"{before}{name}", str(value)
            case _:
                raise ValueError(f"{before}{name} is no text, number or Boolean")


@dataclass(slots=True)
class Settings:
    """The values of one session, by key. Other settings of Hive are kept and shown but have no effect."""

    values: dict[str, str] = field(default_factory=lambda: {key: known.default for key, known in KNOWN.items()})

    def set(self, key: str, value: str) -> None:
        """Sets a value. Raises INVALID_SETTING, and UNKNOWN_SETTING for an unknown key of `acidsql.` or `hive.txn.`."""
        key = known_key(key)
        if key in KNOWN:
            if not KNOWN[key].takes(value.lower()):
                raise AcidSqlError(Condition.INVALID_SETTING, name=key, value=value, rule=KNOWN[key].rule)
            value = value.lower()
        elif key.lower().startswith("acidsql."):
            raise AcidSqlError(Condition.UNKNOWN_SETTING, name=key, suggestion=suggestion(key, sorted(KNOWN)))
        elif key.lower().startswith(_OF_TRANSACTIONS) and key.lower() not in _hive_settings():
            near = suggestion(key, sorted(_hive_settings()))
            raise AcidSqlError(Condition.UNKNOWN_SETTING, name=key, suggestion=near)
        self.values[key] = value

    def reset(self, keys: Sequence[str]) -> None:
        """Gives settings their defaults, and forgets those that have none here. Without keys, all settings."""
        for key in map(known_key, keys or tuple(self.values)):
            if key in KNOWN:
                self.values[key] = KNOWN[key].default
            else:
                self.values.pop(key, None)

    def patience(self) -> Patience:
        """How long a statement waits for locks: hive.lock.numretries and hive.lock.sleep.between.retries."""
        return Patience(int(self.values[LOCK_RETRIES]), seconds(self.values[LOCK_PAUSE]))

    def get(self, key: str) -> str | None:
        return self.values.get(known_key(key))
