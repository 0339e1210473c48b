"""Reading files by their exact paths, whatever characters these contain."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from pyspark.sql import DataFrame, DataFrameReader, SparkSession

from acidsql.errors import AcidSqlError, Condition
from acidsql.spark.catalyst.file_relations import PATHS_ARE_PATTERNS, orc_scan
from acidsql.spark.catalyst.gateway import jvm
from acidsql.spark.catalyst.sessions import session_of
from acidsql.storage.file_systems import is_local

_OBJECT_STORES: Final = ("s3a", "s3", "s3n", "gs", "abfs", "abfss")
"""Schemes of stores whose files have no places, as blocks of HDFS have them."""
_GLOB: Final = re.compile(r"[{}\[\]*?\\]")
"""Characters of a pattern (SparkHadoopUtil.isGlobPath). Hive escapes all but } in the name of a partition, and none in
a location."""


def load_exactly(reader: DataFrameReader, file_format: str, paths: Sequence[str]) -> DataFrame:
    """The content of the files or directories.

    With patterns switched off, Spark 4 replaces each path that looks like a pattern by all paths
    (DataSource.checkAndGlobPathIfNecessary), which would double rows. So if one path looks like a pattern, all paths
    are given as patterns that match only themselves.
    """
    _check_names(session_of(reader), paths)
    has_pattern, exact = _exact(paths)
    return reader.option(PATHS_ARE_PATTERNS, has_pattern).format(file_format).load(exact)


def load_orc_exactly(
    spark: SparkSession,
    paths: Sequence[str],
    schema: str,
    options: Mapping[str, str] | None = None,
    kept: int | None = None,
    sizes: Sequence[int] | None = None,
) -> DataFrame:
    """The content of ORC files, of `sizes` in bytes, under a schema in Spark's JSON. With `kept`, the scan reads all
    columns, whatever the query needs, but of the last one, a struct, only the field with this number.

    This builds the relation that `spark.read.orc` would build. `spark.read.orc` searches all jars for the format,
    twice, lists every file twice, in threads, and looks for partitions in the paths. It takes 20 ms, and 50 ms for 60
    files; this takes 3 and 10. In an object store Spark lists nothing here, because that takes two requests for each
    file. Elsewhere a list tells where the blocks of a file are.
    """
    _check_names(spark, paths)
    of_store = paths and all(path.partition("://")[0] in _OBJECT_STORES for path in paths)
    uris = [with_scheme(path) for path in paths]
    return orc_scan(spark, uris, schema, options or {}, kept, sizes if of_store else None)


def _check_names(spark: SparkSession, paths: Sequence[str]) -> None:
    """Raises UNSAFE_FILE_NAMES for a local file whose name is not ASCII if the JVM does not use UTF-8 for file names.

    A JVM in the locale C does not find such a file, and reads no rows from it.
    """
    odd = next((path for path in paths if not path.isascii() and is_local(path)), None)
    encoding = jvm(spark).file_name_encoding if odd is not None else ""
    if odd is not None and encoding.lower() not in ("utf-8", "utf8"):
        raise AcidSqlError(Condition.UNSAFE_FILE_NAMES, path=odd, encoding=encoding)


def with_scheme(path: str) -> str:
    """The path for Spark, which takes a path without a scheme for one of Hadoop's default file system."""
    return f"file:{path}" if path.startswith("/") else path


def _exact(paths: Sequence[str]) -> tuple[str, list[str]]:
    """Whether the paths are given as patterns, `true` or `false`, and the paths themselves."""
    if not any(map(_GLOB.search, paths)):
        return "false", list(paths)
    return "true", [_GLOB.sub(r"\\\g<0>", path) for path in paths]
