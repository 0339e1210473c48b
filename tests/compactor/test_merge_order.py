"""Which files a compaction copies in their order, and which it sorts together."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidsql.writing import merge_order
from acidsql.writing.merge_order import Candidate, Extremes, Merging, merging

LARGE, SMALL = merge_order._LARGE, merge_order._LARGE - 1


def file(name: str, first: int, last: int | None = None, size: int = LARGE, bucket: int = 0) -> Candidate:
    """A file of rows of the write ID `first`, or of several up to `last`."""
    if last is None:
        return Candidate(name, bucket, size, True, Extremes((first, bucket), (first, bucket)))
    return Candidate(name, bucket, size, True, Extremes((first, -math.inf), (last, math.inf)))


def paths(text: str) -> frozenset[str]:
    return frozenset(text)


def test_small_files_and_what_lies_between_them_are_sorted_together() -> None:
    files = [
        file("a", 1, 7),
        file("b", 8),
        file("c", 9, size=SMALL),
        file("d", 10),
        file("e", 11, size=SMALL),
        file("f", 12),
    ]
    assert merging(reversed(files), joins=True) == Merging(paths("bf"), paths("a"), paths("cde"))


def test_files_whose_rows_may_lie_among_each_other_are_sorted() -> None:
    files = [file("a", 1, 5), file("b", 5), file("c", 6), file("d", 6), file("e", 7)]
    assert merging(files, joins=True) == Merging(paths("e"), paths(""), paths("abcd"))


def test_the_only_file_of_a_bucket_is_copied_whatever_its_size() -> None:
    files = [file("a", 1, size=1), file("b", 1, 2, size=1, bucket=1)]
    assert merging(files, joins=True) == Merging(paths("a"), paths("b"))
    assert merging(files, joins=False) == Merging(in_order=paths("ab"))


@pytest.mark.parametrize(
    "unknown", [Candidate("x", 0, LARGE, True, None), Candidate("x", 0, LARGE, False, Extremes((0, 0), (0, 0)))]
)
def test_a_bucket_with_a_file_of_unknown_order_is_sorted(unknown: Candidate) -> None:
    files = [file("a", 1), file("b", 2), file("c", 3, bucket=1), unknown]
    assert merging(files, joins=True) == Merging(paths("c"), sorted=paths("abx"))


def test_several_files_of_a_bucket_are_sorted_where_stripes_cannot_be_joined() -> None:
    assert merging([file("a", 1), file("b", 2)], joins=False) == Merging(sorted=paths("ab"))


@given(
    st.lists(
        st.tuples(st.integers(1, 12), st.integers(0, 4), st.sampled_from((LARGE, SMALL)), st.integers(0, 2)),
        max_size=12,
    )
)
def test_no_row_lies_among_the_rows_of_a_copied_file(
    drawn: list[tuple[int, int, int, int]],
) -> None:
    files = [
        file(str(n), first, first + more if more else None, size, bucket)
        for n, (first, more, size, bucket) in enumerate(drawn)
    ]
    found = merging(files, joins=True)
    shares = (found.by_origin, found.in_order, found.sorted)
    assert sorted(path for share in shares for path in share) == sorted(f.path for f in files)
    for one in files:
        if one.path in found.by_origin:
            assert one.extremes is not None
            assert one.extremes.origin is not None
    for bucket in range(3):
        of_bucket = [f for f in files if f.bucket == bucket]
        pieces = [[f] for f in of_bucket if f.path not in found.sorted]
        pieces += [together] if (together := [f for f in of_bucket if f.path in found.sorted]) else []
        ends = sorted(
            (min(f.extremes.first for f in p if f.extremes), max(f.extremes.last for f in p if f.extremes))
            for p in pieces
        )
        assert all(one[1] < other[0] for one, other in pairwise(ends))
