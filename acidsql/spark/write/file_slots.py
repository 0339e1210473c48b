"""Slots: the files that a write is going to make, and the task that each is written by.

A delete event must go to the file numbered as its row's bucket, whatever task found it; new rows may go anywhere. So
every event gets a slot, the file it will lie in: (branch, bucket). All events of a slot meet in one task, and tasks
are balanced by choosing the slot's code, the only partition column of the write, such that Spark's hash of it falls on
the task we want (Murmur3 of the code modulo the number of tasks).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from acidsql.planner.plan import Branch, EventKind

SLOT: Final = ":slot"
"""The partition column of the staged files: a slot's code."""

BY_TASK: Final = -1
"""For the bucket of a slot: each task writes a file of its own, of its number."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A file to be: which branch's directory it goes to, and its bucket number."""

    branch: int
    bucket: int


@dataclass(frozen=True, slots=True)
class Slots:
    """The slots of a write by their codes, and the number of tasks they are spread over."""

    codes: dict[Slot, int]
    tasks: int

    def by_code(self) -> dict[int, Slot]:
        return {code: slot for slot, code in self.codes.items()}


def assign_slots(
    branches: Sequence[Branch], buckets: Iterable[int], tasks: int, bucket_count: int | None = None
) -> Slots:
    """A code for every file that the branches can need. Insert events sort before the others: they are numbered first.

    `buckets` are the numbers of the target's files, `tasks` the number of writing tasks, at most 4096. New rows of a
    table with `bucket_count` buckets have that many files, else one for each task.
    """
    wanted: list[tuple[Slot, int]] = []
    of_deletes: list[tuple[Slot, int]] = []
    for number, branch in enumerate(branches):
        if branch.kind is EventKind.INSERT:
            wanted += [(Slot(number, bucket), bucket % tasks) for bucket in range(bucket_count or tasks)]
        else:
            of_deletes += [(Slot(number, bucket), i % tasks) for i, bucket in enumerate(sorted(buckets))]
    codes: dict[Slot, int] = {}
    first = 0
    for group in (wanted, of_deletes):
        first = _assign(group, tasks, first, codes)
    return Slots(codes, tasks)


def slots_by_task(branches: Sequence[Branch]) -> Slots:
    """A slot for each branch, its number the code: no event goes to another task."""
    return Slots({Slot(number, BY_TASK): number for number in range(len(branches))}, 1)


def slot_a_task(slots: Sequence[Slot], tasks: int) -> Slots:
    """Codes that put the slots on the tasks in turn."""
    codes: dict[Slot, int] = {}
    _assign([(slot, i % tasks) for i, slot in enumerate(slots)], tasks, 0, codes)
    return Slots(codes, tasks)


def _assign(group: Sequence[tuple[Slot, int]], tasks: int, first: int, codes: dict[Slot, int]) -> int:
    waiting: dict[int, list[Slot]] = {}
    for slot, task in reversed(group):
        waiting.setdefault(task, []).append(slot)
    code = first
    while waiting:
        task = spark_hash(code) % tasks
        if task in waiting:
            codes[waiting[task].pop()] = code
            if not waiting[task]:
                del waiting[task]
        code += 1
    return code


def spark_hash(value: int) -> int:
    """Spark's hash of an INT (Murmur3_x86_32.hashInt, seed 42), signed; Python's % gives Spark's pmod.

    >>> spark_hash(0)
    933211791
    """
    k = value * 0xCC9E2D51 & 0xFFFFFFFF
    k = _rotate(k, 15) * 0x1B873593 & 0xFFFFFFFF
    h = (_rotate(42 ^ k, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    h ^= 4
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    h ^= h >> 16
    return h - (1 << 32) if h >= 1 << 31 else h


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & 0xFFFFFFFF
