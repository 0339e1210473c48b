"""Points in time (Spark's TIMESTAMP) as Python values with a time zone: they leave Spark as microseconds since 1970.

PySpark itself makes datetimes without a time zone of them, in the zone of the Python process, where one hour of the
year stands for two.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as t

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_Change: TypeAlias = Callable[[Any], object]


def instants_as_microseconds(rows: DataFrame) -> DataFrame:
    """The rows with each instant, at any depth, as the microseconds since 1970, which `python_row` reads."""
    kinds = [field.dataType for field in rows.schema.fields]
    if not any(map(_has_instant, kinds)):
        return rows
    names = rows.columns
    by_place = rows.toDF(*map(str, range(len(names))))
    return by_place.select(*(_microseconds(F.col(str(i)), kind).alias(names[i]) for i, kind in enumerate(kinds)))


def python_row(schema: t.StructType) -> Callable[[Row], tuple[object, ...]]:
    """What makes a tuple of a row of `instants_as_microseconds`, with the instants as datetimes in UTC.

    `schema` is the schema of the rows before. The function raises OverflowError outside of the years 1 to 9999.
    """
    changes = [_change(field.dataType) for field in schema.fields]
    if not any(changes):
        return tuple
    present = [_kept if change is None else change for change in changes]
    return lambda row: tuple(change(value) for change, value in zip(present, row, strict=True))


def _has_instant(kind: t.DataType) -> bool:
    return _change(kind) is not None


def _microseconds(value: Column, kind: t.DataType) -> Column:
    if not _has_instant(kind):
        return value
    match kind:
        case t.ArrayType():
            return F.transform(value, lambda item: _microseconds(item, kind.elementType))
        case t.MapType():
            keys = F.transform_keys(value, lambda key, _: _microseconds(key, kind.keyType))
            return F.transform_values(keys, lambda _, item: _microseconds(item, kind.valueType))
        case t.StructType():
            fields = (_microseconds(value.getField(f.name), f.dataType).alias(f.name) for f in kind.fields)
            return F.when(value.isNotNull(), F.struct(*fields))
        case _:
            return F.unix_micros(value)


def _change(kind: t.DataType) -> _Change | None:
    """What makes the Python value of a fetched value of this type; None if they are the same."""
    change = _change_of_present(kind)
    return None if change is None else lambda value: None if value is None else change(value)


def _change_of_present(kind: t.DataType) -> _Change | None:
    match kind:
        case t.TimestampType():
            return lambda value: _EPOCH + timedelta(microseconds=value)
        case t.ArrayType():
            of_element = _change(kind.elementType)
            return of_element and (lambda value: [of_element(item) for item in value])
        case t.MapType():
            return _change_of_map(_change(kind.keyType), _change(kind.valueType))
        case t.StructType():
            return _change_of_struct(kind.names, [_change(field.dataType) for field in kind.fields])
        case _:
            return None


def _change_of_map(of_key: _Change | None, of_item: _Change | None) -> _Change | None:
    if of_key is None and of_item is None:
        return None
    key_of, item_of = of_key or _kept, of_item or _kept
    return lambda value: {key_of(key): item_of(item) for key, item in value.items()}


def _change_of_struct(names: list[str], changes: list[_Change | None]) -> _Change | None:
    if not any(changes):
        return None
    row = Row(*names)
    present = [_kept if change is None else change for change in changes]
    return lambda value: row(*(change(item) for change, item in zip(present, value, strict=True)))


def _kept(value: object) -> object:
    return value
