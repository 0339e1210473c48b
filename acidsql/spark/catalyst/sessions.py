"""Private copies of a Spark session, and what a session holds: settings, temporary views and functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql.types import StructType

from acidsql.errors import AcidSqlError, Condition
from acidsql.spark.catalyst import names
from acidsql.spark.catalyst.gateway import jvm
from acidsql.spark.catalyst.logical_plans import frame_of, plan_of
from acidsql.spark.catalyst.pyspark_api import IS_SPARK_35, name_of_error, sql_of_spark
from acidsql.spark.catalyst.spark35_sql import with_spelled_stars
from acidsql.storage.hadoop_files import HadoopFiles
from acidsql.storage.stores.hadoop_settings import HadoopSettings, settings_of_spark

_GONE: Final = (PySparkException, Py4JError, OSError, AttributeError)
"""Errors of a call to a JVM that has ended."""


def clone(spark: SparkSession, properties: Any = None) -> SparkSession:
    """A session with the state of another one, and with settings of its own from a java.util.Properties."""
    jsession: Any = spark._jsparkSession
    copy = jsession.cloneSession()
    if properties is not None:
        copy.sessionState().conf().setConf(properties)
    return SparkSession(spark.sparkContext, copy)


def activate(spark: SparkSession) -> None:
    """Makes a session the active one of this thread where that matters (IS_SPARK_35): columns that are made afterwards
    have its settings."""
    if IS_SPARK_35:
        java = jvm(spark)
        java.spark_class(java.shim.spark_session).setActiveSession(spark._jsparkSession)


@contextmanager
def active_session_kept() -> Iterator[None]:
    """Gives the thread its active session back at the end, where `activate` changes it."""
    if not IS_SPARK_35:
        yield
        return
    before = None
    with suppress(*_GONE):
        before = SparkSession.getActiveSession()
    try:
        yield
    finally:
        session = before or SparkSession._instantiatedSession
        if session is not None:
            with suppress(*_GONE):
                activate(session)


def settings_of(spark: SparkSession) -> Any:
    """The settings that were set in a session, as the java.util.Map that holds them."""
    jsession: Any = spark._jsparkSession
    return jsession.sessionState().conf().settings()


def is_session_setting(spark: SparkSession, name: str) -> bool:
    """Whether Spark SQL knows a setting, and a session can change it."""
    known = jvm(spark).scala_object(names.SQL_CONF_OBJECT)
    return bool(known.containsConfigKey(name) and not known.isStaticConfigKey(name))


def run_sql(spark: SparkSession, text: str) -> DataFrame:
    """`spark.sql(text)`, without PySpark's calls that prepare arguments."""
    jsession: Any = spark._jsparkSession
    return DataFrame(jsession.sql(text), spark)


def run_statement(spark: SparkSession, text: str, args: Mapping[str, Column]) -> DataFrame:
    """The frame of a query that acidsql has made, with values for its parameters."""
    if IS_SPARK_35:
        text = with_spelled_stars(sql_of_spark(text), lambda query: _columns_of(spark, query, args))
    return spark.sql(text, args=dict(args)) if args else run_sql(spark, text)


def _columns_of(spark: SparkSession, query: str, args: Mapping[str, Column]) -> list[str]:
    text = f"SELECT * FROM ({query})"
    try:
        return (spark.sql(text, args=dict(args)) if args else run_sql(spark, text)).columns
    except AnalysisException as error:
        if name_of_error(error) != "TABLE_OR_VIEW_NOT_FOUND":
            raise
        feature = "QUALIFY in a query that reads a CTE of the query around it, on Spark 3.5,"
        hint = "Give the query with QUALIFY a WITH of its own."
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature, hint=hint) from error


def empty_frame(spark: SparkSession, schema: StructType) -> DataFrame:
    """No rows, without a job."""
    java = jvm(spark)
    jsession: Any = spark._jsparkSession
    return DataFrame(jsession.createDataFrame(java.java_list(()), java.data_type(schema.json())), spark)


def session_of(reader: DataFrameReader) -> SparkSession:
    """The session that a reader was made by."""
    return reader._spark


def hadoop_files(spark: SparkSession) -> HadoopFiles:
    """The file systems that Hadoop knows, with the session's settings."""
    jsession: Any = spark._jsparkSession
    return HadoopFiles(spark._jvm, jsession.sessionState().newHadoopConf())


def hadoop_settings(spark: SparkSession) -> HadoopSettings:
    """The settings of Hadoop's client in a session, without its defaults."""
    java = jvm(spark)
    jsession: Any = spark._jsparkSession
    conf = jsession.sessionState().newHadoopConf()
    out = java.java_class("java.io.StringWriter")()
    java.java_class("org.apache.hadoop.conf.Configuration").dumpConfiguration(conf, out)
    return settings_of_spark(str(out.toString()), conf.get)


# ------------------------------------------------------------------------------------------------ temporary views


def adopt(frame: DataFrame, session: SparkSession) -> DataFrame:
    """The same analyzed query as a frame of another session."""
    return frame_of(session, plan_of(frame))


def define_view(spark: SparkSession, name: str, frame: DataFrame) -> None:
    """Makes a temporary view of a frame, which may belong to another session, or replaces the view of that name."""
    java = jvm(spark)
    if java.has(java.shim.view_helper):
        _define_view_directly(spark, name, plan_of(frame))
    else:
        define_view_by_command(spark, name, frame)


def define_view_by_command(spark: SparkSession, name: str, frame: DataFrame) -> None:
    """The public way: Spark runs a command for it, which takes ten times as long."""
    adopt(frame, spark).createOrReplaceTempView(name)


def _define_view_directly(spark: SparkSession, name: str, plan: Any) -> None:
    """Does what that command does, with a plan that is analyzed already."""
    java = jvm(spark)
    jsession: Any = spark._jsparkSession
    no_other_views = java.no_views
    relation = java.view_helper.createTemporaryViewRelation(
        *(java.table_name(name), jsession, False, no_other_views, java.none, plan, plan, java.nil),
        *java.shim.more_view_arguments(java),
    )
    jsession.sessionState().catalog().createTempView(name, relation, True)


def drop_views(spark: SparkSession, view_names: Iterable[str]) -> None:
    """Drops temporary views of which nothing is cached. Catalog.dropTempView would look for cached plans too."""
    jsession: Any = spark._jsparkSession
    catalog = jsession.sessionState().catalog()
    for name in view_names:
        catalog.dropTempView(name)


def temporary_views(spark: SparkSession) -> frozenset[str]:
    """The names of a session's temporary views, in lower case. PySpark's Catalog.listTables runs two jobs for them."""
    jsession: Any = spark._jsparkSession
    found = jsession.sessionState().catalog().getTempViewNames()
    return frozenset(filter(None, found.mkString("\n").lower().split("\n")))


def temporary_functions(spark: SparkSession) -> frozenset[str]:
    """The names of a session's temporary functions, in lower case."""
    jsession: Any = spark._jsparkSession
    found = jsession.sessionState().catalog().listTemporaryFunctions().mkString("\n").lower()
    return frozenset(name.rpartition(".")[2].strip("`") for name in found.split("\n"))
