"""Which of the user's Spark settings reach a statement: those that change how fast it runs, none that change what it
means.

Spark has some eight hundred settings, and new ones with every version. Hundreds change what a text, a type or a file
means (`${..}` in a string, a double-quoted name, the legacy flags). So this names the others: all settings of Spark SQL
that are not named here have Spark's default in a private session, or the value that engine.py gives them.
"""

from __future__ import annotations

import re
from typing import Any, Final

from pyspark.sql import SparkSession

from acidsql.spark.catalyst.gateway import Jvm, scala_object

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
    # What was the user's to say: zone, catalogs, and where the files of other tables are.
    "session.timeZone",
    "catalog.*",
    "defaultCatalog",
    "sources.useListFilesFileSystemList",
    "artifact.*",
)
"""Names in `spark.sql.`, as patterns whose dots are dots."""

_ALLOWED: Final = re.compile(
    r"spark\.sql\.(?:" + "|".join(re.sub(r"\.(?!\*)", r"\.", name) for name in _SPEED) + r")|spark\.python\..*"
)
_OF_FORMATS: Final = ("orc.", "parquet.", "mapreduce.", "mapred.", "textinputformat.", "hive.")
"""Hadoop's settings of readers and writers of files; those of file systems (`fs.`, `dfs.`) are not among them."""


class Meaning:
    """Takes the user's settings of meaning out of private sessions."""

    def __init__(self, java: Jvm) -> None:
        self._known: Any = scala_object(java.view.org.apache.spark.sql.internal, "SQLConf")
        self._java = java
        self._last: tuple[str, Any] = ("", None)

    def forget(self, session: SparkSession) -> Any:
        """Leaves a private session the settings that change no meaning, and gives its settings, a java.util.Map.

        Few calls of the JVM: the names come as one text, and it is nearly always that of the statement before.
        """
        jsession: Any = session._jsparkSession
        settings = jsession.sessionState().conf().settings()
        names = settings.keySet()
        told = str(names.toString())
        last, forgotten = self._last
        if told != last:
            forgotten = self._forgotten(told.strip("[]").split(", "))
            self._last = told, forgotten
        if forgotten is not None:
            names.removeAll(forgotten)
        return settings

    def _forgotten(self, names: list[str]) -> Any:
        forgotten = self._java.view.java.util.HashSet()
        for name in filter(self._is_meaning, names):
            forgotten.add(name)
        return None if forgotten.isEmpty() else forgotten

    def _is_meaning(self, name: str) -> bool:
        """Settings that Spark does not know are those of catalogs and extensions."""
        if name.startswith("spark."):
            return not _ALLOWED.fullmatch(name) and self._is_of_session(name)
        return name.startswith(_OF_FORMATS)

    def _is_of_session(self, name: str) -> bool:
        return self._known.containsConfigKey(name) and not self._known.isStaticConfigKey(name)
