"""What is wrong with a table, in words, and the statements that mend it: for `acidsql doctor`. Nothing is changed.

What a reader would read comes from `table_content`, and what is due from the rules of the initiator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from acidsql.acid.compaction_scope import Aborted, due
from acidsql.acid.directories import Base
from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId
from acidsql.compactor.compactor_settings import thresholds
from acidsql.compactor.places import Place, compactable
from acidsql.errors import AcidSqlError
from acidsql.grammar.quoting import name_sql, sql_string
from acidsql.metastore.basic_statistics import STATISTICS_STATE
from acidsql.metastore.client import Metastore
from acidsql.metastore.compactions import Compaction, CompactionState
from acidsql.metastore.history_retention import keeps_history
from acidsql.metastore.process_identity import now
from acidsql.snapshot.table_contents import DirectoryContent, DirectoryKind, PartContent, TableContent, table_content
from acidsql.storage.file_systems import FilesOf, FileSystem
from acidsql.storage.leftovers import staging_txn

_SERVICE: Final = "acidsql compactor --once"
_LONG: Final = 3_600_000
"""Milliseconds after which an open transaction, or a compaction that waits, is reported."""
_MANY_FILES: Final = 20
_SMALL: Final = 1 << 20
"""`_MANY_FILES` files or more of a partition with fewer than `_SMALL` bytes on average are reported as small files."""
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong with a table. `rule` names its kind, `place` is the table with the partition, and
    `remedies` are statements and command lines that mend it, of which there may be none."""

    rule: str
    place: str
    text: str
    remedies: tuple[str, ...] = ()


def examine(
    table: Table, metastore: Metastore, files_of: FilesOf, settings: Mapping[str, str], *, reads_files: bool = True
) -> list[Finding]:
    """What is wrong with a table. Unless it `reads_files`, damaged files are not noticed."""
    files = files_of(table.location)
    name = table.qualified
    found = list(_of_catalog(name, metastore))
    if not files.exists(files.resolve(table.location)):
        drop = f"DROP TABLE {_sql_name(table)};"
        return [*found, Finding("no-directory", name, f"its directory {table.location} does not exist", (drop,))]
    content = table_content(table, metastore, files, counts_rows=reads_files)
    for part in content.parts:
        found += _of_part(content, part, metastore, files, settings)
    if table.is_transactional:
        found += _of_transactions(content, metastore)
        found += _of_compactions(table, metastore)
    return found


def _sql_name(table: Table) -> str:
    return f"{name_sql(table.database)}.{name_sql(table.name)}"


def _of_catalog(name: str, metastore: Metastore) -> Iterator[Finding]:
    try:
        metastore.require_changeable()
    except AcidSqlError as error:
        yield Finding("catalog", name, _in_words(error))


def _in_words(error: AcidSqlError) -> str:
    return f"{error.message}. {error.hint}".rstrip(". ")


# ------------------------------------------------------------------------------------------------ files


def _of_part(
    content: TableContent, part: PartContent, metastore: Metastore, files: FileSystem, settings: Mapping[str, str]
) -> Iterator[Finding]:
    table = content.table
    place = ".".join(filter(None, (table.qualified, part.name)))
    if part.problem is not None:
        yield Finding("unreadable", place, _in_words(part.problem))
    yield from _of_staging(content, part, place, metastore)
    if table.partition_columns and not part.name:
        yield from _outside(part, place, table)
        return
    if not files.exists(part.directory):
        mend = f"ALTER TABLE {_sql_name(table)} DROP PARTITION {_partition(table, part)};"
        yield Finding("no-directory", place, f"the directory {part.directory} does not exist", (mend,))
        return
    yield from _of_files(part, place, table)
    if table.is_transactional and part.problem is None:
        yield from _due(content, part, place, metastore, files, settings)
    statistics = metastore.statistics(table, part.values)
    if statistics.get("numRows") is not None and STATISTICS_STATE not in statistics:
        clause = f" PARTITION {_partition(table, part)}" if part.name else ""
        mend = f"ANALYZE TABLE {_sql_name(table)}{clause} COMPUTE STATISTICS;"
        yield Finding(
            "statistics", place, "the statistics are out of date, so Hive counts and plans without them", (mend,)
        )


