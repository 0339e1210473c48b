"""The Python of Spark's workers: that of this process, or one that an error names."""

from __future__ import annotations

import os
import sys

import pytest

from acidsql.spark.failures import translate
from acidsql.spark.session.session_start import own_python


def test_a_worker_with_another_python_is_an_error_of_one_line_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/usr/bin/python3")
    for said, told in (
        ("ModuleNotFoundError: No module named 'pyarrow'", "has no module pyarrow"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than ..", "is of another version"),
    ):
        error = translate(
            RuntimeError(f"An exception was thrown from the Python worker:\n  File ..\n{said}\n at .."), ""
        )
        assert f"the Python of Spark's workers (/usr/bin/python3) {told}" in error.message
        assert f"PYSPARK_PYTHON={sys.executable}" in error.hint


def test_spark_of_acidsql_gives_its_workers_the_python_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def chosen(**conf: str) -> str | None:
        with own_python({"spark.master": "local[2]", **{key.replace("_", "."): conf[key] for key in conf}}):
            return os.environ.get("PYSPARK_PYTHON")

    monkeypatch.setenv("PYSPARK_PYTHON", "/opt/python")
    assert chosen() == "/opt/python"
    monkeypatch.delenv("PYSPARK_PYTHON")
    assert chosen() == sys.executable
    assert "PYSPARK_PYTHON" not in os.environ
    assert chosen(spark_master="yarn") is None
    assert chosen(spark_pyspark_python="/opt/python") is None
