"""Files that the tasks of a write give their final names, without directories of attempts and without renames.

Spark's DataFrameWriter lets a task write into a directory of its attempt. Hadoop's FileOutputCommitter renames the file
twice, into a directory of the task and of the job, one after the other. An object store copies an object for each
rename: three files took 116 requests that wait for each other. Here each attempt gives its file a name of its own, and
the driver gets the list of the files of the attempts that succeeded, as in Spark's sink of files for streams
(`ManifestFileCommitProtocol`). What other attempts wrote, or still write, is in no list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NoReturn
from urllib.parse import unquote, urlsplit

from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import UnknownException, convert_exception
from pyspark.sql import DataFrame, SparkSession

from acidsql.acid.data_files import File
from acidsql.spark.catalyst import names
from acidsql.spark.catalyst.gateway import jvm

FORMATS: Final = {"orc": names.ORC_FORMAT, "parquet": names.PARQUET_FORMAT, "text": names.TEXT_FORMAT}
"""The classes of Spark's file formats."""
_LOG_VERSION: Final = 1
_BATCH: Final = 0
_WRAPPED: Final = "java.lang.reflect.UndeclaredThrowableException"


def can_write_directly(spark: SparkSession) -> bool:
    """Whether this Spark has all classes for it."""
    java = jvm(spark)
    needed = (*FORMATS.values(), names.OUTPUT_SPEC, names.MANIFEST_PROTOCOL, names.SQL_EXECUTION)
    return all(java.has(known) for known in (*needed, java.shim.file_writer, java.shim.sink_log))


def write_directly(
    rows: DataFrame, file_format: str, directory: str, options: Mapping[str, str], partition_by: Sequence[str]
) -> list[File]:
    """Writes the rows, by the columns `partition_by`, and gives the files, with paths relative to the directory.

    `file_format` is a key of FORMATS. `directory` is a path as Hadoop reads it, with a scheme and nothing escaped. The
    caller removes it when the write fails.
    Raises what the query raises when it runs.
    """
    with TemporaryDirectory(prefix="acidsql-write-") as log:
        _run(rows, file_format, directory, options, partition_by, Path(log).as_uri())
        return list(_committed(Path(log) / str(_BATCH), directory))


def _run(
    rows: DataFrame,
    file_format: str,
    directory: str,
    options: Mapping[str, str],
    partition_by: Sequence[str],
    log: str,
) -> None:
    frame: Any = rows._jdf
    java, session, query = jvm(rows.sparkSession), frame.sparkSession(), frame.queryExecution()
    given = java.scala_map(options)
    protocol = java.spark_class(names.MANIFEST_PROTOCOL)(Path(log).name, directory)
    protocol.setupManifestOptions(java.spark_class(java.shim.sink_log)(_LOG_VERSION, session, log, java.none), _BATCH)
    columns = query.analyzed().output()
    writer = java.scala_object(java.shim.file_writer)
    arguments = (
        session,
        query.executedPlan(),
        java.spark_class(FORMATS[file_format])(),
        protocol,
        java.spark_class(names.OUTPUT_SPEC)(directory, java.scala.maps.empty(), columns),
        session.sessionState().newHadoopConfWithOptions(given),
        java.scala_seq(column for column in java.scala.as_java(columns) if column.name() in partition_by),
        java.none,  # buckets
        java.nil,  # statistics, which would ask for the size of each file
        given,
        0,  # static partition columns
        *java.shim.more_writer_arguments(writer),
    )
    write = java.function(java.shim.file_writer, "write", writer, arguments)
    try:
        java.scala_object(names.SQL_EXECUTION).withNewExecutionId(query, java.some("save"), write)
    except Py4JJavaError as error:
        _raise_unwrapped(error)


def _raise_unwrapped(error: Py4JJavaError) -> NoReturn:
    """Raises the exception of the write. Java's proxy of a function wraps one that a Scala function does not
    declare."""
    thrown: Any = error.java_exception
    if thrown.getClass().getName() != _WRAPPED:
        raise error
    cause = thrown.getUndeclaredThrowable()
    converted = convert_exception(cause)
    raise Py4JJavaError("", cause) if isinstance(converted, UnknownException) else converted


def _committed(log: Path, directory: str) -> Iterator[File]:
    """The files that the log of a job lists: a version in the first line, then one JSON object a file."""
    root = _path(directory).rstrip("/")
    for line in log.read_text(encoding="utf-8").splitlines()[1:]:
        status = json.loads(line)
        path = _path(unquote(status["path"]))
        assert path.startswith(f"{root}/"), path
        yield File(path.removeprefix(f"{root}/"), int(status["size"]), int(status["modificationTime"]))


def _path(uri: str) -> str:
    """The path of a URI whose characters are not escaped."""
    scheme = urlsplit(uri).scheme
    rest = uri.removeprefix(f"{scheme}:")
    return rest[rest.index("/", 2) :] if rest.startswith("//") else rest
