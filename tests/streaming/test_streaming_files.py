"""Files to which a streaming client still writes: a reader ignores the bytes behind the flushed length."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from acidsql.acid.data_files import DataFile, File, FileKind
from acidsql.acid.write_ids import StatementId
from acidsql.errors import AcidSqlError
from acidsql.session import Session
from acidsql.snapshot.committed_lengths import CommittedPart, committed_part
from acidsql.storage.local_files import LocalFiles
from tests.streaming.streaming_file import StreamingFile

BATCH = "delta_0000001_0000003"
"""Three transactions of one client."""


def adopt(session: Session, directory: Path, write_ids: str = "3:9223372036854775807::") -> None:
    session.sql(
        f"CREATE TABLE t (id INT, name STRING) STORED AS ORC LOCATION '{directory}'"
        f" TBLPROPERTIES ('transactional'='true', 'acidsql.adopt.writeids'='{write_ids}')"
    )


def rows(session: Session) -> list[tuple[object, ...]]:
    found = session.sql("SELECT row__id.writeid, row__id.rowid, id, name FROM t ORDER BY id").collect()
    return [tuple(row) for row in found]


def test_an_open_file_is_read_up_to_its_last_commit_and_can_be_changed(
    session: Session, spark: SparkSession, tmp_path: Path
) -> None:
    table = tmp_path / "t"
    file = StreamingFile(spark, table / BATCH)
    file.add(1, [(1, "a"), (2, "b")])
    file.commit()
    file.add(2, [(3, "c")])
    committed = file.commit()
    file.add(3, [(4, "d")])
    assert file.flush() > committed
    with file.path.open("ab") as more:
        more.write(b"half a stripe")
    adopt(session, table, "3:3:3:")
    assert rows(session) == [(1, 0, 1, "a"), (1, 1, 2, "b"), (2, 2, 3, "c")]
    assert session.sql("SELECT DISTINCT INPUT__FILE__NAME FROM t").collect()[0][0] == f"file:{file.path}"
    counts = session.execute("UPDATE t SET name = 'new' WHERE id >= 2").counts
    assert counts is not None
    assert counts.updated == 2
    session.execute("DELETE FROM t WHERE id = 1")
    assert [row[2:] for row in rows(session)] == [(2, "new"), (3, "new")]


def test_a_file_is_read_up_to_the_commit_and_not_to_a_later_footer(
    session: Session, spark: SparkSession, tmp_path: Path
) -> None:
    table = tmp_path / "t"
    file = StreamingFile(spark, table / BATCH)
    file.add(1, [(1, "a")])
    file.commit()
    file.add(2, [(2, "b")])
    file.close()
    adopt(session, table)
    assert rows(session) == [(1, 0, 1, "a")]
    file.side_file.write_bytes(struct.pack(">q", file.path.stat().st_size))
    assert rows(session) == [(1, 0, 1, "a"), (2, 1, 2, "b")]
    file.side_file.unlink()
    assert rows(session) == [(1, 0, 1, "a"), (2, 1, 2, "b")]


def test_the_events_of_an_aborted_transaction_are_skipped(
    session: Session, spark: SparkSession, tmp_path: Path
) -> None:
    table = tmp_path / "t"
    file = StreamingFile(spark, table / BATCH)
    for write_id in (1, 2, 3):
        file.add(write_id, [(write_id, "x")])
        file.commit()
    adopt(session, table, "3:9223372036854775807::2")
    assert rows(session) == [(1, 0, 1, "x"), (3, 2, 3, "x")]


def test_a_file_without_a_commit_has_no_rows(session: Session, spark: SparkSession, tmp_path: Path) -> None:
    table = tmp_path / "t"
    file = StreamingFile(spark, table / BATCH)
    file.side_file.write_bytes(struct.pack(">q", 0))
    adopt(session, table)
    assert rows(session) == []
    session.execute("INSERT INTO t VALUES (1, 'a')")
    assert [row[2:] for row in rows(session)] == [(1, "a")]


def test_an_incomplete_last_length_belongs_to_a_transaction_that_has_not_committed(
    session: Session, spark: SparkSession, tmp_path: Path
) -> None:
    table = tmp_path / "t"
    file = StreamingFile(spark, table / BATCH)
    file.add(1, [(1, "a")])
    file.commit()
    with file.side_file.open("ab") as side:
        side.write(b"\0\0\0")
    adopt(session, table)
    assert rows(session) == [(1, 0, 1, "a")]


@pytest.mark.parametrize("content", [b"", b"\0\0\0", struct.pack(">q", -1), struct.pack(">q", 1 << 40)])
def test_a_side_file_without_a_length_is_an_error(
    session: Session, spark: SparkSession, tmp_path: Path, content: bytes
) -> None:
    table = tmp_path / "t"
    file = StreamingFile(spark, table / BATCH)
    file.add(1, [(1, "a")])
    file.close()
    file.side_file.write_bytes(content)
    adopt(session, table)
    with pytest.raises(AcidSqlError) as caught:
        rows(session)
    assert caught.value.condition == "MALFORMED_LAYOUT"
    assert str(file.side_file) in str(caught.value)
    assert "committed" in str(caught.value)


def test_a_file_is_as_long_as_it_is_after_its_side_file_was_looked_for_and_not_as_it_was_listed(
    tmp_path: Path,
) -> None:
    def committed(listed: int) -> CommittedPart:
        file = File("delta_1_3/bucket_00000", listed)
        return committed_part(LocalFiles(), str(tmp_path), DataFile(file, 0, StatementId(0), FileKind.ACID))

    (tmp_path / "delta_1_3").mkdir()
    file, side_file = (tmp_path / "delta_1_3" / name for name in ("bucket_00000", "bucket_00000_flush_length"))
    file.write_bytes(b"x" * 50)
    side_file.write_bytes(struct.pack(">qq", 0, 30))
    assert committed(20) == CommittedPart(30, is_whole=False)  # it grew since the listing
    side_file.unlink()
    assert committed(20) == CommittedPart(50, is_whole=True)  # it was closed since the listing
    file.unlink()
    assert committed(20) == CommittedPart(0, is_whole=False)  # its client took it back
