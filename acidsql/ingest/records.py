"""Records of every kind as rows of a table: checked, converted to the types of its files, and split by place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from acidsql.acid.bucketing import BucketingVersion, bucketing_version, no_rule_for_binary
from acidsql.acid.hive_types import HiveType, Primitive
from acidsql.acid.partition_values import PartitionValues
from acidsql.acid.table import Column, Relation, Table, View
from acidsql.errors import AcidSqlError, Condition, suggestion
from acidsql.ingest.column_defaults import default_value
from acidsql.values.arrow_types import arrow_type
from acidsql.values.bucket_hashes import buckets
from acidsql.values.column_arrays import UnfitValue, array_of_arrow, array_of_values
from acidsql.values.file_schema import file_schema, known_type
from acidsql.values.record_shapes import (
    MISSING,
    Columns,
    ColumnValues,
    NamedColumns,
    PlacedColumns,
    columns_of,
    invalid_record,
    lists_columns,
)
from acidsql.values.stored_values import Unfit, storing
from acidsql.values.value_texts import value_of_text
from acidsql.writing.row_placement import Numbers, Rows, partition_text, partitions_of

_SHOWN: Final = 200
"""How many characters of a value an error shows."""
_STRICT: Final = "A stream stores each value as it is or refuses it. It makes nothing NULL."


@dataclass(frozen=True, slots=True)
class _Target:
    """A column that the records give, with its parsed type."""

    column: Column
    type: HiveType


class RecordConverter:
    """Converts records to rows of one table.

    `partition` gives values to partition columns, as a static PARTITION clause does: Python values of the columns'
    types, or their texts. Records then have the other columns only.
    """

    def __init__(self, table: Table, partition: Mapping[str, object] | None = None) -> None:
        """Raises what `check_streamable` raises, PARTITION_COLUMN_UNKNOWN, INVALID_PARTITION_SPEC,
        DYNAMIC_PARTITION_ORDER and INVALID_PARTITION_VALUE."""
        check_streamable(table)
        self.table = table
        self.schema: pa.Schema = file_schema(table)
        static = _static_columns(table, partition or {})
        self._static = _static_values(table, static)
        dynamic = table.partition_columns[len(static) :]
        self._targets = [_Target(c, known_type(c, table)) for c in (*table.columns, *dynamic)]
        self._by_name = {target.column.name: target for target in self._targets}

    @property
    def columns(self) -> Sequence[Column]:
        """The columns that records may have, in the order of the values of a tuple."""
        return [target.column for target in self._targets]

    @property
    def static_partition(self) -> PartitionValues:
        """The values of the one partition that all rows go to; `()` where the records give some of them, and for a
        table without partitions."""
        return self._static if len(self._static) == len(self.table.partition_columns) else ()

    def convert(self, records: object) -> Rows:
        """The rows of records: a dict or a tuple, a list or an iterator of dicts or of tuples, a table or batches of
        Arrow, a pandas frame, or what speaks Arrow's C stream interface.

        Columns are found by name, in upper or lower case; the values of a tuple are those of the columns in their
        order, with the partition columns last. A column that records do not have gets its DEFAULT, or else NULL.

        Raises INVALID_RECORD, INSERT_COLUMN_NOT_FOUND, DUPLICATE_COLUMN, CONSTRAINT_VIOLATED, INVALID_PARTITION_VALUE,
        and NOT_YET_SUPPORTED for a DEFAULT that is no literal.
        """
        columns = columns_of(records, len(self._targets))
        arrays = self._arrays(columns)
        for target, array in zip(self._targets, arrays, strict=True):
            self._check_null(target.column, array)
        files = arrays[: len(self.table.columns)]
        dynamic = zip(self._targets[len(files) :], arrays[len(files) :], strict=True)
        by_partition = [(target.column, target.type, array) for target, array in dynamic]
        partitions, places = partitions_of(by_partition, self._static, columns.count)
        data = pa.Table.from_arrays(files, schema=self.schema)
        return Rows(data, partitions, places, self._buckets(files) if columns.count else None)

    def _buckets(self, files: Sequence[pa.Array]) -> Numbers | None:
        if not self.table.bucket_count:
            return None
        names = [c.name for c in self.table.columns]
        found = [(self._by_name[name].type, files[names.index(name)]) for name in self.table.bucket_columns]
        return buckets(found, self.table.bucket_count, bucketing_version(self.table))

    # -- columns

    def _arrays(self, columns: Columns) -> list[pa.Array]:
        match columns:
            case PlacedColumns():
                pairs = zip(self._targets, columns.columns or [()] * len(self._targets), strict=True)
                return [self._array(target, values) for target, values in pairs]
            case NamedColumns():
                given = self._by_columns(columns)
                return [
                    self._array(target, given[name]) if name in given else self._absent(target, columns.count)
                    for name, target in self._by_name.items()
                ]

    def _by_columns(self, columns: NamedColumns) -> dict[str, ColumnValues]:
        """The given columns by the names of the table's."""
        given: dict[str, ColumnValues] = {}
        for name, values in columns.columns:
            column = name.lower() if isinstance(name, str) else str(name)
            if column not in self._by_name:
                raise self._unknown(column, name, values)
            given[column] = values if column not in given else _both(column, given[column], values)
        return given

    def _unknown(self, column: str, name: str, values: ColumnValues) -> AcidSqlError:
        known = list(self._by_name)
        near, hint = suggestion(column, known), lists_columns(known)
        parameters = {"column": name, "table": self.table.qualified}
        if isinstance(values, list):
            first = next((n for n, value in enumerate(values, 1) if value is not MISSING), 1)
            hint = f"It is in record {first}. {hint}"
            parameters["number"] = str(first)
        if column in (c.name for c in self.table.partition_columns):
            hint = f"The stream's partition fixes {column}. {hint}"
        parameters["suggestion"] = near if near.startswith(" Did") else ""
        return AcidSqlError.of(Condition.INSERT_COLUMN_NOT_FOUND, parameters, hint=hint)

    def _array(self, target: _Target, values: ColumnValues) -> pa.Array:
        try:
            if isinstance(values, pa.Array | pa.ChunkedArray):
                return array_of_arrow(values, target.type)
            if any(value is MISSING for value in values):
                default = default_value(target.column, self.table, target.type)
                values = [default if value is MISSING else value for value in values]
            return array_of_values(values, target.type)
        except UnfitValue as error:
            shown = repr(error.value)
            shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
            column = f"column {target.column.name} of type {target.column.type}"
            reason = f"the value {shown} does not fit the {column}: {error.reason}."
            raise invalid_record(error.place + 1, reason, _STRICT) from None

    def _absent(self, target: _Target, count: int) -> pa.Array:
        """A column that no record has."""
        default = default_value(target.column, self.table, target.type) if count else None
        kind = arrow_type(target.type)
        return pa.nulls(count, kind) if default is None else pa.array([default] * count, kind)

    def _check_null(self, column: Column, array: pa.Array) -> None:
        if column.name in self.table.constraints.not_null and array.null_count:
            first = array.is_null().index(pa.scalar(True)).as_py() + 1
            detail = f"NOT NULL on column {column.name}"
            hint = f"It is NULL in record {first}."
            raise AcidSqlError(Condition.CONSTRAINT_VIOLATED, detail=detail, number=first, hint=hint)


