"""The ways in which a statement's events become files, and which of them a statement takes.

Every way that `strategies` gives for a write leaves the same rows in the table; they differ in what they cost. The
choice is a function of the plan and of facts about the data, as values, so that a test can ask it anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from acidsql.planner.plan import EventKind, WritePlan
from acidsql.spark.catalyst.size_estimates import SMALL
from acidsql.spark.write import task_write
from acidsql.spark.write.driver_write import LITTLE

_WHOLE_FILE: Final = 128 * 1024 * 1024
"""Bytes of a file that one task reads, as Spark would have it."""


class Strategy(Enum):
    """How the events of a statement become files."""

    BY_DRIVER = "by the driver"
    """The driver collects the events, sorts them and writes the files (driver_write.py)."""
    IN_PLACE = "in place"
    """Each task reads one file of the target and writes what becomes of its rows, without a shuffle and a sort
    (events.events_in_place)."""
    SPREAD = "in each task"
    """Each task writes the new rows that it makes; the delete events follow in a second step (task_write.py)."""
    ARRANGED = "shuffled"
    """All events are shuffled to the tasks of their files and sorted there (events.arranged_events)."""
    NUMBERED = "numbered"
    """The rows of an INSERT are written as they come, a file for each task (events.numbered_inserts)."""


@dataclass(frozen=True, slots=True)
class WriteFacts:
    """What the choice of a strategy depends on beside the plan.

    `size`: the bytes that the statement reads, and `knows_size` whether Spark knows them of all that it reads.
    `driver_bytes`: the bytes that it may read for the driver to write what it gives.
    `driver_can_write`: whether the driver writes such files as Spark does (small.can_write).
    `file_sizes`: the sizes of the target's data files that the statement reads.
    `places`: the number of the target's partitions that they lie in.
    `keeps_order`: whether a task that reads one file gives its events in the order of the row IDs, and no other task
    has events of its bucket.
    `can_change_ends`: whether the end of a staged file can be rewritten.
    `cores`: the tasks that run at once.
    """

    size: int
    knows_size: bool
    driver_bytes: int
    driver_can_write: bool
    file_sizes: tuple[int, ...]
    places: int
    keeps_order: bool
    can_change_ends: bool
    cores: int


def strategies(plan: WritePlan, facts: WriteFacts) -> tuple[Strategy, ...]:
    """The strategies that leave the right table, the one to take first; the driver may refuse, then it is the next.

    What is possible but not worth it stands behind what always works.
    """
    possible = list(_possible(plan, facts))
    worth = [s for s in possible if _is_worth_it(s, plan, facts)]
    return (*worth, *(s for s in possible if s not in worth))


def _possible(plan: WritePlan, facts: WriteFacts) -> Iterator[Strategy]:
    if facts.driver_can_write:
        yield Strategy.BY_DRIVER
    if plan.inserts_only:
        yield Strategy.NUMBERED
        return
    makes_rows = any(b.kind is EventKind.INSERT for b in plan.branches)
    # Tasks of two partitions would give their new rows the same row IDs.
    apart = not makes_rows or facts.places <= 1
    if plan.row_by_row and not plan.moves_rows and facts.keeps_order and apart:
        yield Strategy.IN_PLACE
    if task_write.can_spread(plan, facts.places) and facts.can_change_ends:
        yield Strategy.SPREAD
    yield Strategy.ARRANGED


def _is_worth_it(strategy: Strategy, plan: WritePlan, facts: WriteFacts) -> bool:
    largest = max(facts.file_sizes, default=0)
    match strategy:
        case Strategy.BY_DRIVER:
            most = min(facts.driver_bytes, LITTLE) if plan.inserts_only else facts.driver_bytes
            return facts.knows_size and facts.size <= most
        case Strategy.IN_PLACE:
            # Tasks that read one file each must be as many as there could be.
            few = len(facts.file_sizes) < facts.cores and largest > SMALL
            return not few and largest <= _WHOLE_FILE
        case Strategy.SPREAD:
            return facts.size >= task_write.MUCH
        case Strategy.ARRANGED | Strategy.NUMBERED:
            return True


@dataclass(slots=True)
class Steering:
    """For tests: the strategy that a session takes wherever it is possible, and a list of those that it took, if one
    is wanted."""

    preferred: Strategy | None = None
    taken: list[Strategy] | None = None

    def ordered(self, possible: Sequence[Strategy]) -> list[Strategy]:
        return sorted(possible, key=lambda s: s is not self.preferred)

    def note(self, strategy: Strategy) -> None:
        if self.taken is not None:
            self.taken.append(strategy)
