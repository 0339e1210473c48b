"""Wall-clock and CPU seconds, and the order in which systems take turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pyspark.sql import SparkSession

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Taken:
    """What one repetition took. `cpu` is that of the JVM and of this process, all their threads."""

    wall: float
    cpu: float


@dataclass(slots=True)
class Series:
    """The counted repetitions of one case in one system; `warm_up` is the one that is not counted."""

    warm_up: Taken | None = None
    counted: list[Taken] = field(default_factory=list)

    def add(self, taken: Taken) -> None:
        if self.warm_up is None:
            self.warm_up = taken
        else:
            self.counted.append(taken)

    @property
    def wall(self) -> float:
        return statistics.median(t.wall for t in self.counted)

    @property
    def cpu(self) -> float:
        return statistics.median(t.cpu for t in self.counted)


class Clock:
    """Times a piece of work in this process and the JVM behind it."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark._jvm
        self._java = jvm.java.lang.ProcessHandle.current().info
        """The OperatingSystemMXBean would be finer than these 10 ms, but its class is closed to reflection."""

    def time(self, work: Callable[[], object]) -> Taken:
        cpu, wall = self._cpu(), time.perf_counter()
        work()
        taken = time.perf_counter() - wall
        return Taken(taken, self._cpu() - cpu)

    def _cpu(self) -> float:
        return float(self._java().totalCpuDuration().get().toMillis()) / 1000 + time.process_time()


def collect_garbage(spark: SparkSession) -> None:
    """Before a case, so that it does not pay for the one before it."""
    jvm: Any = spark._jvm
    jvm.java.lang.System.gc()


def turns(systems: Sequence[T], repetition: int) -> list[T]:
    """The order of one repetition: each system comes first as often as the others.

    >>> turns("abc", 1)
    ['b', 'c', 'a']
    """
    first = repetition % len(systems)
    return [*systems[first:], *systems[:first]]
