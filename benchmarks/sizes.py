"""How much data a run has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    """Numbers of rows, files, statements and partitions. The shares that statements touch are the same in all sizes."""

    rows: int
    """Of the scanned table and of INSERT."""
    dmls: int
    """Small statements before a table is compacted."""
    jmh_files: int
    jmh_rows: int
    """A file."""
    large_files: int
    large_rows: int
    """A file."""
    returns_files: int
    returns_rows: int
    """A file."""
    partitions: int
    partition_rows: int
    """A partition."""
    customers: int
    sales: int
    streamed_rows: int
    streamed_files: int
    """Each is a micro-batch."""
    repeat: int
    memory: str


SIZES = {
    "tiny": Size(20_000, 4, 2, 5_000, 3, 10_000, 5, 500, 10, 50, 2_000, 5_000, 2_000, 4, 1, "2g"),
    "quick": Size(
        1_000_000, 20, 4, 125_000, 3, 1_000_000, 20, 10_000, 200, 500, 200_000, 400_000, 200_000, 10, 3, "6g"
    ),
    "full": Size(
        6_000_000,
        100,
        5,
        1_000_000,
        6,
        2_000_000,
        40,
        50_000,
        2_000,
        2_000,
        2_000_000,
        5_000_000,
        5_000_000,
        50,
        5,
        "10g",
    ),
}
"""`tiny` is for working on the benchmarks: its figures mean nothing."""
