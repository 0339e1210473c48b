"""What a run gives: JSON, a table of ratios, targets met and missed, a picture."""

from __future__ import annotations

import json
import math
import os
import platform
import statistics
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypedDict

import pyspark

from benchmarks.cases import Group
from benchmarks.measure import Series
from benchmarks.sizes import Size
from benchmarks.spark import DELTA, ICEBERG

ACID = "acidsql"
PLAIN = "plain ORC"
PEERS = ("Delta", "Iceberg")


class CaseRecord(TypedDict):
    """Seconds of the counted repetitions, by system."""

    name: str
    group: str
    what: str
    wall: dict[str, list[float]]
    cpu: dict[str, list[float]]


class TableRecord(TypedDict):
    """Files and bytes of a table when it was built, by system."""

    name: str
    files: dict[str, int]
    bytes: dict[str, int]


class Run(TypedDict):
    """The JSON file."""

    date: str
    size: str
    numbers: dict[str, object]
    machine: dict[str, str]
    cases: list[CaseRecord]
    tables: list[TableRecord]


@dataclass(frozen=True, slots=True)
class Target:
    """A row of the table of targets: acidsql's median wall time, divided by the best of `against`, is to be at most
    `limit`.

    `against` may be a group: then the time is divided by acidsql's own for the case of the same shape in that group.
    """

    group: Group
    against: tuple[str, ...] | Group
    limit: float
    only: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        if isinstance(self.against, Group):
            return f"{self.group.value} / {self.against.value}"
        what = ", ".join(self.only) or self.group.value
        return f"{what} / {'best of ' if len(self.against) > 1 else ''}{', '.join(self.against)}"


TARGETS = (
    Target(Group.SCAN, (PLAIN,), 1.05),
    Target(Group.SCAN_DELETED, (PLAIN,), 1.3),
    Target(Group.DML, PEERS, 0.6),
    Target(Group.DML_LARGE, PEERS, 0.7),
    Target(Group.LOAD, PEERS, 0.7),
    Target(Group.WRITE, (PLAIN,), 1.1),
    Target(Group.ONE_ROW, PEERS, 0.4),
    Target(Group.ONE_ROW_LARGE, PEERS, 0.5),
    Target(Group.SCAN_AFTER_DMLS, Group.SCAN_COMPACTED, 1.5),
    Target(Group.COMPACTION, (PLAIN,), 1.15),
    Target(Group.PARTITIONS, (PLAIN,), 1.05),
    Target(Group.VERSION, Group.PLAIN_READ, 1.05),
    Target(Group.CHANGES, PEERS, 0.5),
)


@dataclass(slots=True)
class Results:
    """What a run has measured so far."""

    cases: list[CaseRecord] = field(default_factory=list)
    tables: list[TableRecord] = field(default_factory=list)

    def add(self, name: str, group: Group, what: str, series: Mapping[str, Series]) -> None:
        wall = {system: [round(t.wall, 4) for t in s.counted] for system, s in series.items()}
        cpu = {system: [round(t.cpu, 3) for t in s.counted] for system, s in series.items()}
        self.cases.append(CaseRecord(name=name, group=group.value, what=what, wall=wall, cpu=cpu))


# ------------------------------------------------------------------------------------------------ the record


