"""Runs cases: for each of the data in turn, its cases; in each case the systems take turns; equal data at every end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.cases import Case
from benchmarks.data import Data, build, write_sources
from benchmarks.measure import Clock, Series, collect_garbage, turns
from benchmarks.report import Results, TableRecord
from benchmarks.sizes import Size
from benchmarks.systems import NotThereError, System, fingerprint, size


@dataclass(slots=True)
class Runner:
    """Cases into results. Its `systems` begin with acidsql, whose rows plain ORC copies."""

    spark: SparkSession
    systems: list[System]
    size: Size
    repeat: int
    place: Path
    results: Results = field(default_factory=Results)
    _changed: set[tuple[str, str]] = field(default_factory=set)
    """(system, table) that are not as they were kept."""

    def run(self, cases: Sequence[Case]) -> None:
        """Cases of one data must stand together, those of data made of other data right behind it."""
        for _, of_table in groupby(cases, key=lambda c: c.data.table):
            built: set[str] = set()
            able: list[System] = []
            data = None
            for data, of_data in groupby(of_table, key=lambda c: c.data):
                for part in _lineage(data):
                    if part.name not in built:
                        built.add(part.name)
                        able = self._build(part, able)
                for case in of_data:
                    self._run_case(case, able)
            assert data is not None
            for system in able:
                system.drop(data.table)
                for extra in ("inserted", "created"):
                    system.drop(extra)

    def _build(self, data: Data, able: list[System]) -> list[System]:
        """The table in all systems, kept; gives those that could make it."""
        started = time.perf_counter()
        if data.of is None:
            write_sources(self.spark, data.sources(self.size), self.place)
            able = [s for s in self.systems if s.has_dml or data.in_plain_orc]
            build(data, able, self.spark, self.size)
        else:
            able = [s for s in able if self._changed_into(data, s)]
        for system in able:
            system.keep(data.table)
            self._changed.discard((system.name, data.table))
        self._check(data, data.table, able)
        self.results.tables.append(_sizes(data, able))
        _tell(f"{data.name}: made in {time.perf_counter() - started:.1f} s")
        return able

    def _changed_into(self, data: Data, system: System) -> bool:
        """Whether the table that is there could be brought into the state. Plain ORC's is new as it is."""
        assert data.changes is not None
        self._restore(data, system)
        if not system.has_dml:
            return True
        try:
            data.changes(system, data.table, self.size)
        except NotThereError:
            _tell(f"{data.name}: {system.name} cannot")
            return False
        return True

    def _run_case(self, case: Case, able: list[System]) -> None:
        collect_garbage(self.spark)
        clock = Clock(self.spark)
        series = {system.name: Series() for system in able}
        taking_part = list(able)
        for repetition in range(self.repeat + 1):
            for system in turns(taking_part, repetition):
                self._prepare(case, system)
                try:
                    taken = clock.time(lambda s=system, n=repetition: case.work(s, self.size, n))  # type: ignore[misc]
                except NotThereError:
                    _tell(f"  {case.name}: {system.name} cannot")
                    taking_part.remove(system)
                    del series[system.name]
                    continue
                series[system.name].add(taken)
            if repetition in (0, self.repeat):
                self._check_case(case, taking_part)
        self.results.add(case.name, case.group, case.explained, series)
        _tell(f"  {case.name:28}" + "".join(f" {name} {s.wall:.2f} s ({s.cpu:.2f})" for name, s in series.items()))

    def _prepare(self, case: Case, system: System) -> None:
        if case.prepare is not None:
            case.prepare(system)
        self._restore(case.data, system)
        if case.changes:
            self._changed.add((system.name, case.data.table))

    def _restore(self, data: Data, system: System) -> None:
        """The table as it was kept, its log or list of files read once: no system shall pay for the restoring."""
        if (system.name, data.table) in self._changed:
            system.restore(data.table)
            system.frame(f"SELECT count(*) FROM {system.table(data.table)}").collect()
            self._changed.remove((system.name, data.table))

    def _check_case(self, case: Case, systems: list[System]) -> None:
        table = case.compared or (case.data.table if case.changes else None)
        if table is not None:
            self._check(case.data, table, systems)

    def _check(self, data: Data, table: str, systems: list[System]) -> None:
        """Raises SystemExit where the systems' rows differ."""
        found = {system.name: fingerprint(system, table, data.layout.names) for system in systems}
        if len(set(map(str, found.values()))) > 1:
            raise SystemExit(f"The systems differ in {data.name}, table {table}: {found}")


def _lineage(data: Data) -> Iterator[Data]:
    """The data that this is made of, then itself."""
    if data.of is not None:
        yield from _lineage(data.of)
    yield data


def _sizes(data: Data, systems: list[System]) -> TableRecord:
    found = {system.name: size(system, data.table) for system in systems}
    return TableRecord(
        name=data.name, files={k: v[0] for k, v in found.items()}, bytes={k: v[1] for k, v in found.items()}
    )


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
