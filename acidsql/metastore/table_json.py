"""Definitions of tables and views as JSON text, with every field, and back."""

from __future__ import annotations

import json
from typing import NotRequired, TypedDict

from acidsql.acid.table import (
    Check,
    Column,
    ConstraintKind,
    ConstraintName,
    Constraints,
    PrincipalKind,
    Table,
    View,
)


class _Column(TypedDict):
    name: str
    type: str
    comment: str | None


class _Check(TypedDict):
    name: str | None
    condition: str


class _ConstraintName(TypedDict):
    name: str
    kind: str
    columns: list[str]
    parent: str | None
    parent_columns: list[str]
    condition: str | None


class _Table(TypedDict):
    database: str
    name: str
    columns: list[_Column]
    location: str
    partition_columns: list[_Column]
    bucket_columns: list[str]
    bucket_count: int | None
    sort_columns: list[str]
    file_format: str
    row_format: NotRequired[dict[str, str]]  # missing in the text of the first versions
    serde: NotRequired[str | None]
    properties: dict[str, str]
    not_null: list[str]
    defaults: dict[str, str]
    checks: list[_Check]
    constraint_names: NotRequired[list[_ConstraintName]]  # missing in the text of the first versions
    external: bool
    comment: str | None
    owner: str | None
    created: int
    owner_kind: NotRequired[str]  # missing in the text of the first versions


class _View(TypedDict):
    database: str
    name: str
    columns: list[_Column]
    original: str
    expanded: str
    partition_columns: list[_Column]
    properties: dict[str, str]
    comment: str | None
    owner: str | None
    created: int


def table_to_json(table: Table) -> str:
    record: _Table = {
        "database": table.database,
        "name": table.name,
        "columns": [_column_record(c) for c in table.columns],
        "location": table.location,
        "partition_columns": [_column_record(c) for c in table.partition_columns],
        "bucket_columns": list(table.bucket_columns),
        "bucket_count": table.bucket_count,
        "sort_columns": list(table.sort_columns),
        "file_format": table.file_format,
        "row_format": dict(table.row_format),
        "serde": table.serde,
        "properties": dict(table.properties),
        "not_null": sorted(table.constraints.not_null),
        "defaults": dict(table.constraints.defaults),
        "checks": [{"name": c.name, "condition": c.condition} for c in table.constraints.checks],
        "constraint_names": [_constraint_name_record(n) for n in table.constraints.names],
        "external": table.external,
        "comment": table.comment,
        "owner": table.owner,
        "created": table.created,
        "owner_kind": table.owner_kind.value,
    }
    return json.dumps(record)


def table_from_json(text: str) -> Table:
    record: _Table = json.loads(text)
    return Table(
        database=record["database"],
        name=record["name"],
        columns=_columns(record["columns"]),
        location=record["location"],
        partition_columns=_columns(record["partition_columns"]),
        bucket_columns=tuple(record["bucket_columns"]),
        bucket_count=record["bucket_count"],
        sort_columns=tuple(record["sort_columns"]),
        file_format=record["file_format"],
        row_format=record.get("row_format", {}),
        serde=record.get("serde"),
        properties=record["properties"],
        constraints=Constraints(
            frozenset(record["not_null"]),
            record["defaults"],
            tuple(Check(c["name"], c["condition"]) for c in record["checks"]),
            tuple(map(_constraint_name, record.get("constraint_names", []))),
        ),
        external=record["external"],
        comment=record["comment"],
        owner=record["owner"],
        created=record["created"],
        owner_kind=PrincipalKind(record.get("owner_kind", "USER")),
    )


def view_to_json(view: View) -> str:
    record: _View = {
        "database": view.database,
        "name": view.name,
        "columns": [_column_record(c) for c in view.columns],
        "original": view.original,
        "expanded": view.expanded,
        "partition_columns": [_column_record(c) for c in view.partition_columns],
        "properties": dict(view.properties),
        "comment": view.comment,
        "owner": view.owner,
        "created": view.created,
    }
    return json.dumps(record)


def view_from_json(text: str) -> View:
    record: _View = json.loads(text)
    return View(
        database=record["database"],
        name=record["name"],
        columns=_columns(record["columns"]),
        original=record["original"],
        expanded=record["expanded"],
        partition_columns=_columns(record["partition_columns"]),
        properties=record["properties"],
        comment=record["comment"],
        owner=record["owner"],
        created=record["created"],
    )


def _constraint_name_record(named: ConstraintName) -> _ConstraintName:
    return {
        "name": named.name,
        "kind": named.kind.value,
        "columns": list(named.columns),
        "parent": named.parent,
        "parent_columns": list(named.parent_columns),
        "condition": named.condition,
    }


def _constraint_name(record: _ConstraintName) -> ConstraintName:
    return ConstraintName(
        record["name"],
        ConstraintKind(record["kind"]),
        tuple(record["columns"]),
        record["parent"],
        tuple(record["parent_columns"]),
        record["condition"],
    )


def _column_record(column: Column) -> _Column:
    return {"name": column.name, "type": column.type, "comment": column.comment}


def _columns(records: list[_Column]) -> tuple[Column, ...]:
    return tuple(Column(c["name"], c["type"], c["comment"]) for c in records)
