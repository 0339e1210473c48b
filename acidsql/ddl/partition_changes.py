"""ADD, DROP and RENAME PARTITION: partitions of the catalog, and their directories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from acidsql.acid.data_files import is_visible
from acidsql.acid.directories import Original, parse_bucket_file, parse_directory
from acidsql.acid.layout import DROPPED_METADATA, METADATA_FILE, TRUNCATED_METADATA, adopted_write_ids, base_name
from acidsql.acid.partition_values import as_known, by_normal_values, check_own_place
from acidsql.acid.table import Table
from acidsql.ddl.plan_run import PlanRun
from acidsql.ddl.relocation import finish_move, require_free, with_move
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.metastore.catalog import Partition, PartitionValues
from acidsql.metastore.client import Metastore
from acidsql.metastore.history_retention import RETENTION, held_until, keeps_history, moment_text
from acidsql.planner.ddl.ddl_plan import MovePartition, RegisterPartitions, RemovePartitions, TakePartitions, Touch
from acidsql.planner.ddl.partition_spec import comparison_text, default_location, name_of_partition, partitions_named
from acidsql.snapshot.foreign_directories import Siblings
from acidsql.snapshot.read_view import ReadView
from acidsql.snapshot.replaced_files import leave_list
from acidsql.snapshot.statement_snapshots import StatementSnapshots, is_without_rows
from acidsql.storage.file_systems import FileSystem, discard
from acidsql.storage.leftovers import is_there, keep_if_open

# ------------------------------------------------------------------------------------------------ ADD PARTITION


def register(step: RegisterPartitions, run: PlanRun) -> None:
    """Raises PARTITION_ALREADY_EXISTS, LOCATION_NOT_EMPTY, LOCATION_TAKEN."""
    table, known = step.table, run.metastore.partitions(step.table)
    new = _new_partitions(step, known)
    found = []
    for partition in new:
        _check_location(partition, known, new, step, run)
        if table.is_transactional and _check_write_ids(partition, step, run):
            found.append(partition)
    with ExitStack() as directories:
        for partition in new:
            directories.enter_context(run.new_directory(partition.location))
        if len(found) < len(new):
            run.metastore.add_partitions(table, [p for p in new if p not in found])
        if found:
            run.metastore.add_partitions(table, found, found=True)


def _new_partitions(step: RegisterPartitions, known: Sequence[Partition]) -> list[Partition]:
    """The partitions that the catalog lacks. Two spellings of one value (`q=1`, `q=01`) are one partition."""
    values = by_normal_values([p.values for p in known], step.table.partition_columns)
    new = {p.values: p for p in step.partitions if p.values not in values}
    if len(new) < len(step.partitions) and not step.if_not_exists:
        twice = next(p for p in step.partitions if p.values in values or new[p.values] is not p)
        shown = name_of_partition(step.table, twice.values)
        raise AcidSqlError(Condition.PARTITION_ALREADY_EXISTS, span=step.span, partition=shown)
    return list(new.values())


def _check_location(
    partition: Partition, known: Sequence[Partition], new: Sequence[Partition], step: RegisterPartitions, run: PlanRun
) -> None:
    """Raises LOCATION_NOT_EMPTY, LOCATION_TAKEN where another partition has the directory."""
    table = step.table
    if partition.location == default_location(table, partition.values):
        places = {p.location: p.values for p in known}
        check_own_place(partition.location, table.partition_columns, places, step.span)
    else:
        others = (p for p in (*known, *new) if p is not partition)
        run.ownership.require_for_partition(table, partition, others, step.span)


def _check_write_ids(partition: Partition, step: RegisterPartitions, run: PlanRun) -> bool:
    """The files at the location become rows of the table, so their write IDs must be ones that the table has given
    out. Tells whether anything lies there."""
    table, metastore = step.table, run.metastore
    files = run.files(partition.location)
    listing = files.list_below(files.resolve(partition.location))
    if table.is_full_acid:
        _check_originals(partition, [f.path for f in listing.files if is_visible(f.path)], step.span)
    found, _ = adopted_write_ids([f.path for f in listing.files], listing.directories)
    txns = metastore.valid_txns()
    writes = metastore.valid_write_ids(table, txns)
    known = writes.high_watermark
    if found > known:
        reason = f"write ID {found} lies there, and {table.qualified} has write IDs up to {known} only"
        hint = "Create the table with 'acidsql.adopt.writeids' to tell all its write IDs, then add the partition."
        raise AcidSqlError(
            Condition.LOCATION_NOT_EMPTY, span=step.span, path=partition.location, reason=reason, hint=hint
        )
    if any(dropped.location == partition.location for dropped in metastore.dropped_partitions(table)):
        return not is_without_rows(table, files, files.resolve(partition.location), writes, txns)
    return bool(listing.files or listing.directories)


def _check_originals(partition: Partition, paths: Sequence[str], span: Span | None) -> None:
    """The bucket of a file outside ACID directories is in its name."""
    for path in paths:
        top, _, _ = path.partition("/")
        if parse_directory(top) is None and not isinstance(parse_bucket_file(path.split("/")[-1]), Original):
            reason = f"a file of a transactional table is not named so: {path}"
            hint = "Add the partition without LOCATION, and bring the files in with LOAD DATA."
            raise AcidSqlError(
                Condition.LOCATION_NOT_EMPTY, span=span, path=partition.location, reason=reason, hint=hint
            )


# ------------------------------------------------------------------------------------------------ DROP PARTITION


@dataclass(frozen=True, slots=True)
class _Contents:
    """What lies in a directory: `names`, in the order in which they are to be removed."""

    files: FileSystem
    directory: str
    names: list[str]


def remove(step: RemovePartitions, run: PlanRun) -> None:
    """The partitions go with the commit. In a transactional table it makes the bases valid that hide their rows; the
    files go after it, when everybody knows that the partitions are gone. Nothing hides the files of a plain table, so
    they go before it: a process that dies in between leaves none for a partition that is made there again.

    In a table that retains its history, the files stay behind the base until the cleaner removes them.

    Raises PARTITION_NOT_FOUND, CATALOG_BEHIND.
    """
    table, metastore = step.table, run.metastore
    known = metastore.partitions(table)
    dropped = _named_partitions(step, known)
    left = [p for p in known if p not in dropped]
    own = [] if table.external else [p for p in dropped if run.ownership.is_own(table, p.location, left)]
    kept = [p for p in own if _is_kept(p, table, metastore)]
    if table.is_transactional and own:
        _hide(own, kept, table, run)
    contents = [_contents(p.location, run) for p in own if p not in kept]
    assert run.transaction is not None
    values = [p.values for p in dropped]
    run.transaction.committing = partial(metastore.commit_dropped, run.transaction.id, table, values, kept)
    if table.is_transactional:
        run.after_commit.append(partial(_discard_own, contents, step, run))
    else:
        _discard(contents, step, run.require_open)


def _named_partitions(step: RemovePartitions, partitions: Sequence[Partition]) -> list[Partition]:
    known = {p.values: p for p in partitions}
    found: dict[PartitionValues, Partition] = {}
    for items in step.clauses:
        named = partitions_named(items, step.table, list(known), step.span)
        if not named and not step.if_exists:
            shown = ", ".join(map(comparison_text, items))
            raise AcidSqlError(Condition.PARTITION_NOT_FOUND, span=items[0].column.span, partition=shown)
        found |= {values: known[values] for values in named}
    return list(found.values())


def _is_kept(partition: Partition, table: Table, metastore: Metastore) -> bool:
    """Whether the files of a dropped partition stay. DROP TABLE removes only what lies in the table's directory."""
    keeps = keeps_history(table) and not table.temporary and metastore.compaction_keeper is not None
    return keeps and partition.location.startswith(f"{table.location}/")


