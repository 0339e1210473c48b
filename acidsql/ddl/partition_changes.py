"""ADD, DROP and RENAME PARTITION: partitions of the catalog, and their directories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from acidsql.acid.data_files import is_visible
from acidsql.acid.directories import Original, parse_bucket_file, parse_directory
from acidsql.acid.layout import METADATA_FILE, TRUNCATED_METADATA, adopted_write_ids, base_name
from acidsql.acid.partition_names import partition_name
from acidsql.acid.partition_values import as_known, by_normal_values, check_own_place
from acidsql.acid.table import Table
from acidsql.ddl.exclusive_access import Held
from acidsql.ddl.ownership import Ownership, absolute
from acidsql.ddl.relocation import Files, exclusively_settled, finish_move, require_free, with_move
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.statements import AddPartitions, DropPartitions, PartitionItem, RenamePartition
from acidsql.metastore.client import Metastore, Partition, PartitionValues
from acidsql.metastore.transactions import Transactions
from acidsql.planner.partition_spec import partition_values, partitions_named
from acidsql.storage.file_systems import FileSystem, is_local
from acidsql.storage.leftovers import is_there


@dataclass(frozen=True, slots=True)
class _Lying:
    """What lies in a directory: the names in it, those first that are to be removed first."""

    files: FileSystem
    directory: str
    names: list[str]


@dataclass(frozen=True, slots=True)
class AlterPartitions:
    """Partitions of one table; `span` is the table's name in the statement."""

    transactions: Transactions
    files: Files
    table: Table
    span: Span | None

    # -- ADD

    @property
    def metastore(self) -> Metastore:
        return self.transactions.metastore

    def add(self, action: AddPartitions) -> None:
        """All of them or none. Raises PARTITION_ALREADY_EXISTS, INVALID_PARTITION_SPEC, LOCATION_NOT_EMPTY,
        LOCATION_TAKEN."""
        wanted = [
            self._new(partition_values(items, self.table, self.span), location) for items, location in action.partitions
        ]
        with exclusively_settled(self.transactions, self.files, self.table) as held:
            there = self.metastore.partitions(held.table)
            known = by_normal_values([p.values for p in there], self.table.partition_columns)
            places = {p.location: p.values for p in there}
            new = {p.values: p for p in wanted if p.values not in known}
            if len(new) < len(wanted) and not action.if_not_exists:
                twice = next(p for p in wanted if p.values in known or new[p.values] is not p)
                raise AcidSqlError(
                    Condition.PARTITION_ALREADY_EXISTS, span=self.span, partition=self._name(twice.values)
                )
            ownership, partitions = self._ownership(), [*there, *new.values()]
            for partition in new.values():
                if partition.location == self._default_location(partition.values):
                    check_own_place(partition.location, self.table.partition_columns, places, self.span)
                else:
                    others = (p for p in partitions if p is not partition)
                    ownership.require_for_partition(held.table, partition, others, self.span)
                self._check_files(held.table, partition)
            for partition in new.values():
                files = self.files(partition.location)
                files.make_directories(files.resolve(partition.location))
            self.metastore.add_partitions(held.table, list(new.values()))

    def _new(self, values: PartitionValues, location: str | None) -> Partition:
        """A relative location is below the table's, as in Hive."""
        if location is None:
            return Partition(values, self._default_location(values))
        below = is_local(location) and not location.startswith(("/", "file:"))
        return Partition(values, absolute(f"{self.table.location}/{location}" if below else location))

    def _ownership(self) -> Ownership:
        return Ownership(self.metastore, self.files)

    def _check_files(self, table: Table, partition: Partition) -> None:
        """What lies there already becomes rows of the table: only if its write IDs are the table's."""
        if not table.is_transactional:
            return
        files = self.files(partition.location)
        listing = files.list_below(files.resolve(partition.location))
        if table.is_full_acid:
            _check_originals(partition, [f.path for f in listing.files if is_visible(f.path)], self.span)
        found, _ = adopted_write_ids([f.path for f in listing.files], listing.directories)
        known = self.metastore.valid_write_ids(table, self.metastore.valid_txns()).high_watermark
        if found > known:
            reason = f"write ID {found} lies there, and {table.qualified} has write IDs up to {known} only"
            hint = "Create the table with 'acidsql.adopt.writeids' to tell all its write IDs, then add the partition."
            raise AcidSqlError(
                Condition.LOCATION_NOT_EMPTY, span=self.span, path=partition.location, reason=reason, hint=hint
            )

    # -- DROP

    def drop(self, action: DropPartitions) -> None:
        """All that any of the clauses names; the files of a managed table go with them. Raises PARTITION_NOT_FOUND."""
        with exclusively_settled(self.transactions, self.files, self.table) as held:
            dropped = self._named(held.table, action)
            removed = [] if held.table.external else self._own(held.table, dropped)
            if held.table.is_transactional:
                self._hide(held, removed)
            lying = [self._lying(p.location) for p in removed]
            held.require_open()
            self.metastore.drop_partitions(held.table, [p.values for p in dropped])
            if not held.table.is_transactional:
                self._delete(lying)
        # Of a transactional table, when all know that the partitions are gone.
        if held.table.is_transactional and is_there(self.metastore, held.table):
            self._delete(lying)

    def _own(self, table: Table, dropped: Sequence[Partition]) -> list[Partition]:
        """Those in whose directories nothing else lies."""
        ownership, kept = self._ownership(), [p for p in self.metastore.partitions(table) if p not in dropped]
        return [p for p in dropped if ownership.is_own(table, p.location, kept)]

    def _named(self, table: Table, action: DropPartitions) -> list[Partition]:
        known = {p.values: p for p in self.metastore.partitions(table)}
        found: dict[PartitionValues, Partition] = {}
        for items in action.partitions:
            named = partitions_named(items, table, list(known), self.span)
            if not named and not action.if_exists:
                shown = ", ".join(_comparison(item) for item in items)
                raise AcidSqlError(Condition.PARTITION_NOT_FOUND, span=items[0].column.span, partition=shown)
            found |= {values: known[values] for values in named}
        return list(found.values())

    def _hide(self, held: Held, dropped: Sequence[Partition]) -> None:
        """An empty base in each: should this process die before the files are gone, they are of no partition that is
        added there again."""
        if not dropped:
            return
        write_id = self.metastore.allocate_write_id(held.txn, held.table)
        for partition in dropped:
            files = self.files(partition.location)
            directory = f"{files.resolve(partition.location)}/{base_name(write_id)}"
            files.make_directories(directory)
            files.write(f"{directory}/{METADATA_FILE}", TRUNCATED_METADATA)

    def _lying(self, location: str) -> _Lying:
        """What lies in a partition's directory. What is old comes first, so that the base that hides it goes last."""
        files = self.files(location)
        directory = files.resolve(location)
        listing = files.list_below(directory)
        tops = sorted(
            {path.split("/")[0] for path in (*listing.directories, *listing.hidden, *(f.path for f in listing.files))}
        )
        return _Lying(files, directory, sorted(tops, key=lambda name: name.startswith("base_")))

    def _delete(self, lying: Sequence[_Lying]) -> None:
        """Only what was listed under the lock: by now somebody else may have written the partition anew."""
        for place in lying:
            for name in place.names:
                place.files.delete(f"{place.directory}/{name}")
            place.files.delete_empty(place.directory)

    # -- RENAME

    def rename(self, action: RenamePartition) -> None:
        """A managed table's directory moves with it. Raises PARTITION_NOT_FOUND, PARTITION_ALREADY_EXISTS."""
        old_values = partition_values(action.partition, self.table, self.span)
        new_values = partition_values(action.new_partition, self.table, self.span)
        with exclusively_settled(self.transactions, self.files, self.table) as held:
            known = {p.values: p for p in self.metastore.partitions(held.table)}
            found = as_known(old_values, held.table.partition_columns, known.keys())
            if found is None:
                span = action.partition[0].column.span
                raise AcidSqlError(Condition.PARTITION_NOT_FOUND, span=span, partition=self._name(old_values))
            old_values = found
            if as_known(new_values, held.table.partition_columns, known.keys() - {old_values}) or new_values in known:
                span = action.new_partition[0].column.span
                raise AcidSqlError(Condition.PARTITION_ALREADY_EXISTS, span=span, partition=self._name(new_values))
            old = known[old_values]
            moves = not self.table.external and old.location == self._default_location(old_values)
            new_location = self._default_location(new_values)
            if moves:
                require_free(self.files, new_location)
            if held.table.is_transactional:
                self.metastore.allocate_write_id(held.txn, held.table)
            marked = with_move(held.table, old.location, new_location) if moves else held.table
            renamed = {old_values: Partition(new_values, old.location)}
            self.metastore.alter_table(held.table, marked, partitions=renamed)
            if moves:
                finish_move(self.metastore, self.files, marked)

    # -- names

    def _name(self, values: PartitionValues) -> str:
        return partition_name([c.name for c in self.table.partition_columns], values)

    def _default_location(self, values: PartitionValues) -> str:
        return f"{self.table.location}/{self._name(values)}"


def _check_originals(partition: Partition, paths: Sequence[str], span: Span | None) -> None:
    """Files in no ACID directory have their bucket in their name."""
    for path in paths:
        top, _, _ = path.partition("/")
        if parse_directory(top) is None and not isinstance(parse_bucket_file(path.split("/")[-1]), Original):
            reason = f"a file of a transactional table is not named so: {path}"
            hint = "Add the partition without LOCATION, and bring the files in with LOAD DATA."
            raise AcidSqlError(
                Condition.LOCATION_NOT_EMPTY, span=span, path=partition.location, reason=reason, hint=hint
            )


def _comparison(item: PartitionItem) -> str:
    return item.column.value if item.value is None else f"{item.column.value} {item.operator} {to_spark(item.value)}"
