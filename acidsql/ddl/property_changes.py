"""SET and UNSET TBLPROPERTIES, and the conversion of a table to full ACID or to insert-only, which rewrites no file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, assert_never

from acidsql.acid.data_files import is_visible
from acidsql.acid.directories import Original, parse_bucket_file, parse_directory
from acidsql.acid.layout import delta_name
from acidsql.acid.table import Table
from acidsql.acid.write_ids import StatementId, WriteId
from acidsql.ddl.plan_run import PlanRun
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.planner.ddl.ddl_plan import FIRST_INSERT_ONLY, Conversion, RemoveProperties, UpdateProperties
from acidsql.planner.ddl.table_properties import invalid, with_properties, without_properties

SEEDED: Final = WriteId(10_000_000)
"""The write IDs of a converted full ACID table start above it. Hive leaves room for original files, "for now assume no
partition may have > 10M"."""


def update(step: UpdateProperties, run: PlanRun) -> None:
    """Raises INVALID_TABLE_PROPERTIES, SORTED_TABLE, LOCATION_TAKEN."""
    old, span = step.table, step.span
    new = with_properties(old, step.properties, span)
    if (old.external and not new.external) or (new.is_transactional and not old.is_transactional):
        run.ownership.require_for_table(new, span)
    match step.conversion:
        case Conversion.FULL_ACID:
            _check_full_acid(old, new, run, span)
            run.metastore.alter_table(old, new, committed_up_to=SEEDED)
        case Conversion.INSERT_ONLY:
            _check_managed(new, span)
            _move_to_first_delta(old, run)
            run.metastore.alter_table(old, new, committed_up_to=FIRST_INSERT_ONLY)
        case None:
            run.metastore.alter_table(old, new)
        case _:
            assert_never(step.conversion)


def remove(step: RemoveProperties, run: PlanRun) -> None:
    """Raises UNKNOWN_PROPERTY, INVALID_TABLE_PROPERTIES."""
    changed = without_properties(step.table, step.keys, step.span, if_exists=step.if_exists)
    run.metastore.alter_table(step.table, changed)


# ------------------------------------------------------------------------------------------------ conversion


def _check_managed(new: Table, span: Span | None) -> None:
    if new.external:
        raise invalid(
            f"{new.qualified} cannot be declared transactional because it's an external table",
            span,
            hint="Set 'EXTERNAL'='FALSE' too, if acidsql may manage its files.",
        )


def _check_full_acid(old: Table, new: Table, run: PlanRun, span: Span | None) -> None:
    """A full ACID table reads the files as original files, so their names must be those of buckets."""
    _check_managed(new, span)
    if new.file_format != "orc":
        raise invalid(
            f"The table must be stored using an ACID compliant format (such as ORC): {new.qualified}"
            f" is stored as {new.file_format}",
            span,
            hint="Add 'transactional_properties'='insert_only' for a table that is only inserted into.",
        )
    if new.sort_columns:
        raise AcidSqlError(Condition.SORTED_TABLE, span=span, table=new.qualified)
    for directory, path in _visible_files(old, run):
        _check_name(old, directory, path, span)


def _check_name(table: Table, directory: str, path: str, span: Span | None) -> None:
    """An insert-only table has directories named as those of an ACID table. Their files are read as those of LOAD DATA
    are."""
    *folders, name = path.split("/")
    within = bool(folders) and parse_directory(folders[0]) is not None
    parsed = parse_bucket_file(name)
    if within and not table.is_insert_only:
        reason = "it lies in a directory that is named as one of an ACID table"
    elif not isinstance(parsed, Original):
        reason = "an original file is named B_A or B_A_copy_C"
    elif table.bucket_count is not None and parsed.bucket >= table.bucket_count:
        reason = f"there are {table.bucket_count} buckets"
    else:
        return
    raise invalid(
        f"Unexpected data file name format.  Cannot convert {table.qualified} to transactional table."
        f"  File: {directory}/{path} ({reason})",
        span,
        hint="Make a transactional table and fill it with INSERT .. SELECT.",
    )


def _visible_files(table: Table, run: PlanRun) -> Iterator[tuple[str, str]]:
    """The visible files: the location of the table or partition, and the path below it."""
    partitions = run.metastore.partitions(table) if table.partition_columns else ()
    for location in [p.location for p in partitions] if table.partition_columns else [table.location]:
        files = run.files(location)
        for file in files.list_below(files.resolve(location)).files:
            if is_visible(file.path):
                yield location, file.path


def _move_to_first_delta(table: Table, run: PlanRun) -> None:
    """Runs before the table is insert-only. Readers of a plain table find the files wherever they lie below it, so an
    interruption at any point loses nothing."""
    delta = delta_name(FIRST_INSERT_ONLY, StatementId(0))
    for location, below in list(_visible_files(table, run)):
        if below.startswith(f"{delta}/"):
            continue
        files = run.files(location)
        directory = files.resolve(location)
        target = f"{directory}/{delta}/{below}"
        files.make_directories(target.rpartition("/")[0])
        files.rename(f"{directory}/{below}", target)
