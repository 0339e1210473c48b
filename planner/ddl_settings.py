"""The settings of Hive that DDL statements depend on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

DROP_IGNORES_MISSING: Final = "hive.exec.drop.ignorenonexistent"


def ignores_missing(settings: Mapping[str, str]) -> bool:
    """Whether DROP TABLE, DROP VIEW and DROP PARTITION of what does not exist do nothing.

    Hive's analyzers of these statements read the setting (DropTableAnalyzer, DropViewAnalyzer,
    AbstractDropPartitionAnalyzer). DropDatabaseAnalyzer does not.
    """
    return settings.get(DROP_IGNORES_MISSING, "true") == "true"
