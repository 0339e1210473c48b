"""python -m benchmarks.daily: a table of orders by day, and each day a MERGE of changes from a Parquet file.

The first day, the last one and those of --fresh run in a process of their own, from its start to its exit; the days
between them run in one process. Nothing is compacted. All systems must have the same rows at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from acidsql.session import connect
from benchmarks.report import machine
from benchmarks.spark import peers_conf
from benchmarks.systems import DELETION_VECTORS, MERGE_ON_READ

PARTITIONS: Final = 39
_FIRST: Final = np.datetime64("2026-01-01")
_COLUMNS: Final = "order_id bigint, customer bigint, status string, amount decimal(12,2), note string"
_NAMES: Final = ("order_id", "customer", "status", "amount", "note", "day")
_TABLES: Final = {"acidsql": "orders", "Iceberg": "ice.db.orders", "Delta": "orders"}
_MERGE: Final = """MERGE INTO {table} t USING {source} s ON t.order_id = s.order_id AND t.day = s.day
WHEN MATCHED AND s.op = 'D' THEN DELETE
WHEN MATCHED THEN UPDATE SET customer = s.customer, status = s.status, amount = s.amount, note = s.note
WHEN NOT MATCHED AND s.op <> 'D'
THEN INSERT (order_id, customer, status, amount, note, day)
VALUES (s.order_id, s.customer, s.status, s.amount, s.note, s.day)"""
_CHECK: Final = (
    "SELECT count(*), sum(order_id), sum(customer), sum(amount), count(DISTINCT note), count(DISTINCT day) FROM {table}"
)


# ------------------------------------------------------------------------------------------------ the data


def write_data(place: Path, rows: int, days: int) -> None:
    """The orders, and for each day changes of a fiftieth of their number: 60 % updates, 10 % deletes, 30 % inserts."""
    random = np.random.default_rng(7)
    numbers = np.arange(rows)
    parquet.write_table(_orders(random, numbers, rows, None), place / "orders.parquet")
    known, count = rows, rows // 50
    for day in range(days):
        inserted = count * 3 // 10
        changed = random.choice(known, count - inserted, replace=False)
        kinds = np.where(random.random(len(changed)) < 1 / 7, "D", "U")
        numbers = np.concatenate([changed, np.arange(known, known + inserted)])
        table = _orders(random, numbers, rows, np.concatenate([kinds, np.full(inserted, "I")]))
        parquet.write_table(table, _changes(place, day))
        known += inserted


def _orders(random: np.random.Generator, numbers: Any, rows: int, kinds: Any) -> pa.Table:
    count = len(numbers)
    cents = pa.array(random.integers(0, 10**7, count)).cast(pa.decimal128(19, 0))
    columns = {
        "order_id": pa.array(numbers, pa.int64()),
        "customer": pa.array(random.integers(0, rows // 10, count), pa.int64()),
        "status": pa.array(np.array(["new", "paid", "sent", "back"])[random.integers(0, 4, count)]),
        "amount": cents.cast(pa.decimal128(21, 2)).cast(pa.decimal128(12, 2)),
        "note": pa.array([f"note {number}" for number in random.integers(0, 100_000, count)]),
        "day": pa.array((_FIRST + np.minimum(numbers * PARTITIONS // rows, PARTITIONS - 1)).astype("datetime64[D]")),
    }
    return pa.table(columns if kinds is None else columns | {"op": pa.array(kinds)})


def _changes(place: Path, day: int) -> Path:
    return place / f"changes_{day:02}.parquet"


# ------------------------------------------------------------------------------------------------ in a process


def work(system: str, place: Path, words: Sequence[str]) -> None:
    """Does what the words say, "load", "check" or numbers of days, and prints a line of JSON for each."""
    with _Acidsql(place) if system == "acidsql" else _Peer(system, place) as running:
        for word in words:
            begun = time.perf_counter()
            match word:
                case "load":
                    found = running.load()
                case "check":
                    found = running.check()
                case _:
                    found = running.merge(int(word))
            print(json.dumps({"word": word, "seconds": time.perf_counter() - begun, "found": str(found)}), flush=True)


class _Acidsql:
    def __init__(self, place: Path) -> None:
        self.place = place
        self.session = connect(place / "warehouse")

    def __enter__(self) -> _Acidsql:
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()

    def load(self) -> object:
        kind = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
        self.session.execute(f"CREATE TABLE orders ({_COLUMNS}) PARTITIONED BY (day date) {kind}")
        return self.session.insert("orders", parquet.read_table(self.place / "orders.parquet"))

    def merge(self, day: int) -> object:
        frames = {"changes": parquet.read_table(_changes(self.place, day))}
        sql = _MERGE.format(table="orders", source="{changes}")
        return self.session.execute(sql, frames=frames).counts

    def check(self) -> object:
        return tuple(self.session.sql(_CHECK.format(table="orders")).collect()[0])


class _Peer:
    def __init__(self, system: str, place: Path) -> None:
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(f"local[{os.cpu_count()}]").config("spark.log.level", "OFF")
        conf = peers_conf(place) | {
            "spark.driver.memory": "3g",
            "spark.sql.warehouse.dir": str(place / "spark"),
            "spark.sql.shuffle.partitions": "4",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.catalogImplementation": "in-memory",
        }
        for key, value in conf.items():
            builder = builder.config(key, value)
        self.spark = builder.getOrCreate()
        self.place, self.system = place, system
        self.table = f"delta.`{place}/delta`" if system == "Delta" else _TABLES[system]

    def __enter__(self) -> _Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.spark.stop()

    def load(self) -> object:
        kind = f"USING delta PARTITIONED BY (day) {DELETION_VECTORS}"
        if self.system == "Iceberg":
            kind = f"USING iceberg PARTITIONED BY (day) {MERGE_ON_READ}"
        self.spark.sql(f"CREATE TABLE {self.table} ({_COLUMNS}, day date) {kind}")
        orders = f"parquet.`{self.place}/orders.parquet`"
        return self.spark.sql(f"INSERT INTO {self.table} SELECT {', '.join(_NAMES)} FROM {orders}").collect()

    def merge(self, day: int) -> object:
        source = f"parquet.`{_changes(self.place, day)}`"
        return self.spark.sql(_MERGE.format(table=self.table, source=source)).collect()

    def check(self) -> object:
        return tuple(self.spark.sql(_CHECK.format(table=self.table)).collect()[0])


# ------------------------------------------------------------------------------------------------ the run


def _run(system: str, place: Path, words: Sequence[str]) -> tuple[float, list[dict[str, Any]]]:
    """Seconds from the start of a process to its exit, and what it prints."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "benchmarks.daily", "--work", system, str(place), *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True)
    seconds = time.perf_counter() - begun
    return seconds, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def measured(system: str, place: Path, days: int, fresh: frozenset[int]) -> tuple[list[str], object]:
    """The cells of the system's row, and its rows at the end. Days count from 1."""
    _run(system, place, ["load"])
    cells: list[str] = []
    waiting: list[int] = []
    for day in range(1, days + 1):
        if day not in fresh:
            waiting.append(day)
            if day + 1 not in fresh:
                continue
        if waiting:
            _, lines = _run(system, place, [str(one - 1) for one in waiting])
            cells.append(f"{lines[0]['seconds']:.2f} .. {lines[-1]['seconds']:.2f}")
            waiting = []
        if day in fresh:
            seconds, _ = _run(system, place, [str(day - 1)])
            cells.append(f"**{seconds:.2f}**")
    (line,) = _run(system, place, ["check"])[1]
    return cells, line["found"]


def main() -> None:
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks.daily", description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--fresh", type=int, nargs="*", default=(), metavar="DAY")
    parser.add_argument("--systems", nargs="*", default=list(_TABLES), choices=list(_TABLES))
    given = parser.parse_args()
    fresh = frozenset({1, given.days, *given.fresh})
    with tempfile.TemporaryDirectory(prefix="acidsql-bench-") as directory:
        place = Path(directory)
        write_data(place, given.rows, given.days)
        print(json.dumps(machine(f"local[{os.cpu_count()}]")))
        print(f"{given.rows:,} rows in {PARTITIONS} partitions; {given.rows // 50:,} changes a day; seconds by day;")
        print("bold: from the start of a process to its exit; others: in one process, the first and the last day\n")
        ends = set()
        for system in given.systems:
            cells, end = measured(system, place, given.days, fresh)
            print(f"| {system} | {' | '.join(cells)} |", flush=True)
            ends.add(str(end))
    if len(ends) > 1:
        raise SystemExit(f"The systems have different rows: {ends}")


if __name__ == "__main__":
    main()
