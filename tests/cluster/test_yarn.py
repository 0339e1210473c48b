"""Programs and scripts on YARN, as docs/operations/clusters.md says. `make test-cluster` runs it.

The containers have no acidsql but what the program brings: they get no PYTHONPATH, and the environment that the program
packs lies elsewhere when they run.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyspark
import pytest

from tests.cluster.test_cluster_smoke import STATEMENTS
from tests.cluster.yarn_cluster import YarnCluster
from tests.installation import build_wheel, copy_of_the_source

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

HOME: Final = Path(pyspark.__file__).parent
SETTINGS: Final = {
    "spark.driver.memory": "1g",
    "spark.executor.memory": "700m",
    "spark.executor.cores": "1",
    "spark.executor.instances": "2",
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
    "spark.executor.extraJavaOptions": "-Duser.timezone=UTC",
}
PROGRAM: Final = f"""
import json, os, sys
import acidsql
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("nightly").getOrCreate()
with acidsql.connect(sys.argv[1], spark=spark) as session:
    answers = [list(result.rows()) for result in session.script({STATEMENTS!r})]
    conf = spark.sparkContext.getConf()
    found = {{
        "answers": answers,
        "acidsql": acidsql.__file__,
        "working directory": os.getcwd(),
        "mode": conf.get("spark.submit.deployMode"),
    }}
with open(sys.argv[2], "w") as answer:
    json.dump(found, answer)
"""


@pytest.fixture(scope="module")
def yarn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[YarnCluster]:
    with YarnCluster(tmp_path_factory.mktemp("yarn") / "conf") as running:
        yield running


def settings(**more: str) -> list[str]:
    return [word for key, value in {**SETTINGS, **more}.items() for word in ("--conf", f"{key}={value}")]


def without_acidsql() -> dict[str, str]:
    """The environment's variables, without those that bring the checkout to another Python."""
    return {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}


def environment(yarn: YarnCluster) -> dict[str, str]:
    return {**without_acidsql(), "SPARK_HOME": str(HOME), "HADOOP_CONF_DIR": str(yarn.conf_directory)}


def packed_environment(directory: Path) -> Path:
    """An archive of a virtual environment with acidsql, without PySpark, which YARN's containers have from Spark."""
    source = directory / "source"
    source.mkdir()
    wheel = build_wheel(copy_of_the_source(source))
    home = directory / "environment"
    needed = [line for line in importlib.metadata.requires("acidsql") or () if "extra ==" not in line]
    needed = [line for line in needed if not line.startswith("pyspark")]
    archive = directory / "acidsql.tar.gz"
    for command in (
        [sys.executable, "-m", "venv", str(home)],
        [str(home / "bin" / "pip"), "install", "--quiet", "venv-pack", "setuptools<81", *needed],
        [str(home / "bin" / "pip"), "install", "--quiet", "--no-deps", str(wheel)],
        [str(home / "bin" / "venv-pack"), "--prefix", str(home), "--output", str(archive), "--quiet"],
    ):
        done = subprocess.run(command, env=without_acidsql(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
    home.rename(directory / "moved")
    return archive


def test_a_program_in_cluster_mode_brings_its_environment(yarn: YarnCluster, tmp_path: Path) -> None:
    archive = packed_environment(tmp_path)
    program = tmp_path / "nightly.py"
    program.write_text(PROGRAM)
    answer = tmp_path / "answer.json"
    command = [str(HOME / "bin" / "spark-submit"), "--master", "yarn", "--deploy-mode", "cluster"]
    command += ["--archives", f"{archive}#acidsql", "--conf", f"spark.yarn.stagingDir={tmp_path / 'staging'}"]
    command += settings(**{"spark.yarn.appMasterEnv.PYSPARK_PYTHON": "./acidsql/bin/python"})
    done = subprocess.run(
        [*command, str(program), str(tmp_path / "warehouse"), str(answer)],
        env=environment(yarn),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(answer.read_text())
    assert found["answers"][-2:] == [[[95, 95, 10, 5, 5]], [[20]]]
    assert found["mode"] == "cluster"
    assert found["acidsql"].startswith(found["working directory"] + "/acidsql/lib/")


def test_the_shell_runs_a_script_in_client_mode(yarn: YarnCluster, tmp_path: Path) -> None:
    script = tmp_path / "statements.sql"
    script.write_text(STATEMENTS)
    command = [sys.executable, "-m", "acidsql", "shell", "--warehouse", str(tmp_path / "warehouse")]
    command += ["--master", "yarn", *settings(**{"spark.yarn.stagingDir": str(tmp_path / "staging")})]
    done = subprocess.run(
        [*command, "-S", "--output", "jsonl", "-f", str(script)],
        env={**environment(yarn), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {"n": 95, "ids": 95, "u": 10, "m": 5, "i": 5} in rows
    assert rows[-1] == {"n": 20}
