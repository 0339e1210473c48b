"""Slots: the files that a write will make, and the task that writes each of them.

A delete event must go to the file that is numbered as its row's bucket, whatever task found the row; a new row may go
to any file. So every event gets a slot (branch, bucket), which is its file. All events of a slot meet in one task. The
write shuffles by the slot's code: codes are chosen so that Spark's hash (Murmur3 of the code, modulo the number of
tasks) sends each slot to the task that is meant, and the tasks are balanced.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from acidsql.acid.row_id import MAX_BUCKET
from acidsql.planner.plan import Branch, EventKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SLOT: Final = ":slot"
"""The partition column of the staged files: a slot's code."""

BY_TASK: Final = -1
"""The bucket of a slot for which every task writes a file of its own number."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A file of a write: the branch whose directory it goes to, and its bucket number."""

    branch: int
    bucket: int


@dataclass(frozen=True, slots=True)
class Slots:
    """The codes of a write's slots, and the number of tasks that the slots are spread over."""

    codes: dict[Slot, int]
    tasks: int

    def by_code(self) -> dict[int, Slot]:
        return {code: slot for slot, code in self.codes.items()}

    def by_bucket(self, branch: int) -> list[int]:
        """The codes of a branch's slots, by the number of the bucket; -1 for a bucket without a slot."""
        codes = {slot.bucket: code for slot, code in self.codes.items() if slot.branch == branch}
        return [codes.get(bucket, -1) for bucket in range(MAX_BUCKET + 1)]

    def of_rows(self, branch: int, bucket_properties: NDArray[np.int64]) -> NDArray[np.int64]:
        """The code of the slot of each event that names a row with such a bucket property."""
        import numpy as np  # later than the prompt

        codes: NDArray[np.int64] = np.array(self.by_bucket(branch), np.int64)[bucket_properties >> 16 & MAX_BUCKET]
        return codes


def assign_slots(
    branches: Sequence[Branch], buckets: Iterable[int], tasks: int, bucket_count: int | None = None
) -> Slots:
    """A code for every file that the branches may need. Codes of insert events are the lowest, so that new rows come
    first in a task and are numbered from 0.

    `buckets` are the numbers of the target's files, `tasks` is the number of writing tasks, at most 4096. A table with
    `bucket_count` buckets has as many files of new rows, other tables have one for each task.
    """
    insert_slots: list[tuple[Slot, int]] = []
    delete_slots: list[tuple[Slot, int]] = []
    for number, branch in enumerate(branches):
        if branch.kind is EventKind.INSERT:
            insert_slots += [(Slot(number, bucket), bucket % tasks) for bucket in range(bucket_count or tasks)]
        else:
            delete_slots += [(Slot(number, bucket), i % tasks) for i, bucket in enumerate(sorted(buckets))]
    codes: dict[Slot, int] = {}
    first = 0
    for group in (insert_slots, delete_slots):
        first = _assign(group, tasks, first, codes)
    return Slots(codes, tasks)


def slots_by_task(branches: Sequence[Branch]) -> Slots:
    """One slot for each branch, whose code is the branch's number. No event goes to another task."""
    return Slots({Slot(number, BY_TASK): number for number in range(len(branches))}, 1)


def slot_a_task(slots: Sequence[Slot], tasks: int) -> Slots:
    """Codes that deal the slots out to the tasks in turn."""
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
