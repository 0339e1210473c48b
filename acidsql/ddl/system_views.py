"""The views of Hive's database `sys` that tell what a metastore does: `compactions`, `locks` and `transactions`.

Their names and columns are those of Hive 4 (metastore/scripts/upgrade/hive/hive-schema-4.0.0.hive.sql). Hive reads the
metastore's database for them; here a view is made for each statement, and its query has the rows. What a metastore does
not tell is NULL, such as the versions of workers and what a transaction has locked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from acidsql.acid.table import Column, View
from acidsql.metastore.client import Metastore
from acidsql.metastore.held_back import compactions_shown

DATABASE: Final = "sys"

_Row: TypeAlias = "Sequence[str | int | None]"
_TIMES: Final = "time"
"""The kind of a moment in milliseconds, which Hive's views show as `from_unixtime` does: a string of local time."""

_COMPACTIONS: Final = (
    ("c_id", "bigint"),
    ("c_catalog", "string"),
    ("c_database", "string"),
    ("c_table", "string"),
    ("c_partition", "string"),
    ("c_type", "string"),
    ("c_state", "string"),
    ("c_worker_host", "string"),
    ("c_worker_id", "string"),
    ("c_worker_version", "string"),
    ("c_enqueue_time", _TIMES),
    ("c_start", _TIMES),
    ("c_duration", "bigint"),
    ("c_hadoop_job_id", "string"),
    ("c_run_as", "string"),
    ("c_error_message", "string"),
    ("c_next_txn_id", "bigint"),
    ("c_txn_id", "bigint"),
    ("c_commit_time", _TIMES),
    ("c_highest_write_id", "bigint"),
    ("c_initiator_host", "string"),
    ("c_initiator_id", "string"),
    ("c_initiator_version", "string"),
    ("c_cleaner_start", _TIMES),
    ("c_pool_name", "string"),
    ("c_number_of_buckets", "int"),
    ("c_tblproperties", "string"),
)
_LOCKS: Final = (
    ("lock_ext_id", "bigint"),
    ("lock_int_id", "bigint"),
    ("txnid", "bigint"),
    ("db", "string"),
    ("table", "string"),
    ("partition", "string"),
    ("lock_state", "string"),
    ("lock_type", "string"),
    ("last_heartbeat", _TIMES),
    ("acquired_at", _TIMES),
    ("user", "string"),
    ("host", "string"),
    ("heartbeat_count", "int"),
    ("agent_info", "string"),
    ("blockedby_ext_id", "bigint"),
    ("blockedby_int_id", "bigint"),
)
_TRANSACTIONS: Final = (
    ("txn_id", "bigint"),
    ("state", "string"),
    ("started", _TIMES),
    ("last_heartbeat", _TIMES),
    ("user", "string"),
    ("host", "string"),
    ("agent_info", "string"),
    ("meta_info", "string"),
    ("heartbeat_count", "int"),
    ("type", "string"),
    ("tc_database", "string"),
    ("tc_table", "string"),
    ("tc_partition", "string"),
    ("tc_operation_type", "string"),
    ("tc_writeid", "bigint"),
)


def system_view(database: str, name: str, metastore: Metastore) -> View | None:
    """The view of this name with the rows of now; None for any other name."""
    if database.lower() != DATABASE or name.lower() not in _VIEWS:
        return None
    columns, rows = _VIEWS[name.lower()]
    query = _query(columns, rows(metastore))
    kinds = tuple(Column(column, "string" if kind == _TIMES else kind) for column, kind in columns)
    return View(DATABASE, name.lower(), kinds, query, query)


def _compactions(metastore: Metastore) -> Iterable[_Row]:
    for c in compactions_shown(metastore):
        r, end = c.request, c.committed or c.ended
        duration = end - c.started if c.started and end else None
        yield (
            *(c.id, "default", r.database, r.table, r.partition, r.type.value.lower(), c.state.value),
            *(c.worker_host or None, c.worker or None, None, c.enqueued or None, c.started or None, duration),
            *(None, None, c.error or None, c.next_txn, c.txn, c.committed or None, c.highest_write_id),
            *(c.initiator_host or None, r.initiator or None, None, None, r.pool or "default", r.buckets, None),
        )


def _locks(metastore: Metastore) -> Iterable[_Row]:
    for lock in metastore.locks():
        of, by = lock.component, lock.blocked_by or (None, None)
        yield (
            *(lock.lock_id, lock.number, lock.txn or None, of.database, of.table, of.partition),
            *("waiting" if lock.waiting else "acquired", of.lock_type.value.lower()),
            *(lock.last_heartbeat or None, lock.acquired or None, lock.user, lock.host, None, lock.agent or None, *by),
        )


def _transactions(metastore: Metastore) -> Iterable[_Row]:
    for t in metastore.transactions():
        state = "open" if t.is_open else "aborted"
        yield (t.id, state, t.started, t.last_heartbeat, t.user, t.host, *[None] * 9)


_VIEWS: Final[Mapping[str, tuple[Sequence[tuple[str, str]], Callable[[Metastore], Iterable[_Row]]]]] = {
    "compactions": (_COMPACTIONS, _compactions),
    "locks": (_LOCKS, _locks),
    "transactions": (_TRANSACTIONS, _transactions),
}


def _query(columns: Sequence[tuple[str, str]], rows: Iterable[_Row]) -> str:
    """The query of the rows in HiveQL. A first row of NULLs, which the query leaves out, is there for a view without
    rows: VALUES needs one."""
    names = [f"c{number}" for number in range(len(columns))]
    shown = ", ".join(
        f"{_value(name, kind)} AS `{column}`" for name, (column, kind) in zip(names, columns, strict=True)
    )
    values = ", ".join(f"({', '.join(map(_literal, row))})" for row in ([None] * len(columns), *rows))
    return f"SELECT {shown} FROM VALUES {values} AS v({', '.join(names)}) WHERE c0 IS NOT NULL"


def _value(name: str, kind: str) -> str:
    if kind == _TIMES:
        return f"from_unixtime(CAST({name} AS BIGINT) DIV 1000)"
    return f"CAST({name} AS {kind.upper()})"


def _literal(value: str | int | None) -> str:
    """All values are strings: a column of VALUES has one type."""
    if value is None:
        return "NULL"
    text = str(value).replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\0", "")
    return f"'{text}'"
