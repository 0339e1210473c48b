"""What statements cost: acidsql beside plain ORC and, with --peers, Delta and Iceberg, in one run on one data set.

Systems take turns within each round, so that a slow minute of the machine hits all of them. Rounds start from a fresh
table; the first is a warm-up and not counted. At the end of each round all systems must hold the same rows.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pyspark
from pyspark.sql import DataFrame, SparkSession

from acidsql.session import Session, connect
from acidsql.spark.engine import Engine

COLUMNS = "id int, grp int, amount double, price decimal(20,5), day date, note string"
ROWS = """SELECT CAST(id AS INT) id, CAST(id % 100 AS INT) grp, CAST(id * 1.5 AS DOUBLE) amount,
  CAST(id / 7 AS DECIMAL(20,5)) price, date_add(DATE'2020-01-01', CAST(id % 1000 AS INT)) day,
  concat('note ', id % 5000, ' of row ', id) note FROM range(0, {rows}, 1, 4)"""
CHANGES = """SELECT CAST(id * 4 AS INT) id, CAST(1000 AS INT) grp, CAST(1 AS DOUBLE) amount,
  CAST(2 AS DECIMAL(20,5)) price, DATE'2024-01-01' day, 'changed' note FROM range(0, {some}, 1, 4)
  UNION ALL SELECT CAST({rows} + id AS INT), 2000, 1D, CAST(2 AS DECIMAL(20,5)), DATE'2024-01-01', 'new'
  FROM range(0, {some}, 1, 4)"""
CHECK = "SELECT count(*), sum(id), sum(grp), sum(amount), sum(price), max(day), count(DISTINCT note) FROM {table}"
SCAN = (
    "SELECT sum(xxhash64(*)) FROM {table}"  # every column of every row; a noop sink fails on Delta's deletion vectors
)
NARROW = "SELECT sum(amount) FROM {table} WHERE grp < 10"

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>acidsql</groupId><artifactId>benchmarks</artifactId><version>1</version><dependencies>{dependencies}
</dependencies></project>
"""
DEPENDENCY = """
<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"""
JAR_GROUPS = "io.delta,io.unitycatalog,org.apache.iceberg"
"""What Spark has not got itself."""


class System(Protocol):
    """One way to keep a table. `table` is its name in the system's SQL."""

    name: str
    table: str

    def create(self) -> None:
        """A fresh, empty table."""

    def run(self, sql: str) -> DataFrame: ...


@dataclass(slots=True)
class Acid:
    """acidsql."""

    session: Session
    name: str = "acidsql"
    table: str = "bench"

    def create(self) -> None:
        self.run("DROP TABLE IF EXISTS bench")
        self.run(f"CREATE TABLE bench ({COLUMNS}) STORED AS ORC TBLPROPERTIES ('transactional'='true')")

    def run(self, sql: str) -> DataFrame:
        return self.session.sql(sql)


@dataclass(slots=True)
class Plain:
    """Spark's own tables: ORC, the yardstick of scans and INSERT; Delta and Iceberg, that of the rest."""

    spark: SparkSession
    name: str
    table: str
    definition: str

    def create(self) -> None:
        self.run(f"DROP TABLE IF EXISTS {self.table}")
        self.run(f"CREATE TABLE {self.table} ({COLUMNS}) {self.definition}")

    def run(self, sql: str) -> DataFrame:
        return self.spark.sql(sql)


@dataclass(slots=True)
class Times:
    """Wall seconds by (case, system), one for each counted round."""

    seconds: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def add(self, case: str, system: str, seconds: float) -> None:
        self.seconds.setdefault((case, system), []).append(seconds)

    def median(self, case: str, system: str) -> float | None:
        taken = self.seconds.get((case, system))
        return statistics.median(taken) if taken else None


def statements(rows: int) -> list[tuple[str, str]]:
    """The cases in their order; {table} is the system's table, `source` and `changes` are views."""
    return [
        ("INSERT SELECT, all rows", "INSERT INTO {table} SELECT * FROM source"),
        ("scan, no deletes", SCAN),
        ("scan of 2 columns, no deletes", NARROW),
        ("UPDATE 10 %", "UPDATE {table} SET amount = amount + 1, note = 'updated' WHERE id % 10 = 3"),
        ("DELETE 10 %", "DELETE FROM {table} WHERE id % 10 = 7"),
        (
            "MERGE 5 % updated, 5 % inserted",
            "MERGE INTO {table} t USING changes s ON t.id = s.id"
            " WHEN MATCHED THEN UPDATE SET grp = s.grp, note = s.note"
            " WHEN NOT MATCHED THEN INSERT (id, grp, amount, price, day, note)"
            " VALUES (s.id, s.grp, s.amount, s.price, s.day, s.note)",
        ),
        ("scan after the three", SCAN),
        ("scan of 2 columns after them", NARROW),
        ("UPDATE of 1 row", f"UPDATE {{table}} SET note = 'one' WHERE id = {rows // 2}"),
    ]


PLAIN_ORC_CASES = frozenset(name for name, _ in statements(1) if name.startswith(("INSERT", "scan")))


