"""python -m benchmarks.stores: one sequence of statements on a table in a store, beside Delta and Iceberg.

All systems run in one Spark session. A round makes a table in each of them, and each statement runs in all systems in
turn before the next one. With a latency, a proxy before S3 answers late, and counts the requests and how many of them
wait for each other. Without one there is no proxy: it is a program in Python, and takes a part of the machine. The first
round is a warm-up; the result is the median of the others.
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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pyspark.sql import SparkSession

from acidsql.session import Session, connect
from acidsql.spark.engine import Engine
from benchmarks.report import machine
from benchmarks.spark import peers_conf
from benchmarks.systems import DELETION_VECTORS, MERGE_ON_READ
from tests.interop.hdfs_process import Hdfs
from tests.interop.s3_proxy import S3Proxy
from tests.interop.s3_server import S3Server, s3a_jars, s3a_settings

COLUMNS = (
    "id bigint, int_col int, float_col float, double_col double, decimal_col decimal(20,5), date_col date, "
    "timestamp_col timestamp, string_col string"
)
FILES = 3


@dataclass(frozen=True, slots=True)
class Step:
    """A statement of the sequence. `sql` has `{t}` for the table; a query is read to its end."""

    name: str
    sql: str
    is_query: bool = False


def steps(rows: int) -> list[Step]:
    """The sequence. Tenths of the rows are changed all over the table."""
    scan = "SELECT sum(id), sum(int_col), sum(double_col), max(string_col) FROM {t}"
    one = rows // 3 + 7
    new = f"({rows * 3}, 1, 1.5F, 1.5D, 2.5BD, DATE'2024-01-01', TIMESTAMP'2024-01-01 00:00:00', 'one')"
    change = "int_col = -1, string_col = 'changed'"
    return [
        Step("INSERT SELECT", "INSERT INTO {t} SELECT * FROM source_rows"),
        Step("scan of four columns", scan, is_query=True),
        Step("scan of four columns, again", scan, is_query=True),
        Step("UPDATE of a row, fresh table", f"UPDATE {{t}} SET {change} WHERE id = {one}"),
        Step("DELETE 10 %", "DELETE FROM {t} WHERE id % 10 = 3"),
        Step("scan, 10 % deleted", scan, is_query=True),
        Step("UPDATE 10 %", f"UPDATE {{t}} SET {change} WHERE id % 10 = 4"),
        Step(
            "MERGE 10 % + 3 %",
            f"MERGE INTO {{t}} t USING source_changes s ON t.id = s.id WHEN MATCHED THEN UPDATE SET {change}"
            " WHEN NOT MATCHED THEN INSERT *",
        ),
        Step("INSERT of a row", f"INSERT INTO {{t}} VALUES {new}"),
        Step("UPDATE of a row", f"UPDATE {{t}} SET {change} WHERE id = {one + 1}"),
        Step("DELETE of a row", f"DELETE FROM {{t}} WHERE id = {one + 2}"),
        Step("scan, after all of them", scan, is_query=True),
    ]


@dataclass(slots=True)
class System:
    """A system: how a table is made and dropped, and what runs a statement."""

    name: str
    table: Callable[[int], str]
    create: Callable[[str], object]
    run: Callable[[str], object]
    rows: Callable[[str], object]


@dataclass(slots=True)
class Measured:
    """The counted rounds of one step by one system."""

    seconds: list[float] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)
    chains: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the tables lie, and the proxy before it, if there is one."""

    uri: str
    conf: Mapping[str, str]
    proxy: S3Proxy | None = None


@contextmanager
def started(store: str, latency: float, root: Path) -> Iterator[Place]:
    """The store, empty."""
    (root / store).mkdir()
    match store:
        case "s3":
            with S3Server(root / store) as server, S3Proxy(server.port, server.bucket) as proxy:
                proxy.latency = latency
                port = proxy.port if latency else server.port
                settings = {f"spark.hadoop.{key}": value for key, value in s3a_settings(port).items()}
                settings["spark.jars"] = ",".join(s3a_jars())
                yield Place(f"s3a://{server.bucket}", settings, proxy if latency else None)
        case "hdfs":
            if latency:
                raise SystemExit("Only requests to S3 can be answered late: leave --latency out")
            with Hdfs(root / store) as hdfs:
                yield Place(hdfs.uri, {})
        case _:
            yield Place(str(root / store), {})


def systems(spark: SparkSession, session: Session, place: Place, *, peers: bool) -> list[System]:
    def by_spark(sql: str) -> object:
        return spark.sql(sql).collect()

    acid = System(
        "acidsql",
        "acid_{}".format,
        lambda t: session.execute(f"CREATE TABLE {t} ({COLUMNS}) STORED AS ORC TBLPROPERTIES ('transactional'='true')"),
        session.execute,
        lambda sql: session.sql(sql).collect(),
    )
    if not peers:
        return [acid]
    delta = System(
        "Delta",
        "delta_{}".format,
        lambda t: by_spark(
            f"CREATE TABLE {t} ({COLUMNS}) USING delta LOCATION '{place.uri}/delta/{t}' {DELETION_VECTORS}"
        ),
        by_spark,
        by_spark,
    )
    iceberg = System(
        "Iceberg",
        "ice.db.t_{}".format,
        lambda t: by_spark(f"CREATE TABLE {t} ({COLUMNS}) USING iceberg {MERGE_ON_READ}"),
        by_spark,
        by_spark,
    )
    return [acid, delta, iceberg]


