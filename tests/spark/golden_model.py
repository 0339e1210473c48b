"""A golden table as plain Python rows, and the effect of UPDATE, DELETE and MERGE on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tests.support.golden_cases import GoldenRow, GoldenTable, Json, RowKey, RowObject, sorted_rows

_WHOLE_NUMBERS = ("int", "bigint")
_SOURCE_KEYS = 40
"""Keys of a MERGE's source that the target may have, beside new ones."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """`origin` is the row ID of a row that no statement has touched, within its partition."""

    row: RowObject
    origin: tuple[tuple[Json, ...], RowKey] | None


class Model:
    """The table's rows; `key` and `value` are the columns that the statements use."""

    def __init__(self, golden: GoldenTable, rows: Iterable[GoldenRow]) -> None:
        self._golden = golden
        self.key = next(n for n, kind in golden.columns if kind in _WHOLE_NUMBERS)
        self.value = next(
            n
            for n, kind in golden.columns
            if n != self.key and n not in golden.bucket_columns and kind in (*_WHOLE_NUMBERS, "string")
        )
        self._rows = [ModelRow(r.row, (self._partition(r.row), r.row_id)) for r in rows]

    def update(self, chosen: Callable[[int], bool], new: Json) -> int:
        """Sets the value of the rows whose key is chosen; how many there are."""
        touched = [r for r in self._rows if self._is(r, chosen)]
        self._replace(touched, [self._with_value(r, new) for r in touched])
        return len(touched)

    def delete(self, chosen: Callable[[int], bool]) -> int:
        touched = [r for r in self._rows if self._is(r, chosen)]
        self._replace(touched, [])
        return len(touched)

    def merge(
        self, keys: Sequence[int], deletes: Callable[[int], bool], new: Json, others: RowObject
    ) -> tuple[int, int, int]:
        """MATCHED AND deletes: DELETE; MATCHED: UPDATE of the value; NOT MATCHED: a new row with `others` set.

        Gives the rows deleted, updated, inserted.
        """
        missing = set(keys) - {self._key_of(r) for r in self._rows}
        deleted = self.delete(lambda k: k in keys and deletes(k))
        updated = self.update(lambda k: k in keys, new)
        empty: RowObject = dict.fromkeys(self._all_columns(), None)
        inserted = [ModelRow({**empty, self.key: k, self.value: new, **others}, None) for k in keys if k in missing]
        self._replace([], inserted)
        return deleted, updated, len(inserted)

    def source_keys(self) -> list[int]:
        """Some keys that rows have, some that none has."""
        known = sorted({k for r in self._rows if (k := self._key_of(r)) is not None})
        top = known[-1] if known else 0
        return [*known[:_SOURCE_KEYS], *(top + i for i in range(1, 6))]

    def check(self, found: Sequence[GoldenRow]) -> None:
        """The same rows; row IDs unique, and those of untouched rows as they were."""
        assert sorted_rows(r.row for r in found) == sorted_rows(r.row for r in self._rows)
        by_origin = {(self._partition(r.row), r.row_id): r.row for r in found}
        assert len(by_origin) == len(found)
        untouched = {r.origin: r.row for r in self._rows if r.origin is not None}
        assert {origin: by_origin.get(origin) for origin in untouched} == untouched
        made = [row_id for partition, row_id in by_origin if (partition, row_id) not in untouched]
        assert all(write_id > self._golden.last_write_id for write_id, _, _ in made)

    def _partition(self, row: RowObject) -> tuple[Json, ...]:
        return tuple(row[name] for name, _ in self._golden.partition_columns)

    def _all_columns(self) -> list[str]:
        return [name for name, _ in (*self._golden.columns, *self._golden.partition_columns)]

    def _key_of(self, row: ModelRow) -> int | None:
        key = row.row[self.key]
        assert key is None or isinstance(key, int)
        return key

    def _is(self, row: ModelRow, chosen: Callable[[int], bool]) -> bool:
        key = self._key_of(row)
        return key is not None and chosen(key)

    def _with_value(self, row: ModelRow, new: Json) -> ModelRow:
        return ModelRow({**row.row, self.value: new}, None)

    def _replace(self, old: Sequence[ModelRow], new: Sequence[ModelRow]) -> None:
        gone = {id(r) for r in old}
        self._rows = [*(r for r in self._rows if id(r) not in gone), *new]


def new_value(kind: str, number: int) -> Json:
    """A value of a column's type that occurs in no golden table."""
    match kind.partition("(")[0]:
        case "string":
            return f"new {number}"
        case "char" | "varchar":
            return f"new{number}"
        case "decimal":
            return str(1000 + number)
        case "date":
            return f"2001-01-0{number}"
        case "timestamp":
            return f"2001-01-01 00:00:0{number}"
        case "double":
            return 1000.5 + number
        case _:
            return 1000 + number


def sql_literal(value: Json) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)
