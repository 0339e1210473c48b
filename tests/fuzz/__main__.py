"""`python -m tests.fuzz --minutes 60`: seed after seed until the time is up; prints what it finds, and goes on."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from pyspark.sql import SparkSession

from acidsql.session import connect
from acidsql.spark.engine import Engine
from tests.conftest import SPARK_CONF
from tests.fuzz import on_spark, statements
from tests.fuzz.runs import Size, run_seed
from tests.fuzz.world import Finding

PARSED = 2_000
"""Mutated statements of a seed that are parsed and planned."""
RUN = 20
"""Of those with a plan, how many a session runs."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, help="this one alone")
    parser.add_argument("--first", type=int, default=1_000_000, help="the first of the seeds")
    parser.add_argument("--only", choices=("queries", "dml", "comparisons", "statements"))
    given = parser.parse_args()
    size = Size(
        12 if given.only in (None, "dml") else 0,
        25 if given.only in (None, "queries") else 0,
        comparisons=30 if given.only in (None, "comparisons") else 0,
    )
    engine = Engine(None, SPARK_CONF)
    spark = engine.spark
    done: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    started = time.monotonic()
    seeds = 0
    seed = given.first if given.seed is None else given.seed
    while seeds == 0 or (given.seed is None and time.monotonic() - started < 60 * given.minutes):
        if given.only != "statements":
            world = run_seed(spark, seed, size, _print)
            kinds.update(finding.kind for finding in world.findings)
            done += world.done
        if given.only in (None, "statements"):
            _mutate(spark, seed, done, kinds)
        seeds += 1
        if seeds % 5 == 0:
            _tell(seeds, time.monotonic() - started, done, kinds)
        seed += 1
    _tell(seeds, time.monotonic() - started, done, kinds)
    engine.close()
    return 1 if kinds else 0


def _mutate(spark: SparkSession, seed: int, done: Counter[str], kinds: Counter[str]) -> None:
    """Mutated statements of a seed: many are parsed and planned, some of those with a plan are run."""
    reports = {"mutated statements, parsed": statements.run(float("inf"), seed, PARSED)}
    with tempfile.TemporaryDirectory() as root:
        warehouse = Path(root, "warehouse")
        with connect(warehouse, metastore=f"sqlite:///{root}/metastore.db", spark=spark) as session:
            on_spark.set_up(session)
            reports["mutated statements, run"] = on_spark.run(session, warehouse, RUN, seed)
    for kind, report in reports.items():
        done[kind] += report.planned if kind.endswith("run") else report.statements
        if report.found:
            kinds[kind] += len(report.found)
            print(report, flush=True)  # noqa: T201


def _print(finding: Finding) -> None:
    print(finding, flush=True)  # noqa: T201


def _tell(seeds: int, seconds: float, done: Counter[str], kinds: Counter[str]) -> None:
    lines = [f"{seeds} seeds in {seconds / 60:.1f} minutes"]
    lines += [f"  {n:7} {kind}" for kind, n in sorted(done.items())]
    lines += [f"  {n:7} FINDINGS: {kind}" for kind, n in sorted(kinds.items())]
    print("\n".join(lines), flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