def _partition(table: Table, part: PartContent) -> str:
    pairs = zip(table.partition_columns, part.values, strict=True)
    values = (f"{name_sql(c.name)} = {'NULL' if value is None else sql_string(value)}" for c, value in pairs)
    return f"({', '.join(values)})"


def _compact(table: Table, part: PartContent, kind: str) -> str:
    clause = f" PARTITION {_partition(table, part)}" if part.name else ""
    return f"ALTER TABLE {_sql_name(table)}{clause} COMPACT '{kind}' AND WAIT;"


def _of_staging(content: TableContent, part: PartContent, place: str, metastore: Metastore) -> Iterator[Finding]:
    known = {left.txn for left in metastore.leftovers() if left.table.qualified == content.table.qualified}
    for directory in part.directories:
        txn = staging_txn(directory.name.rpartition("/")[2])
        if txn is None or not metastore.ended([txn]):
            continue
        path = f"{part.directory}/{directory.name}"
        text = f"{path} is the staging directory of transaction {txn}, which has ended"
        if txn in known:
            yield Finding("staging", place, text, (_SERVICE,))
        else:
            yield Finding("staging", place, f"{text}: the next writer of the table, or you, can delete it")


def _outside(part: PartContent, place: str, table: Table) -> Iterator[Finding]:
    names = [d.name for d in part.directories if d.name and not d.name.rpartition("/")[2].startswith((".", "_"))]
    if names:
        text = f"there are files in no partition that the metastore knows: {_listed(names)}"
        yield Finding("unknown-partition", place, text, (f"MSCK REPAIR TABLE {_sql_name(table)};",))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _of_files(part: PartContent, place: str, table: Table) -> Iterator[Finding]:
    read = [d for d in part.directories if d.is_read]
    damaged = [f"{file.path}: {file.note}" for d in read for file in d.files if _is_damaged(d, file.rows, file.note)]
    if damaged:
        yield Finding("damaged-file", place, f"files cannot be read: {_listed(damaged)}. Restore them from a backup")
    rows = [f for d in read if d.kind is not DirectoryKind.DELETE_DELTA for f in d.files if f.data is not None]
    if len(rows) >= _MANY_FILES and sum(f.size for f in rows) < len(rows) * _SMALL:
        text = f"a reader opens {len(rows)} files of {sum(f.size for f in rows) // len(rows)} bytes on average"
        yield Finding("small-files", place, text, (_merging(table, part),))
    if table.bucket_count and (
        wrong := sorted({f.data.bucket for f in rows if f.data} - set(range(table.bucket_count)))
    ):
        text = (
            f"there are files of the buckets {_listed(list(map(str, wrong)))}, and the table has {table.bucket_count}"
        )
        yield Finding("wrong-bucket", place, text)


def _is_damaged(directory: DirectoryContent, rows: int | None, note: str) -> bool:
    return directory.parsed is not None and rows is None and bool(note) and "committed" not in note


def _merging(table: Table, part: PartContent) -> str:
    if table.is_transactional:
        is_spread = table.is_full_acid and not table.bucket_columns
        return _compact(table, part, "rebalance" if is_spread and _has_base(part) else "major")
    clause = f" PARTITION {_partition(table, part)}" if part.name else ""
    return f"ALTER TABLE {_sql_name(table)}{clause} CONCATENATE;"


def _has_base(part: PartContent) -> bool:
    return any(d.is_read and isinstance(d.parsed, Base) for d in part.directories)


# ------------------------------------------------------------------------------------------------ compactions


