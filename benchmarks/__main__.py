"""python -m benchmarks: acidsql beside plain ORC, Delta and Iceberg. See benchmarks/README.md."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from acidsql.session import connect
from benchmarks import report, spark
from benchmarks.cases import CASES, Case
from benchmarks.run import Runner
from benchmarks.sizes import SIZES
from benchmarks.systems import systems

RESULTS = Path(__file__).parent / "results"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="quick")
    parser.add_argument("--only", metavar="NAME[,NAME]", help="cases, or beginnings of their names")
    parser.add_argument("--repeat", type=int, metavar="N", help="counted repetitions, after one that is not")
    parser.add_argument("--no-peers", action="store_true", help="without Delta and Iceberg: fetches nothing")
    parser.add_argument("--master", default=f"local[{os.cpu_count()}]")
    parser.add_argument("--memory", help="the JVM's heap, for example 6g")
    parser.add_argument("--place", type=Path, help="where to put the tables (default: a temporary directory)")
    parser.add_argument("--out", type=Path, help="the JSON file; the picture goes beside it")
    parser.add_argument("--list", action="store_true", help="name the cases and what they do")
    parser.add_argument("--report", type=Path, metavar="FILE", help="measure nothing: print and draw this JSON file")
    return parser.parse_args()


def chosen(only: str | None) -> list[Case]:
    names = only.split(",") if only else [""]
    for name in names:
        if not any(case.name.startswith(name) for case in CASES):
            raise SystemExit(f"No case begins with {name}: see --list")
    return [case for case in CASES if any(case.name.startswith(name) for name in names)]


def measured(options: argparse.Namespace, place: Path, out: Path) -> report.Run:
    """A run that fails leaves what it has measured in a file of its own: hours may lie behind it."""
    size = SIZES[options.size]
    running = spark.start(
        place, master=options.master, memory=options.memory or size.memory, peers=not options.no_peers
    )
    with connect(place / "warehouse", spark=running) as session:
        known = systems(running, session, place, peers=not options.no_peers)
        runner = Runner(running, known, size, options.repeat or size.repeat, place)
        try:
            runner.run(chosen(options.only))
        except BaseException:
            report.write_json(_record(options, runner), out.with_suffix(".partial.json"))
            raise
    running.stop()
    return _record(options, runner)


def _record(options: argparse.Namespace, runner: Runner) -> report.Run:
    return report.Run(
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        size=options.size,
        numbers=report.as_record(runner.size, runner.repeat),
        machine=report.machine(options.master),
        cases=runner.results.cases,
        tables=runner.results.tables,
    )


def show(run: report.Run, picture: Path) -> None:
    print(report.markdown(run))
    try:
        report.draw(run, picture)
    except ModuleNotFoundError:
        print("No picture: matplotlib is not installed (pip install 'acidsql[bench]')", file=sys.stderr)


def main() -> None:
    options = arguments()
    if options.list:
        for case in CASES:
            print(f"{case.name:28} {case.group.value:28} {case.explained}")
        return
    if options.report is not None:
        show(report.read_json(options.report), options.report.with_suffix(".svg"))
        return
    place = Path(tempfile.mkdtemp(prefix="acidsql-bench-", dir=options.place))
    out = options.out or RESULTS / f"{datetime.now(UTC):%Y-%m-%d}-{options.size}.json"
    try:
        run = measured(options, place, out)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    report.write_json(run, out)
    show(run, out.with_suffix(".svg"))
    print(f"Written: {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
