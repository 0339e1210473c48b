"""The JVM classes of Spark that acidsql calls, with the members that it needs of each.

`gateway.jvm` looks all of them up when a JVM is first used, so that a Spark that lacks one is refused by name at the
start, and not by a Py4JError in the middle of a statement. Calls that differ between Spark's versions stand in
`shims`, with the same types.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from py4j.protocol import Py4JJavaError

_SQL: Final = "org.apache.spark.sql"
_EXPRESSIONS: Final = f"{_SQL}.catalyst.expressions"
_LOGICAL: Final = f"{_SQL}.catalyst.plans.logical"
_SOURCES: Final = f"{_SQL}.execution.datasources"


@dataclass(frozen=True, slots=True)
class SparkClass:
    """A JVM class, and the members that acidsql uses.

    A member is `name/count` for a public method with that many parameters, `new/count` for a constructor, and a bare
    name for a static field. A class whose name ends with `$` is a Scala object.
    """

    name: str
    members: tuple[str, ...] = ()
    is_required: bool = True
    """False where acidsql has a slower way through Spark's public API."""


SPARK_PACKAGE: Final = SparkClass("org.apache.spark.package$", ("SPARK_VERSION/0",))
SPARK_CONTEXT: Final = SparkClass("org.apache.spark.SparkContext", ("listenerBus/0", "taskScheduler/0"))
SPARK_THROWABLE: Final = SparkClass("org.apache.spark.SparkThrowable", ("getMessageParameters/0", "getQueryContext/0"))
LISTENER_BUS: Final = SparkClass("org.apache.spark.scheduler.LiveListenerBus", ("waitUntilEmpty/1",))
TASK_SCHEDULER: Final = SparkClass("org.apache.spark.scheduler.TaskScheduler", ("rootPool/0",))
POOL: Final = SparkClass("org.apache.spark.scheduler.Pool", ("schedulableQueue/0",))
TASK_SET_MANAGER: Final = SparkClass(
    "org.apache.spark.scheduler.TaskSetManager", ("runningTasks/0", "taskSet/0", "schedulableQueue/0", "isZombie/0")
)
TASK_SET: Final = SparkClass("org.apache.spark.scheduler.TaskSet", ("properties/0",))
PLATFORM: Final = SparkClass("org.apache.spark.unsafe.Platform", ("LONG_ARRAY_OFFSET",))

SHARED_STATE: Final = SparkClass(f"{_SQL}.internal.SharedState", ("activeStreamingQueries/0",), is_required=False)
SESSION_STATE: Final = SparkClass(
    f"{_SQL}.internal.SessionState", ("catalog/0", "conf/0", "newHadoopConf/0", "newHadoopConfWithOptions/1")
)
SQL_CONF: Final = SparkClass(f"{_SQL}.internal.SQLConf", ("setConf/1", "settings/0"))
SQL_CONF_OBJECT: Final = SparkClass(f"{_SQL}.internal.SQLConf$", ("containsConfigKey/1", "isStaticConfigKey/1"))
QUERY_EXECUTION: Final = SparkClass(
    f"{_SQL}.execution.QueryExecution", ("analyzed/0", "executedPlan/0", "optimizedPlan/0")
)
SESSION_CATALOG: Final = SparkClass(
    f"{_SQL}.catalyst.catalog.SessionCatalog",
    ("createTempView/3", "dropTempView/1", "getTempViewNames/0", "listTemporaryFunctions/0"),
)
TABLE_IDENTIFIER: Final = SparkClass(f"{_SQL}.catalyst.TableIdentifier", ("new/1",))
DATA_TYPE: Final = SparkClass(f"{_SQL}.types.DataType", ("fromJson/1",))