def _due(
    content: TableContent,
    part: PartContent,
    place: str,
    metastore: Metastore,
    files: FileSystem,
    settings: Mapping[str, str],
) -> Iterator[Finding]:
    table = content.table
    view = compactable(metastore, Place(table, part.values, part.directory, files), metastore.valid_txns())
    limits = thresholds(settings, table.properties)
    wanted = due(view.snapshot, limits, Aborted(), insert_only=table.is_insert_only)
    if wanted is not None:
        kind, reason = wanted
        yield Finding(
            "compaction-due", place, f"a compaction is due: {reason}", (_compact(table, part, kind.value.lower()),)
        )
    if content.writes is not None:
        aborted = [d.name for d in part.directories if d.parsed is not None and "is aborted" in d.why and not d.is_read]
        if aborted:
            text = f"directories of aborted transactions are still there: {_listed(aborted)}"
            yield Finding("aborted", place, text, (_mend_aborted(table, part, metastore),))
    if view.snapshot.obsolete and not keeps_history(table):
        replaced = _listed(view.snapshot.obsolete)
        text = f"directories that a compaction or an overwrite has replaced are still there: {replaced}"
        yield Finding("obsolete", place, text, (_SERVICE,) if metastore.compaction_keeper is not None else ())


def _mend_aborted(table: Table, part: PartContent, metastore: Metastore) -> str:
    return _SERVICE if metastore.knows_leftovers else _compact(table, part, "major")


def _of_transactions(content: TableContent, metastore: Metastore) -> Iterator[Finding]:
    """Transactions that write the table, and are open for long, or whose process is silent."""
    open_writes = content.writes.open if content.writes is not None else frozenset()
    known = {metastore.writer(content.table, write_id) for write_id in open_writes}
    tells = not open_writes or None not in known
    moment = now().wall
    for txn in metastore.transactions():
        if not txn.is_open or not open_writes or (tells and txn.id not in known):
            continue
        silent = moment - txn.last_heartbeat > metastore.txn_timeout * 1000
        if silent or moment - txn.started > _LONG:
            age = (moment - (txn.last_heartbeat if silent else txn.started)) // 1000
            said = f"has had no heartbeat for {age} s" if silent else f"is open for {age} s"
            text = f"transaction {txn.id} of {txn.user}@{txn.host} {said}: it holds back compactions of later writes"
            yield Finding("open-transaction", content.table.qualified, text, (f"ABORT TRANSACTIONS {txn.id};",))


def _of_compactions(table: Table, metastore: Metastore) -> Iterator[Finding]:
    newest: dict[str | None, Compaction] = {}
    for one in metastore.compactions():
        if (one.request.database, one.request.table) == (table.database, table.name):
            newest.setdefault(one.request.partition, one)
    for one in newest.values():
        yield from _of_compaction(one, metastore)


def _of_compaction(one: Compaction, metastore: Metastore) -> Iterator[Finding]:
    place, moment = one.request.place.text, now().wall
    if one.state in (CompactionState.FAILED, CompactionState.DID_NOT_INITIATE):
        text = f"compaction {one.id} {one.state.value}: {one.error or 'nobody has noted why'}"
        yield Finding("compaction-failed", place, text, (f"SHOW COMPACTIONS {one.id};",))
    elif one.state is CompactionState.INITIATED and moment - one.enqueued > _LONG:
        pool = f" --pool {one.request.pool}" if one.request.pool else ""
        text = f"compaction {one.id} has waited for a worker for {(moment - one.enqueued) // 1000} s"
        yield Finding("compaction-waits", place, text, (f"{_SERVICE}{pool}",))
    elif one.state is CompactionState.READY_FOR_CLEANING:
        readers = (t for t in metastore.transactions() if t.is_open and t.id < (one.next_txn or 0))
        old = [reader.id for reader in readers if moment - reader.started > _LONG]
        if old:
            text = (
                f"the cleaner waits for transactions that were open before compaction {one.id} committed: {_ids(old)}"
            )
            yield Finding("cleaning-waits", place, text, (f"ABORT TRANSACTIONS {_ids(old, ' ')};",))


def _ids(txns: Iterable[TxnId], separator: str = ", ") -> str:
    return separator.join(map(str, txns))