def machine(master: str) -> dict[str, str]:
    """What the figures are of. `load` is what else kept the machine busy in the minute before the run's end."""
    return {
        "cpu": _first("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": str(os.cpu_count()),
        "memory": _first("/proc/meminfo", "MemTotal"),
        "system": platform.platform(),
        "java": _java(),
        "python": platform.python_version(),
        "spark": f"{pyspark.__version__}, {master}",
        "delta": DELTA,
        "iceberg": ICEBERG,
        "acidsql": _commit(),
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def _first(path: str, key: str) -> str:
    if not Path(path).exists():
        return ""
    found = (line.partition(":")[2].strip() for line in Path(path).read_text().splitlines() if line.startswith(key))
    return next(found, "")


def _java() -> str:
    done = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False)
    return (done.stderr.splitlines() or [""])[0]


def _commit() -> str:
    here = Path(__file__).parent
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=here, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def write_json(run: Run, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(run, indent=1) + "\n")


def read_json(path: Path) -> Run:
    run: Run = json.loads(path.read_text())
    return run


# ------------------------------------------------------------------------------------------------ tables


def ratios(case: CaseRecord, of: str = "wall") -> dict[str, float]:
    """acidsql's median divided by each other system's."""
    times = case["wall"] if of == "wall" else case["cpu"]
    own = _median(times, ACID)
    others = {system: _median(times, system) for system in times if system != ACID}
    return {system: own / other for system, other in others.items() if own is not None and other}


def _median(times: Mapping[str, list[float]], system: str) -> float | None:
    return statistics.median(times[system]) if times.get(system) else None


def markdown(run: Run) -> str:
    """Everything as Markdown: the machine, targets, cases."""
    return "\n\n".join([_machine_text(run), targets_table(run), cases_table(run), tables_table(run)])


def _machine_text(run: Run) -> str:
    what = "; ".join(f"{key}: {value}" for key, value in run["machine"].items())
    return f"{run['date']}, size `{run['size']}`. {what}."


def targets_table(run: Run) -> str:
    rows = []
    for target in TARGETS:
        found = dict(_of_target(run, target))
        if found:
            worst = max(found, key=lambda name: found[name])
            mean = math.exp(statistics.fmean(map(math.log, found.values())))
            met = sum(r <= target.limit for r in found.values())
            row = [
                target.title,
                f"{target.limit:g}",
                f"{mean:.2f}",
                f"{found[worst]:.2f} ({worst})",
                f"{met}/{len(found)}",
            ]
            rows.append(row)
    return _table(["work, wall", "target", "geometric mean", "worst case", "cases that meet it"], rows)


def _of_target(run: Run, target: Target) -> Iterator[tuple[str, float]]:
    """Each case's name, and its ratio to the best of what it is held against."""
    for case in run["cases"]:
        if case["group"] != target.group.value:
            continue
        own = _median(case["wall"], ACID)
        best = (
            _own_other(run, case, target.against) if isinstance(target.against, Group) else _best(case, target.against)
        )
        if own is not None and best:
            yield case["name"], own / best


def _best(case: CaseRecord, against: tuple[str, ...]) -> float | None:
    return min((m for system in against if (m := _median(case["wall"], system)) is not None), default=None)


def _own_other(run: Run, case: CaseRecord, group: Group) -> float | None:
    """acidsql's time for the case of that group that does the same."""
    others = (c for c in run["cases"] if c["group"] == group.value and c["what"] == case["what"])
    return next((_median(c["wall"], ACID) for c in others), None)


def cases_table(run: Run) -> str:
    """Medians of acidsql in seconds; of the others acidsql's divided by theirs, wall and CPU."""
    names = [s for s in (PLAIN, *PEERS) if any(s in c["wall"] for c in run["cases"])]
    head = ["case", "acidsql wall s", "CPU s", *(f"/ {name}: wall, CPU" for name in names)]
    rows = []
    for case in run["cases"]:
        wall, cpu = ratios(case), ratios(case, "cpu")
        cells = [f"{wall[n]:.2f}, {cpu.get(n, math.nan):.2f}" if n in wall else "" for n in names]
        rows.append([case["name"], _seconds(case["wall"]), _seconds(case["cpu"]), *cells])
    return _table(head, rows)


def _seconds(times: Mapping[str, list[float]]) -> str:
    own = _median(times, ACID)
    return "" if own is None else f"{own:.2f}"


def tables_table(run: Run) -> str:
    """Files and megabytes of the tables, as they were built."""
    names = [s for s in (ACID, PLAIN, *PEERS) if any(s in t["bytes"] for t in run["tables"])]
    rows = []
    for table in run["tables"]:
        cells = [f"{table['files'][n]}, {table['bytes'][n] / 1e6:.1f}" if n in table["bytes"] else "" for n in names]
        rows.append([table["name"], *cells])
    return _table(["table", *(f"{name}: files, MB" for name in names)], rows)


def _table(head: list[str], rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [head, ["-" * w for w in widths], *rows]
    return "\n".join("| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in lines)


# ------------------------------------------------------------------------------------------------ the picture


def draw(run: Run, path: Path) -> None:
    """A line a case: acidsql's wall time over each other system's, the target as a tick."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    cases = list(reversed(run["cases"]))
    figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.24 * len(cases)))
    styles = {PLAIN: ("o", "#555555"), "Delta": ("s", "#1f77b4"), "Iceberg": ("^", "#2ca02c")}
    for system, (marker, colour) in styles.items():
        points = [(r[system], y) for y, case in enumerate(cases) if system in (r := ratios(case))]
        if points:
            across, down = zip(*points, strict=True)
            axes.scatter(across, down, marker=marker, s=26, color=colour, label=f"/ {system}", zorder=3)
    for y, case in enumerate(cases):
        for target in TARGETS:
            if target.group.value == case["group"] and not isinstance(target.against, Group):
                axes.plot([target.limit] * 2, [y - 0.4, y + 0.4], color="#d62728", linewidth=2, zorder=2)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_yticks(range(len(cases)), [c["name"] for c in cases], fontsize=8)
    axes.set_ylim(-0.8, len(cases) - 0.2)
    axes.grid(axis="x", color="#dddddd")
    axes.set_xlabel("acidsql's wall time / the other's (left of 1: acidsql is faster; red: the target)")
    axes.set_title(f"acidsql beside plain ORC, Delta and Iceberg, size {run['size']}", fontsize=10)
    axes.legend(loc="upper right", fontsize=8)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    pyplot.close(figure)


def as_record(size: Size, repeat: int) -> dict[str, object]:
    """The numbers of a run; `repeat` as it was, not the size's own."""
    return {**asdict(size), "repeat": repeat}
