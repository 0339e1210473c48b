"""Structured Streaming into tables of Hive's metastore: each batch exactly once, and Hive reads what is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import acidsql
from acidsql.metastore.session_metastore import SessionMetastore
from acidsql.session import Session, connect
from tests.interop.hive_client import Hive
from tests.support.streamed_files import StreamedFiles

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def session(hive: Hive, spark: SparkSession) -> Iterator[Session]:
    hive.run("DROP DATABASE IF EXISTS streamed CASCADE", "CREATE DATABASE streamed")
    with connect(metastore=hive.metastore_uri, spark=spark) as opened:
        opened.sql("USE streamed")
        yield opened
    hive.run("DROP DATABASE IF EXISTS streamed CASCADE")


@pytest.mark.nightly
def test_batches_are_written_once_and_read_by_hive(
    session: Session, hive: Hive, spark: SparkSession, tmp_path: Path
) -> None:
    session.sql(f"CREATE TABLE appended (name STRING, id INT) PARTITIONED BY (d STRING) {ACID}")
    session.sql(f"CREATE TABLE merged (id INT, name STRING, d STRING) CLUSTERED BY (id) INTO 2 BUCKETS {ACID}")
    sinks = {
        "appended": acidsql.streaming.append("appended", id="s", session=session),
        "merged": acidsql.streaming.merge("merged", on="target.id = source.id", id="s", session=session),
    }
    files = StreamedFiles(spark, tmp_path)
    files.add_range(0, 3)
    files.add()
    files.add_range(3, 6)
    for table, sink in sinks.items():
        files.run(sink, table)
        files.forget_commits(table)
        files.run(sink, table)
    files.add_range(6, 8)
    for table, sink in sinks.items():
        files.run(sink, f"another for {table}")
        found = hive.rows(f"SELECT id, name, d FROM streamed.{table} ORDER BY id")
        assert [tuple(row) for row in found] == [(i, f"n{i}", f"p{i % 2}") for i in range(8)]
    metastore = session.catalog
    assert isinstance(metastore, SessionMetastore)
    for table in sinks:
        state = metastore.stream(metastore.table("streamed", table), "s")
        assert state is not None
        assert (state.rows, state.commits) == (8, 7)  # four batches are written; the second query repeats three
        assert isinstance(state.offset, dict)
        assert state.offset["batch"] == 3
