"""CREATE TABLE, DROP TABLE, and ALTER TABLE where it changes the table as a whole: name, location, columns."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from acidsql.acid.layout import adopted_write_ids
from acidsql.acid.partition_names import parse_partition_name
from acidsql.acid.partition_values import as_known
from acidsql.acid.table import Table, in_the_way
from acidsql.acid.write_ids import WriteId, parse_adopted_write_ids
from acidsql.ddl.ownership import absolute
from acidsql.ddl.plan_run import PlanRun
from acidsql.ddl.relocation import finish_move, require_free, with_move
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.statements import CreateTable
from acidsql.metastore.catalog import AdoptedWriteIds, Partition
from acidsql.planner.ddl.column_changes import redefined
from acidsql.planner.ddl.create_defaults import with_defaults
from acidsql.planner.ddl.ddl_plan import AssignLocation, MoveTable, RedefineColumns, RegisterTable, RemoveTable
from acidsql.planner.ddl.partition_spec import name_of_partition
from acidsql.planner.ddl.table_definition import check_supported, defined_table, with_columns
from acidsql.storage.file_systems import Listing

# ------------------------------------------------------------------------------------------------ CREATE TABLE


def register(step: RegisterTable, run: PlanRun) -> None:
    """Raises TABLE_ALREADY_EXISTS, LOCATION_TAKEN, and LOCATION_NOT_EMPTY for files that no LOCATION adopts."""
    table = _made_now(step.table, run)
    if in_the_way(run.metastore.find(table.database, table.name), temporary=table.temporary) is not None:
        raise AcidSqlError(Condition.TABLE_ALREADY_EXISTS, span=step.span, table=table.qualified)
    _require_own(table, run, step.span, named=step.adopts)
    listing = _listing(table, run) if step.adopts else _require_empty(table, run, step.span)
    adopted = _found_write_ids(listing, table, step.write_ids) if table.is_transactional else None
    with run.new_directory(table.location):
        run.metastore.create_table(table, adopted=adopted, partitions=_found_partitions(table, listing))


def declared(
    statement: CreateTable,
    database: str,
    columns: Sequence[tuple[str, str]],
    settings: Mapping[str, str],
    run: PlanRun,
) -> Table:
    """The table that CREATE TABLE .. AS is to make. The catalog gets it with its rows.

    `columns` are those of the query, with names and Hive's types. `settings` are the session's.

    Raises what CREATE TABLE raises, COLUMN_NOT_FOUND where the query lacks a partition column, LOCATION_NOT_EMPTY.
    """
    check_supported(statement)
    statement = with_defaults(statement, settings)
    span = statement.table.span
    owner = statement.table.database or database
    if in_the_way(run.metastore.find(owner, statement.table.name), temporary=statement.temporary) is not None:
        raise AcidSqlError(Condition.TABLE_ALREADY_EXISTS, span=span, table=f"{owner}.{statement.table.name}")
    if statement.location is not None:
        statement = replace(statement, location=absolute(statement.location))
    table = _made_now(defined_table(with_columns(statement, columns), run.metastore.database(owner)), run)
    _require_own(table, run, span, named=statement.location is not None)
    _require_empty(table, run, span)
    return table


def _made_now(table: Table, run: PlanRun) -> Table:
    location = table.location or run.scratch.new_location(table.name)
    return replace(table, created=int(time.time()), location=location)


def _require_own(table: Table, run: PlanRun, span: Span | None, *, named: bool) -> None:
    """Raises LOCATION_TAKEN. A default location that is free belongs to nobody: every table has a directory."""
    files = run.files(table.location)
    if named or files.exists(files.resolve(table.location)):
        run.ownership.require_for_table(table, span)


def _listing(table: Table, run: PlanRun) -> Listing:
    files = run.files(table.location)
    return files.list_below(files.resolve(table.location))


def _require_empty(table: Table, run: PlanRun, span: Span | None) -> Listing:
    listing = _listing(table, run)
    if listing.files:
        reason = "a new table would take over the files that lie there"
        hint = "Name the directory with LOCATION to adopt its files, or remove them."
        raise AcidSqlError(Condition.LOCATION_NOT_EMPTY, span=span, path=table.location, reason=reason, hint=hint)
    return listing


def _found_partitions(table: Table, listing: Listing) -> tuple[Partition, ...]:
    """The partitions whose directories lie below the table's (`p=a/q=b`), by name. Raises LOCATION_NOT_EMPTY where two
    directories have one partition's name (`p=a%2Fb`, `p=a%2fb`)."""
    depth = len(table.partition_columns)
    names = [c.name for c in table.partition_columns]
    found = {}
    for path in listing.directories:
        values = parse_partition_name(path, names) if depth and path.count("/") == depth - 1 else None
        if values in found:
            reason = f"{path} and another directory are the same partition"
            raise AcidSqlError(Condition.LOCATION_NOT_EMPTY, path=table.location, reason=reason)
        if values is not None:
            found[values] = Partition(values, f"{table.location}/{path}")
    return tuple(found.values())


