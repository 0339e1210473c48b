"""Writers that are to be killed. Each has a slot: rows of two tables that only it changes, and a log in which it says
before each deed what it is about to do, and after it what came of it.

As a program, this forks writers: each line on its input is an `Order` as JSON, and the answer is the writer's number.
A writer uses a JVM that is running already, so that starting one takes a tenth of a second.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

import acidsql
from acidsql.errors import AcidSqlError
from acidsql.session import Session
from tests.crash.sudden_death import die_after

TABLES: Final = {
    name: f"CREATE TABLE {name} {columns} STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    for name, columns in (("t", "(id int, v int, owner int)"), ("p", "(id int, v int) PARTITIONED BY (owner int)"))
}
KINDS: Final = ("insert", "update", "delete", "merge", "overwrite", "transaction", "minor", "major")
_FAILS: Final = ("WRITE_CONFLICT", "LOCK_TIMEOUT", "COMPACTION_FAILED", "TRANSACTION_ABORTED", "DEADLOCK")
"""What a deed may end with while others write, compact and are killed; nothing of it may be there then."""
_WATCHED: Final = (
    "acidsql.metastore",
    "acidsql.compactor",
    "acidsql.storage.file_systems",
    "acidsql.storage.leftovers",
    "acidsql.writing.publishing",
    "acidsql.spark.write.driver_write",
    "acidsql.writing.write_transaction",
)
"""Modules in which a writer may kill itself between two calls: those that change files and the metastore."""

Rows = dict[int, int]
"""A slot's rows of one table: v by id."""


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing that a slot does to its rows of a table. `first` is the lowest of the ids that nobody has used."""

    kind: str
    table: str
    first: int
    amount: int
    residue: int

    def statements(self, slot: int) -> list[str]:
        """More than one are a transaction."""
        table, amount, mine = self.table, self.amount, f"owner = {slot}"
        row = f"{{}}, {amount}, {slot}"
        insert = f"INSERT INTO {table} VALUES " + ", ".join(f"({row.format(i)})" for i in self._new)
        update = f"UPDATE {table} SET v = v + {amount} WHERE {mine} AND id % 3 = {self.residue % 3}"
        delete = f"DELETE FROM {table} WHERE {mine} AND id % 5 = {self.residue}"
        match self.kind:
            case "insert":
                return [insert]
            case "update":
                return [update]
            case "delete":
                return [delete]
            case "transaction":
                return [insert, update, delete]
            case "merge":
                source = ", ".join(f"({i}, {amount})" for i in self._merged)
                return [
                    f"MERGE INTO {table} t USING (VALUES {source}) s(id, v) ON t.{mine} AND t.id = s.id"
                    f" WHEN MATCHED AND t.id % 5 = {self.residue} THEN DELETE"
                    " WHEN MATCHED THEN UPDATE SET v = t.v + s.v"
                    f" WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v, {slot})"
                ]
            case "overwrite" if table == "p":
                kept = f"SELECT id, v + {amount} FROM p WHERE {mine} AND id % 5 <> {self.residue}"
                return [f"INSERT OVERWRITE TABLE p PARTITION ({mine}) {kept}"]
            case "overwrite":
                value = f"CASE WHEN {mine} THEN v + {amount} ELSE v END"
                kept = f"SELECT id, {value}, owner FROM t WHERE NOT ({mine} AND id % 5 = {self.residue})"
                return [f"INSERT OVERWRITE TABLE t {kept}"]
        return []

    def done_to(self, rows: Rows) -> Rows:
        """What the slot's rows of the table are after it."""
        match self.kind:
            case "insert":
                return rows | dict.fromkeys(self._new, self.amount)
            case "update":
                return {i: v + self.amount * (i % 3 == self.residue % 3) for i, v in rows.items()}
            case "delete":
                return {i: v for i, v in rows.items() if i % 5 != self.residue}
            case "transaction":
                for kind in ("insert", "update", "delete"):
                    rows = Deed(kind, self.table, self.first, self.amount, self.residue).done_to(rows)
                return rows
            case "merge":
                matched = set(self._merged).intersection(rows)
                updated = {i: v + self.amount * (i in matched) for i, v in rows.items()}
                kept = {i: v for i, v in updated.items() if not (i in matched and i % 5 == self.residue)}
                return kept | {i: self.amount for i in self._merged if i not in matched}
            case "overwrite":
                return {i: v + self.amount for i, v in rows.items() if i % 5 != self.residue}
        return rows

    @property
    def _new(self) -> range:
        return range(self.first, self.first + 3)

    @property
    def _merged(self) -> range:
        return range(max(0, self.first - 20), self.first + 3, 2)


