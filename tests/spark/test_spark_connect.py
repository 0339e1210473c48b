"""Spark Connect: acidsql needs a JVM in its own process, and says so before anything runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acidsql import run_sql
from acidsql.session import Session, connect
from acidsql.spark.catalyst.spark_connect import require_classic_mode
from tests.answers import fails, rows

_STATEMENT = """
import acidsql, sys
try:
    acidsql.run_sql("SELECT 1")
except acidsql.AcidSqlError as error:
    print(error)
print("pyspark.sql.connect.session" in sys.modules)
"""


@pytest.fixture(scope="module")
def remote() -> Any:
    """A session of Spark Connect whose server is never asked. Skips where PySpark's extra `connect` is missing."""
    pytest.importorskip("grpc")
    connect_session = pytest.importorskip("pyspark.sql.connect.session")
    client = pytest.importorskip("pyspark.sql.connect.client")
    session = connect_session.SparkSession.__new__(connect_session.SparkSession)
    session._client = client.SparkConnectClient(connection="sc://localhost:1")
    return session


def test_a_session_of_spark_connect_that_is_given_is_one_clear_error(remote: Any, tmp_path: Path) -> None:
    error = fails("SPARK_CONNECT", lambda: connect(tmp_path, spark=remote))
    assert "SPARK_REMOTE" in str(error)
    assert "classic" in str(error)
    assert not list(tmp_path.iterdir())
    fails("SPARK_CONNECT", lambda: run_sql("SELECT 1", spark=remote))


def test_a_session_goes_on_after_it_refused_one_of_spark_connect(remote: Any, session: Session) -> None:
    fails("SPARK_CONNECT", lambda: session.use_spark(remote))
    assert rows(session, "SELECT 1") == [(1,)]


@pytest.mark.nightly
@pytest.mark.parametrize("variable", [("SPARK_REMOTE", "sc://localhost"), ("SPARK_API_MODE", "connect")])
def test_an_environment_that_asks_for_spark_connect_is_one_clear_error(
    variable: tuple[str, str], tmp_path: Path
) -> None:
    name, value = variable
    environment = os.environ | {name: value, "ACIDSQL_WAREHOUSE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", _STATEMENT], env=environment, capture_output=True, text=True, cwd=Path.cwd(), check=True
    )
    said, imported = done.stdout.strip().rsplit("\n", 1)
    assert said.startswith(f"[SPARK_CONNECT] acidsql cannot run on Spark Connect: the environment variable {name} is")
    assert "Unset SPARK_REMOTE" in said.replace("\n", " ")
    assert imported == "False"


@pytest.mark.parametrize("conf", [{"spark.remote": "sc://localhost"}, {"spark.api.mode": "Connect"}])
def test_settings_that_ask_for_spark_connect_are_one_clear_error(conf: dict[str, str]) -> None:
    fails("SPARK_CONNECT", lambda: require_classic_mode(conf))


def test_a_setting_for_a_classic_session_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_API_MODE", "connect")
    require_classic_mode({"spark.api.mode": "classic"})
    fails("SPARK_CONNECT", lambda: require_classic_mode({}))
