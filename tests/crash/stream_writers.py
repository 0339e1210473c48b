"""Writers of streams that are to be killed. Each writes records (w, n, v, data, p) under the ID `writer-w`: n counts
from 0, the offset is the n of the last record, and data is a hash of w and n. As a program it takes an `Order` as JSON,
and runs until it is killed.

A log has a line for each commit that the writer knows of: the offset, and when the commit began and ended.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa

import acidsql
from acidsql.errors import AcidSqlError
from tests.crash.sudden_death import die_after

if TYPE_CHECKING:
    from acidsql.ingest.stream import Stream

PARTITIONS: Final = 4
COLUMNS: Final = "(w INT, n BIGINT, v INT, data STRING) PARTITIONED BY (p INT)"
DATA: Final = "sha2(concat(w, ',', n), 256)"
"""What a record has in `data`, as SQL."""
_WATCHED: Final = ("acidsql.ingest", "acidsql.metastore", "acidsql.storage")
"""Modules in which a writer may kill itself between two calls."""
_WAITS: Final = 0.1
PASSING: Final = ("STREAM_IN_USE", "LOCK_TIMEOUT", "METASTORE_UNAVAILABLE", "METASTORE_FAILED")
"""What may happen to a writer that then tries again: others do not know yet that its predecessor is dead, or the
metastore is too busy (a Hive Metastore on Derby answers with an internal error then)."""


@dataclass(frozen=True, slots=True)
class Order:
    """A writer to be started. It writes about `rows` rows in a transaction and `rate` in a second, and dies by itself
    after so many calls within the modules that are watched, if `calls` is not 0."""

    writer: int
    seed: int
    calls: int
    rows: int
    rate: int
    batch_sizes: Sequence[int]
    warehouse: str
    metastore: str
    table: str
    log: str


def partition_of(n: int) -> int:
    """Twenty records in a row go to one partition."""
    return n // 20 % PARTITIONS


def main() -> None:
    """Writes, and goes on from the committed offset after an error that passes."""
    order = Order(**json.loads(sys.argv[1]))
    choose = random.Random(order.seed)
    with acidsql.connect(order.warehouse, order.metastore) as session:
        if order.calls:
            die_after(order.calls, _WATCHED, in_all_threads=True)
        while True:
            by_hand = choose.random() < 0.7
            how: dict[str, int | float | None] = (
                {"commit_rows": None, "commit_seconds": None}
                if by_hand
                else {"commit_rows": 300, "commit_seconds": 0.3}
            )
            try:
                opened = session.stream(
                    order.table,
                    f"writer-{order.writer}",
                    batch_size=choose.choice(order.batch_sizes),
                    **how,  # type: ignore[arg-type]
                )
                with opened as stream:
                    _write(stream, order, choose, by_hand=by_hand)
            except AcidSqlError as error:
                if error.condition not in PASSING:
                    raise
                sys.stderr.write(f"{error.condition}: {error.message}\n")
                time.sleep(_WAITS)


def _write(stream: Stream, order: Order, choose: random.Random, *, by_hand: bool) -> None:
    log = os.open(order.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    last = _offset(stream)
    os.write(log, f"found {last} {time.time()} {time.time()}\n".encode())
    due = time.monotonic()
    while True:
        for _ in range(choose.randint(1, 5)):
            count = choose.randint(1, max(1, 2 * order.rows // 3))
            stream.write(_records(choose, order.writer, range(last + 1, last + 1 + count)), offset=last + count)
            last += count
            due = max(due + count / order.rate, time.monotonic() - 1)
            time.sleep(max(0.0, due - time.monotonic()))
        if by_hand and choose.random() < 0.1:
            stream.abort()
            last = _offset(stream)
            continue
        begun = time.time()
        if by_hand:
            stream.commit()
        os.write(log, f"{'commit' if by_hand else 'found'} {_offset(stream)} {begun} {time.time()}\n".encode())


def _offset(stream: Stream) -> int:
    found = stream.committed_offset
    assert found is None or isinstance(found, int)
    return -1 if found is None else found


def _records(choose: random.Random, writer: int, numbers: range) -> object:
    """Records of one of the kinds that a stream takes."""
    kind = choose.choice(("dicts", "tuples", "arrow"))
    if kind == "tuples":
        return [(writer, n, 0, _data(writer, n), partition_of(n)) for n in numbers]
    dicts = [{"w": writer, "n": n, "v": 0, "data": _data(writer, n), "p": partition_of(n)} for n in numbers]
    return pa.Table.from_pylist(dicts) if kind == "arrow" else dicts


def _data(writer: int, n: int) -> str:
    return hashlib.sha256(f"{writer},{n}".encode()).hexdigest()


if __name__ == "__main__":
    main()
