"""The tests of time zones pass on a machine whose zone is not UTC."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

_TIMES: Final = (
    "values/test_instants.py",
    "values/test_orc_times.py",
    "formats/test_parquet_times.py",
    "expressions/test_hive_expressions.py",
    "frontends/test_formats_of_types.py",
)
_MORE: Final = (
    "formats/test_text_tables.py",
    "spark/test_bucketing.py",
    "writing/test_driver_writes.py",
    "dml/test_dml.py",
)


@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    "files",
    [
        pytest.param(_TIMES, marks=pytest.mark.nightly, id="times"),
        pytest.param(_MORE, marks=pytest.mark.soak, id="more"),
    ],
)
def test_tests_about_time_pass_in_another_zone(files: Sequence[str]) -> None:
    tests = Path(__file__).parents[1]
    core = ("-m", "not (nightly or hive or soak or cluster)")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *core, *(tests / f for f in files)],
        cwd=tests.parent,
        env=os.environ | {"TZ": "America/New_York"},
        capture_output=True,
        text=True,
        timeout=1400,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
