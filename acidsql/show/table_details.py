"""The rows that DESCRIBE FORMATTED adds below the columns: what the catalog knows of a table, view or partition."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from acidsql.acid.storage_classes import STORAGE_CLASSES
from acidsql.acid.table import PrincipalKind, Table, View
from acidsql.metastore.catalog import Partition
from acidsql.planner.ddl.partition_spec import name_of_partition

Row: TypeAlias = tuple[str, str, str]
_EMPTY: Final[Row] = ("", "", "")


def table_details(table: Table, statistics: Mapping[str, str]) -> Iterator[Row]:
    yield _EMPTY
    yield "# Detailed Table Information", "", ""
    yield "Database:", table.database, ""
    yield from _origin(table)
    yield "Location:", table.location, ""
    yield "Table Type:", "EXTERNAL_TABLE" if table.external else "MANAGED_TABLE", ""
    yield from _parameters("Table Parameters:", {**table.properties, **statistics}, table.comment)
    yield from _storage(table)
    yield from _constraints(table)


def view_details(view: View) -> Iterator[Row]:
    yield _EMPTY
    yield "# Detailed Table Information", "", ""
    yield "Database:", view.database, ""
    yield from _origin(view)
    yield "Table Type:", "VIRTUAL_VIEW", ""
    yield from _parameters("Table Parameters:", view.properties, view.comment)
    yield _EMPTY
    yield "# View Information", "", ""
    for title, text in (("Original Query:", view.original), ("Expanded Query:", view.expanded)):
        for number, line in enumerate(text.splitlines()):
            yield "" if number else title, line, ""


def partition_details(table: Table, partition: Partition, statistics: Mapping[str, str]) -> Iterator[Row]:
    yield _EMPTY
    yield "# Detailed Partition Information", "", ""
    yield "Partition Value:", f"[{', '.join(str(value) for value in partition.values)}]", ""
    yield "Partition Name:", name_of_partition(table, partition.values), ""
    yield "Database:", table.database, ""
    yield "Table:", table.name, ""
    yield "Location:", partition.location, ""
    if statistics:
        yield from _parameters("Partition Parameters:", statistics, None)
    yield from _storage(table)


def _origin(relation: Table | View) -> Iterator[Row]:
    kind = relation.owner_kind if isinstance(relation, Table) else PrincipalKind.USER
    yield "OwnerType:", kind.value, ""
    yield "Owner:", relation.owner or "", ""
    yield "CreateTime:", _java_time(relation.created) if relation.created else "UNKNOWN", ""


def _java_time(seconds: int) -> str:
    """A time as Java's Date.toString shows it, in the time zone of the process."""
    return time.strftime("%a %b %d %H:%M:%S %Z %Y", time.localtime(seconds))


def _parameters(title: str, properties: Mapping[str, str], comment: str | None) -> Iterator[Row]:
    """Properties and statistics, with the comment among them as in Hive."""
    yield title, "", ""
    for key, value in sorted({**properties, **({"comment": comment} if comment else {})}.items()):
        yield "", key, value


def _storage(table: Table) -> Iterator[Row]:
    yield _EMPTY
    yield "# Storage Information", "", ""
    classes = STORAGE_CLASSES.get(table.file_format)
    if classes is not None:
        yield "SerDe Library:", table.serde or classes.serde, ""
        yield "InputFormat:", classes.input, ""
        yield "OutputFormat:", classes.output, ""
    yield "Format:", table.file_format, ""
    yield "Num Buckets:", str(table.bucket_count or -1), ""
    yield "Bucket Columns:", f"[{', '.join(table.bucket_columns)}]", ""
    yield "Sort Columns:", f"[{', '.join(table.sort_columns)}]", ""
    if table.row_format:
        yield "Storage Desc Params:", "", ""
        for key, value in sorted(table.row_format.items()):
            yield "", key, value


def _constraints(table: Table) -> Iterator[Row]:
    constraints = table.constraints
    if constraints.not_null or constraints.defaults or constraints.checks:
        yield _EMPTY
        yield "# Constraints", "", ""
    for name in sorted(constraints.not_null):
        yield "Not Null Constraint:", name, ""
    for name, text in sorted(constraints.defaults.items()):
        yield "Default Constraint:", name, text
    for check in constraints.checks:
        yield "Check Constraint:", check.name or "", check.condition
