"""Scans of files that are made directly, and the file indexes of the scans in a plan."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final, NoReturn
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession

from acidsql.errors import AcidSqlError, Condition
from acidsql.spark.catalyst import names
from acidsql.spark.catalyst.gateway import Jvm, items, jvm
from acidsql.spark.catalyst.logical_plans import plan_of, scan_of

PATHS_ARE_PATTERNS: Final = "__globPaths__"
"""The option of a reader that says whether `*`, `[a-z]` and the like in its paths are patterns."""
_AFTER: Final = "-after-the-snapshot"
_IN: Final = ".in."
_UNREADABLE: Final = re.compile(rf"(removed|replaced){_AFTER}:([^\s\"]*[^\s\".])")
_SCAN: Final = "LogicalRelation"
_STATUS: Final = "org.apache.hadoop.fs.FileStatus"
_BLOCK: Final = 128 << 20
"""The block size that a FileStatus must have, in bytes. An object store has no blocks."""


def orc_scan(
    spark: SparkSession,
    uris: Sequence[str],
    schema: str,
    options: Mapping[str, str],
    kept: int | None,
    sizes: Sequence[int] | None = None,
) -> DataFrame:
    """All columns of ORC files; `schema` is Spark's JSON. For `kept` see `scan_of`. Spark lists each file once, or not
    at all if it is told their `sizes` in bytes.

    Raises STORAGE_FAILED if a file that is listed does not exist: Spark's index would leave it out and lose its rows.
    """
    return scan_of(spark, _relations(jvm(spark)).orc(spark._jsparkSession, uris, schema, options, sizes), kept)


def file_index_references(frame: DataFrame) -> list[Any]:
    """A java.lang.ref.WeakReference to each file index that the frame's plan reads."""
    weak_reference = jvm(frame.sparkSession).weak_reference
    return [
        weak_reference(leaf.relation().location())
        for leaf in items(plan_of(frame).collectLeaves())
        if leaf.getClass().getSimpleName() == _SCAN
    ]


def make_unreadable(spark: SparkSession, reference: Any, path: str, change: str) -> None:
    """Makes the file index of a weak reference name one file only, whose scheme tells what has become of the file at
    `path`: no file system can open it, and `unreadable_file` finds it in the error. Frames and views that were not
    planned before then fail in their jobs. A missing path would not do: Spark can be told to skip missing files."""
    index = reference.get()
    if index is None:
        return
    known = index.leafFiles()  # from the paths that the scan was given to the status of each
    if known.isEmpty():
        return
    java = jvm(spark)
    first = known.keysIterator().next()
    location = java.java_class("org.apache.hadoop.fs.Path")(_unreadable(path, change))
    status = java.java_class(_STATUS)(1, False, 1, 1, 0, location)
    known.clear()
    known.put(first, status)


def _unreadable(path: str, change: str) -> str:
    scheme, separator, rest = path.partition("://")
    return f"{change}{_AFTER}:" + (f"//{scheme}{_IN}{rest}" if separator else path)


def unreadable_file(message: str) -> tuple[str, str] | None:
    """The path and the change that `make_unreadable` was told, from the message of a job's error."""
    found = _UNREADABLE.search(message)
    if found is None:
        return None
    path = unquote(found[2])
    scheme, separator, rest = path.removeprefix("//").partition(_IN)
    return (f"{scheme}://{rest}" if separator else path), found[1]


class _Relations:
    """The classes that a HadoopFsRelation is made of."""

    def __init__(self, java: Jvm) -> None:
        self._java = java

    def orc(
        self,
        jsession: Any,
        uris: Sequence[str],
        schema: str,
        options: Mapping[str, str],
        sizes: Sequence[int] | None,
    ) -> Any:
        """A HadoopFsRelation of ORC files."""
        java = self._java
        array = self._to_paths(java.texts(uris))
        paths = java.scala.seq_of_array(array)
        given = java.scala_map(options)
        cache = self._no_cache if sizes is None else self._cache_of(jsession, array, sizes)
        index = self._file_index(jsession, paths, given, java.none, cache, self._no_partitions, java.none)
        if sizes is not None:
            cache.invalidateAll()  # no other index looks into it
        if index.allFiles().size() != len(uris):
            self._raise_missing(index, uris)
        columns = java.data_type(schema)
        return self._relation(index, self._no_columns, columns, java.none, self._orc_format, given, jsession)

    def _cache_of(self, jsession: Any, paths: Any, sizes: Sequence[int]) -> Any:
        """A FileStatusCache of these files. It forgets them at once where the user has switched Spark's cache off."""
        java = self._java
        if not (java.has(names.STATUS_CACHES) and java.has(names.STATUS_CACHE)):
            return self._no_cache
        cache, status = java.scala_object(names.STATUS_CACHES).getOrCreate(jsession), java.java_class(_STATUS)
        for path, size in zip(paths, sizes, strict=True):
            cache.putLeafFiles(path, java.array(_STATUS, [status(size, False, 1, _BLOCK, 0, path)]))
        return cache

    def _raise_missing(self, index: Any, uris: Sequence[str]) -> NoReturn:
        found = {str(status.getPath().toString()) for status in items(index.allFiles())}
        paths = self._to_paths(self._java.texts(uris))
        missing = [uri for path, uri in zip(paths, uris, strict=True) if str(path.toString()) not in found]
        raise AcidSqlError(
            Condition.STORAGE_FAILED,
            path=missing[0] if missing else uris[0],
            reason="the file is gone, or is listed twice, although the statement has just found it in its snapshot",
            hint="Something other than acidsql and Hive removes files of the table. Run the statement again.",
        )

    @cached_property
    def _file_index(self) -> Any:
        return self._java.spark_class(names.FILE_INDEX)

    @cached_property
    def _relation(self) -> Any:
        return self._java.spark_class(names.FILE_RELATION)

    @cached_property
    def _orc_format(self) -> Any:
        return self._java.spark_class(names.ORC_FORMAT)()

    @cached_property
    def _no_cache(self) -> Any:
        return self._java.scala_object(names.NO_CACHE)

    @cached_property
    def _no_partitions(self) -> Any:
        return self._java.some(self._java.scala_object(names.PARTITION_SPEC).emptySpec())

    @cached_property
    def _no_columns(self) -> Any:
        return self._java.data_type('{"type": "struct", "fields": []}')

    @cached_property
    def _to_paths(self) -> Any:
        return self._java.java_class("org.apache.hadoop.util.StringUtils").stringToPath


@lru_cache(maxsize=2)
def _relations(java: Jvm) -> _Relations:
    return _Relations(java)
