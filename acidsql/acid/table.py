"""Tables and views as values, independent of the metastore that stores them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeAlias

TRANSACTIONAL = "transactional"
TRANSACTIONAL_PROPERTIES = "transactional_properties"
MOVING = "acidsql.moving"
"""Table property: the locations from and to which a directory is being moved, as a JSON list."""
_AUTO_PURGE = "auto.purge"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: lower-case name, Hive type (lower case, no spaces, e.g. `decimal(10,2)`), comment."""

    name: str
    type: str
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """CHECK (condition): SQL text that must not be false for a row (NULL passes)."""

    name: str | None
    condition: str


class PrincipalKind(Enum):
    """What the name of an owner is the name of (org.apache.hadoop.hive.metastore.api.PrincipalType)."""

    USER = "USER"
    ROLE = "ROLE"
    GROUP = "GROUP"


class ConstraintKind(Enum):
    """The kinds of constraints, in Hive's words."""

    NOT_NULL = "NOT NULL"
    DEFAULT = "DEFAULT"
    CHECK = "CHECK"
    PRIMARY_KEY = "PRIMARY KEY"
    UNIQUE = "UNIQUE"
    FOREIGN_KEY = "FOREIGN KEY"


@dataclass(frozen=True, slots=True)
class ConstraintName:
    """The name of a constraint, by which DROP CONSTRAINT finds it. An enforced CHECK has its name in `Check`.

    Keys, and CHECKs with DISABLE, have nothing but their name: as in Hive, nothing enforces them. `parent` is the table
    (`db.t`) that a FOREIGN KEY refers to, `parent_columns` are its columns.
    """

    name: str
    kind: ConstraintKind
    columns: tuple[str, ...] = ()
    parent: str | None = None
    parent_columns: tuple[str, ...] = ()
    condition: str | None = None
    """The SQL of a CHECK with DISABLE."""


@dataclass(frozen=True, slots=True)
class Constraints:
    """The enforced constraints (NOT NULL columns, DEFAULT texts by column, CHECKs), and the names of constraints."""

    not_null: frozenset[str] = frozenset()
    defaults: Mapping[str, str] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    names: tuple[ConstraintName, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the catalog. `location` is a URI or an absolute path without a slash at its end."""

    database: str
    name: str
    columns: tuple[Column, ...]
    location: str
    partition_columns: tuple[Column, ...] = ()
    bucket_columns: tuple[str, ...] = ()
    bucket_count: int | None = None
    sort_columns: tuple[str, ...] = ()
    file_format: str = "orc"
    row_format: Mapping[str, str] = field(default_factory=dict)
    """The SerDe properties. They matter to text tables only (acidsql.acid.text_format, acidsql.acid.csv_format)."""
    serde: str | None = None
    """The SerDe class of a text table that is not read by LazySimpleSerDe."""
    properties: Mapping[str, str] = field(default_factory=dict)
    constraints: Constraints = Constraints()
    external: bool = False
    comment: str | None = None
    owner: str | None = None
    created: int = 0
    """Seconds since 1970."""
    owner_kind: PrincipalKind = PrincipalKind.USER
    temporary: bool = False
    """Whether the table belongs to one session, which alone sees it (acidsql.metastore.session_metastore)."""
    id: int | None = field(default=None, compare=False)
    """The number of the table in its metastore, which no other table ever gets; None where the metastore does not tell,
    and for a table that is not there yet. A changed definition of a table, also one with another name, keeps it."""

    @property
    def qualified(self) -> str:
        return f"{self.database}.{self.name}" if self.database else self.name

    @property
    def is_directory(self) -> bool:
        """Whether this stands for the files of INSERT OVERWRITE DIRECTORY, which no catalog knows. It has no database,
        and its location is its name."""
        return not self.database

    @property
    def is_in_catalog(self) -> bool:
        """Whether the table is one of a catalog. Others stand for files that one statement writes or reads: those of
        INSERT OVERWRITE DIRECTORY, and those of a LOAD DATA that copies rows, whose database has a name that no
        database can have."""
        return not self.is_directory and not self.database.startswith(":")

    @property
    def is_transactional(self) -> bool:
        """Whether the property `transactional` is `true` in upper or lower case (AcidUtils.isTransactionalTable)."""
        return _property(self.properties, TRANSACTIONAL).lower() == "true"

    @property
    def is_insert_only(self) -> bool:
        return self.is_transactional and _property(self.properties, TRANSACTIONAL_PROPERTIES).lower() == "insert_only"

    @property
    def is_full_acid(self) -> bool:
        return self.is_transactional and not self.is_insert_only

    @property
    def skips_trash(self) -> bool:
        """Whether files that statements take from the table are deleted, not moved to the trash of their file system
        (`auto.purge`)."""
        return _property(self.properties, _AUTO_PURGE).lower() == "true"

    def may_be(self, other: Table) -> bool:
        """Whether nothing says that the other one is another table: a table that was made anew under the same name may
        have the same definition."""
        return self.id is None or other.id is None or self.id == other.id

    def stores_alike(self, other: Table) -> bool:
        """Whether the other definition is one of the same table, with the same columns and the same place, so that what
        was planned for one reads and writes the rows of the other. Comment and properties may differ, but not what they
        say of transactions."""
        return self.may_be(other) and self._what_stores_rows == other._what_stores_rows

    @property
    def _what_stores_rows(self) -> tuple[Table, bool, bool]:
        return replace(self, properties={}, comment=None), self.is_transactional, self.is_insert_only

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """Regular columns, then partition columns."""
        return (*self.columns, *self.partition_columns)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Regular columns, then partition columns: what `*` gives."""
        return tuple(c.name for c in self.all_columns)


@dataclass(frozen=True, slots=True)
class View:
    """A view of the catalog: Hive's table type VIRTUAL_VIEW.

    `original` is the query as the user wrote it. `expanded` is the query that readers run: its tables have their
    databases and its stars are lists of columns, so that it means the same in every database.
    """

    database: str
    name: str
    columns: tuple[Column, ...]
    original: str
    expanded: str
    partition_columns: tuple[Column, ...] = ()
    """The columns of PARTITIONED ON, the last ones of the query. A view has no partitions."""
    properties: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    owner: str | None = None
    created: int = 0
    """Seconds since 1970."""
    temporary: bool = False
    """Whether the view belongs to one session, which alone sees it."""

    @property
    def qualified(self) -> str:
        return f"{self.database}.{self.name}"

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """The columns of the query, in its order."""
        return (*self.columns, *self.partition_columns)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the query."""
        return tuple(c.name for c in self.all_columns)


Relation: TypeAlias = Table | View
"""What a name in FROM may refer to in the catalog."""


def in_the_way(found: Relation | None, *, temporary: bool) -> Relation | None:
    """`found`, if a new relation of its name cannot be made because of it; else None.

    As in Hive, a temporary relation may have the name of one in the catalog and hides it from its session.
    """
    return found if found is not None and (found.temporary or not temporary) else None


def _property(properties: Mapping[str, str], name: str) -> str:
    """The value of a table property. Hive ignores the case of `transactional` (wiki, Table Properties)."""
    return next((v for k, v in properties.items() if k.lower() == name), "")