def _found_write_ids(listing: Listing, table: Table, described: str | None) -> AdoptedWriteIds:
    """The write IDs of a directory that another program wrote: as `described`, else as the names of its files tell."""
    paths = [f.path for f in listing.files]
    high_watermark, committed_txns = adopted_write_ids(paths, listing.directories)
    if described is None:
        return AdoptedWriteIds(high_watermark, committed_txns=committed_txns)
    parsed = parse_adopted_write_ids(table.qualified, described)
    # Nobody is to get the write ID of a directory that is there and not described.
    later = frozenset(map(WriteId, range(parsed.high_watermark + 1, high_watermark + 1)))
    return AdoptedWriteIds(
        parsed.high_watermark, parsed.open | (later - parsed.aborted), parsed.aborted, committed_txns
    )


# ------------------------------------------------------------------------------------------------ DROP TABLE


def remove(step: RemoveTable, run: PlanRun) -> None:
    """Hive's metastore may remove an external table's directory too (external.table.purge).

    Raises TABLE_NOT_FOUND.
    """
    table = step.table
    is_own = run.ownership.is_own(table, table.location)
    run.require_open()
    run.metastore.drop_table(table.database, table.name, with_files=is_own, skips_trash=step.skips_trash)
    if is_own and not table.external:
        run.require_open()
        run.discard(table.location, skips_trash=step.skips_trash)


# ------------------------------------------------------------------------------------------------ ALTER TABLE


def move(step: MoveTable, run: PlanRun) -> None:
    """Raises LOCATION_NOT_EMPTY, TABLE_ALREADY_EXISTS."""
    renamed = step.renamed
    if step.move is not None:
        require_free(run.files, step.move.target)
        renamed = with_move(renamed, step.move.source, step.move.target)
    if step.table.is_transactional:
        run.allocate_write_id(step.table)
    run.metastore.alter_table(step.table, renamed)
    finish_move(run.metastore, run.files, renamed)


def redefine_columns(step: RedefineColumns, run: PlanRun) -> None:
    """Raises what the change breaks (planner/ddl/column_changes.py)."""
    changed = redefined(step.table, step.action, step.span)
    if step.table.is_transactional:
        run.allocate_write_id(step.table)
    run.metastore.alter_table(step.table, changed)


def assign_location(step: AssignLocation, run: PlanRun) -> None:
    """Raises PARTITION_NOT_FOUND, LOCATION_TAKEN."""
    table = step.table
    if step.partition is None:
        moved = replace(table, location=step.location)
        run.ownership.require_for_table(moved, step.span)
        run.metastore.alter_table(table, moved)
        return
    partitions = run.metastore.partitions(table)
    found = as_known(step.partition, table.partition_columns, [p.values for p in partitions])
    if found is None:
        shown = name_of_partition(table, step.partition)
        raise AcidSqlError(Condition.PARTITION_NOT_FOUND, span=step.partition_span, partition=shown)
    moved_partition = Partition(found, step.location)
    others = (p for p in partitions if p.values != found)
    run.ownership.require_for_partition(table, moved_partition, others, step.span)
    run.metastore.alter_table(table, table, partitions={found: moved_partition})
