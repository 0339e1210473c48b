"""A file in ranges is the file, and what was loaded is not read again."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidsql.storage.range_file import Range, RangeFile, joined, pieces_of
from acidsql.storage.stores.kept_ends import KeptEnds

CONTENT = bytes(range(256)) * 3
_RANGES = st.lists(st.tuples(st.integers(0, 700), st.integers(0, 100)).map(lambda r: (r[0], r[0] + r[1])), max_size=6)


def reader(sent: list[Range]) -> RangeFile:
    def read(ranges: Sequence[Range]) -> list[bytes]:
        sent.extend(ranges)
        return [CONTENT[start:end] for start, end in ranges]

    return RangeFile(len(CONTENT), read, [(len(CONTENT) - 50, CONTENT[-50:])])


@given(loaded=_RANGES, moves=st.lists(st.tuples(st.integers(0, 800), st.integers(0, 300)), max_size=8))
def test_reads_are_those_of_the_content(loaded: list[Range], moves: list[tuple[int, int]]) -> None:
    file, whole = reader([]), io.BytesIO(CONTENT)
    file.use(file.load(loaded))
    for offset, size in moves:
        assert file.seek(offset) == whole.seek(offset)
        assert file.read(size) == whole.read(size)
        assert file.tell() == min(whole.tell(), max(offset, len(CONTENT))) or file.tell() == whole.tell()


def test_what_was_loaded_or_is_known_is_not_read_again() -> None:
    sent: list[Range] = []
    file = reader(sent)
    file.use(file.load([(10, 20), (500, 600), (720, 768)]))
    assert sent == [(10, 600)], "what lies between costs less than a request, and the end is known"
    sent.clear()
    for start, end in ((10, 20), (510, 590), (100, 200), (730, 760)):
        assert file.read_at(start, end) == CONTENT[start:end]
    assert sent == []
    assert file.read_at(0, 5) == CONTENT[:5]
    assert len(sent) == 1


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ([(0, 5), (5, 9)], [(0, 9)]),
        ([(90, 95), (0, 5), (7, 9)], [(0, 9), (90, 95)]),
        ([(0, 50), (10, 20)], [(0, 50)]),
        ([], []),
    ],
)
def test_near_ranges_are_one(ranges: list[Range], expected: list[Range]) -> None:
    assert list(joined(ranges, gap=10)) == expected


@given(start=st.integers(0, 1000), length=st.integers(0, 5000), most=st.integers(1, 999))
def test_the_pieces_of_a_range_are_the_range(start: int, length: int, most: int) -> None:
    pieces = list(pieces_of([(start, start + length)], most))
    assert pieces[0][0] == start
    assert pieces[-1][1] == start + length
    assert all(one[1] == other[0] for one, other in pairwise(pieces))
    assert all(end - first <= most for first, end in pieces)


def test_ends_are_kept_by_their_entity_tag() -> None:
    kept = KeptEnds()
    kept.keep("f", '"1"', 10, b"end")
    kept.keep("f", "", 10, b"of no tag")
    assert kept.of("f", '"1"') == (10, b"end")
    assert kept.of("f", '"2"') is None
    assert kept.of("f", "") is None
    for number in range(70):
        kept.keep(f"{number}", '"1"', 0, bytes(1 << 20))
    assert kept.of("0", '"1"') is None
    assert kept.of("69", '"1"') is not None
