"""The columns of stripes, fetched from a file whose pieces are requests: together, and before they are asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from acidsql.storage.orc.stripe_ranges import data_ranges, stripes_of, with_children
from acidsql.storage.orc.tail import ROW_COLUMN, Tail
from acidsql.storage.range_file import Block, RangeFile

_WHOLE_STRIPE: Final = 1024 * 1024
"""Bytes of a stripe that is read whole: another request, for its footer, would take longer."""
_THREADS: Final = 16


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="acidsql-stripes")


os.register_at_fork(after_in_child=_pool.cache_clear)


@dataclass(frozen=True, slots=True)
class _Fetch:
    """Columns of a stripe, by their ORC numbers, that are being fetched."""

    stripe: int
    columns: frozenset[int]
    blocks: Future[list[Block]]


class StripeFetcher:
    """Fetches columns of one stripe of a file at a time, and meanwhile those of one more. Columns are named as in
    `OrcFile.read`."""

    def __init__(self, file: RangeFile, tail: Tail) -> None:
        self._file = file
        self._tail = tail
        self._stripes = stripes_of(tail)
        self._has: tuple[int, frozenset[int]] = (-1, frozenset())
        self._ahead: _Fetch | None = None

    def fetch(self, stripe: int, acid: Sequence[int], positions: Sequence[int]) -> None:
        """Has columns ready for a reader. Raises OSError."""
        wanted = self._columns(acid, positions)
        has_stripe, has_columns = self._has
        if has_stripe == stripe and wanted <= has_columns:
            return
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead.stripe == stripe and wanted <= ahead.columns:
            self._file.use(ahead.blocks.result())
            self._has = stripe, ahead.columns
        else:
            self._file.use(self._blocks(stripe, wanted))
            self._has = stripe, wanted

    def fetch_ahead(self, stripe: int, acid: Sequence[int], positions: Sequence[int]) -> None:
        """Begins to fetch columns that will be wanted."""
        wanted = self._columns(acid, positions)
        self._ahead = _Fetch(stripe, wanted, _pool().submit(self._blocks, stripe, wanted))

    def _columns(self, acid: Sequence[int], positions: Sequence[int]) -> frozenset[int]:
        """The ORC numbers of columns, with those that they lie in and those that lie in them."""
        above = (0, ROW_COLUMN) if self._tail.is_acid else (0,)
        inside = [self._tail.row_columns[i] for i in positions]
        return with_children(self._tail, [i + 1 for i in acid] + inside) | {*above}

    def _blocks(self, number: int, columns: frozenset[int]) -> list[Block]:
        """The data of the columns, or the whole stripe if that is little more."""
        stripe = self._stripes[number]
        if stripe.size <= _WHOLE_STRIPE or 2 * len(columns) > len(self._tail.type_messages):
            return self._file.load([(stripe.data_start, stripe.end)])
        end = stripe.footer_start, stripe.end
        ((_, footer),) = self._file.load([end])
        ranges = data_ranges(self._tail, stripe, footer, columns)
        return sorted([*self._file.load(ranges), (stripe.footer_start, footer)], key=lambda block: block[0])
