"""The one Spark session that all systems share, with the peers' jars."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from acidsql.spark.engine import Engine

DELTA = "4.4.0"
ICEBERG = "1.12.0"
JARS = Path(__file__).parent / "jars"
"""Fetched once; not committed."""

_GROUPS = "io.delta,io.unitycatalog,org.apache.iceberg"
"""What Spark has not got itself."""
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>acidsql</groupId><artifactId>benchmarks</artifactId><version>1</version><dependencies>{dependencies}
</dependencies></project>
"""
_DEPENDENCY = """
<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"""


def start(place: Path, *, master: str, memory: str, peers: bool) -> SparkSession:
    """As acidsql starts it (the JVM in UTC), with one codec for ORC files and one number of shuffle partitions."""
    conf = {
        "spark.master": master,
        "spark.driver.memory": memory,
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(place / "spark"),
        "spark.sql.orc.compression.codec": "snappy",  # the codec of acidsql's files
    }
    return Engine(None, conf | (peers_conf(place) if peers else {})).spark


def peers_conf(place: Path) -> dict[str, str]:
    return {
        **_jars_conf(),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # Its default of 50 tasks for the state of its log is meant for clusters: seconds for every statement here.
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(place / "iceberg"),
    }


def _artifacts() -> list[tuple[str, str, str]]:
    spark = ".".join(pyspark.__version__.split(".")[:2])
    return [
        ("io.delta", f"delta-spark_{spark}_2.13", DELTA),
        ("org.apache.iceberg", f"iceberg-spark-runtime-{spark}_2.13", ICEBERG),
    ]


def _jars_conf() -> dict[str, str]:
    """Through Maven, which knows the machine's mirrors and proxies; where there is none, through Spark's own Ivy."""
    if shutil.which("mvn") is None:
        return {"spark.jars.packages": ",".join(":".join(a) for a in _artifacts())}
    wanted = JARS / "-".join(version for _, _, version in _artifacts())
    if not wanted.exists():
        _fetch(wanted)
    return {"spark.jars": ",".join(map(str, sorted(wanted.glob("*.jar"))))}


def _fetch(wanted: Path) -> None:
    partial = wanted.with_name(wanted.name + ".partial")
    partial.mkdir(parents=True, exist_ok=True)
    pom = partial / "pom.xml"
    pom.write_text(_POM.format(dependencies="".join(_DEPENDENCY.format(*a) for a in _artifacts())))
    goal = ["dependency:copy-dependencies", f"-DincludeGroupIds={_GROUPS}", f"-DoutputDirectory={partial}"]
    subprocess.run(["mvn", "--batch-mode", "--quiet", "-f", str(pom), *goal], check=True)
    partial.rename(wanted)
