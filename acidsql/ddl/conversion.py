"""SET and UNSET TBLPROPERTIES, and with them the conversion of a table to full ACID or to insert-only.

The rules are those of org.apache.hadoop.hive.metastore.TransactionalValidationListener and of Hive 4's
AlterTableSetPropertiesOperation: there is no way back, and no file is rewritten.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from acidsql.acid.data_files import is_visible
from acidsql.acid.directories import Original, parse_bucket_file, parse_directory
from acidsql.acid.layout import delta_name
from acidsql.acid.table import TRANSACTIONAL, TRANSACTIONAL_PROPERTIES, Table
from acidsql.acid.write_ids import StatementId, WriteId
from acidsql.ddl.catalog_changes import ADOPT_WRITE_IDS
from acidsql.ddl.ownership import Ownership
from acidsql.ddl.relocation import MOVING, Files, exclusively_settled
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.statements import SetTableProperties, UnsetTableProperties
from acidsql.metastore.client import Metastore
from acidsql.metastore.transactions import Transactions

SEEDED: Final = WriteId(10_000_000)
"""Full ACID begins above it: Hive leaves room for original files, "for now assume no partition may have > 10M"."""

_FIRST: Final = WriteId(1)
"""Insert-only: Hive moves the files to the directory of the first write ID."""
_EXTERNAL: Final = "external"
_COMMENT: Final = "comment"
_BUCKETING_VERSION: Final = "bucketing_version"
_ACID_KEYS: Final = (TRANSACTIONAL, TRANSACTIONAL_PROPERTIES)


@dataclass(frozen=True, slots=True)
class AlterProperties:
    """Properties of one table; `span` is the table's name in the statement."""

    transactions: Transactions
    files: Files
    table: Table
    span: Span | None

    @property
    def metastore(self) -> Metastore:
        return self.transactions.metastore

    def set(self, action: SetTableProperties) -> None:
        """Raises INVALID_TABLE_PROPERTIES, SORTED_TABLE, LOCATION_TAKEN."""
        given = {_known_key(key): value for key, value in action.properties}
        with exclusively_settled(self.transactions, self.files, self.table) as held:
            old = held.table
            new = self._with(old, given)
            if (old.external and not new.external) or (new.is_transactional and not old.is_transactional):
                Ownership(self.metastore, self.files).require_for_table(new, self.span)
            if new.is_full_acid and not old.is_full_acid:
                self._check_full_acid(old, new)
                self.metastore.alter_table(old, new, committed_up_to=SEEDED)
            elif new.is_insert_only and not old.is_transactional:
                self._check_managed(new)
                self._move_to_first_delta(old)
                self.metastore.alter_table(old, new, committed_up_to=_FIRST)
            else:
                self.metastore.alter_table(old, new)

    def unset(self, action: UnsetTableProperties) -> None:
        """Raises UNKNOWN_PROPERTY, INVALID_TABLE_PROPERTIES."""
        with exclusively_settled(self.transactions, self.files, self.table) as held:
            table = held.table
            known = {**table.properties, **({_COMMENT: table.comment} if table.comment else {})}
            for key in map(_known_key, action.keys):
                if key in _ACID_KEYS and table.is_transactional:
                    raise self._no_way_back(key)
                if key == _BUCKETING_VERSION:
                    self._check_buckets(table, "")
                if key not in known and not action.if_exists:
                    raise AcidSqlError(Condition.UNKNOWN_PROPERTY, span=self.span, property=key, table=table.qualified)
            keys = set(map(_known_key, action.keys))
            left = {k: v for k, v in table.properties.items() if k not in keys}
            comment = None if _COMMENT in keys else table.comment
            self.metastore.alter_table(table, replace(table, properties=left, comment=comment))

    # -- the properties

    def _with(self, table: Table, given: Mapping[str, str]) -> Table:
        self._check_keys(table, given)
        properties = {k: v for k, v in table.properties.items() if k.lower() not in _ACID_KEYS or k not in given}
        properties |= {k: v for k, v in given.items() if k not in (_EXTERNAL, _COMMENT)}
        external = given[_EXTERNAL].lower() == "true" if _EXTERNAL in given else table.external
        new = replace(table, properties=properties, external=external, comment=given.get(_COMMENT, table.comment))
        return self._with_acid_properties(table, new)

    def _check_keys(self, table: Table, given: Mapping[str, str]) -> None:
        for key in (ADOPT_WRITE_IDS, MOVING):
            if key in given:
                raise self._invalid(f"{key} is not set by ALTER TABLE: only CREATE TABLE takes it")
        if _BUCKETING_VERSION in given:
            self._check_buckets(table, given[_BUCKETING_VERSION])

    def _check_buckets(self, table: Table, version: str) -> None:
        if table.bucket_columns and table.properties.get(_BUCKETING_VERSION, "") != version:
            raise self._invalid(f"{_BUCKETING_VERSION} of {table.qualified} cannot change: its rows lie in buckets")

    def _with_acid_properties(self, old: Table, new: Table) -> Table:
        """`transactional` and `transactional_properties` as they are kept, once they are allowed."""
        value = new.properties.get(TRANSACTIONAL, "false").lower()
        if value not in ("true", "false"):
            raise self._invalid(
                f"'transactional' property of TBLPROPERTIES may only have value 'true': {old.qualified}"
            )
        if old.is_transactional and value == "false":
            raise self._no_way_back(TRANSACTIONAL)
        if value == "false":  # the same as no such property
            if TRANSACTIONAL_PROPERTIES in new.properties:
                raise self._invalid(
                    f"Cannot set '{TRANSACTIONAL_PROPERTIES}' to '{new.properties[TRANSACTIONAL_PROPERTIES]}' without"
                    f" setting '{TRANSACTIONAL}' to 'true'"
                )
            return replace(new, properties={k: v for k, v in new.properties.items() if k not in _ACID_KEYS})
        if old.is_transactional and new.external:
            raise self._invalid(f"{old.qualified} cannot be converted to external table as it is transactional table.")
        kind = new.properties.get(TRANSACTIONAL_PROPERTIES, "default").lower()
        if kind not in ("default", "insert_only"):
            raise self._invalid(
                f"Invalid transactional properties specified for {old.qualified} with the error unknown value {kind}"
                f" for {TRANSACTIONAL_PROPERTIES}"
            )
        if old.is_full_acid and kind != "default":
            raise self._invalid(
                f"TBLPROPERTIES with '{TRANSACTIONAL_PROPERTIES}' cannot be altered after the table is created"
            )
        return replace(new, properties={**new.properties, TRANSACTIONAL: "true", TRANSACTIONAL_PROPERTIES: kind})

    # -- conversion

    def _check_managed(self, new: Table) -> None:
        if new.external:
            raise self._invalid(
                f"{new.qualified} cannot be declared transactional because it's an external table",
                hint="Set 'EXTERNAL'='FALSE' too, if acidsql may manage its files.",
            )

    def _check_full_acid(self, old: Table, new: Table) -> None:
        self._check_managed(new)
        if new.file_format != "orc":
            raise self._invalid(
                f"The table must be stored using an ACID compliant format (such as ORC): {new.qualified}"
                f" is stored as {new.file_format}",
                hint="Add 'transactional_properties'='insert_only' for a table that is only inserted into.",
            )
        if new.sort_columns:
            raise AcidSqlError(Condition.SORTED_TABLE, span=self.span, table=new.qualified)
        for directory, path in self._files_of(old):
            self._check_name(old, directory, path)

    def _check_name(self, table: Table, directory: str, path: str) -> None:
        """An insert-only table has directories of its own, whose files are read as those of LOAD DATA are."""
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
        raise self._invalid(
            f"Unexpected data file name format.  Cannot convert {table.qualified} to transactional table."
            f"  File: {directory}/{path} ({reason})",
            hint="Make a transactional table and fill it with INSERT .. SELECT.",
        )

    def _files_of(self, table: Table) -> Iterator[tuple[str, str]]:
        """The visible files: the location of the table or partition, and the path below it."""
        for directory in self._directories(table):
            files = self.files(directory)
            for file in files.list_below(files.resolve(directory)).files:
                if is_visible(file.path):
                    yield directory, file.path

    def _directories(self, table: Table) -> list[str]:
        if not table.partition_columns:
            return [table.location]
        return [p.location for p in self.metastore.partitions(table)]

    def _move_to_first_delta(self, table: Table) -> None:
        """Before the table is insert-only: until then its readers find the files wherever they lie below it, so that
        it does not matter where this is interrupted."""
        delta = delta_name(_FIRST, StatementId(0))
        for location, below in list(self._files_of(table)):
            if below.startswith(f"{delta}/"):
                continue
            files = self.files(location)
            directory = files.resolve(location)
            target = f"{directory}/{delta}/{below}"
            files.make_directories(target.rpartition("/")[0])
            files.rename(f"{directory}/{below}", target)

    # -- errors

    def _no_way_back(self, key: str) -> AcidSqlError:
        return self._invalid(
            "Cannot convert an ACID table to non-ACID: TBLPROPERTIES with"
            f" '{key}'='{self.table.properties.get(key, 'true')}' cannot be unset: {self.table.qualified}",
            hint="Make a plain table and fill it with INSERT .. SELECT.",
        )

    def _invalid(self, message: str, hint: str = "") -> AcidSqlError:
        return AcidSqlError(Condition.INVALID_TABLE_PROPERTIES, span=self.span, message=message, hint=hint)


def _known_key(key: str) -> str:
    """Hive takes these in any case."""
    lower = key.lower()
    return lower if lower in (*_ACID_KEYS, _EXTERNAL, _COMMENT) else key
