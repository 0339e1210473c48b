"""SET FILEFORMAT, SET SERDE, SERDEPROPERTIES and buckets of a table, and the files that forbid the change.

Hive keeps the storage of each partition: a partition that is there stays as it is, and new ones get the table's.
acidsql keeps one storage for a table. So it refuses a change that would make files that are there unreadable, or that
would mean something else in Hive.
"""

from __future__ import annotations

from acidsql.acid.data_files import is_visible
from acidsql.acid.partition_values import as_known
from acidsql.ddl.plan_run import PlanRun
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.ddl.ddl_plan import RedefineStorage
from acidsql.planner.ddl.partition_spec import name_of_partition
from acidsql.planner.ddl.table_storage import reads_differently


def redefine(step: RedefineStorage, run: PlanRun) -> None:
    """Raises PARTITION_NOT_FOUND, ALTER_REFUSED, and NOT_YET_SUPPORTED for a partition that would differ from its
    table."""
    old, new = step.table, step.new
    if step.partition is not None:
        _require_partition(step, run)
    if old == new:
        return
    if step.partition is not None:
        feature = f"A partition whose storage is not that of its table ({old.qualified})"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=step.span, feature=feature)
    if old.partition_columns:
        _require_no_partitions(step, run)
    elif reads_differently(old, new):
        _require_no_files(step, run)
    run.metastore.alter_table(old, new)


def _require_partition(step: RedefineStorage, run: PlanRun) -> None:
    assert step.partition is not None
    known = run.metastore.partition_values(step.table)
    if as_known(step.partition, step.table.partition_columns, known) is None:
        shown = name_of_partition(step.table, step.partition)
        raise AcidSqlError(Condition.PARTITION_NOT_FOUND, span=step.partition_span, partition=shown)


def _require_no_partitions(step: RedefineStorage, run: PlanRun) -> None:
    if run.metastore.partition_values(step.table):
        message = (
            f"The storage of {step.table.qualified} cannot change: it has partitions, which keep their storage in Hive"
        )
        hint = "Make a new table with this storage and fill it with INSERT .. SELECT."
        raise AcidSqlError(Condition.ALTER_REFUSED, span=step.span, message=message, hint=hint)


def _require_no_files(step: RedefineStorage, run: PlanRun) -> None:
    files = run.files(step.table.location)
    listing = files.list_below(files.resolve(step.table.location))
    found = next((file.path for file in listing.files if is_visible(file.path)), None)
    if found is not None:
        message = (
            f"The file format of {step.table.qualified} cannot change: its files are no files of that format ({found})"
        )
        hint = "Make a new table with this format and fill it with INSERT .. SELECT."
        raise AcidSqlError(Condition.ALTER_REFUSED, span=step.span, message=message, hint=hint)