def _hide(partitions: Sequence[Partition], kept: Sequence[Partition], table: Table, run: PlanRun) -> None:
    """Writes an empty base into each partition. If this process dies before the files are gone, a partition that is
    added there again does not have their rows. Those that are `kept` get the list of their files. Raises
    CATALOG_BEHIND."""
    assert run.transaction is not None
    write_id = run.allocate_write_id(table)
    snapshots = StatementSnapshots(run.files, ReadView(run.metastore, run.metastore.valid_txns(run.transaction.id)))
    before = {part.values: part.snapshot for part in snapshots.parts_of(table, [p.values for p in kept])}
    made: list[str] = []
    siblings = Siblings(run.metastore, table, write_id, write_id, run.transaction.id, [made])
    for partition in partitions:
        files = run.files(partition.location)
        place = files.resolve(partition.location)
        directory = f"{place}/{base_name(write_id)}"
        if directory not in made:  # two partitions may have one directory
            siblings.check(place, files.directories_named(place, ""), base_name(write_id))
            made.append(directory)
        files.make_directories(directory)
        is_kept = partition in kept
        files.write(f"{directory}/{METADATA_FILE}", DROPPED_METADATA if is_kept else TRUNCATED_METADATA)
        if is_kept:
            leave_list(files, directory, before.get(partition.values))
    keep_if_open([(run.files(directory), directory) for directory in made], run.require_open)


def _contents(location: str, run: PlanRun) -> _Contents:
    """The contents of a partition's directory. Bases come last, so that the base that hides the rows goes last."""
    files = run.files(location)
    directory = files.resolve(location)
    listing = files.list_below(directory)
    tops = sorted(
        {path.split("/")[0] for path in (*listing.directories, *listing.hidden, *(f.path for f in listing.files))}
    )
    return _Contents(files, directory, sorted(tops, key=lambda name: name.startswith("base_")))


def _discard_own(contents: Sequence[_Contents], step: RemovePartitions, run: PlanRun) -> None:
    """Nothing is removed once a new table of the name may have the directory: the lock went with the commit."""
    if is_there(run.metastore, step.table, run.files):
        _discard(contents, step)


