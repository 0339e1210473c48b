"""The user's Spark settings that reach a statement: those that change its speed, and none that change its meaning.

Spark has some eight hundred settings, and every version adds new ones. Hundreds change what a text, a type or a file
means (`${..}` in a string, a double-quoted name, the legacy flags). So this module lists the settings that are safe. In
a private session every other setting of Spark SQL has Spark's default, or the value that engine.py gives it.
"""

from __future__ import annotations

import re
from typing import Any, Final

from pyspark.sql import SparkSession

from acidsql.spark.catalyst.gateway import Jvm
from acidsql.spark.catalyst.sessions import is_session_setting, settings_of

_SPEED: Final = (
    # How much work is done at once, in tasks and bytes.
    "adaptive.(?!optimizer.excludedRules$).*",
    "shuffle.partitions",
    "leafNodeDefaultParallelism",
    "files.(maxPartitionBytes|maxPartitionNum|minPartitionNum|openCostInBytes)",
    "(orc|parquet).(columnarReaderBatchSize|columnarWriterBatchSize)",
    "inMemoryColumnarStorage.*",
    "defaultCacheStorageLevel",
    "limit.(initialNumPartitions|scaleUpFactor)",
    "execution.arrow.max\\w+Per\\w*Batch",
    "execution.(topKSortFallbackThreshold|rangeExchange.*)",
    # How joins and aggregates run.
    "autoBroadcastJoinThreshold",
    "broadcastTimeout",
    "maxBroadcastTableSize",
    "maxSinglePartitionBytes",
    "join.preferSortMergeJoin",
    "shuffledHashJoinFactor",
    "exchange.reuse",
    "execution.(reuseSubquery|replaceHashWithSortAgg)",
    "optimizer.(dynamicPartitionPruning|runtime|runtimeFilter).*",
    "objectHashAggregate.sortBased.fallbackThreshold",
    "\\w+.buffer.(in.memory.threshold|spill.size.threshold|spill.threshold)",
    "\\w+.maxThreadThreshold",
    "sort.enableRadixSort",
    "columnVector.offheap.enabled",
    # Code that Spark compiles.
    "codegen.*",
    "subexpressionElimination.*",
    # Python functions: which Python, how it is fed and watched.
    "execution.pyspark.(python|udf.*)",
    "execution.(pandas|python).udf.*",
    "execution.pythonUDF.arrow.concurrency.level",
    "pyspark.udf.profiler",
    # Limits that end a statement with an error.
    "cteRecursion(LevelLimit|RowLimit)",
    "pivotMaxValues",
    # What Spark logs and shows of its work.
    "debug.maxToStringFields",
    "maxPlanStringLength",
    "maxMetadataStringLength",
    "planChangeLog.*",
    "redaction.*",
    "ui.*",
    # The user's own choices: time zone, catalogs, and where the files of other tables are.
    "session.timeZone",
    "catalog.*",
    "defaultCatalog",
    "sources.useListFilesFileSystemList",
    "artifact.*",
)
"""Names below `spark.sql.`, as regular expressions in which a dot stands for itself."""

_ALLOWED: Final = re.compile(
    r"spark\.sql\.(?:" + "|".join(re.sub(r"\.(?!\*)", r"\.", name) for name in _SPEED) + r")|spark\.python\..*"
)
_OF_FORMATS: Final = ("orc.", "parquet.", "mapreduce.", "mapred.", "textinputformat.", "hive.")
"""Prefixes of Hadoop's settings for readers and writers of files. Settings of file systems (`fs.`, `dfs.`) stay."""


class Meaning:
    """Removes the user's settings that change meaning from private sessions."""

    def __init__(self, java: Jvm) -> None:
        self._java = java
        self._last: tuple[str, Any] = ("", None)

    def forget(self, session: SparkSession) -> Any:
        """Removes the settings that change meaning from a private session, and returns the rest as a java.util.Map.

        Takes few calls of the JVM: the names come as one text, which nearly always equals that of the last statement.
        """
        settings = settings_of(session)
        names = settings.keySet()
        listed = str(names.toString())
        last, forgotten = self._last
        if listed != last:
            forgotten = self._forgotten(session, listed.strip("[]").split(", "))
            self._last = listed, forgotten
        if forgotten is not None:
            names.removeAll(forgotten)
        return settings

    def _forgotten(self, session: SparkSession, names: list[str]) -> Any:
        """A java.util.Set of the names that are removed; None for none."""
        forgotten = [name for name in names if _changes_meaning(session, name)]
        return self._java.java_set(forgotten) if forgotten else None


def _changes_meaning(session: SparkSession, name: str) -> bool:
    """Settings that Spark does not know belong to catalogs and extensions: they stay."""
    if name.startswith("spark."):
        return not _ALLOWED.fullmatch(name) and is_session_setting(session, name)
    return name.startswith(_OF_FORMATS)
