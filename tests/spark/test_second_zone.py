"""The tests about time pass on a machine whose zone is not UTC."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

_FILES: Final = (
    "spark/test_instants.py",
    "spark/test_orc_times.py",
    "spark/test_parquet_times.py",
    "spark/test_hive_expressions.py",
    "spark/test_text_tables.py",
    "spark/test_bucketing.py",
    "spark/test_driver_writes.py",
    "spark/test_dml.py",
    "shell/test_formats_of_types.py",
)


@pytest.mark.full
def test_tests_about_time_pass_in_another_zone() -> None:
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *(tests / file for file in _FILES)],
        cwd=tests.parent,
        env=os.environ | {"TZ": "America/New_York"},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