LITERAL: Final = SparkClass(f"{_EXPRESSIONS}.Literal", ("new/2",))
UNSAFE_ARRAY: Final = SparkClass(f"{_EXPRESSIONS}.UnsafeArrayData", ("new/0", "fromPrimitiveArray/1", "pointTo/3"))
ALIAS: Final = SparkClass(f"{_EXPRESSIONS}.Alias", ("new/6",))
ATTRIBUTE: Final = SparkClass(f"{_EXPRESSIONS}.AttributeReference", ("exprId/0",))
NAMED_EXPRESSION: Final = SparkClass(f"{_EXPRESSIONS}.NamedExpression$", ("newExprId/0",))
GET_STRUCT_FIELD: Final = SparkClass(f"{_EXPRESSIONS}.GetStructField", ("new/3",))
AT_LEAST_N_NON_NULLS: Final = SparkClass(f"{_EXPRESSIONS}.AtLeastNNonNulls", ("new/2",))
PRECISE_TIMESTAMP_CONVERSION: Final = SparkClass(f"{_EXPRESSIONS}.PreciseTimestampConversion", ("new/3",))
AGGREGATE_EXPRESSION: Final = SparkClass(f"{_EXPRESSIONS}.aggregate.AggregateExpression", ("toJSON/0",))

LOGICAL_PLAN: Final = SparkClass(
    f"{_LOGICAL}.LogicalPlan",
    (
        *("children/0", "collectLeaves/0", "containsPattern/1", "deterministic/0", "nodeName/0", "output/0"),
        *("setAnalyzed/0", "stats/0", "subqueriesAll/0"),
    ),
)
FILTER: Final = SparkClass(f"{_LOGICAL}.Filter", ("new/2", "condition/0"))
PROJECT: Final = SparkClass(f"{_LOGICAL}.Project", ("new/2", "projectList/0"))
AGGREGATE: Final = SparkClass(f"{_LOGICAL}.Aggregate", ("aggregateExpressions/0",))
RANGE: Final = SparkClass(f"{_LOGICAL}.Range$", ("apply/4",))
TREE_PATTERN: Final = SparkClass(f"{_SQL}.catalyst.trees.TreePattern$", ("JOIN/0",))

FILE_INDEX: Final = SparkClass(f"{_SOURCES}.InMemoryFileIndex", ("new/7", "leafFiles/0"))
FILE_RELATION: Final = SparkClass(f"{_SOURCES}.HadoopFsRelation", ("new/7", "location/0"))
LOGICAL_RELATION: Final = SparkClass(f"{_SOURCES}.LogicalRelation", ("relation/0",))
LOGICAL_RELATION_OBJECT: Final = SparkClass(f"{_SOURCES}.LogicalRelation$", ("apply/2",))
NO_CACHE: Final = SparkClass(f"{_SOURCES}.NoopCache$")
STATUS_CACHES: Final = SparkClass(f"{_SOURCES}.FileStatusCache$", ("getOrCreate/1",), is_required=False)
STATUS_CACHE: Final = SparkClass(
    f"{_SOURCES}.FileStatusCache", ("putLeafFiles/2", "invalidateAll/0"), is_required=False
)
PARTITION_SPEC: Final = SparkClass(f"{_SOURCES}.PartitionSpec$", ("emptySpec/0",))
ORC_FORMAT: Final = SparkClass(f"{_SOURCES}.orc.OrcFileFormat", ("new/0",))
PARQUET_FORMAT: Final = SparkClass(f"{_SOURCES}.parquet.ParquetFileFormat", ("new/0",), is_required=False)
TEXT_FORMAT: Final = SparkClass(f"{_SOURCES}.text.TextFileFormat", ("new/0",), is_required=False)
OUTPUT_SPEC: Final = SparkClass(f"{_SOURCES}.FileFormatWriter$OutputSpec", ("new/3",), is_required=False)
MANIFEST_PROTOCOL: Final = SparkClass(
    f"{_SQL}.execution.streaming.ManifestFileCommitProtocol", ("new/2", "setupManifestOptions/2"), is_required=False
)
SQL_EXECUTION: Final = SparkClass(f"{_SQL}.execution.SQLExecution$", ("withNewExecutionId/3",), is_required=False)
SOURCE_STRATEGY: Final = SparkClass(f"{_SOURCES}.DataSourceStrategy$", ("translateFilter/2",), is_required=False)

