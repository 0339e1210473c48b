"""The parts of an upload to S3: any pieces, under the store's rules."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from acidsql.storage.file_systems import Extent, Piece
from acidsql.storage.s3_multipart import Part, parts

FILE = bytes(range(256)) * 2
LEAST = 5


@st.composite
def extents(draw: st.DrawFn) -> Extent:
    start = draw(st.integers(0, len(FILE)))
    return Extent("f", start, draw(st.integers(0, min(60, len(FILE) - start))))


def content(part: Part | Piece) -> bytes:
    match part:
        case Extent(_, start, length):
            return FILE[start : start + length]
        case bytes():
            return part
        case pieces:
            return b"".join(map(content, pieces))


@given(st.lists(st.one_of(st.binary(max_size=12), extents()), max_size=8), st.integers(2 * LEAST, 40))
def test_parts_hold_the_pieces_in_order_under_the_rules_of_the_store(pieces: list[Piece], most: int) -> None:
    found = list(parts(pieces, LEAST, most))
    assert b"".join(map(content, found)) == b"".join(map(content, pieces))
    assert all(len(content(part)) >= LEAST for part in found[:-1])
    assert all(content(part) for part in found)
    assert all(part.length <= most for part in found if isinstance(part, Extent))


def test_the_start_of_a_large_file_is_copied_and_its_end_uploaded() -> None:
    assert list(parts([Extent("f", 0, 50), b"end"], LEAST, 20)) == [
        Extent("f", 0, 16),
        Extent("f", 16, 17),
        Extent("f", 33, 17),
        (b"end",),
    ]


def test_a_small_file_is_one_part() -> None:
    assert list(parts([Extent("f", 0, LEAST - 1), b"end"], LEAST, 20)) == [(Extent("f", 0, LEAST - 1), b"end")]
    assert list(parts([], LEAST, 20)) == []
