"""python -m benchmarks.growth: how the cost of planning and reading grows with rows, deltas and partitions.

acidsql alone. Planning is what `Session.sql` takes to give a query's frame: it lists directories, opens footers and
has Spark analyze; reading is the frame's count, or sum, after it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from acidsql.session import Session, connect
from benchmarks import spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@dataclass(frozen=True, slots=True)
class Point:
    """Seconds of one thing at one size."""

    along: str
    what: str
    size: int
    seconds: float


def rows(session: Session, sizes: Sequence[int], repeat: int) -> Iterator[Point]:
    """A table of so many rows, one INSERT; then an UPDATE of a tenth."""
    for size in sizes:
        session.execute(f"CREATE TABLE grown (id bigint, amount double, note string) {ACID}")
        query = f"SELECT id, id * 1.5D amount, concat('note ', id) note FROM range(0, {size}, 1, 4)"
        session.spark.sql(query).createOrReplaceTempView("more")
        yield Point("rows", "INSERT SELECT", size, ran(session, "INSERT INTO grown SELECT * FROM more"))
        yield from query_points(session, "rows", size, repeat, "SELECT sum(amount) FROM grown")
        update = "UPDATE grown SET amount = 0 WHERE id % 10 = 3"
        yield Point("rows", "UPDATE of 10 %", size, ran(session, update))
        yield from query_points(session, "rows", size, repeat, "SELECT sum(amount) FROM grown", " after UPDATE")
        session.execute("DROP TABLE grown")


def deltas(session: Session, sizes: Sequence[int], repeat: int) -> Iterator[Point]:
    """One table; every statement adds a delta, every tenth a delete_delta instead."""
    session.execute(f"CREATE TABLE grown (id bigint, amount double, note string) {ACID}")
    for number in range(1, max(sizes) + 1):
        if number % 10 == 0:
            sql = f"DELETE FROM grown WHERE id = {number - 5}"
        else:
            sql = f"INSERT INTO grown VALUES ({number}, 1.5D, 'one')"
        seconds = ran(session, sql)
        if next_size := {number, number + 1}.intersection(sizes):
            yield Point("deltas", f"one-row {sql[:6]}", max(next_size), seconds)
        if number in sizes:
            yield from query_points(session, "deltas", number, repeat, "SELECT sum(amount) FROM grown")
    session.execute("DROP TABLE grown")


def partitions(session: Session, sizes: Sequence[int], repeat: int) -> Iterator[Point]:
    """So many partitions of ten rows, by one INSERT; all read, one read, one row of one changed."""
    for size in sizes:
        session.execute(f"CREATE TABLE grown (id bigint, amount double) PARTITIONED BY (p int) {ACID}")
        query = f"SELECT id, id * 1.5D amount, CAST(id DIV 10 AS INT) p FROM range(0, {size * 10}, 1, 2)"
        session.spark.sql(query).createOrReplaceTempView("more")
        insert = ran(session, "INSERT INTO grown SELECT * FROM more")
        yield Point("partitions", "INSERT SELECT", size, insert)
        yield from query_points(session, "partitions", size, repeat, "SELECT sum(amount) FROM grown")
        one = f"SELECT sum(amount) FROM grown WHERE p = {size // 2}"
        yield from query_points(session, "partitions", size, repeat, one, " of one partition")
        update = f"UPDATE grown SET amount = 0 WHERE p = {size // 2}"
        yield Point("partitions", "UPDATE of one partition", size, ran(session, update))
        session.execute("DROP TABLE grown")


def query_points(session: Session, along: str, size: int, repeat: int, sql: str, suffix: str = "") -> Iterator[Point]:
    """Planning and reading, medians, after one of each that is not counted."""
    planning, reading = [], []
    for _ in range(repeat + 1):
        started = time.perf_counter()
        frame = session.sql(sql)
        planned = time.perf_counter()
        frame.collect()
        planning.append(planned - started)
        reading.append(time.perf_counter() - planned)
    yield Point(along, f"planning{suffix}", size, statistics.median(planning[1:]))
    yield Point(along, f"reading{suffix}", size, statistics.median(reading[1:]))


def ran(session: Session, sql: str) -> float:
    """Seconds of a statement."""
    started = time.perf_counter()
    session.execute(sql)
    return time.perf_counter() - started


ALONG = {"rows": rows, "deltas": deltas, "partitions": partitions}
SIZES = {
    "rows": (10_000, 100_000, 1_000_000, 10_000_000),
    "deltas": (1, 3, 10, 30, 100, 300, 1_000),
    "partitions": (10, 100, 1_000, 10_000),
}


def table(points: Sequence[Point]) -> str:
    """Markdown: a line for each thing, a column for each size."""
    blocks = []
    for along in dict.fromkeys(p.along for p in points):
        some = {(p.what, p.size): p.seconds for p in points if p.along == along}
        sizes = sorted({p.size for p in points if p.along == along and p.what.startswith("planning")})
        lines = [f"| seconds, by {along} | {' | '.join(f'{s:,}' for s in sizes)} |", "|---|" + "---:|" * len(sizes)]
        for what in dict.fromkeys(what for what, _ in some):
            cells = (f"{some[what, s]:.2f}" if (what, s) in some else "" for s in sizes)
            lines.append(f"| {what} | {' | '.join(cells)} |")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def draw(points: Sequence[Point], path: Path) -> None:
    """A panel for each of rows, deltas, partitions; both axes logarithmic, so that linear growth is a slope of 1."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    found = list(dict.fromkeys(p.along for p in points))
    figure, panels = pyplot.subplots(1, len(found), figsize=(5 * len(found), 4.2), squeeze=False)
    for axes, along in zip(panels[0], found, strict=True):
        for what in dict.fromkeys(p.what for p in points if p.along == along):
            line = [(p.size, p.seconds) for p in points if (p.along, p.what) == (along, what)]
            axes.plot(*zip(*line, strict=True), marker="o", markersize=4, label=what)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(along)
        axes.set_ylabel("seconds")
        axes.grid(color="#dddddd")
        axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--along", default=",".join(ALONG), metavar="NAME[,NAME]", help="rows, deltas, partitions")
    parser.add_argument("--most", type=int, help="leave out sizes above this")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--master", default=f"local[{os.cpu_count()}]")
    parser.add_argument("--memory", default="6g")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "growth.json")
    options = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="acidsql-growth-"))
    points: list[Point] = []
    try:
        running = spark.start(place, master=options.master, memory=options.memory, peers=False)
        with connect(place / "warehouse", spark=running) as session:
            for along in options.along.split(","):
                sizes = [s for s in SIZES[along] if options.most is None or s <= options.most]
                if not sizes:
                    continue
                for _ in ALONG[along](session, sizes[:2], 1):
                    pass  # the warm-up: the first statements of a JVM take seconds
                for point in ALONG[along](session, sizes, options.repeat):
                    print(
                        f"{point.along} {point.size}: {point.what} {point.seconds:.2f} s", file=sys.stderr, flush=True
                    )
                    points.append(point)
        running.stop()
    finally:
        shutil.rmtree(place, ignore_errors=True)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps([asdict(p) for p in points], indent=1) + "\n")
    print(table(points))
    try:
        draw(points, options.out.with_suffix(".svg"))
    except ModuleNotFoundError:
        print("No picture: matplotlib is not installed (pip install 'acidsql[bench]')", file=sys.stderr)


if __name__ == "__main__":
    main()
