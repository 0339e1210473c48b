"""SET FILEFORMAT, SET SERDE, SERDEPROPERTIES and buckets: a table's definition in, the changed one out, or the reason
why not.

As in Hive these change the catalog only. The rules about ORC tables are those of Hive's
AlterTableSetFileFormatOperation and AlterTableSetSerdeOperation: the files of an ORC table, and so of a full ACID
table, stay ORC.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias, assert_never

from acidsql.acid.csv_format import CSV_SERDE, csv_format
from acidsql.acid.storage_classes import STORAGE_CLASSES
from acidsql.acid.table import Table
from acidsql.acid.text_format import SERDES, check_types
from acidsql.errors import AcidSqlError, Condition, Span, suggestion
from acidsql.grammar.statements import (
    Clustering,
    Name,
    NotSorted,
    SetBucketCount,
    SetClustering,
    SetFileFormat,
    SetSerde,
    SetSerdeProperties,
    UnsetSerdeProperties,
)

StorageAction: TypeAlias = (
    SetFileFormat | SetSerde | SetSerdeProperties | UnsetSerdeProperties | SetClustering | NotSorted | SetBucketCount
)

_ORC: Final = "orc"


def with_storage(table: Table, action: StorageAction, span: Span | None) -> Table:
    """The table after a change of its storage; `span` is the table's name.

    Raises CANNOT_CHANGE_FILE_FORMAT, CANNOT_CHANGE_SERDE, NOT_BUCKETED, COLUMN_NOT_FOUND, ALTER_REFUSED, and
    NOT_YET_SUPPORTED for what acidsql cannot read.
    """
    match action:
        case SetFileFormat():
            return _readable(_with_format(table, action, span), span)
        case SetSerde():
            changed = _with_serde(table, action.serde, span)
            return _readable(replace(changed, row_format={**table.row_format, **dict(action.properties)}), span)
        case SetSerdeProperties():
            return _readable(replace(table, row_format={**table.row_format, **dict(action.properties)}), span)
        case UnsetSerdeProperties():
            left = {key: value for key, value in table.row_format.items() if key not in action.keys}
            return _readable(replace(table, row_format=left), span)
        case SetClustering() | NotSorted() | SetBucketCount():
            return _with_buckets(table, action, span)
        case _:
            assert_never(action)


def change_text(action: StorageAction) -> str:
    """What the action does, for EXPLAIN."""
    match action:
        case SetFileFormat(name, _, input_class):
            return f"sets the file format to {name or input_class}"
        case SetSerde(serde):
            return f"sets the SerDe to {serde}"
        case SetSerdeProperties(properties):
            pairs = ", ".join(f"'{key}'='{value}'" for key, value in properties)
            return f"sets the SerDe properties {pairs}"
        case UnsetSerdeProperties(keys):
            return f"removes the SerDe properties {', '.join(keys)}"
        case SetClustering(None):
            return "removes the buckets from the definition of the table"
        case SetClustering(clustering):
            assert clustering is not None
            return f"sets the buckets of new files: {clustering.count} by {_listed(clustering.columns)}"
        case NotSorted():
            return "removes the sorting from the definition of the table"
        case SetBucketCount(count):
            return f"sets the number of buckets of new files to {count}"
        case _:
            assert_never(action)


def reads_differently(old: Table, new: Table) -> bool:
    """Whether a file of `old` is no file of `new`: another file format, or another SerDe."""
    return (old.file_format, old.serde) != (new.file_format, new.serde)


def _listed(names: Sequence[Name]) -> str:
    return ", ".join(name.value for name in names)


# ------------------------------------------------------------------------------------------------ file format, SerDe


def _with_format(table: Table, action: SetFileFormat, span: Span | None) -> Table:
    file_format = action.format if action.format is not None else _format_of(action, span)
    if table.file_format == _ORC and file_format != _ORC:
        shown = {"format": "ORC", "table": table.qualified}
        raise AcidSqlError(Condition.CANNOT_CHANGE_FILE_FORMAT, span=span, **shown)
    if file_format not in SERDES:
        raise _not_read(f"SET FILEFORMAT {file_format.upper()}", span)
    # SET FILEFORMAT sets the SerDe of the format, also where the format stays.
    return replace(table, file_format=file_format, serde=None)


def _format_of(action: SetFileFormat, span: Span | None) -> str:
    for name, classes in STORAGE_CLASSES.items():
        if (action.input_class, action.serde) == (classes.input, classes.serde):
            return name
    raise _not_read(f"SET FILEFORMAT INPUTFORMAT '{action.input_class}' .. SERDE '{action.serde}'", span)


def _with_serde(table: Table, serde: str, span: Span | None) -> Table:
    own = SERDES.get(table.file_format)
    if serde == own:
        return replace(table, serde=None)
    if table.file_format == _ORC:
        raise AcidSqlError(Condition.CANNOT_CHANGE_SERDE, span=span, serde="OrcSerde", table=table.qualified)
    if table.file_format == "textfile" and serde == CSV_SERDE:
        return replace(table, serde=serde)
    raise _not_read(f"SET SERDE '{serde}' of a table stored as {table.file_format}", span)


def _readable(table: Table, span: Span | None) -> Table:
    """The table, if acidsql can read it. Raises NOT_YET_SUPPORTED, ALTER_REFUSED."""
    if table.file_format != "textfile":
        return table
    if table.serde == CSV_SERDE:
        csv_format(table.row_format)
        if any(column.type != "string" for column in table.columns):
            message = f"The columns of {table.qualified} must be of type STRING: OpenCSVSerde reads no other type"
            raise AcidSqlError(Condition.ALTER_REFUSED, span=span, message=message)
        return table
    check_types(table)
    return table


def _not_read(feature: str, span: Span | None) -> AcidSqlError:
    hint = f"acidsql reads tables stored as {', '.join(sorted(SERDES))}."
    return AcidSqlError(Condition.NOT_YET_SUPPORTED, span=span, feature=feature, hint=hint)


# ------------------------------------------------------------------------------------------------ buckets


def _with_buckets(table: Table, action: SetClustering | NotSorted | SetBucketCount, span: Span | None) -> Table:
    """Hive changes the definition of transactional tables too, and then looks for rows in the wrong buckets."""
    if table.is_transactional:
        message = (
            f"The buckets of {table.qualified} cannot change: it is transactional, and its rows have the numbers of"
            " their buckets"
        )
        hint = "Make a new table with these buckets and fill it with INSERT .. SELECT."
        raise AcidSqlError(Condition.ALTER_REFUSED, span=span, message=message, hint=hint)
    match action:
        case NotSorted():
            return replace(table, sort_columns=())
        case SetBucketCount():
            if not table.bucket_columns:
                raise AcidSqlError(Condition.NOT_BUCKETED, span=span, table=table.qualified)
            return replace(table, bucket_count=action.count)
        case SetClustering(None):
            return replace(table, bucket_columns=(), bucket_count=None, sort_columns=())
        case SetClustering(clustering):
            assert clustering is not None
            return _with_clustering(table, clustering)
        case _:
            assert_never(action)


def _with_clustering(table: Table, clustering: Clustering) -> Table:
    regular = [column.name for column in table.columns]
    for name in (*clustering.columns, *clustering.sort_columns):
        if name.value not in regular:
            near = suggestion(name.value, regular)
            raise AcidSqlError(Condition.COLUMN_NOT_FOUND, span=name.span, column=name.value, suggestion=near)
    return replace(
        table,
        bucket_columns=tuple(name.value for name in clustering.columns),
        bucket_count=clustering.count,
        sort_columns=tuple(name.value for name in clustering.sort_columns),
    )
