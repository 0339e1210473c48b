"""Hive's user metadata in the bucket files of a table, on any file system."""

from __future__ import annotations

from pyarrow import orc
from pyspark.sql import SparkSession

from acidsql.spark.catalyst.sessions import hadoop_files
from acidsql.storage.hadoop_files import HadoopFiles


def user_metadata(spark: SparkSession, location: str) -> dict[str, dict[str, str]]:
    """The metadata of each bucket file below a directory, with the numbers of its stripes and rows."""
    files = hadoop_files(spark)
    paths = [f.path for f in files.list_below(location).files if "/bucket_" in f"/{f.path}"]
    return {path: _metadata(files, f"{location}/{path}") for path in paths}


def _metadata(files: HadoopFiles, path: str) -> dict[str, str]:
    with files.open(path) as file:
        found = orc.ORCFile(file)
        items = {k.decode(): v.decode() for k, v in (found.metadata or {}).items()}
        return {**items, "stripes": str(found.nstripes), "rows": str(found.nrows)}


def assert_as_hive_writes_it(metadata: dict[str, str], *, is_delete: bool) -> None:
    rows = metadata["rows"]
    assert metadata["hive.acid.version"] == "2"
    assert metadata["hive.acid.stats"] == (f"0,0,{rows}" if is_delete else f"{rows},0,0")
    assert metadata["hive.acid.key.index"].count(";") == int(metadata["stripes"])
