"""The calls that read and change the constraints of a Hive Metastore's tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import methodcaller
from typing import Any, Final

from pymetastore.hive_metastore import ttypes as t
from thrift.Thrift import TApplicationException

from acidsql.acid.table import ConstraintKind, Constraints, Table
from acidsql.metastore.hive import thrift_idl as idl
from acidsql.metastore.hive import thrift_tables as mapped
from acidsql.metastore.hive.thrift_connection import HiveConnections
from acidsql.metastore.hive.thrift_constraints import constraints_from_hive, constraints_to_hive

_KEYS: Final = (ConstraintKind.PRIMARY_KEY, ConstraintKind.UNIQUE, ConstraintKind.FOREIGN_KEY)


class TableConstraints:
    """The constraints of tables by their names."""

    def __init__(self, hive: HiveConnections) -> None:
        self._hive = hive

    def of(self, database: str, name: str) -> Constraints:
        return constraints_from_hive(self._all(database, name))

    def _all(self, database: str, name: str) -> Any:
        try:
            return self._hive.ask(
                lambda c: idl.get_all_table_constraints(c, database, name),
                TApplicationException,
                t.NoSuchObjectException,
            )
        except TApplicationException as error:
            if error.type != TApplicationException.UNKNOWN_METHOD:  # Hive 3 has a call for each kind
                raise self._hive.failed(error) from error
            return self._all_in_hive_3(database, name)
        except t.NoSuchObjectException:  # the table was dropped meanwhile
            return idl.SQLAllTableConstraints()

    def _all_in_hive_3(self, database: str, name: str) -> Any:
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

    def change(self, old: Table, new: Table) -> None:
        """Drops the constraints that change and adds the new ones, if any of them changes. Keys that stay are not
        dropped: a FOREIGN KEY of another table may refer to them."""
        if old.constraints == new.constraints:
            return
        kept = {n.name for n in old.constraints.names if n in new.constraints.names and n.kind in _KEYS}
        found = self._all(new.database, new.name)
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


def _without(keys: Sequence[Any] | None, name: str, kept: Collection[str]) -> list[Any]:
    return [key for key in keys or () if getattr(key, name) not in kept]
