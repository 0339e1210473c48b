"""Rows of record batches as the Python values that PySpark gives for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from acidsql.acid.hive_types import Array, Char, HiveType, Map, Primitive, Struct, Varchar
from acidsql.arrow.scan.broken_texts import as_java_reads
from acidsql.errors import AcidSqlError, Condition


class StructValue(tuple[object, ...]):
    """The values of a struct, in order, with the names of its fields: what a Row of PySpark offers to its readers.

    >>> value = StructValue.of(("writeid", "rowid"), (3, 1))
    >>> value.writeid, value["rowid"], value[0], value.asDict()
    (3, 1, 3, {'writeid': 3, 'rowid': 1})
    """

    __fields__: tuple[str, ...]

    @classmethod
    def of(cls, names: tuple[str, ...], values: Iterable[object]) -> StructValue:
        made = cls(values)
        made.__fields__ = names
        return made

    def asDict(self) -> dict[str, object]:
        """The values by the names of their fields."""
        return dict(zip(self.__fields__, self, strict=True))

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or name not in self.__fields__:
            raise AttributeError(name)
        return self[self.__fields__.index(name)]

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(self.__fields__.index(key) if isinstance(key, str) else key)


def python_rows(batches: Iterable[Any], kinds: Sequence[HiveType]) -> Iterator[tuple[object, ...]]:
    """The rows. Raises QUERY_FAILED for a date that Python does not have."""
    for batch in batches:
        try:
            columns = [_column(column, kind) for column, kind in zip(batch.columns, kinds, strict=True)]
        except (ValueError, OverflowError) as error:
            hint = "Python has the years 1 to 9999; select the value as CAST(.. AS STRING)."
            message = f"a value has no Python form: {error}"
            raise AcidSqlError(Condition.QUERY_FAILED, message=message, hint=hint) from error
        yield from zip(*columns, strict=True)


def _column(column: Any, kind: HiveType) -> list[object]:
    try:
        values, change = column.to_pylist(), _changer(kind)
    except UnicodeDecodeError:
        values, change = column.cast(_with_bytes(column.type)).to_pylist(), _changer(kind, decodes=True)
    return values if change is None else [None if value is None else change(value) for value in values]


def _with_bytes(kind: pa.DataType) -> pa.DataType:
    """The type with BINARY in the place of text."""
    if pa.types.is_string(kind):
        return pa.binary()
    if pa.types.is_map(kind):
        return pa.map_(_with_bytes(kind.key_type), _with_bytes(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(_with_bytes(kind.value_type))
    return pa.struct([f.with_type(_with_bytes(f.type)) for f in kind]) if pa.types.is_struct(kind) else kind


def _changer(kind: HiveType, *, decodes: bool = False) -> Callable[[Any], object] | None:
    """What makes PySpark's value of pyarrow's, of which texts are bytes if it `decodes`; None if they are the same."""
    match kind:
        case Struct(fields):
            names = tuple(name for name, _ in fields)
            changers = [_nullable(_changer(of, decodes=decodes)) for _, of in fields]
            return lambda value: StructValue.of(names, (c(v) for c, v in zip(changers, value.values(), strict=True)))
        case Map(key, item):
            of_key, of_item = _nullable(_changer(key, decodes=decodes)), _nullable(_changer(item, decodes=decodes))
            return lambda value: {of_key(k): of_item(v) for k, v in value}
        case Array(element):
            of_element = _nullable(_changer(element, decodes=decodes))
            return lambda value: [of_element(item) for item in value]
        case Char() | Varchar() | Primitive("string") if decodes:
            return as_java_reads
        case _:
            return None


def _nullable(change: Callable[[Any], object] | None) -> Callable[[Any], object]:
    return (lambda value: value) if change is None else (lambda value: None if value is None else change(value))
