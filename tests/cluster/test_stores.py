"""Statements of each kind on a cluster whose tables lie on HDFS or in a store of S3's protocol."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.interop.s3_server import s3a_jars

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]


@pytest.mark.parametrize("store", ["hdfs", "s3"])
def test_rows_on_a_store_that_driver_and_executors_share(store: str) -> None:
    if store == "s3":
        s3a_jars()  # skips where there are none
    command = [sys.executable, "-m", "tests.cluster.scale", store, "--rows", "50000"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.endswith("as expected\n")
