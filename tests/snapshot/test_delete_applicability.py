"""Which delete events apply to which rows: a table of layouts, from which every reader reads the same rows.

The readers are a scan by bitmap, a scan by join, COUNT(*), `acidsql inspect`, scans after a minor and a major
compaction, and one without Spark (tests/arrow/test_scan_snapshots.py). The rules stand in
acidsql/snapshot/delete_applicability.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyorc
import pytest
from pyspark.sql import SparkSession

from acidsql.acid.compaction_scope import CompactionType, Scope, scope
from acidsql.acid.row_id import encode_bucket
from acidsql.acid.snapshot_selection import select_snapshot
from acidsql.acid.table import Column, Table
from acidsql.acid.write_ids import StatementId, TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.planner.plan import Scan
from acidsql.session import Session, connect
from acidsql.snapshot.delete_applicability import every_delete_file
from acidsql.snapshot.scan_binding import BoundPart, BoundScan
from acidsql.spark.scan.deletes import cache
from acidsql.storage.footer_cache import FooterCache
from acidsql.storage.local_files import LocalFiles
from tests.selection import core

EVENT = (
    "struct<operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,currentTransaction:bigint,"
    "row:struct<id:int>>"
)
Event = tuple[int, int, int, int, int, tuple[int] | None]
WRITE_IDS = "9:8:8:3"
"""Of every table: write ID 8 is open, 3 is aborted, 10 is above the high watermark, the others are committed."""


def row(identity: int, row_id: int, *, write: int = 1, bucket: int = 0, statement: int = 0) -> Event:
    """The insert event of a row `id = identity`."""
    return 0, write, encode_bucket(bucket, StatementId(statement)), row_id, write, (identity,)


def delete(row_id: int, by: int, *, write: int = 1, bucket: int = 0, statement: int = 0) -> Event:
    """The event by which write ID `by` deletes a row."""
    return 2, write, encode_bucket(bucket, StatementId(statement)), row_id, by, None


@dataclass(frozen=True)
class Layout:
    """Files of events, or of bare ids, by path, and the ids that a reader must find. `later` are added to the known
    table, so that the transactions in their names are later than the snapshot. Transactions in the names of `files`
    count as committed; their numbers must be none that the session itself has open."""

    files: Mapping[str, list[Event] | list[int]]
    expected: list[int]
    later: Mapping[str, list[Event]] = field(default_factory=dict)
    partitioned: bool = False


ROWS = {"delta_0000001_0000001_0000/bucket_00000": [row(n, n) for n in range(4)]}
OF_BASE = "an event deletes a row of a base whose bucket has no later rows"
LAYOUTS = {
    "an event deletes the row that it names": Layout(
        {**ROWS, "delete_delta_0000002_0000002_0000/bucket_00000": [delete(1, 2), delete(3, 2)]}, [0, 2]
    ),
    "an event of an aborted write ID deletes nothing": Layout(
        {**ROWS, "delete_delta_0000003_0000003_0000/bucket_00000": [delete(1, 3)]}, [0, 1, 2, 3]
    ),
    "an event of an open write ID deletes nothing": Layout(
        {**ROWS, "delete_delta_0000008_0000008_0000/bucket_00000": [delete(1, 8)]}, [0, 1, 2, 3]
    ),
    "an event above the high watermark deletes nothing": Layout(
        {**ROWS, "delete_delta_0000010_0000010_0000/bucket_00000": [delete(1, 10)]}, [0, 1, 2, 3]
    ),
    "events of a range count by their own write IDs": Layout(
        {**ROWS, "delete_delta_0000002_0000004/bucket_00000": [delete(0, 2), delete(1, 3), delete(2, 4)]}, [1, 3]
    ),
    "events of a range that a base already has are not read again": Layout(
        {
            "base_0000002/bucket_00000": [row(n, n) for n in range(4)],
            "delete_delta_0000002_0000004/bucket_00000": [delete(0, 2), delete(1, 4)],
        },
        [0, 2, 3],
    ),
    "a directory below the base deletes nothing": Layout(
        {
            "base_0000005/bucket_00000": [row(n, n) for n in range(4)],
            "delete_delta_0000004_0000004_0000/bucket_00000": [delete(1, 4)],
        },
        [0, 1, 2, 3],
    ),
    "a minor compaction stands in for the directories that it merged": Layout(
        {
            "delta_0000001_0000005_v1000007/bucket_00000": [row(n, n) for n in range(4)],
            "delete_delta_0000001_0000005_v1000007/bucket_00000": [delete(0, 2), delete(1, 5)],
            "delete_delta_0000002_0000002_0000/bucket_00000": [delete(0, 2)],
            "delete_delta_0000004_0000004_0000/bucket_00000": [delete(3, 4)],
        },
        [2, 3],
    ),
    "a compaction that is not committed deletes nothing": Layout(
        {**ROWS, "delete_delta_0000002_0000002_0000/bucket_00000": [delete(0, 2)]},
        [1, 2, 3],
        later={"delete_delta_0000001_0000005_v{open}/bucket_00000": [delete(0, 2), delete(1, 5)]},
    ),
    "an event deletes no row of another bucket": Layout(
        {
            "delta_0000001_0000001_0000/bucket_00000": [row(0, 0), row(1, 1)],
            "delta_0000001_0000001_0000/bucket_00001": [row(2, 0, bucket=1), row(3, 1, bucket=1)],
            "delete_delta_0000002_0000002_0000/bucket_00001": [delete(1, 2, bucket=1)],
        },
        [0, 1, 2],
    ),
    "an event in a file of a bucket without data deletes nothing": Layout(
        {**ROWS, "delete_delta_0000002_0000002_0000/bucket_00007": [delete(1, 2)]}, [0, 1, 2, 3]
    ),
    "an event deletes no row of another statement": Layout(
        {
            "delta_0000001_0000001_0000/bucket_00000": [row(0, 0), row(1, 1)],
            "delta_0000001_0000001_0001/bucket_00000": [row(2, 0, statement=1), row(3, 1, statement=1)],
            "delete_delta_0000002_0000002_0000/bucket_00000": [delete(0, 2), delete(1, 2, statement=1)],
        },
        [1, 2],
    ),
    "an event deletes no row of another write": Layout(
        {
            "delta_0000001_0000001_0000/bucket_00000": [row(0, 0)],
            "delta_0000002_0000002_0000/bucket_00000": [row(1, 0, write=2)],
            "delete_delta_0000004_0000004_0000/bucket_00000": [delete(0, 4, write=2)],
        },
        [0],
    ),
    "rows of original files are counted over the files of a bucket": Layout(
        {
            "000000_0": [0, 1],
            "000000_0_copy_1": [2, 3],
            "000001_0": [4, 5],
            "delete_delta_0000002_0000002_0000/bucket_00000": [delete(1, 2, write=0), delete(2, 2, write=0)],
            "delete_delta_0000002_0000002_0000/bucket_00001": [delete(1, 2, write=0, bucket=1)],
        },
        [0, 3, 4],
    ),
    "rows of a loaded file have the write ID of its directory": Layout(
        {
            "delta_0000002_0000002_0000/000000_0": [0, 1, 2],
            "delete_delta_0000004_0000004_0000/bucket_00000": [delete(0, 4, write=0), delete(1, 4, write=2)],
        },
        [0, 2],
    ),
    OF_BASE: Layout(
        {
            "base_0000001/bucket_00000": [row(0, 0)],
            "base_0000001/bucket_00001": [row(n, n - 1, bucket=1) for n in range(1, 4)],
            "delta_0000002_0000002_0000/bucket_00000": [row(4, 0, write=2)],
            "delete_delta_0000004_0000004_0000/bucket_00001": [delete(0, 4, bucket=1)],
            "delete_delta_0000005_0000005_0000/bucket_00001": [delete(1, 5, bucket=1)],
        },
        [0, 3, 4],
    ),
    "an event deletes no row of another partition": Layout(
        {
            "p=1/delta_0000001_0000001_0000/bucket_00000": [row(0, 0), row(1, 1)],
            "p=2/delta_0000001_0000001_0000/bucket_00000": [row(2, 0), row(3, 1)],
            "p=2/delete_delta_0000002_0000002_0000/bucket_00000": [delete(1, 2)],
        },
        [0, 1, 2],
        partitioned=True,
    ),
}
COMPACTED = (
    "events of a range count by their own write IDs",
    OF_BASE,
    "an event deletes no row of another statement",
    "rows of original files are counted over the files of a bucket",
)


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with connect(tmp_path_factory.mktemp("applicability") / "warehouse", spark=spark) as opened:
        yield opened


def write(directory: Path, files: Mapping[str, list[Event] | list[int]] | Mapping[str, list[Event]]) -> None:
    for path, rows in files.items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        is_plain = isinstance(rows[0], int)
        with target.open("wb") as file, pyorc.Writer(file, "struct<id:int>" if is_plain else EVENT) as writer:
            writer.writerows([(value,) for value in rows] if is_plain else rows)


def adopt(session: Session, layout: Layout, directory: Path) -> None:
    """Makes the layout the table t of the session."""
    write(directory, layout.files)
    partitions = " PARTITIONED BY (p INT)" if layout.partitioned else ""
    session.execute(
        f"CREATE TABLE t (id INT){partitions} STORED AS ORC LOCATION '{directory}'"
        f" TBLPROPERTIES ('transactional'='true', 'acidsql.adopt.writeids'='{WRITE_IDS}')"
    )
    if layout.later:
        opened = f"{session._metastore.open_txn():07d}"  # its compaction is not committed
        write(directory, {path.replace("{open}", opened): rows for path, rows in layout.later.items()})


@pytest.fixture
def adopted(session: Session, tmp_path: Path, layout: Layout) -> Iterator[Layout]:
    """The layout as the table t."""
    adopt(session, layout, tmp_path / "t")
    yield layout
    session.execute("DROP TABLE t")


def ids(session: Session) -> list[int]:
    return sorted(r[0] for r in session.sql("SELECT id FROM t").collect())


@pytest.mark.ci
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_scans_counts_and_inspect_give_the_same_rows(
    session: Session, adopted: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ids(session) == adopted.expected
    assert session.sql("SELECT count(*) FROM t").collect() == [(len(adopted.expected),)]
    content = session.inspect("t")
    events = [e for part in content.parts for e in session.events(content, part)]
    assert sorted(int(str(e.row["id"])) for e in events if e.is_seen and e.row is not None) == adopted.expected
    assert all(bool(e.why) != e.is_seen for e in events)
    monkeypatch.setattr(cache, "_READ_HERE", -1)
    assert ids(session) == adopted.expected


@pytest.mark.ci
@pytest.mark.parametrize(
    "layout", core(LAYOUTS.values(), lambda layout: layout in [LAYOUTS[name] for name in COMPACTED])
)
@pytest.mark.parametrize("kind", ["minor", "major"])
def test_compactions_leave_the_same_rows(session: Session, adopted: Layout, kind: str) -> None:
    for partition in ("PARTITION (p=1)", "PARTITION (p=2)") if adopted.partitioned else ("",):
        session.execute(f"ALTER TABLE t {partition} COMPACT '{kind}' AND WAIT")
    assert ids(session) == adopted.expected


def test_a_minor_compaction_keeps_the_events_of_buckets_in_which_it_merges_no_rows(tmp_path: Path) -> None:
    write(tmp_path, LAYOUTS[OF_BASE].files)
    files, writes = LocalFiles(), ValidWriteIdList("default.t", WriteId(5))
    snapshot = select_snapshot(files.list_below(str(tmp_path)).files, writes, ValidTxnList(TxnId(1)))
    chosen = scope(CompactionType.MINOR, snapshot, writes, insert_only=False)
    assert isinstance(chosen, Scope)
    table = Table("default", "t", (Column("id", "int"),), str(tmp_path), properties={"transactional": "true"})
    source = BoundScan(Scan("t", table), files, (BoundPart((), str(tmp_path), chosen.source),))
    assert source.buckets == {0}
    found = [str(Path(file.path).relative_to(tmp_path)) for file in every_delete_file(source, FooterCache())]
    assert found == [path for path in LAYOUTS[OF_BASE].files if path.startswith("delete_delta")]