def measured(place: Place, options: argparse.Namespace, root: Path) -> dict[str, dict[str, Measured]]:
    """By step and system."""
    peers = peers_conf(root) | {"spark.sql.catalog.ice.warehouse": f"{place.uri}/iceberg"} if options.peers else {}
    jars = ",".join(filter(None, (peers.get("spark.jars"), place.conf.get("spark.jars"))))
    conf = {
        "spark.master": f"local[{os.cpu_count()}]",
        "spark.driver.memory": options.memory,
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "ERROR",
    }
    spark = Engine(None, conf | peers | dict(place.conf) | ({"spark.jars": jars} if jars else {})).spark
    _write_sources(spark, options.rows, root)
    results: dict[str, dict[str, Measured]] = {}
    with connect(f"{place.uri}/acid", metastore=f"sqlite:///{root}/metastore.db", spark=spark) as session:
        known = systems(spark, session, place, peers=options.peers)
        for number in range(options.repeat + 1):
            for system in known:
                system.create(system.table(number))
            for step in steps(options.rows):
                for system in known[number % len(known) :] + known[: number % len(known)]:
                    one = _timed(step, system, system.table(number), place)
                    if number:
                        by_system = results.setdefault(step.name, {s.name: Measured() for s in known})
                        _add(by_system[system.name], one)
                    print(f"{number} {step.name:30} {system.name:8} {one[0]:6.2f} s {one[1:]}", file=sys.stderr)
            _check(known, number)
    spark.stop()
    return results


def _write_sources(spark: SparkSession, rows: int, root: Path) -> None:
    """The rows as files on this machine's disk, so that no system computes them or reads them from the store."""
    columns = """CAST(id AS INT) int_col, CAST(id AS FLOAT) float_col, CAST(id AS DOUBLE) double_col,
    CAST(id AS DECIMAL(20,5)) decimal_col, date_add(DATE'1970-01-01', CAST(id % 20000 AS INT)) date_col,
    CAST(date_add(DATE'1970-01-01', CAST(id % 20000 AS INT)) AS TIMESTAMP) timestamp_col,
    CAST(id AS STRING) string_col"""
    changed = f"""(SELECT id FROM range(0, {rows}, 1, 2) WHERE id % 10 = 5
    UNION ALL SELECT id FROM range({rows}, {rows + rows * 3 // 100}, 1, 1))"""
    for name, source in {"source_rows": f"range(0, {rows}, 1, {FILES})", "source_changes": changed}.items():
        spark.sql(f"SELECT id, {columns} FROM {source}").write.parquet(f"file:{root}/{name}")
        spark.read.parquet(f"file:{root}/{name}").createOrReplaceTempView(name)


def _timed(step: Step, system: System, table: str, place: Place) -> tuple[float, int, int]:
    if place.proxy is not None:
        place.proxy.begin()
    begun = time.perf_counter()
    sql = step.sql.format(t=table)
    _ = system.rows(sql) if step.is_query else system.run(sql)
    seconds = time.perf_counter() - begun
    return seconds, *((len(place.proxy.requests), place.proxy.longest_chain()) if place.proxy else (0, 0))


def _add(measured: Measured, one: tuple[float, int, int]) -> None:
    measured.seconds.append(one[0])
    measured.requests.append(one[1])
    measured.chains.append(one[2])


def _check(known: list[System], number: int) -> None:
    """Raises SystemExit where the systems' rows differ."""
    query = "SELECT count(*), sum(CAST(xxhash64(*) AS DECIMAL(38,0))) FROM {t}"
    found = {system.name: str(system.rows(query.format(t=system.table(number)))) for system in known}
    if len(set(found.values())) > 1:
        raise SystemExit(f"The systems differ: {found}")


def markdown(results: Mapping[str, Mapping[str, Measured]], *, counts: bool) -> str:
    """One line a step: acidsql's seconds, these divided by each peer's, and the requests of each."""
    names = list(next(iter(results.values())))
    peers = names[1:]
    head = ["statement", "acidsql, s", *(f"/ {name}" for name in peers)]
    head += [f"requests of {name} (chain)" for name in names] if counts else []
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for step, by_system in results.items():
        own = statistics.median(by_system["acidsql"].seconds)
        cells = [step, f"{own:.2f}", *(f"{own / statistics.median(by_system[name].seconds):.2f}" for name in peers)]
        if counts:
            medians = ((statistics.median(m.requests), statistics.median(m.chains)) for m in by_system.values())
            cells += [f"{requests:.0f} ({chain:.0f})" for requests, chain in medians]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stores", description=__doc__)
    parser.add_argument("store", choices=("s3", "hdfs", "disk"))
    parser.add_argument("--latency", type=float, default=0, metavar="MS", help="added to each answer of S3, whose requests are counted then")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=2, metavar="N", help="counted rounds, after one that is not")
    parser.add_argument("--memory", default="6g", help="the JVM's heap")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="without Delta and Iceberg")
    parser.add_argument("--out", type=Path, help="a JSON file with every measured time")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    root = Path(tempfile.mkdtemp(prefix="acidsql-bench-"))
    try:
        with started(options.store, options.latency / 1000, root) as place:
            results = measured(place, options, root)
            print(markdown(results, counts=place.proxy is not None))
    finally:
        shutil.rmtree(root, ignore_errors=True)
    if options.out is not None:
        record = {step: {name: asdict(m) for name, m in of.items()} for step, of in results.items()}
        run = {"store": options.store, "latency": options.latency, "rows": options.rows, "steps": record}
        options.out.write_text(json.dumps(run | {"machine": machine(f"local[{os.cpu_count()}]")}, indent=1) + "\n")


if __name__ == "__main__":
    main()
