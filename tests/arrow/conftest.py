"""Sessions with and without Spark."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from acidsql.session import Session, connect


@pytest.fixture(scope="module")
def pair(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Session]]:
    """Two sessions with tables of their own: one that writes without Spark where it can, and one that never does."""
    root = tmp_path_factory.mktemp("pair")
    sessions = connect(root / "direct", spark=spark), connect(root / "spark", spark=spark)
    sessions[1]._engines.steering.may_use_arrow = False
    yield sessions
    for session in sessions:
        session.close()