def _discard(
    contents: Sequence[_Contents], step: RemovePartitions, require_open: Callable[[], None] = lambda: None
) -> None:
    """Removes only what was listed under the lock: others may have written the partition anew since. `require_open` is
    called before each removal, where the lock must still be held: others may have written files of the same names."""
    for place in contents:
        for name in place.names:
            require_open()
            discard(place.files, f"{place.directory}/{name}", skips_trash=step.skips_trash)
        place.files.delete_empty(place.directory)


# ------------------------------------------------------------------------------------------------ RENAME PARTITION


def move(step: MovePartition, run: PlanRun) -> None:
    """Raises PARTITION_NOT_FOUND, PARTITION_ALREADY_EXISTS, LOCATION_NOT_EMPTY."""
    table = step.table
    known = {p.values: p for p in run.metastore.partitions(table)}
    old = _renamed_partition(step, known)
    new_location = default_location(table, step.new)
    moves = not table.external and old.location == default_location(table, old.values)
    if moves:
        _require_not_kept(new_location, table, run)
        require_free(run.files, new_location)
    if table.is_transactional:
        run.allocate_write_id(table)
    marked = with_move(table, old.location, new_location) if moves else table
    run.metastore.alter_table(table, marked, partitions={old.values: Partition(step.new, old.location)})
    finish_move(run.metastore, run.files, marked)


def _require_not_kept(location: str, table: Table, run: PlanRun) -> None:
    """Raises LOCATION_NOT_EMPTY where the files of a dropped partition are kept."""
    kept = [d for d in run.metastore.dropped_partitions(table) if d.location == location]
    if kept:
        until = moment_text(held_until(table, max(d.dropped for d in kept)))
        reason = f"{RETENTION} keeps the files of a partition there that was dropped, {until}"
        raise AcidSqlError(Condition.LOCATION_NOT_EMPTY, path=location, reason=reason)


def _renamed_partition(step: MovePartition, known: Mapping[PartitionValues, Partition]) -> Partition:
    """The partition of the old values, which the statement may spell otherwise (`q=01`)."""
    table = step.table
    found = as_known(step.old, table.partition_columns, known.keys())
    if found is None:
        shown = name_of_partition(table, step.old)
        raise AcidSqlError(Condition.PARTITION_NOT_FOUND, span=step.old_span, partition=shown)
    if as_known(step.new, table.partition_columns, known.keys() - {found}) or step.new in known:
        shown = name_of_partition(table, step.new)
        raise AcidSqlError(Condition.PARTITION_ALREADY_EXISTS, span=step.new_span, partition=shown)
    return known[found]


# ------------------------------------------------------------------------------------------------ EXCHANGE PARTITION


def take(step: TakePartitions, run: PlanRun) -> None:
    """A directory in the default place moves, others stay where they are. Both tables know of the move while it is
    under way. If the process dies, a partition that is made again in the old table does not take over the directory.

    Raises PARTITION_NOT_FOUND, PARTITION_ALREADY_EXISTS, LOCATION_NOT_EMPTY.
    """
    taken = _taken(step, run)
    targets = {partition.values: _new_place(step, partition) for partition in taken}
    for partition in taken:
        if targets[partition.values] != partition.location:
            require_free(run.files, targets[partition.values])
    metastore, table, source = run.metastore, step.table, step.source
    for partition in taken:
        move = partition.location, targets[partition.values]
        marked, marked_source = (t if move[0] == move[1] else with_move(t, *move) for t in (table, source))
        run.require_open()
        metastore.exchange_partition(partition, (source, marked_source), (table, marked))
        table = finish_move(metastore, run.files, marked)
        source = finish_move(metastore, run.files, marked_source)


def _taken(step: TakePartitions, run: PlanRun) -> list[Partition]:
    known = {p.values: p for p in run.metastore.partitions(step.source)}
    named = partitions_named(step.partition, step.source, list(known), step.span)
    if not named:
        shown = ", ".join(map(comparison_text, step.partition))
        raise AcidSqlError(Condition.PARTITION_NOT_FOUND, span=step.partition[0].column.span, partition=shown)
    own = run.metastore.partition_values(step.table)
    for values in named:
        if as_known(values, step.table.partition_columns, own) is not None:
            shown = name_of_partition(step.table, values)
            raise AcidSqlError(Condition.PARTITION_ALREADY_EXISTS, span=step.span, partition=shown)
    return [known[values] for values in named]


def _new_place(step: TakePartitions, partition: Partition) -> str:
    if partition.location != default_location(step.source, partition.values):
        return partition.location
    return default_location(step.table, partition.values)


# ------------------------------------------------------------------------------------------------ TOUCH


def require(step: Touch, run: PlanRun) -> None:
    """Raises PARTITION_NOT_FOUND."""
    known = run.metastore.partition_values(step.table) if step.partitions else ()
    for values in step.partitions:
        if as_known(values, step.table.partition_columns, known) is None:
            shown = name_of_partition(step.table, values)
            raise AcidSqlError(Condition.PARTITION_NOT_FOUND, span=step.span, partition=shown)
