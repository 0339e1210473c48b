"""Conditions as data sources of Spark take them, and ORC's search arguments made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any

from pyspark.sql import SparkSession

from acidsql.spark.catalyst import names
from acidsql.spark.catalyst.gateway import Jvm, jvm


def can_make_search_arguments(spark: SparkSession) -> bool:
    """Whether this Spark has the private classes that this module uses. Without them ORC skips no row groups."""
    java = jvm(spark)
    return java.has(names.SOURCE_STRATEGY) and java.has(java.shim.orc_filters)


def source_filter(java: Jvm, name: str, *arguments: object) -> Any:
    """One of Spark's source filters, by the simple name of its class."""
    return java.java_class(f"{names.SOURCE_FILTERS}.{name}")(*arguments)


def translated_filters(spark: SparkSession, schema: Any, condition: str) -> list[Any]:
    """The source filters that Spark makes of a condition in SQL, with its own casts. Conditions that it has no filter
    for are left out."""
    # The optimizer would make an empty relation of a frame that has no rows. It knows nothing of an RDD.
    context: Any = spark.sparkContext
    unknown = spark._jsparkSession.createDataFrame(context._jsc.emptyRDD(), schema)
    plan: Any = unknown.filter(condition).queryExecution().optimizedPlan()
    if plan.nodeName() != "Filter":
        return []
    strategy = _filters(jvm(spark)).strategy
    translated = (strategy.translateFilter(part, True) for part in _conjuncts(plan.condition()))
    return [one.get() for one in translated if one.isDefined()]


def _conjuncts(condition: Any) -> Iterator[Any]:
    if condition.nodeName() == "And":
        yield from _conjuncts(condition.left())
        yield from _conjuncts(condition.right())
    else:
        yield condition


def search_argument(spark: SparkSession, schema: Any, filters: Sequence[Any]) -> dict[str, str]:
    """The options of Spark's ORC reader that carry the search argument for some filters; empty if ORC has none."""
    return _filters(jvm(spark)).search_argument(schema, filters)


class _Filters:
    def __init__(self, java: Jvm) -> None:
        self._java = java

    @cached_property
    def strategy(self) -> Any:
        return self._java.scala_object(names.SOURCE_STRATEGY)

    @cached_property
    def _orc_filters(self) -> Any:
        return self._java.spark_class(self._java.shim.orc_filters)

    @cached_property
    def _more_arguments(self) -> tuple[Any, ...]:
        return self._java.shim.more_filter_arguments(self._orc_filters)

    @cached_property
    def _input_format(self) -> Any:
        return self._java.java_class("org.apache.orc.mapred.OrcInputFormat")

    @cached_property
    def _configuration(self) -> Any:
        return self._java.java_class("org.apache.hadoop.conf.Configuration")

    def search_argument(self, schema: Any, filters: Sequence[Any]) -> dict[str, str]:
        listed = self._java.scala_seq(filters)
        argument = self._orc_filters.createFilter(schema, listed, *self._more_arguments)
        if not argument.isDefined():
            return {}
        conf = self._configuration(False)
        self._input_format.setSearchArgument(conf, argument.get(), schema.fieldNames())
        return {key: conf.get(key) for key in ("orc.kryo.sarg", "orc.sarg.column.names")}


@lru_cache(maxsize=2)
def _filters(java: Jvm) -> _Filters:
    return _Filters(java)
