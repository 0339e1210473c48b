"""EXPLAIN of a DDL plan: its locks and its steps as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from acidsql.acid.layout import delta_name
from acidsql.acid.table import View
from acidsql.acid.write_ids import StatementId
from acidsql.grammar.statements import AddColumns, ChangeColumn, ColumnDefinition, PartitionItem, ReplaceColumns
from acidsql.metastore.catalog import Database
from acidsql.metastore.history_retention import RETENTION, keeps_history
from acidsql.planner.ddl import ddl_plan as steps
from acidsql.planner.ddl.ddl_plan import DdlPlan, Step
from acidsql.planner.ddl.partition_spec import comparison_text, default_location, name_of_partition
from acidsql.planner.explain import explain_locks


def explain_ddl(plan: DdlPlan) -> str:
    """The statement, the locks that its run requests, and what its steps do."""
    return "\n".join(_lines(plan)) + "\n"


def _lines(plan: DdlPlan) -> Iterator[str]:
    yield plan.title
    if plan.locks:
        yield "locks"
        yield from (f"  {line}" for line in explain_locks(plan.locks).splitlines()[1:])
    yield "does"
    yield from (f"  {line}" for step in plan.steps for line in _step(step))
    if not plan.steps:
        yield "  nothing"


def _step(step: Step) -> Iterator[str]:
    match step:
        case steps.RegisterDatabase(database):
            yield f"adds {database.name} to the catalog, at {database.location}"
        case steps.RedefineDatabase(database, new):
            yield from _redefined_database(database, new)
        case steps.RemoveDatabase(database):
            yield f"removes {database.name} from the catalog"
            for location in filter(None, (database.location, database.managed_location)):
                yield f"removes {location} if no file lies in it"
        case steps.RegisterTable(table):
            yield f"adds {table.qualified} to the {'tables of the session' if table.temporary else 'catalog'}"
            place = table.location or "a directory below the session's"
            yield f"adopts the files in {place}" if step.adopts else f"makes {place}"
        case steps.RemoveTable(table):
            yield f"removes {table.qualified} from the catalog"
            yield (
                f"leaves {table.location}: the table is external"
                if table.external
                else f"removes {table.location} if nothing of another table lies in it"
                + _past_the_trash(step.skips_trash)
            )
        case steps.EmptyTable(table):
            does = "writes an empty base_W in" if table.is_transactional else "removes the files in"
            yield f"{does} {_emptied(step)}"
        case steps.LoadFiles():
            yield from _load(step)
        case steps.CollectStatistics(table, partition, scans):
            of = f"the partitions with {_clause(partition)}" if partition else table.qualified
            yield f"counts the {'rows and the ' if scans else ''}files of {of}"
            yield "stores the numbers in the catalog"
        case steps.RequestCompaction(table, action):
            each = " of each partition" if table.partition_columns and not action.partition else ""
            yield f"queues a {action.type} compaction{each}"
        case steps.RegisterView(view):
            yield f"adds the view {view.qualified} to the catalog"
            yield from _definition(view)
        case steps.ReplaceView(view, new):
            if new.qualified != view.qualified:
                yield f"renames the view {view.qualified} to {new.qualified} in the catalog"
            else:
                yield f"changes the view {view.qualified} in the catalog"
            if new.expanded != view.expanded:
                yield from _definition(new)
        case steps.RemoveView(view):
            yield f"removes the view {view.qualified} from the catalog"
        case _:
            yield from _alter(step)


def _redefined_database(database: Database, new: Database) -> Iterator[str]:
    pairs = [f"'{k}'='{v}'" for k, v in new.properties.items() if database.properties.get(k) != v]
    if pairs:
        yield f"sets {', '.join(pairs)}"
    if (new.owner, new.owner_kind) != (database.owner, database.owner_kind):
        yield f"sets the owner to the {new.owner_kind.value.lower()} {new.owner}"
    if new.location != database.location:
        yield f"sets the location of new tables to {new.location}; no file moves"
    if new.managed_location != database.managed_location:
        yield f"sets the location of new transactional tables to {new.managed_location}; no file moves"


def _definition(view: View) -> Iterator[str]:
    yield f"its columns are {', '.join(f'{c.name} {c.type}' for c in view.all_columns)}"
    yield "its query is"
    yield from (f"  {line}" for line in view.expanded.splitlines())


def _alter(
    step: steps.MoveTable
    | steps.RedefineColumns
    | steps.RedefineTable
    | steps.RedefineStorage
    | steps.StoreStatistics
    | steps.Touch
    | steps.UpdateProperties
    | steps.RemoveProperties
    | steps.AssignLocation
    | steps.RegisterPartitions
    | steps.RemovePartitions
    | steps.RepairPartitions
    | steps.MovePartition
    | steps.TakePartitions,
) -> Iterator[str]:
    match step:
        case steps.MoveTable(table, renamed, move):
            yield f"renames {table.qualified} to {renamed.qualified} in the catalog"
            yield f"moves {move.source} to {move.target}" if move else f"leaves its files in {table.location}"
        case steps.RedefineColumns(_, action):
            yield _columns(action)
        case steps.RedefineTable():
            yield step.change
        case steps.RedefineStorage(table, _, _, values):
            of = "" if values is None else f", of the partition {name_of_partition(table, values)}"
            yield f"{step.change}{of}"
        case steps.StoreStatistics(_, statistics, items):
            shown = ", ".join(f"'{key}'='{value}'" for key, value in statistics.items())
            of = f" of the partitions with {_clause(items)}" if items else ""
            yield f"sets the statistics {shown}{of}"
        case steps.Touch():
            yield "changes nothing"
        case steps.UpdateProperties(_, properties, conversion):
            pairs = (f"'{key}'='{value}'" for key, value in properties.items())
            yield f"sets {', '.join(pairs)}"
            yield from _conversion(conversion)
        case steps.RemoveProperties(_, keys):
            yield f"removes the properties {', '.join(keys)}"
        case steps.AssignLocation(table, location, values):
            of = table.qualified if values is None else f"the partition {name_of_partition(table, values)}"
            yield f"sets the location of {of} to {location}; no file moves"
        case steps.RegisterPartitions(table, partitions):
            for partition in partitions:
                yield f"adds the partition {name_of_partition(table, partition.values)} at {partition.location}"
        case steps.RemovePartitions(table, clauses):
            for clause in clauses:
                yield f"removes the partitions with {_clause(clause)} from the catalog"
            yield (
                "leaves their directories: the table is external"
                if table.external
                else "removes those of their directories in which nothing else lies" + _past_the_trash(step.skips_trash)
                if not keeps_history(table)
                else f"leaves their files to the cleaner: {RETENTION} is {table.properties[RETENTION]}"
            )
        case steps.RepairPartitions(table):
            verbs = ("reports", "reports") if step.reports_only else ("adds", "removes")
            if step.adds:
                yield f"{verbs[0]} the partitions whose directories lie in {table.location} and that the catalog lacks"
            if step.drops:
                yield f"{verbs[1]} the partitions of the catalog that have no directory"
        case steps.TakePartitions(table, source, partition):
            yield f"moves the partitions of {source.qualified} with {_clause(partition)} to {table.qualified}"
        case steps.MovePartition(table, old, new):
            yield f"renames the partition {name_of_partition(table, old)} to {name_of_partition(table, new)}"
            yield from _partition_move(step)
        case _:
            assert_never(step)


def _past_the_trash(skips_trash: bool) -> str:
    return ", without moving files to a trash" if skips_trash else ""


def _emptied(step: steps.EmptyTable) -> str:
    if not step.table.partition_columns:
        return step.table.location
    return f"its partitions with {_clause(step.partition)}" if step.partition else "its partitions"


def _load(step: steps.LoadFiles) -> Iterator[str]:
    table, partition = step.table, step.partition
    if partition is not None and step.is_new:
        yield f"adds the partition {name_of_partition(table, partition.values)} at {partition.location}"
    place = table.location if partition is None else partition.location
    directory = "" if not table.is_transactional else "/base_W" if step.overwrites else "/delta_W_W_0000"
    yield f"{'copies' if step.copies else 'moves'} the files of {step.path} to {place}{directory}"
    if step.overwrites and not table.is_transactional:
        yield "removes the files that lay there"


def _columns(action: steps.ColumnAction) -> str:
    match action:
        case AddColumns(columns):
            return f"adds the columns {', '.join(map(_column, columns))}"
        case ChangeColumn(column, definition, position):
            place = f", {position}" if position else ""
            return f"changes the column {column.value} to {_column(definition)}{place}"
        case ReplaceColumns(columns):
            return f"replaces the columns by {', '.join(map(_column, columns))}"
        case _:
            assert_never(action)


def _column(definition: ColumnDefinition) -> str:
    return f"{definition.name.value} {definition.type}"


def _conversion(conversion: steps.Conversion | None) -> Iterator[str]:
    match conversion:
        case steps.Conversion.FULL_ACID:
            yield "converts the table to full ACID; no file moves"
        case steps.Conversion.INSERT_ONLY:
            yield f"moves the files to {delta_name(steps.FIRST_INSERT_ONLY, StatementId(0))}"
            yield "converts the table to insert-only"
        case None:
            return
        case _:
            assert_never(conversion)


def _partition_move(step: steps.MovePartition) -> Iterator[str]:
    if step.table.external:
        yield "leaves its directory: the table is external"
        return
    old, new = (default_location(step.table, values) for values in (step.old, step.new))
    yield f"moves {old} to {new}, unless the partition has a LOCATION of its own"


def _clause(items: tuple[PartitionItem, ...]) -> str:
    return ", ".join(map(comparison_text, items))