def _both(column: str, one: ColumnValues, other: ColumnValues) -> ColumnValues:
    """The values of a column that some records spell in one way and some in another."""
    if not isinstance(one, list) or not isinstance(other, list):
        raise AcidSqlError(Condition.DUPLICATE_COLUMN, column=column)
    for number, (a, b) in enumerate(zip(one, other, strict=True), 1):
        if a is not MISSING and b is not MISSING:
            hint = f"Record {number} has it twice."
            raise AcidSqlError(Condition.DUPLICATE_COLUMN, column=column, number=number, hint=hint)
    return [b if a is MISSING else a for a, b in zip(one, other, strict=True)]


# ------------------------------------------------------------------------------------------------ tables


def check_streamable(relation: Relation) -> None:
    """Checks that acidsql can stream into a relation.

    Raises INSERT_INTO_VIEW, INVALID_STREAM_TABLE for a plain table, SORTED_TABLE, and NOT_YET_SUPPORTED for unknown
    types, CHECK constraints, and a BINARY among the bucketing columns.
    """
    if isinstance(relation, View):
        raise AcidSqlError(Condition.INSERT_INTO_VIEW)
    if not relation.is_transactional:
        hint = "Only a transactional table shows a stream's rows and offset together. INSERT writes to plain tables."
        reason = "it is not a transactional table"
        raise AcidSqlError(Condition.INVALID_STREAM_TABLE, table=relation.qualified, reason=reason, hint=hint)
    if relation.sort_columns:
        raise AcidSqlError(Condition.SORTED_TABLE, table=relation.qualified)
    for column in relation.columns:
        known_type(column, relation)
    for column in relation.partition_columns:
        if known_type(column, relation) == Primitive("timestamp with local time zone"):
            feature = f"Streaming into partitions by {column.name}, whose names depend on a session's time zone,"
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)
    for check in relation.constraints.checks:
        feature = f"Streaming into a table with CHECK constraints ({relation.qualified}: {check.condition})"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)
    kinds = {c.name: c.type for c in relation.columns}
    if bucketing_version(relation) is BucketingVersion.MURMUR:
        for name in relation.bucket_columns:
            if "binary" in kinds[name]:
                raise no_rule_for_binary()


def _static_columns(table: Table, partition: Mapping[str, object]) -> dict[str, object]:
    """The values of a partition clause by the names of their columns, which must be the first partition columns."""
    names = [c.name for c in table.partition_columns]
    given: dict[str, object] = {}
    for name, value in partition.items():
        column = str(name).lower()
        if column not in names:
            hint = (
                f"The partition columns are {', '.join(names)}." if names else f"{table.qualified} has no partitions."
            )
            raise AcidSqlError(Condition.PARTITION_COLUMN_UNKNOWN, column=name, hint=hint)
        if column in given:
            raise AcidSqlError(Condition.INVALID_PARTITION_SPEC, detail=f"{column} is named twice")
        given[column] = value
    for name in names[: len(given)]:
        if name not in given:
            static = next(n for n in names[len(given) :] if n in given)
            raise AcidSqlError(Condition.DYNAMIC_PARTITION_ORDER, partition=static)
    return given


def _static_values(table: Table, given: Mapping[str, object]) -> PartitionValues:
    """The texts of the static partition columns."""
    columns = table.partition_columns[: len(given)]
    found = []
    for column in columns:
        kind, value = known_type(column, table), given[column.name]
        try:
            stored = storing(kind)(value_of_text(value, kind) if isinstance(value, str) else value)
        except Unfit as error:
            detail = f"{value!r} is not a value of the partition column {column.name} of type {column.type}: {error}"
            raise AcidSqlError(Condition.INVALID_PARTITION_SPEC, detail=detail) from None
        if stored is None and column.name in table.constraints.not_null:
            raise AcidSqlError(Condition.CONSTRAINT_VIOLATED, detail=f"NOT NULL on column {column.name}")
        found.append(None if stored is None else partition_text(stored, column, kind))
    return tuple(found)
