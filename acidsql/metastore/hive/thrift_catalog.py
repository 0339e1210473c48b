"""The catalog of a Hive Metastore: the methods of `Catalog` (client.py)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import methodcaller
from typing import Any, Final, NoReturn

from pymetastore.hive_metastore import ttypes as t
from thrift.Thrift import TApplicationException

from acidsql.acid.partition_names import parse_partition_name, partition_name
from acidsql.acid.partition_values import catalog_order
from acidsql.acid.table import ConstraintKind, Constraints, Relation, Table, View
from acidsql.acid.write_ids import WriteId
from acidsql.errors import AcidSqlError, Condition, suggestion
from acidsql.metastore.basic_statistics import STATISTICS_STATE
from acidsql.metastore.catalog import DEFAULT_DATABASE, AdoptedWriteIds, Database, Partition, PartitionValues, Place
from acidsql.metastore.hive import thrift_idl as idl
from acidsql.metastore.hive import thrift_tables as mapped
from acidsql.metastore.hive.thrift_connection import HiveConnections, Request
from acidsql.metastore.hive.thrift_constraints import constraints_from_hive, constraints_to_hive
from acidsql.metastore.hive.thrift_lookups import batches, stored_table, stored_tables
from acidsql.metastore.hive.thrift_write_ids import WriteIds, WriteState

_WAREHOUSE: Final = "hive.metastore.warehouse.dir"
_EXTERNAL_WAREHOUSE: Final = "hive.metastore.warehouse.external.dir"


_CONSTRAINTS_OF_HIVE_3: Final = (
    "primaryKeys",
    "foreignKeys",
    "uniqueConstraints",
    "notNullConstraints",
    "defaultConstraints",
    "checkConstraints",
)
"""In the order of the arguments of create_table_with_constraints."""
_KEYS: Final = (ConstraintKind.PRIMARY_KEY, ConstraintKind.UNIQUE, ConstraintKind.FOREIGN_KEY)


class HiveCatalog:
    """Each method is one call to the metastore, or several where it says so. Several calls are not atomic."""

    def __init__(self, hive: HiveConnections) -> None:
        self._hive = hive
        self._write_ids = WriteIds(hive)

    # -- databases

    def databases(self) -> Sequence[Database]:
        return [self.database(name) for name in sorted(self._hive.ask(lambda c: c.get_all_databases()))]

    def database(self, name: str) -> Database:
        try:
            found = self._hive.ask(lambda c: idl.get_database(c, name), t.NoSuchObjectException)
        except t.NoSuchObjectException as error:
            known = self._hive.ask(lambda c: c.get_all_databases())
            raise AcidSqlError(
                Condition.DATABASE_NOT_FOUND, database=name, suggestion=suggestion(name, list(known))
            ) from error
        return mapped.database_from_hive(found, self._managed_location(found))

    def _managed_location(self, database: Any) -> str | None:
        """The directory for ACID tables, if it is not the database's (Warehouse.getDatabaseManagedPath)."""
        managed = database.managedLocationUri
        if not managed:
            external = mapped.location_from_hive(self._setting(_EXTERNAL_WAREHOUSE))
            location = mapped.location_from_hive(database.locationUri)
            if database.name == DEFAULT_DATABASE:
                managed = self._setting(_WAREHOUSE)
            elif external and location.startswith(f"{external}/"):
                managed = f"{self._setting(_WAREHOUSE)}/{database.name}.db"
        found = mapped.location_from_hive(managed or database.locationUri)
        return None if found == mapped.location_from_hive(database.locationUri) else found

    def _setting(self, name: str) -> str:
        return str(self._hive.ask(lambda c: c.get_config_value(name, "")) or "").rstrip("/")

    def create_database(self, database: Database) -> None:
        new = mapped.database_to_hive(replace(database, owner=database.owner or self._hive.user))
        try:
            self._hive.tell(lambda c: c.create_database(new), t.AlreadyExistsException)
        except t.AlreadyExistsException as error:
            raise AcidSqlError(Condition.DATABASE_ALREADY_EXISTS, database=database.name) from error

    def alter_database(self, database: Database) -> None:
        """Two calls. What acidsql does not know of the database stays."""
        try:
            found = self._hive.ask(lambda c: idl.get_database(c, database.name), t.NoSuchObjectException)
        except t.NoSuchObjectException as error:
            raise AcidSqlError(Condition.DATABASE_NOT_FOUND, database=database.name, suggestion="") from error
        mapped.change_database(found, database, self._managed_location(found))
        self._hive.tell(lambda c: idl.alter_database(c, database.name, found))

    def drop_database(self, name: str) -> None:
        """Keeps the directory."""
        if name == DEFAULT_DATABASE:
            raise AcidSqlError(Condition.CANNOT_DROP_DEFAULT_DATABASE)
        if self.tables(name):
            raise AcidSqlError(Condition.DATABASE_NOT_EMPTY, database=name)
        self._hive.tell(lambda c: c.drop_database(name, False, False))

    # -- tables

    def tables(self, database: str) -> Sequence[str]:
        self.database(database)
        return sorted(self._hive.ask(lambda c: c.get_all_tables(database)))

    def views(self, database: str) -> Sequence[str]:
        self.database(database)
        return sorted(self._hive.ask(lambda c: c.get_tables_by_type(database, "*", mapped.VIEW)))

    def table(self, database: str, name: str) -> Table:
        found = self.find(database, name) or self._no_table(database, name)
        if isinstance(found, View):
            raise AcidSqlError(Condition.NOT_A_TABLE, view=found.qualified)
        return found

    def find_table(self, database: str, name: str) -> Table | None:
        """Two calls: the table, and its constraints."""
        found = self.find(database, name)
        return found if isinstance(found, Table) else None

    def find(self, database: str, name: str) -> Relation | None:
        found = self._find(database, name)
        if found is None:
            return None
        if found.tableType == mapped.MATERIALIZED_VIEW:
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=f"A materialized view ({database}.{name})")
        if found.tableType == mapped.VIEW:
            return mapped.view_from_hive(found)
        return mapped.table_from_hive(found, self._constraints(database, name))

    def hidden(self, database: str) -> Sequence[Relation]:
        return ()

    def create_view(self, view: View) -> None:
        self._create(mapped.view_to_hive(replace(view, owner=view.owner or self._hive.user)), view)

    def alter_view(self, old: View, new: View) -> None:
        found = self._stored_view(old)
        self._require_free(old, new)
        mapped.change_view(found, old, new)
        self._alter(old, found, mapped.environment())

    def drop_view(self, view: View) -> None:
        """Two calls. The first makes sure that no table has taken the name."""
        self._stored_view(view)
        self._drop(view.database, view.name, with_files=False)

    def _stored_view(self, view: View) -> Any:
        found = self._find(view.database, view.name)
        if found is None or found.tableType != mapped.VIEW:
            self._no_table(view.database, view.name)
        return found

    def create_table(
        self, table: Table, *, adopted: AdoptedWriteIds | None = None, partitions: Sequence[Partition] = ()
    ) -> None:
        """Several calls for partitions or adopted write IDs. The table is dropped again when one of them fails."""
        self._write_ids.check_adoptable(table, adopted)
        table = replace(table, owner=table.owner or self._hive.user)
        self._create(mapped.table_to_hive(table), table, **vars(constraints_to_hive(table)))
        try:
            self.add_partitions(table, partitions)
            if adopted is not None:
                self._write_ids.adopt(table, adopted)
        except BaseException:
            self._drop(table.database, table.name, with_files=False)  # the files of an adopted directory stay
            raise

    def _create(self, new: Any, described: Relation, **constraints: Any) -> None:
        create = (
            self._creation_in_hive_3(new, constraints) if self._hive.is_hive_3 else self._creation(new, constraints)
        )
        self.database(described.database)
        try:
            self._hive.tell(create, t.AlreadyExistsException)
        except t.AlreadyExistsException as error:
            raise AcidSqlError(Condition.TABLE_ALREADY_EXISTS, table=described.qualified) from error

    def _creation(self, new: Any, constraints: Mapping[str, Any]) -> Request:
        request = idl.CreateTableRequest(
            table=new,
            envContext=mapped.environment(),
            **constraints,
            processorCapabilities=list(idl.CAPABILITIES),
            processorIdentifier=idl.IDENTIFIER,
        )
        return lambda c: idl.create_table(c, request)

    def _creation_in_hive_3(self, new: Any, constraints: Mapping[str, Any]) -> Request:
        """Hive 3 has no create_table_req, and takes either constraints or an environment. Without the environment it
        counts the files of the table's directory for basic statistics."""
        given = [constraints.get(name) or [] for name in _CONSTRAINTS_OF_HIVE_3]
        if any(given):
            return lambda c: c.create_table_with_constraints(new, *given)
        return lambda c: c.create_table_with_environment_context(new, mapped.environment())

    def places(self) -> Sequence[Place]:
        """One call for each database, and one for each batch of its tables."""
        found = []
        for database in self._hive.ask(lambda c: c.get_all_databases()):
            names = self._hive.ask(methodcaller("get_all_tables", database))
            found += [mapped.place_from_hive(table) for table in stored_tables(self._hive, database, names)]
        return [place for place in found if place.location]

    def drop_table(self, database: str, name: str, *, with_files: bool = True, skips_trash: bool = False) -> None:
        """Where the files of a managed table stay, the metastore also keeps the write IDs, for the next table of the
        same name (AcidEventListener.onDropTable)."""
        self._drop(database, name, with_files=with_files, skips_trash=skips_trash)

    def _drop(self, database: str, name: str, *, with_files: bool, skips_trash: bool = False) -> None:
        context = mapped.environment(ifPurge="TRUE") if skips_trash else mapped.environment()
        try:
            self._hive.tell(
                lambda c: c.drop_table_with_environment_context(database, name, with_files, context),
                t.NoSuchObjectException,
            )
        except t.NoSuchObjectException:
            self._no_table(database, name)

    def alter_table(
        self,
        old: Table,
        new: Table,
        *,
        partitions: Mapping[PartitionValues, Partition] | None = None,
        committed_up_to: WriteId | None = None,
    ) -> None:
        """One call for the definition, one for each renamed partition, and one for all partitions with a new location.
        Reasons to refuse are checked before the first call."""
        found = self._find(old.database, old.name) or self._no_table(old.database, old.name)
        if not mapped.table_from_hive(found, old.constraints).may_be(old):
            raise AcidSqlError(Condition.TABLE_CHANGED, table=old.qualified)
        self._require_free(old, new)
        replaced = partitions or {}
        self._check_free(old, replaced)
        mapped.change_table(found, old, new)
        # CASCADE gives all partitions the new columns, because acidsql reads partitions with the table's columns.
        self._alter(old, found, mapped.environment(**({"CASCADE": "true"} if old.columns != new.columns else {})))
        self._change_constraints(old, new)
        self._replace_partitions(new, replaced)
        if committed_up_to is not None:
            self._write_ids.seed(new, committed_up_to)

    def _require_free(self, old: Relation, new: Relation) -> None:
        """Raises TABLE_ALREADY_EXISTS if the new name of a renamed table or view is taken."""
        if old.qualified != new.qualified and self._find(new.database, new.name) is not None:
            raise AcidSqlError(Condition.TABLE_ALREADY_EXISTS, table=new.qualified)

    def _alter(self, old: Relation, found: Any, environment: Any, state: WriteState | None = None) -> None:
        """Hive 3 takes no state: it keeps no statistics of a transactional table as accurate beside a writer."""
        if self._hive.is_hive_3:
            self._hive.tell(
                lambda c: c.alter_table_with_environment_context(old.database, old.name, found, environment)
            )
            return
        request = idl.AlterTableRequest(
            catName=mapped.CATALOG,
            dbName=old.database,
            tableName=old.name,
            table=found,
            environmentContext=environment,
            writeId=-1 if state is None else state.write_id,
            validWriteIdList=None if state is None else state.valid.to_text(),
            processorCapabilities=list(idl.CAPABILITIES),
            processorIdentifier=idl.IDENTIFIER,
        )
        self._hive.tell(lambda c: c.alter_table_req(request))

    # -- statistics

    def forget_table_statistics(self, table: Table, state: WriteState | None) -> None:
        """Also called for a table without statistics. The write ID that the call sets tells a concurrent writer that
        its own statistics lack these rows (ObjectStore.isCurrentStatsValidForTheQuery)."""
        found = self._find(table.database, table.name) or self._no_table(table.database, table.name)
        found.parameters.pop(STATISTICS_STATE, None)
        if state is not None:
            found.writeId = state.write_id
        self._alter(table, found, mapped.environment(), state)

    def forget_partition_statistics(
        self, table: Table, partitions: Sequence[PartitionValues], state: WriteState | None
    ) -> None:
        for some in batches(partitions):
            found = self.stored_partitions(table, some)
            for partition in found:
                partition.parameters.pop(STATISTICS_STATE, None)
            self._alter_partitions(table, found, state)

    def statistics(self, table: Table, partition: PartitionValues = ()) -> Mapping[str, str]:
        if not table.partition_columns:
            return mapped.statistics_from_hive(getattr(self._find(table.database, table.name), "parameters", None))
        found = self.stored_partitions(table, [partition]) if partition else []
        return mapped.statistics_from_hive(found[0].parameters) if found else {}

    def set_table_statistics(
        self, table: Table, new: Mapping[str, str], state: WriteState | None, *, accurate: bool | None
    ) -> None:
        found = self._find(table.database, table.name) or self._no_table(table.database, table.name)
        mapped.change_statistics(found.parameters, new, accurate=accurate)
        if state is not None:
            found.writeId = state.write_id
        self._alter(table, found, mapped.environment(), state)

    def set_partition_statistics(
        self,
        table: Table,
        new: Mapping[PartitionValues, Mapping[str, str]],
        state: WriteState | None,
        *,
        accurate: bool | None,
    ) -> None:
        for some in batches(list(new)):
            found = self.stored_partitions(table, some)
            for partition in found:
                values = new[mapped.values_from_hive(partition.values)]
                mapped.change_statistics(partition.parameters, values, accurate=accurate)
            self._alter_partitions(table, found, state)

    def _alter_partitions(self, table: Table, found: Sequence[Any], state: WriteState | None) -> None:
        for partition in found:
            if state is not None:
                partition.writeId = state.write_id
        if self._hive.is_hive_3:
            given = (table.database, table.name, found, mapped.environment())
            if found:
                self._hive.ask(methodcaller("alter_partitions_with_environment_context", *given))
            return
        request = t.AlterPartitionsRequest(
            catName=mapped.CATALOG,
            dbName=table.database,
            tableName=table.name,
            partitions=found,
            environmentContext=mapped.environment(),
            writeId=-1 if state is None else state.write_id,
            validWriteIdList=None if state is None else state.valid.to_text(),
        )
        if found:
            self._hive.ask(methodcaller("alter_partitions_req", request))

    def _find(self, database: str, name: str) -> Any:
        return stored_table(self._hive, database, name)

    def _no_table(self, database: str, name: str) -> NoReturn:
        near = suggestion(name, list(self.tables(database)))
        raise AcidSqlError(Condition.TABLE_NOT_FOUND, table=f"{database}.{name}", suggestion=near)

    # -- constraints

    def _constraints(self, database: str, name: str) -> Constraints:
        return constraints_from_hive(self._all_constraints(database, name))

    def _all_constraints(self, database: str, name: str) -> Any:
        try:
            return self._hive.ask(
                lambda c: idl.get_all_table_constraints(c, database, name),
                TApplicationException,
                t.NoSuchObjectException,
            )
        except TApplicationException as error:
            if error.type != TApplicationException.UNKNOWN_METHOD:  # Hive 3 has a call for each kind
                raise self._hive.failed(error) from error
            return self._constraints_of_hive_3(database, name)
        except t.NoSuchObjectException:  # the table was dropped meanwhile
            return idl.SQLAllTableConstraints()

    def _constraints_of_hive_3(self, database: str, name: str) -> Any:
        where = (mapped.CATALOG, database, name)
        primary = self._hive.ask(
            lambda c: c.get_primary_keys(t.PrimaryKeysRequest(database, name, catName=mapped.CATALOG))
        )
        foreign = self._hive.ask(
            lambda c: c.get_foreign_keys(
                t.ForeignKeysRequest(foreign_db_name=database, foreign_tbl_name=name, catName=mapped.CATALOG)
            )
        )
        unique = self._hive.ask(lambda c: c.get_unique_constraints(t.UniqueConstraintsRequest(*where)))
        not_null = self._hive.ask(lambda c: c.get_not_null_constraints(t.NotNullConstraintsRequest(*where)))
        defaults = self._hive.ask(lambda c: c.get_default_constraints(t.DefaultConstraintsRequest(*where)))
        checks = self._hive.ask(lambda c: c.get_check_constraints(t.CheckConstraintsRequest(*where)))
        return idl.SQLAllTableConstraints(
            primaryKeys=primary.primaryKeys,
            foreignKeys=foreign.foreignKeys,
            uniqueConstraints=unique.uniqueConstraints,
            notNullConstraints=not_null.notNullConstraints,
            defaultConstraints=defaults.defaultConstraints,
            checkConstraints=checks.checkConstraints,
        )

    def _change_constraints(self, old: Table, new: Table) -> None:
        """Drops the constraints that change and adds the new ones, if any of them changes. Keys that stay are not
        dropped: a FOREIGN KEY of another table may refer to them."""
        if old.constraints == new.constraints:
            return
        kept = {n.name for n in old.constraints.names if n in new.constraints.names and n.kind in _KEYS}
        found = self._all_constraints(new.database, new.name)
        names = [c.nn_name for c in found.notNullConstraints or ()]
        names += [c.dc_name for c in (*(found.defaultConstraints or ()), *(found.checkConstraints or ()))]
        names += [n.name for n in old.constraints.names if n.kind in _KEYS and n.name not in kept]
        for name in names:
            dropped = t.DropConstraintRequest(new.database, new.name, name, mapped.CATALOG)
            self._hive.tell(methodcaller("drop_constraint", dropped))
        added = constraints_to_hive(new)
        for call, request, listed in (
            ("add_primary_key", t.AddPrimaryKeyRequest, _without(added.primaryKeys, "pk_name", kept)),
            ("add_unique_constraint", t.AddUniqueConstraintRequest, _without(added.uniqueConstraints, "uk_name", kept)),
            ("add_foreign_key", t.AddForeignKeyRequest, _without(added.foreignKeys, "fk_name", kept)),
            ("add_not_null_constraint", t.AddNotNullConstraintRequest, added.notNullConstraints),
            ("add_default_constraint", t.AddDefaultConstraintRequest, added.defaultConstraints),
            ("add_check_constraint", t.AddCheckConstraintRequest, added.checkConstraints),
        ):
            if listed:
                self._hive.tell(methodcaller(call, request(listed)))

    # -- partitions

    def partitions(self, table: Table) -> Sequence[Partition]:
        try:
            specs = self._hive.ask(
                lambda c: c.get_partitions_pspec(table.database, table.name, -1), t.NoSuchObjectException
            )
        except t.NoSuchObjectException:
            self._no_table(table.database, table.name)
        found = [partition for spec in specs for partition in _partitions_of(spec)]
        return sorted(found, key=lambda p: catalog_order(p.values))

    def partition_values(self, table: Table) -> Sequence[PartitionValues]:
        columns = [c.name for c in table.partition_columns]
        found = [parse_partition_name(name, columns) for name in self._partition_names(table)]
        known = [values for values in found if values is not None]
        if len(known) < len(found):  # a name is not made of the columns
            return [p.values for p in self.partitions(table)]
        return sorted(known, key=catalog_order)

    def _partition_names(self, table: Table) -> Sequence[str]:
        try:
            names: Sequence[str] = self._hive.ask(
                lambda c: c.get_partition_names(table.database, table.name, -1), t.NoSuchObjectException
            )
        except t.NoSuchObjectException:
            self._no_table(table.database, table.name)
        return names

    def partitions_named(self, table: Table, values: Sequence[PartitionValues]) -> Sequence[Partition]:
        stored = (each for some in batches(values) for each in self.stored_partitions(table, some))
        return [mapped.partition_from_hive(each.values, each.sd.location) for each in stored]

    def add_partitions(self, table: Table, partitions: Sequence[Partition]) -> None:
        if not partitions:
            return
        found = self._find(table.database, table.name) or self._no_table(table.database, table.name)
        for some in batches(partitions):
            new = [mapped.partition_to_hive(p, found) for p in some]
            request = t.AddPartitionsRequest(table.database, table.name, new, True, False, mapped.CATALOG)
            # Existing partitions do not change, so that the call may be repeated.
            self._hive.ask(methodcaller("add_partitions_req", request))

    def drop_partitions(self, table: Table, values: Sequence[tuple[str | None, ...]]) -> None:
        for some in batches(values):
            names = [_partition_name(table, v) for v in some]
            request = t.DropPartitionsRequest(
                dbName=table.database,
                tblName=table.name,
                parts=t.RequestPartsSpec(names=names),
                deleteData=False,
                ifExists=True,
                needResult=False,
                catName=mapped.CATALOG,
            )
            self._hive.ask(methodcaller("drop_partitions_req", request))

    def _check_free(self, table: Table, replaced: Mapping[PartitionValues, Partition]) -> None:
        """Raises PARTITION_ALREADY_EXISTS."""
        renamed = [new.values for values, new in replaced.items() if new.values != values]
        if not renamed:
            return
        known = set(self.partition_values(table)) - replaced.keys()
        for values in renamed:
            if values in known:
                raise AcidSqlError(Condition.PARTITION_ALREADY_EXISTS, partition=_partition_name(table, values))

    def _replace_partitions(self, table: Table, replaced: Mapping[PartitionValues, Partition]) -> None:
        """Replaces partitions. The metastore moves a renamed partition of a managed table to its default directory."""
        for values, new in replaced.items():
            if new.values != values:
                self._rename_partition(table, values, new)
        moved = {new.values: new.location for values, new in replaced.items() if new.values == values}
        for some in batches(list(moved)):
            found = self.stored_partitions(table, some)
            for partition in found:
                location = moved[mapped.values_from_hive(partition.values)]
                partition.sd.location = mapped.location_to_hive(location)
                if not table.is_transactional:  # the files there are others
                    partition.parameters.pop(STATISTICS_STATE, None)
            if found:
                self._hive.ask(
                    methodcaller(
                        "alter_partitions_with_environment_context",
                        *(table.database, table.name, found, mapped.environment()),
                    )
                )

    def _rename_partition(self, table: Table, values: PartitionValues, new: Partition) -> None:
        (found,) = self.stored_partitions(table, [values]) or (None,)
        if found is None:
            return
        found.values = mapped.values_to_hive(new.values)
        old = mapped.values_to_hive(values)
        self._hive.tell(lambda c: c.rename_partition(table.database, table.name, old, found))

    def stored_partitions(self, table: Table, values: Sequence[PartitionValues]) -> list[Any]:
        """The metastore's partitions with these values, as far as they exist."""
        names = [_partition_name(table, v) for v in values]
        with suppress(t.NoSuchObjectException):
            return list(
                self._hive.ask(
                    lambda c: c.get_partitions_by_names(table.database, table.name, names), t.NoSuchObjectException
                )
            )
        return []


def _without(keys: Sequence[Any] | None, name: str, kept: Collection[str]) -> list[Any]:
    return [key for key in keys or () if getattr(key, name) not in kept]


def _partition_name(table: Table, values: PartitionValues) -> str:
    return partition_name([c.name for c in table.partition_columns], values)


def _partitions_of(spec: Any) -> Iterator[Partition]:
    """The partitions of a PartitionSpec: complete ones, and ones that share all but their location."""
    if spec.partitionList is not None:
        for whole in spec.partitionList.partitions:
            yield mapped.partition_from_hive(whole.values, whole.sd.location)
    if spec.sharedSDPartitionSpec is not None:
        for short in spec.sharedSDPartitionSpec.partitions:
            yield mapped.partition_from_hive(short.values, f"{spec.rootPath}{short.relativePath}")