@dataclass(frozen=True, slots=True)
class Order:
    """A writer to be started. It counts its deeds from `number` on, and dies by itself after so many calls within the
    modules that are watched, if `calls` is not 0."""

    slot: int
    seed: int
    number: int
    calls: int
    port: int
    secret: str
    warehouse: str
    metastore: str
    log: str


def random_deed(choose: random.Random, number: int) -> Deed:
    """The ids of a slot's deeds are ten times their numbers and more."""
    kind = choose.choices(KINDS, weights=(4, 4, 2, 4, 2, 3, 1, 1))[0]
    return Deed(kind, choose.choice("tp"), 10 * number, choose.randint(1, 99), choose.randrange(5))


def _write(order: Order) -> None:
    """Does deed after deed, until it is killed."""
    choose = random.Random(order.seed)
    session = acidsql.connect(order.warehouse, order.metastore, spark=attached(order.port, order.secret))
    if choose.random() < 0.3:
        session.execute("SET acidsql.driver.write.max.bytes=0")
    log = os.open(order.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    if order.calls:
        die_after(order.calls, _WATCHED)
    number = order.number
    while True:
        deed = random_deed(choose, number)
        os.write(log, f"begin {number} {json.dumps(asdict(deed))}\n".encode())
        try:
            _do(session, deed, order.slot)
        except AcidSqlError as error:
            expected = error.condition in _FAILS
            os.write(log, (f"failed {number}\n" if expected else f"error {error!r}\n").encode())
            if not expected:
                raise
        else:
            os.write(log, f"done {number}\n".encode())
        number += 1


def _do(session: Session, deed: Deed, slot: int) -> None:
    statements = deed.statements(slot)
    if not statements:
        partition = f" PARTITION (owner = {slot})" if deed.table == "p" else ""
        try:
            session.execute(f"ALTER TABLE {deed.table}{partition} COMPACT '{deed.kind}' AND WAIT")
        except AcidSqlError as error:
            if error.condition != "PARTITION_NOT_FOUND":
                raise
    elif len(statements) == 1:
        session.execute(statements[0])
    else:
        with session.transaction():
            for statement in statements:
                session.execute(statement)


def attached(port: int, secret: str) -> SparkSession:
    """A session on the JVM of another process."""
    os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"] = str(port), secret
    launch: Any = launch_gateway
    gateway = launch()
    java = gateway.jvm
    context = java.org.apache.spark.api.java.JavaSparkContext(java.org.apache.spark.SparkContext.getOrCreate())
    return SparkSession(SparkContext(gateway=gateway, jsc=context, conf=SparkConf(_jconf=context.getConf())))


def _orders() -> Iterator[Order]:
    for line in sys.stdin:
        yield Order(**json.loads(line))


def main() -> None:
    """Forks a writer for each order; none outlives its input's end."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # whoever is dead is to be gone at once
    for order in _orders():
        child = os.fork()
        if child:
            sys.stdout.write(f"{child}\n")
            sys.stdout.flush()
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        try:
            _write(order)
        finally:  # it never ends well
            with open(order.log, "a") as log:
                log.write(f"error {traceback.format_exc()!r}\n")
            os._exit(1)


if __name__ == "__main__":
    main()
