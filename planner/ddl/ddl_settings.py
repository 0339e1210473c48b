"""The settings of Hive that DDL statements depend on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

DROP_IGNORES_MISSING: Final = "hive.exec.drop.ignorenonexistent"
DEFAULT_FORMAT: Final = "hive.default.fileformat"
MANAGED_FORMAT: Final = "hive.default.fileformat.managed"
CREATE_AS_ACID: Final = "metastore.create.as.acid"
CREATE_AS_INSERT_ONLY: Final = "hive.create.as.insert.only"
NO_FORMAT: Final = "none"
"""Value of MANAGED_FORMAT: managed tables have the format of DEFAULT_FORMAT."""
FILE_FORMATS: Final = ("orc", "parquet", "textfile", "sequencefile", "rcfile")
"""The values of DEFAULT_FORMAT in Hive."""


def ignores_missing(settings: Mapping[str, str]) -> bool:
    """Whether DROP TABLE, DROP VIEW and DROP PARTITION of what does not exist do nothing.

    Hive's analyzers of these statements read the setting (DropTableAnalyzer, DropViewAnalyzer,
    AbstractDropPartitionAnalyzer). DropDatabaseAnalyzer does not.
    """
    return settings.get(DROP_IGNORES_MISSING, "true") == "true"


def default_format(settings: Mapping[str, str], *, external: bool) -> str:
    """The file format of a table whose statement names none (StorageFormat.fillDefaultStorageFormat)."""
    managed = settings.get(MANAGED_FORMAT, NO_FORMAT)
    return settings.get(DEFAULT_FORMAT, "orc") if external or managed == NO_FORMAT else managed


def makes_acid(settings: Mapping[str, str]) -> bool:
    """Whether CREATE TABLE makes full ACID tables where it can."""
    return settings.get(CREATE_AS_ACID, "false") == "true"


def makes_insert_only(settings: Mapping[str, str]) -> bool:
    """Whether CREATE TABLE makes insert-only tables where it makes no full ACID ones."""
    return settings.get(CREATE_AS_INSERT_ONLY, "false") == "true"
