"""MSCK: the partitions of the catalog, compared with the directories of the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from acidsql.acid.directories import is_hidden
from acidsql.acid.hive_types import parse_type
from acidsql.acid.partition_names import parse_partition_name
from acidsql.acid.partition_values import by_normal_values, normal_value
from acidsql.acid.table import Table
from acidsql.ddl import partition_changes
from acidsql.ddl.plan_run import PlanRun
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.catalog import Partition, PartitionValues
from acidsql.planner.ddl.ddl_plan import RegisterPartitions, RepairPartitions
from acidsql.planner.ddl.partition_spec import default_location, name_of_partition
from acidsql.snapshot.statement_snapshots import is_without_rows


def repair(step: RepairPartitions, run: PlanRun) -> None:
    """Reports the differences, as Hive does, and mends them. Files stay as they are.

    A directory of a transactional table becomes a partition only if the table has given out all write IDs in it, as
    Hive's Msck requires (`partition_changes.register`).
    Raises LOCATION_NOT_EMPTY, LOCATION_TAKEN, INVALID_PARTITION_SPEC.
    """
    table, known = step.table, run.metastore.partitions(step.table)
    new = _new_partitions(step, known, run) if step.adds else []
    lost = [p for p in known if not _exists(p.location, run)] if step.drops else []
    for title, found in (("Partitions not in metastore:", new), ("Partitions missing from filesystem:", lost)):
        if found:
            run.report.append("\t".join([title, *(_shown(table, partition) for partition in found)]))
    if step.reports_only:
        return
    if new:
        partition_changes.register(RegisterPartitions(table, tuple(new), if_not_exists=True, span=step.span), run)
        run.report.extend(f"Repair: Added partition to metastore {_shown(table, p)}" for p in new)
    if lost:
        run.require_open()
        run.metastore.drop_partitions(table, [p.values for p in lost])
        run.report.extend(f"Repair: Dropped partition from metastore {_shown(table, p)}" for p in lost)


def _new_partitions(step: RepairPartitions, known: Sequence[Partition], run: PlanRun) -> list[Partition]:
    """The directories of partitions that the catalog lacks. Raises INVALID_PARTITION_SPEC where two directories hold
    one value (`q=1`, `q=01`): each of them would show the rows of both."""
    table = step.table
    registered = by_normal_values([p.values for p in known], table.partition_columns)
    types = [parse_type(c.type) for c in table.partition_columns]
    dropped = {each.location for each in run.metastore.dropped_partitions(table)}
    new: dict[PartitionValues, Partition] = {}
    for partition in _partitions_on_disk(step, run):
        values = tuple(map(normal_value, partition.values, types))
        if partition.values in registered or values in registered:
            continue
        if partition.location in dropped and _is_empty(table, partition.location, run):
            continue
        if values in new:
            detail = f"{new[values].location} and {partition.location} are directories of one partition"
            raise AcidSqlError(Condition.INVALID_PARTITION_SPEC, span=step.span, detail=detail)
        new[values] = partition
    return list(new.values())


def _is_empty(table: Table, location: str, run: PlanRun) -> bool:
    """Whether the directory of a dropped partition has nothing but the files that are kept for earlier versions."""
    files, txns = run.files(location), run.metastore.valid_txns()
    return is_without_rows(table, files, files.resolve(location), run.metastore.valid_write_ids(table, txns), txns)


def _partitions_on_disk(step: RepairPartitions, run: PlanRun) -> Iterator[Partition]:
    """The directories that have the names of partitions, in the order of their names.

    As in Hive (hive.msck.path.validation=throw), another directory or a file in their place is an error.
    """
    table = step.table
    columns = [c.name for c in table.partition_columns]
    files = run.files(table.location)
    listing = files.list_below(files.resolve(table.location))
    for file in listing.files:
        if file.path.count("/") < len(columns) and not is_hidden(file.path.rpartition("/")[2]):
            raise _misplaced(step, file.path)
    for path in sorted(listing.directories):
        depth = path.count("/") + 1
        if depth > len(columns):
            continue
        values = parse_partition_name(path, columns[:depth])
        if values is None or "" in values:
            raise _misplaced(step, path)
        if depth == len(columns):
            is_default = path == name_of_partition(table, values)
            yield Partition(values, default_location(table, values) if is_default else f"{table.location}/{path}")


def _misplaced(step: RepairPartitions, path: str) -> AcidSqlError:
    detail = f"{step.table.location}/{path} is not a directory of a partition of {step.table.qualified}"
    return AcidSqlError(Condition.INVALID_PARTITION_SPEC, span=step.span, detail=detail)


def _exists(location: str, run: PlanRun) -> bool:
    files = run.files(location)
    return files.exists(files.resolve(location))


def _shown(table: Table, partition: Partition) -> str:
    return f"{table.name}:{name_of_partition(table, partition.values)}"
