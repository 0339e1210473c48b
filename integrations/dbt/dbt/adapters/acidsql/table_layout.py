"""The layout of a model's table: partitions, buckets, file format, kind and properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dbt_common.exceptions import DbtConfigError

from acidsql.acid.table import Table

_KINDS: Final[Mapping[str, Mapping[str, str]]] = {
    "acid": {"transactional": "true"},
    "insert_only": {"transactional": "true", "transactional_properties": "insert_only"},
    "plain": {},
}


@dataclass(frozen=True, slots=True)
class Layout:
    """What the configuration of a model says about its table."""

    partitioned_by: tuple[str, ...]
    clustered_by: tuple[str, ...]
    buckets: int | None
    file_format: str
    properties: Mapping[str, str]

    @classmethod
    def of(cls, config: Any) -> Layout:
        """Raises DbtConfigError for a kind that does not exist, and for buckets without columns or the reverse."""
        file_format = str(config.get("file_format") or "orc").lower()
        kind = str(config.get("kind") or ("acid" if file_format == "orc" else "plain"))
        if kind not in _KINDS:
            raise DbtConfigError(f"kind: {kind} is none of {', '.join(_KINDS)}")
        clustered, buckets = _names(config.get("clustered_by")), config.get("buckets")
        if bool(clustered) != bool(buckets):
            raise DbtConfigError("clustered_by and buckets belong together: give both or none")
        given = {str(key): str(value) for key, value in (config.get("tblproperties") or {}).items()}
        partitioned = _names(config.get("partitioned_by"))
        return cls(partitioned, clustered, int(buckets) if buckets else None, file_format, {**_KINDS[kind], **given})

    def clauses(self) -> str:
        """The clauses of CREATE TABLE after the columns."""
        parts = []
        if self.partitioned_by:
            parts.append(f"partitioned by ({_csv(self.partitioned_by)})")
        if self.clustered_by:
            parts.append(f"clustered by ({_csv(self.clustered_by)}) into {self.buckets} buckets")
        parts.append(f"stored as {self.file_format}")
        if self.properties:
            pairs = (f"{_literal(key)}={_literal(value)}" for key, value in self.properties.items())
            parts.append(f"tblproperties ({', '.join(pairs)})")
        return "\n".join(parts)

    def is_that_of(self, table: Table) -> bool:
        """Whether the table has this layout. It may have further properties, as of statistics."""
        kind = (table.is_transactional, table.is_insert_only)
        wanted = (
            self.properties.get("transactional", "").lower() == "true",
            self.properties.get("transactional_properties", "").lower() == "insert_only",
        )
        return (
            tuple(c.name for c in table.partition_columns) == self.partitioned_by
            and tuple(table.bucket_columns) == self.clustered_by
            and (table.bucket_count or None if table.bucket_columns else None) == self.buckets
            and table.file_format.lower() == self.file_format
            and kind == wanted
            and all(table.properties.get(key) == value for key, value in self.properties.items())
        )


def _names(given: str | Sequence[str] | None) -> tuple[str, ...]:
    if given is None:
        return ()
    return tuple(name.lower() for name in ([given] if isinstance(given, str) else given))


def _csv(names: Sequence[str]) -> str:
    return ", ".join("`" + name.replace("`", "``") + "`" for name in names)


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
