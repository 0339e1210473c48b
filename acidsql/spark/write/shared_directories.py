"""Directories of the driver's machine that executors on other machines must see, before anything is written there.

A task on a machine without the mount would write to a disk of its own. The driver would find no file, and the statement
would commit without its rows.
"""

from __future__ import annotations

import threading
from typing import Final

from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError, Condition
from acidsql.spark.running_spark import FILE_PER_TASK, copy_with
from acidsql.spark.scan.exact_paths import with_scheme
from acidsql.spark.scan.small_files import runs_in_one_process
from acidsql.spark.session.jvm_loss import SPARK_ERRORS
from acidsql.storage.file_systems import FileSystem, is_local

_TASKS_PER_CORE: Final = 4
"""Tasks of the probe for each core: Spark spreads them over all executors."""
_seen: set[tuple[str, str]] = set()
"""Applications of Spark, and the directories that their executors have seen."""
_lock = threading.Lock()


def require_shared(spark: SparkSession, files: FileSystem, directory: str, staging: str) -> None:
    """Checks, once for each application and directory, that executors see what the driver writes to a local disk.

    `staging` is the directory of this write, which may be deleted and made again afterwards.
    Raises STORAGE_FAILED.
    """
    context = spark.sparkContext
    if not is_local(directory) or runs_in_one_process(context):
        return
    seen = (context.applicationId, directory)
    if seen in _seen:
        return
    probe = f"{staging}/probe"
    files.make_directories(probe)
    count = _TASKS_PER_CORE * max(2, context.defaultParallelism)
    for number in range(count):
        files.write(f"{probe}/{number}", b"1\n")
    try:
        found = copy_with(spark, FILE_PER_TASK).read.text(with_scheme(probe)).count()
    except SPARK_ERRORS as error:
        if "FILE_NOT_EXIST" not in str(error) and "FileNotFound" not in str(error):
            raise
        found = 0
    finally:
        files.delete(probe)
    if found != count:
        reason = "an executor of the cluster does not see this directory of the driver's machine"
        hint = "Use a warehouse that all of them see under the same name: HDFS, or a directory that each one mounts."
        raise AcidSqlError(Condition.STORAGE_FAILED, path=directory, reason=reason, hint=hint)
    with _lock:
        _seen.add(seen)
