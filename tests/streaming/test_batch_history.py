"""The history of a stream's batches: every record of its source is written once, whatever is repeated or restarted."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from acidsql.batch_history import Action, BatchHistory, NewCheckpoint
from acidsql.metastore.streams import Offset

Batches = list[list[int]]


def digest(rows: list[int]) -> int:
    return sum(hash((row, "row")) for row in rows) % (1 << 64)


class Table:
    """The rows of a table, and the history that is committed with them."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.history = BatchHistory()

    def take(self, batches: Batches, first: int, query: str, rule: NewCheckpoint = NewCheckpoint.VERIFY) -> int:
        """Takes batches of a query from `first` on. The number of the batch that is refused, or of the one after the
        last."""
        for number in range(first, len(batches)):
            match self.history.action(number, query, rule):
                case Action.WRITE:
                    self.rows += batches[number]
                    self.history = self.history.written(number, query, rule, digest(batches[number]))
                case Action.COMPARE:
                    compared = self.history.compared(number, query, digest(batches[number]))
                    if compared is None:
                        return number
                    self.history = compared
                case Action.PASS_OVER:
                    pass
            committed = BatchHistory.of_offset(json.loads(json.dumps(self.history.offset())))
            assert committed == self.history
            self.history = committed
        return len(batches)


def cut(rows: list[int], ends: list[int]) -> Batches:
    bounds = sorted({0, *(end % (len(rows) + 1) for end in ends), len(rows)})
    return [rows[a:b] for a, b in pairwise(bounds)]


ROWS = st.lists(st.integers(0, 5), max_size=40)
ENDS = st.lists(st.integers(0, 40), max_size=12)
STOPS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), max_size=5)


@given(ROWS, ENDS, STOPS)
def test_a_query_that_stops_and_repeats_batches_writes_each_record_once(
    rows: list[int], ends: list[int], stops: list[tuple[int, int]]
) -> None:
    table, batches, at = Table(), cut(rows, ends), 0
    for length, back in stops:
        at = table.take(batches[: at + length], at, "q")
        at = max(0, at - back)
    table.take(batches, at, "q")
    assert table.rows == rows


@given(ROWS, ENDS, ENDS, st.integers(0, 12), STOPS)
def test_a_new_query_goes_on_where_the_rows_are_the_same_and_is_refused_elsewhere(
    rows: list[int], ends: list[int], other_ends: list[int], until: int, stops: list[tuple[int, int]]
) -> None:
    table, first, second = Table(), cut(rows, ends), cut(rows, other_ends)
    table.take(first[:until], 0, "first")
    written, at = list(table.rows), 0
    for length, back in stops:
        at = max(0, table.take(second[: at + length], at, "second") - back)
    end = table.take(second, at, "second")
    if end == len(second) and end >= len(first[:until]):
        assert table.rows == rows
    else:
        assert table.rows == written
        assert first[:until] != second[:until]


@given(ROWS, ENDS, st.integers(1, 12))
def test_a_new_query_with_the_same_batches_is_never_refused(rows: list[int], ends: list[int], until: int) -> None:
    table, batches = Table(), cut(rows, ends)
    for query, count in (("a", until), ("b", until + 2), ("c", len(batches))):
        table.take(batches[:count], 0, query)
    assert table.rows == rows
    assert len(table.history.digests) <= 2 + len(batches).bit_length()


def test_the_old_query_may_go_on_while_a_new_one_repeats_its_batches() -> None:
    table, batches = Table(), [[i] for i in range(6)]
    table.take(batches[:4], 0, "old")
    table.take(batches[:2], 0, "new")
    table.take(batches[:5], 4, "old")
    assert table.history.replay is not None
    table.take(batches, 2, "new")
    assert table.rows == [0, 1, 2, 3, 4, 5]
    assert table.history.query == "new"


def test_other_rows_are_found_out_in_the_first_batch() -> None:
    table = Table()
    table.take([[i] for i in range(20)], 0, "a")
    assert table.take([[i] for i in range(1, 30)], 0, "b") == 0
    assert table.take([[0], [1], [2], [7], [4]], 0, "b") == 3


def test_what_another_writer_has_committed_is_no_history() -> None:
    assert BatchHistory.of_offset(None) == BatchHistory()
    others: list[Offset] = [42, "text", [1], {"batch": 1}, {"batch": "1", "query": "a", "digests": {}}]
    for offset in others:
        assert BatchHistory.of_offset(offset) is None


def test_a_batch_without_a_digest_leaves_nothing_to_compare_with() -> None:
    history = BatchHistory().written(0, "a", NewCheckpoint.VERIFY, 7)
    history = history.written(1, "a", NewCheckpoint.SKIP, None).written(2, "a", NewCheckpoint.VERIFY, 5)
    assert (history.batch, history.digests) == (2, {})
    assert history.compared(0, "b", 7) is None
    assert history.action(2, "b", NewCheckpoint.SKIP) is Action.PASS_OVER
    assert history.action(0, "b", NewCheckpoint.WRITE) is Action.WRITE
    assert history.written(0, "b", NewCheckpoint.WRITE, 3) == BatchHistory(0, "b", {0: 3})
