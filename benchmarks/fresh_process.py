"""python -m benchmarks.fresh_process: a query, an INSERT and an UPDATE, each in a process of its own, beside spark-sql
and DuckDB; and `read_arrow` beside Spark and pyarrow's ORC reader. POSIX only.

Every time is that of a user who waits: from the start of the process to the first byte of its answer, and to its exit.
spark-sql queries an ORC table, and changes one of Iceberg. DuckDB (`--duckdb PYTHON`, an interpreter that has it) reads
a Parquet file, and has no way to change one but to write all of it anew.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyspark
from pyarrow import orc, parquet

from acidsql.session import connect
from benchmarks.spark import peers_conf

ROWS: Final = 10_000
QUERY: Final = "SELECT id, name FROM t WHERE id = 4711"
STATEMENTS: Final = {
    "SELECT": QUERY,
    "INSERT VALUES": "INSERT INTO t VALUES (-1, 'new', 1.5)",
    "UPDATE": "UPDATE t SET name = 'changed' WHERE id = 4711",
}
_DUCKDB: Final = {
    "SELECT": "SELECT id, name FROM '{t}' WHERE id = 4711",
    "INSERT VALUES": "COPY (SELECT * FROM '{t}' UNION ALL VALUES (-1, 'new', 1.5)) TO '{t}.new' (FORMAT parquet)",
    "UPDATE": "COPY (SELECT * REPLACE (CASE id WHEN 4711 THEN 'changed' ELSE name END AS name) FROM '{t}')"
    " TO '{t}.new' (FORMAT parquet)",
}
_READ_ROWS: Final = (10_000, 1_000_000, 10_000_000)


@dataclass(frozen=True, slots=True)
class Waited:
    """Seconds from the start of a process. A statement that prints nothing has no first byte of an answer."""

    first: float | None
    end: float


def waited_for(command: Sequence[str], cwd: Path) -> Waited:
    started = time.perf_counter()
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        first = time.perf_counter() - started if process.stdout.read(1) else None
        process.stdout.read()
    if process.returncode:
        raise SystemExit(f"{command} exited with {process.returncode}")
    return Waited(first, time.perf_counter() - started)


def rows(count: int) -> pa.Table:
    ids = pa.array(range(count), pa.int64())
    names = pa.array([f"name {n % 1000}" for n in range(count)])
    return pa.table({"id": ids, "name": names, "x": pa.array([n / 7 for n in range(count)])})


def _median(work: Callable[[], Waited], repeat: int) -> Waited:
    """Of all runs but the first, which fills the caches of the file system."""
    found = [work() for _ in range(repeat + 1)][1:]
    firsts = [one.first for one in found if one.first is not None]
    return Waited(statistics.median(firsts) if firsts else None, statistics.median(one.end for one in found))


def _spark_sql(conf: dict[str, str], statement: str) -> list[str]:
    program = Path(pyspark.__file__).parent / "bin" / "spark-sql"
    return [
        str(program),
        *(word for key, value in conf.items() for word in ("--conf", f"{key}={value}")),
        "-e",
        statement,
    ]


def fresh_processes(place: Path, repeat: int, duckdb: str | None) -> None:
    data = rows(ROWS)
    parquet.write_table(data, place / "t.parquet")
    (place / "plain").mkdir()
    orc.write_table(data, place / "plain" / "t.orc")
    with connect(place / "warehouse") as session:
        session.execute("CREATE TRANSACTIONAL TABLE t (id bigint, name string, x double)")
        session.insert("t", data)
    iceberg = {"spark.master": f"local[{os.cpu_count()}]", "spark.log.level": "OFF", **peers_conf(place)}
    plain = {"spark.master": iceberg["spark.master"], "spark.log.level": "OFF", "spark.sql.warehouse.dir": str(place)}
    plain["spark.sql.catalogImplementation"] = "in-memory"
    made = f"CREATE TABLE ice.db.t USING iceberg AS SELECT * FROM orc.`{place}/plain`"
    subprocess.run(_spark_sql(iceberg, made), cwd=place, check=True, capture_output=True)
    programs: dict[str, Callable[[str], list[str]]] = {
        "acidsql shell": lambda kind: [sys.executable, "-m", "acidsql", "shell", "-S", "-e", STATEMENTS[kind]],
        "spark-sql": lambda kind: (
            _spark_sql(plain, QUERY.replace("FROM t", f"FROM orc.`{place}/plain`"))
            if kind == "SELECT"
            else _spark_sql(iceberg, STATEMENTS[kind].replace(" t ", " ice.db.t ", 1))
        ),
    }
    if duckdb is not None:
        code = "import duckdb, sys; print(duckdb.sql(sys.argv[1]) or '')"
        programs["DuckDB"] = lambda kind: [duckdb, "-c", code, _DUCKDB[kind].format(t=place / "t.parquet")]
    print(f"| {ROWS} rows, seconds to the first byte, to the exit | {' | '.join(programs)} |")
    print(f"|---|{'---|' * len(programs)}")
    for kind in STATEMENTS:
        found = [_median(lambda p=program, k=kind: waited_for(p(k), place), repeat) for program in programs.values()]  # type: ignore[misc]
        shown = (f"{one.first:.2f}, {one.end:.2f}" if one.first is not None else f"-, {one.end:.2f}" for one in found)
        print(f"| {kind} | {' | '.join(shown)} |")


def arrow_reads(place: Path, repeat: int, counts: Sequence[int]) -> None:
    """The whole table, in one process, behind a first read of each."""
    print("\n| read_arrow, whole tables, seconds | acidsql | Spark (toArrow) | pyarrow's ORC reader, a plain file |")
    print("|---|---|---|---|")
    with connect(place / "reads", conf={"spark.driver.memory": "6g"}) as session:  # toArrow holds all rows there
        for count in counts:
            name, data = f"t{count}", rows(count)
            orc.write_table(data, place / f"{name}.orc", compression="snappy")
            session.execute(f"CREATE TRANSACTIONAL TABLE {name} (id bigint, name string, x double)")
            session.insert(name, data)
            ways: list[Callable[[], int]] = [
                lambda n=name: session.read_arrow(n).read_all().num_rows,  # type: ignore[misc]
                lambda n=name: session.table(n).toArrow().num_rows,  # type: ignore[misc]
                lambda n=name: orc.ORCFile(place / f"{n}.orc").read().num_rows,  # type: ignore[misc]
            ]
            medians = []
            for way in ways:
                times = []
                for _ in range(repeat + 1):
                    started = time.perf_counter()
                    if way() != count:
                        raise SystemExit(f"{name}: not all rows were read")
                    times.append(time.perf_counter() - started)
                medians.append(statistics.median(times[1:]))
            print(f"| {count:,} rows | {' | '.join(f'{seconds:.3f}' for seconds in medians)} |")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fresh_process", description=__doc__)
    parser.add_argument("--repeat", type=int, default=5, metavar="N")
    parser.add_argument("--duckdb", metavar="PYTHON", help="an interpreter that can import duckdb")
    parser.add_argument(
        "--rows", type=int, nargs="*", default=_READ_ROWS, help="the sizes of the tables for read_arrow"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="acidsql-bench-") as directory:
        place = Path(directory)
        fresh_processes(place, given.repeat, given.duckdb)
        arrow_reads(place, given.repeat, given.rows)


if __name__ == "__main__":
    main()
