"""The tables and views of a Hive Metastore: with its base classes, the methods of `Catalog` (metastore/catalog.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import methodcaller
from typing import Any, Final

from pymetastore.hive_metastore import ttypes as t

from acidsql.acid.table import Relation, Table, View
from acidsql.acid.write_ids import WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.catalog import AdoptedWriteIds, Partition, PartitionValues, Place
from acidsql.metastore.hive import thrift_idl as idl
from acidsql.metastore.hive import thrift_tables as mapped
from acidsql.metastore.hive.thrift_alterations import alter_relation
from acidsql.metastore.hive.thrift_connection import HiveConnections, Request
from acidsql.metastore.hive.thrift_constraint_calls import TableConstraints
from acidsql.metastore.hive.thrift_constraints import constraints_to_hive
from acidsql.metastore.hive.thrift_lookups import stored_tables
from acidsql.metastore.hive.thrift_partitions import HivePartitions
from acidsql.metastore.hive.thrift_write_ids import WriteIds

_CONSTRAINTS_OF_HIVE_3: Final = (
    "primaryKeys",
    "foreignKeys",
    "uniqueConstraints",
    "notNullConstraints",
    "defaultConstraints",
    "checkConstraints",
)
"""In the order of the arguments of create_table_with_constraints."""


class HiveCatalog(HivePartitions):
    """Each method is one call to the metastore, or several where it says so. Several calls are not atomic."""

    def __init__(self, hive: HiveConnections) -> None:
        super().__init__(hive)
        self._write_ids = WriteIds(hive)
        self._constraints = TableConstraints(hive)

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
        return mapped.table_from_hive(found, self._constraints.of(database, name))

    def hidden(self, database: str) -> Sequence[Relation]:
        return ()

    def create_view(self, view: View) -> None:
        self._create(mapped.view_to_hive(replace(view, owner=view.owner or self._hive.user)), view)

    def alter_view(self, old: View, new: View) -> None:
        found = self._stored_view(old)
        self._require_free(old, new)
        mapped.change_view(found, old, new)
        alter_relation(self._hive, old, found, mapped.environment())

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
        alter_relation(
            self._hive, old, found, mapped.environment(**({"CASCADE": "true"} if old.columns != new.columns else {}))
        )
        self._constraints.change(old, new)
        self._replace_partitions(new, replaced)
        if committed_up_to is not None:
            self._write_ids.seed(new, committed_up_to)

    def _require_free(self, old: Relation, new: Relation) -> None:
        """Raises TABLE_ALREADY_EXISTS if the new name of a renamed table or view is taken."""
        if old.qualified != new.qualified and self._find(new.database, new.name) is not None:
            raise AcidSqlError(Condition.TABLE_ALREADY_EXISTS, table=new.qualified)
