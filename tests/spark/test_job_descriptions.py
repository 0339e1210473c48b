"""Spark's UI shows the text of a statement at the jobs that run for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pyspark.sql import SparkSession

from acidsql.session import Session


@contextmanager
def descriptions(spark: SparkSession) -> Iterator[list[str]]:
    """The descriptions of the jobs that the block runs, as Spark's UI has them."""
    store = spark.sparkContext._jsc.sc().statusStore()

    def jobs() -> dict[int, str]:
        found = store.jobsList(None)
        listed = (found.apply(number) for number in range(found.size()))
        return {job.jobId(): job.description().get() for job in listed if job.description().isDefined()}

    def wait() -> None:
        spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()

    wait()
    before = jobs()
    shown: list[str] = []
    yield shown
    wait()
    shown += [text for number, text in jobs().items() if number not in before]


@pytest.mark.ci
def test_jobs_have_the_text_of_their_statement_in_one_line_without_secrets(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.execute("CREATE TABLE t (id int, v string) TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    session.execute("SET acidsql.driver.write.max.bytes=0")
    merge = """MERGE INTO t USING (SELECT 1 AS id, :v AS v) s ON t.id = s.id
      WHEN MATCHED AND s.v <> 'password=hunter2' THEN UPDATE SET v = s.v"""
    context = session.spark.sparkContext
    before = context.getLocalProperty("spark.job.description")
    with descriptions(session.spark) as shown:
        session.execute(merge, {"v": "a value of a parameter"})
        list(session.execute("SELECT count(*), ' " + "x" * 600 + "' FROM t WHERE v > 'a'").rows())
    assert context.getLocalProperty("spark.job.description") == before
    of_merge = {text for text in shown if text.startswith("MERGE")}
    assert len(of_merge) == 1
    (text,) = of_merge
    assert text.startswith("MERGE INTO t USING (SELECT 1 AS id, :v AS v) s ON t.id = s.id WHEN MATCHED AND")
    assert "hunter2" not in text
    assert "a value of a parameter" not in text
    of_query = [text for text in shown if text.startswith("SELECT")]
    assert of_query
    assert all(len(text) == 500 for text in of_query)
    monkeypatch.setenv("ACIDSQL_LOG_STATEMENTS", "off")
    with descriptions(session.spark) as shown:
        session.execute(merge, {"v": "b"})
    assert set(shown) == {"MERGE default.t"}
