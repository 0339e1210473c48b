"""Runs pytest with the given arguments, and the Spark session of its tests on a standalone cluster.

`python -m tests.cluster tests/spark/test_golden_tables.py -k merge`
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.cluster.standalone_cluster import StandaloneCluster

with tempfile.TemporaryDirectory(prefix="acidsql-cluster-") as root, StandaloneCluster(Path(root)) as cluster:
    named = ("spark.driver.host", "spark.executor.memory", "spark.executor.cores")
    settings = " ".join(f"--conf {key}={cluster.conf[key]}" for key in named)
    environment = {
        **os.environ,
        "ACIDSQL_TEST_MASTER": cluster.master,
        "PYSPARK_SUBMIT_ARGS": f"{settings} pyspark-shell",
    }
    status = subprocess.run([sys.executable, "-m", "pytest", "-n0", *sys.argv[1:]], env=environment).returncode
raise SystemExit(status)
