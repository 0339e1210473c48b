"""Sessions with and without Spark."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from acidsql.session import Session, connect
from tests.interop.s3_server import use_s3


@pytest.fixture(
    scope="module",
    params=["disk", *(pytest.param(s, marks=[pytest.mark.nightly, pytest.mark.hive]) for s in ("s3", "hdfs"))],
)
def home(request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The warehouse of the session that writes without Spark."""
    if request.param == "disk":
        return str(tmp_path_factory.mktemp("direct"))
    if request.param == "hdfs":
        return f"{request.getfixturevalue('hdfs').uri}/{uuid.uuid4()}"
    store = request.getfixturevalue("s3")
    use_s3(spark, store.port)
    return f"s3a://{store.bucket}/{uuid.uuid4()}"


@pytest.fixture(scope="module")
def pair(spark: SparkSession, home: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Session]]:
    """Two sessions with tables of their own: one that writes without Spark where it can, and one that never does and
    has its tables on a disk."""
    root = tmp_path_factory.mktemp("pair")
    sessions = connect(home, f"sqlite:///{root}/direct.db", spark), connect(root / "spark", spark=spark)
    sessions[1]._engines.steering.may_use_arrow = False
    yield sessions
    for session in sessions:
        session.close()
