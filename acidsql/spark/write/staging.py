"""The one Spark write of a table: rows into its staging directory, in the form of the table's files.

The ends of the files are Spark's still; acidsql/storage/orc/orc_footers.py makes them Hive's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

from acidsql.acid.data_files import File
from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.spark.catalyst.direct_writes import can_write_directly, write_directly
from acidsql.spark.scan.exact_paths import with_scheme
from acidsql.spark.write.event_rows import plain_rows
from acidsql.spark.write.shared_directories import require_shared
from acidsql.storage.file_systems import FileSystem, is_local
from acidsql.storage.orc.orc_footers import writer_options
from acidsql.writing.task_files import listed

SPARK_FORMATS: Final = {"orc": "orc", "parquet": "parquet", "textfile": "text"}
"""Spark's names of the file formats that can be written."""
_OF_JOBS: Final = "_temporary/0/_temporary"
"""The directory that holds those of a job's tasks (Hadoop's FileOutputCommitter)."""
_RAW_FILES: Final = {
    "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "fs.file.impl.disable.cache": "true",
}


def save(
    rows: DataFrame,
    table: Table,
    files: FileSystem,
    staging: str,
    partition_by: Sequence[str],
    settings: Mapping[str, str] | None = None,
) -> list[File]:
    """Writes events, or the rows of a table that is not full ACID, in their order and by the columns `partition_by`.
    Gives the files, with paths relative to the staging directory.

    `settings` are Spark's for this write and the scans that it runs.

    Raises NOT_YET_SUPPORTED, STORAGE_FAILED where executors do not see a local disk, and what the query raises when it
    runs.
    """
    check_format(table)
    if not table.is_full_acid:
        rows = plain_rows(rows, table, partition_by)
    spark, options, file_format = rows.sparkSession, writer_options(table), SPARK_FORMATS[table.file_format]
    if not is_local(staging) and can_write_directly(spark):
        with _settings_of_write(spark, settings or {}):
            return write_directly(rows, file_format, with_scheme(staging), options, partition_by)
    writer = rows.write.mode("overwrite").options(**options)
    if is_local(staging):
        require_shared(spark, files, table.location, staging)
        writer = _without_processes(writer, files, staging)
    writer = writer.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
    writer = writer.partitionBy(*partition_by) if partition_by else writer
    with _settings_of_write(spark, settings or {}):
        writer.format(file_format).save(with_scheme(staging))
    return listed(files, staging)


def check_format(table: Table) -> None:
    """Raises NOT_YET_SUPPORTED for a table in a file format that acidsql does not write."""
    if table.file_format not in SPARK_FORMATS:
        feature = f"Writing to a table stored as {table.file_format} ({table.qualified})"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)


def _without_processes(writer: DataFrameWriter, files: FileSystem, staging: str) -> DataFrameWriter:
    """A writer for local disks that avoids processes. Hadoop starts one (chmod), of some 5 ms, for every directory and
    file that it makes. So the directories of the job are made here, and files get no checksum files beside them."""
    files.delete(staging)
    files.make_directories(f"{staging}/{_OF_JOBS}")
    return writer.mode("append").options(**_RAW_FILES)


@contextmanager
def _settings_of_write(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Settings of a statement's storage session for one write, and for the scans in it, which look them up when they
    run. A copy of the session would not reach the scans: they keep the session that they were made in."""
    before = {key: spark.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)