def timed(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def ran(system: System, sql: str) -> None:
    """Runs a statement to its end."""
    system.run(sql.format(table=system.table)).collect()


def one_round(systems: list[System], cases: list[tuple[str, str]], times: Times | None) -> None:
    for system in systems:
        system.create()
    for number, (case, sql) in enumerate(cases):
        turn = number % len(systems)
        for system in [*systems[turn:], *systems[:turn]]:
            if system.name == "plain ORC" and case not in PLAIN_ORC_CASES:
                continue
            seconds = timed(lambda system=system, sql=sql: ran(system, sql))  # type: ignore[misc]
            if times is not None:
                times.add(case, system.name, seconds)
            print(f"  {case:34} {system.name:10} {seconds:7.2f} s", file=sys.stderr, flush=True)
    check_equal([s for s in systems if s.name != "plain ORC"])


def check_equal(systems: list[System]) -> None:
    """Every system that ran every statement holds the same rows."""
    found = {system.name: system.run(CHECK.format(table=system.table)).first() for system in systems}
    if len(set(map(str, found.values()))) > 1:
        raise SystemExit(f"The systems differ: {found}")


# ------------------------------------------------------------------------------------------------ set-up


def start(options: argparse.Namespace, place: Path) -> SparkSession:
    conf = {
        "spark.master": options.master,
        "spark.driver.memory": "6g",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(place / "plain"),
        "spark.sql.orc.compression.codec": "zlib",  # the codec of acidsql's files
    }
    if options.peers:
        conf |= {
            "spark.jars": ",".join(map(str, peer_jars(options, place / "jars"))),
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.ice.type": "hadoop",
            "spark.sql.catalog.ice.warehouse": str(place / "iceberg"),
        }
    return Engine(None, conf).spark


def peer_jars(options: argparse.Namespace, directory: Path) -> list[Path]:
    """Fetched by Maven, which knows the machine's mirrors and proxies; Spark's own Ivy does not."""
    spark = ".".join(pyspark.__version__.split(".")[:2])
    wanted = [
        DEPENDENCY.format("io.delta", f"delta-spark_{spark}_2.13", options.delta),
        DEPENDENCY.format("org.apache.iceberg", f"iceberg-spark-runtime-{spark}_2.13", options.iceberg),
    ]
    directory.mkdir()
    (directory / "pom.xml").write_text(POM.format(dependencies="".join(wanted)))
    goal = ["dependency:copy-dependencies", f"-DincludeGroupIds={JAR_GROUPS}", f"-DoutputDirectory={directory}"]
    subprocess.run(["mvn", "--batch-mode", "--quiet", "-f", str(directory / "pom.xml"), *goal], check=True)
    return sorted(directory.glob("*.jar"))


def peers(spark: SparkSession) -> list[System]:
    modes = ", ".join(f"'write.{verb}.mode'='merge-on-read'" for verb in ("update", "delete", "merge"))
    return [
        Plain(spark, "Delta", "delta_bench", "USING delta TBLPROPERTIES ('delta.enableDeletionVectors'='true')"),
        Plain(spark, "Iceberg", "ice.db.bench", f"USING iceberg TBLPROPERTIES ('format-version'='3', {modes})"),
    ]


def sources(spark: SparkSession, rows: int, place: Path) -> None:
    """The rows to insert and those to merge, as files, so that no system computes them."""
    for name, sql in (("source", ROWS), ("changes", CHANGES)):
        path = str(place / name)
        spark.sql(sql.format(rows=rows, some=rows // 20)).write.parquet(path)
        spark.read.parquet(path).createOrReplaceTempView(name)


# ------------------------------------------------------------------------------------------------ the report


def report(times: Times, cases: list[tuple[str, str]], systems: list[System]) -> str:
    """A Markdown table: median seconds, and in brackets acidsql's time divided by the system's."""
    names = [system.name for system in systems]
    lines = [f"| case | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
    for case, _ in cases:
        own = times.median(case, "acidsql")
        cells = [cell(own, times.median(case, name), own_column=name == "acidsql") for name in names]
        lines.append(f"| {case} | {' | '.join(cells)} |")
    return "\n".join(lines)


def cell(own: float | None, taken: float | None, *, own_column: bool) -> str:
    if taken is None or own is None:
        return ""
    return f"{taken:.2f}" if own_column else f"{taken:.2f} ({own / taken:.2f})"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3, help="counted rounds, after one that is not")
    parser.add_argument("--master", default=f"local[{os.cpu_count()}]")
    parser.add_argument("--peers", action="store_true", help="Delta and Iceberg too; fetches their jars")
    parser.add_argument("--delta", default="4.4.0", help="version of delta-spark")
    parser.add_argument("--iceberg", default="1.12.0", help="version of Iceberg")
    parser.add_argument("--json", type=Path, help="write every time to this file")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    place = Path(tempfile.mkdtemp(prefix="acidsql-bench-"))
    try:
        spark = start(options, place)
        sources(spark, options.rows, place)
        with connect(place / "acid", spark=spark) as session:
            systems: list[System] = [Acid(session), Plain(spark, "plain ORC", "plain_bench", "USING orc")]
            systems += peers(spark) if options.peers else []
            times, cases = Times(), statements(options.rows)
            for number in range(options.rounds + 1):
                print(f"round {number}{' (warm-up)' if number == 0 else ''}", file=sys.stderr)
                one_round(systems, cases, times if number else None)
            print(f"{options.rows} rows, {options.rounds} rounds, {options.master}, PySpark {pyspark.__version__};")
            print("median wall seconds, in brackets acidsql's divided by the system's.\n")
            print(report(times, cases, systems))
        if options.json:
            taken = [{"case": c, "system": s, "seconds": t} for (c, s), t in times.seconds.items()]
            options.json.write_text(json.dumps(taken, indent=2) + "\n")
        spark.stop()
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
