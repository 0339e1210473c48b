"""The employee story through `acidsql.run_sql`, in the default session."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import acidsql
from tests.support.employee import QUERY, ROWS, STATEMENTS, WRITE_IDS


def test_the_story_runs_through_run_sql(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACIDSQL_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.delenv("ACIDSQL_METASTORE", raising=False)
    monkeypatch.setattr("acidsql.connection._default", None)
    try:
        counts = [acidsql.run_sql(statement, spark=spark).collect() for statement in STATEMENTS]
        changed = [tuple(c[0]) for c in counts if c and len(c[0]) == 4]
        assert changed == [(3, 0, 0, 3), (1, 1, 0, 0), (2, 0, 0, 2), (2, 1, 0, 1), (1, 0, 1, 0)]
        rows = acidsql.run_sql(QUERY, spark=spark).collect()
        assert [tuple(r)[1:] for r in rows] == list(ROWS)
        assert [r["row__id"]["writeid"] for r in rows] == list(WRITE_IDS)
        assert (tmp_path / "warehouse" / "employee" / "delta_0000003_0000003_0001" / "bucket_00000").is_file()
        assert (tmp_path / "warehouse" / ".acidsql" / "metastore.db").is_file()
        new = spark.createDataFrame([(9, "Ann", 1)], "id INT, name STRING, salary INT")
        acidsql.run_sql("INSERT INTO employee SELECT * FROM {new}", spark=spark, new=new)
        found = acidsql.run_sql("SELECT name FROM employee WHERE id = :id", {"id": 9}, spark=spark).collect()
        assert [r[0] for r in found] == ["Ann"]
    finally:
        acidsql.default_session().close()