COMMON_CLASSES: Final = (
    *(SPARK_PACKAGE, SPARK_CONTEXT, SPARK_THROWABLE, TASK_SCHEDULER, POOL, TASK_SET_MANAGER, TASK_SET, PLATFORM),
    *(LISTENER_BUS, SESSION_STATE, SQL_CONF, SQL_CONF_OBJECT, QUERY_EXECUTION),
    *(SESSION_CATALOG, TABLE_IDENTIFIER, DATA_TYPE),
    *(LITERAL, UNSAFE_ARRAY, ALIAS, ATTRIBUTE, NAMED_EXPRESSION, GET_STRUCT_FIELD, AT_LEAST_N_NON_NULLS),
    *(PRECISE_TIMESTAMP_CONVERSION, AGGREGATE_EXPRESSION),
    *(LOGICAL_PLAN, FILTER, PROJECT, AGGREGATE, RANGE, TREE_PATTERN),
    *(FILE_INDEX, FILE_RELATION, LOGICAL_RELATION, LOGICAL_RELATION_OBJECT, NO_CACHE, PARTITION_SPEC, ORC_FORMAT),
    *(SOURCE_STRATEGY, SHARED_STATE),
    *(STATUS_CACHES, STATUS_CACHE, PARQUET_FORMAT, TEXT_FORMAT, OUTPUT_SPEC, MANIFEST_PROTOCOL, SQL_EXECUTION),
)
"""The classes and members that acidsql calls in the same way on every version of Spark that it supports."""

SOURCE_FILTERS: Final = f"{_SQL}.sources"
"""The package of Spark's source filters, which are public."""


def missing_names(view: Any, classes: Iterable[SparkClass]) -> dict[SparkClass, list[str]]:
    """The names that a JVM lacks, by the class that they belong to; `view` is Py4J's view of the JVM.

    Reflection gives the members of a class as one text, so that a class takes a few calls whatever its size.
    """
    lookup = _Lookup(view)
    found = ((known, lookup.missing(known)) for known in classes)
    return {known: names for known, names in found if names}


class _Lookup:
    """Java's reflection, its classes looked up once."""

    def __init__(self, view: Any) -> None:
        self._loader = view.java.lang.Thread.currentThread().getContextClassLoader()
        # Py4J does not pass a Method[] to java.util.Arrays.toString(Object[]).
        self._text_of = view.scala.runtime.ScalaRunTime.stringOf

    def missing(self, known: SparkClass) -> list[str]:
        try:
            java_class = self._loader.loadClass(known.name)
        except Py4JJavaError:
            return [known.name]
        there: set[str] = set()
        if any(not member.startswith("new/") and "/" in member for member in known.members):
            there |= _signatures(self._text_of(java_class.getMethods()))
        if any(member.startswith("new/") for member in known.members):
            constructors = _signatures(self._text_of(java_class.getConstructors()))
            there |= {f"new/{signature.rpartition('/')[2]}" for signature in constructors}
        if any("/" not in member for member in known.members):
            there |= _field_names(self._text_of(java_class.getFields()))
        return [f"{known.name}.{member}" for member in known.members if member not in there]


def _signatures(text: str) -> set[str]:
    """The names and parameter counts of the methods in a text of java.lang.reflect.

    >>> sorted(_signatures("Array(public int a.B.size(), static void a.B.put(int,java.lang.String) throws a.E)"))
    ['put/2', 'size/0']
    """
    found = set()
    for method in _elements(text):
        head, _, rest = method.partition("(")
        parameters = rest.partition(")")[0]
        found.add(f"{head.rpartition('.')[2]}/{parameters.count(',') + 1 if parameters else 0}")
    return found


def _field_names(text: str) -> set[str]:
    return {field.rpartition(".")[2] for field in _elements(text)}


def _elements(text: str) -> list[str]:
    """The elements of an array that Scala has made text of. Java puts no blank between the parameters of a method."""
    return text.removeprefix("Array(").removesuffix(")").split(", ")
