"""What differs between Spark's minor versions: one shim for each set of versions that agree, chosen once for a JVM.

Every other private name is the same on all supported versions and stands in `names.COMMON_CLASSES`. To support a new
minor version, run `make test SPARK=x.y.z`. Where a call has changed, add a shim here that overrides it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from acidsql.errors import AcidSqlError, Condition
from acidsql.spark.catalyst.names import COMMON_CLASSES, SparkClass
from acidsql.spark.catalyst.scala_collections import Scala213, scala_collections

SUPPORTED: Final = "3.5 and 4.0 to 4.3"
_SQL: Final = "org.apache.spark.sql"
_SOURCES: Final = f"{_SQL}.execution.datasources"
_ORC_FILTERS: Final = f"{_SOURCES}.orc.OrcFilters"
_FILE_WRITER: Final = f"{_SOURCES}.FileFormatWriter$"
_STREAMING: Final = f"{_SQL}.execution.streaming"
_VIEW_HELPER: Final = f"{_SQL}.execution.command.ViewHelper"
_OF_SESSION: Final = ("cloneSession/0", "createDataFrame/2", "sessionState/0", "sharedState/0", "sql/1")
_OF_DATASET: Final = ("ofRows/2", "filter/1", "queryExecution/0", "selectExpr/1", "withColumns/1")
_NAMED: Final = 4
"""How many missing names an error lists."""


class Shim40:
    """Spark 4.0."""

    first = (4, 0)
    """The first version that the shim is for."""
    context = SparkClass("org.apache.spark.SparkContext", ("cancelJobGroupAndFutureJobs/1",))
    spark_session = SparkClass(f"{_SQL}.classic.SparkSession", (*_OF_SESSION, "observationManager/0"))
    dataset = SparkClass(f"{_SQL}.classic.Dataset", (*_OF_DATASET, "id/0"))
    columns = SparkClass(f"{_SQL}.classic.ExpressionUtils", ("column/1", "expression/1"))
    observation = SparkClass(f"{_SQL}.Observation", ("new/1", "future/0", "getAsJava/0"))
    observations = SparkClass(f"{_SQL}.classic.ObservationManager", ("register/2",))
    view_helper = SparkClass(_VIEW_HELPER, ("createTemporaryViewRelation/9",), is_required=False)
    orc_filters = SparkClass(_ORC_FILTERS, ("createFilter/2",), is_required=False)
    file_writer = SparkClass(_FILE_WRITER, ("write/11",), is_required=False)
    sink_log = SparkClass(f"{_STREAMING}.FileStreamSinkLog", ("new/4",), is_required=False)

    @property
    def classes(self) -> tuple[SparkClass, ...]:
        """The classes that acidsql calls on these versions."""
        of_sessions = (self.context, self.spark_session, self.dataset, self.columns, self.view_helper)
        of_files = (self.orc_filters, self.file_writer, self.sink_log)
        return (*COMMON_CLASSES, *of_sessions, self.observation, self.observations, *of_files)

    def scala(self, java_class: Callable[[str], Any]) -> Scala213:
        """Scala's collections, from classes by their full names."""
        return Scala213(java_class)

    def cancel_group(self, context: Any, group: str) -> None:
        """Cancels the jobs of a group, and those that are submitted later."""
        context.cancelJobGroupAndFutureJobs(group)

    def column(self, java: Any, expression: Any) -> Any:
        """The Column of an expression; `java` is the Jvm."""
        return java.spark_class(self.columns).column(expression)

    def expression(self, java: Any, column: Any) -> Any:
        """The expression of a Column."""
        return java.spark_class(self.columns).expression(column)

    def register_observation(self, java: Any, observation: Any, session: Any, frame: Any) -> None:
        """Has a session complete an observation when it has run the query of a frame, or one that is made of it."""
        session.observationManager().register(observation, frame.id())

    def is_observed(self, observation: Any) -> bool:
        """Whether an observation has its values: to ask for them would wait for them otherwise."""
        return bool(observation.future().isCompleted())

    def more_view_arguments(self, java: Any) -> tuple[Any, ...]:
        """What ViewHelper.createTemporaryViewRelation takes after the temporary functions."""
        return (java.none,)

    def more_filter_arguments(self, orc_filters: Any) -> tuple[Any, ...]:
        """What OrcFilters.createFilter takes after the schema and the filters."""
        return ()

    def more_writer_arguments(self, file_writer: Any) -> tuple[Any, ...]:
        """What FileFormatWriter.write takes after the number of static partition columns."""
        return ()


class Shim35(Shim40):
    """Spark 3.5, which has one kind of sessions, and no package `classic`."""

    first = (3, 5)
    context = SparkClass("org.apache.spark.SparkContext", ("cancelJobGroup/1",))
    spark_session = SparkClass(f"{_SQL}.SparkSession", (*_OF_SESSION, "range/1"))
    dataset = SparkClass(f"{_SQL}.Dataset", _OF_DATASET)
    columns = SparkClass(f"{_SQL}.Column", ("new/1", "expr/0"))
    observation = SparkClass(f"{_SQL}.Observation", ("new/1", "on/3", "getAsJava/0"))
    observations = SparkClass(f"{_SQL}.functions", ("lit/1", "count/1"))
    view_helper = SparkClass(_VIEW_HELPER, ("createTemporaryViewRelation/8",), is_required=False)

    def scala(self, java_class: Callable[[str], Any]) -> Scala213:
        return scala_collections(java_class)

    def cancel_group(self, context: Any, group: str) -> None:
        context.cancelJobGroup(group)

    def column(self, java: Any, expression: Any) -> Any:
        return java.spark_class(self.columns)(expression)

    def expression(self, java: Any, column: Any) -> Any:
        return column.expr()

    def register_observation(self, java: Any, observation: Any, session: Any, frame: Any) -> None:
        """An observation finds its query by its name alone, and listens to the session of the frame that it is made
        on. Any frame of that session will do."""
        functions = java.spark_class(self.observations)
        observation.on(session.range(1), functions.count(functions.lit(1)), java.nil)

    def is_observed(self, observation: Any) -> bool:
        metrics = observation.getClass().getDeclaredField("metrics")
        metrics.setAccessible(True)
        return bool(metrics.get(observation).isDefined())

    def more_view_arguments(self, java: Any) -> tuple[Any, ...]:
        return ()


class Shim41(Shim40):
    """Spark 4.1 and 4.2."""

    first = (4, 1)
    file_writer = SparkClass(_FILE_WRITER, ("write/12", "write$default$12/0"), is_required=False)
    sink_log = SparkClass(f"{_STREAMING}.sinks.FileStreamSinkLog", ("new/4",), is_required=False)

    def more_writer_arguments(self, file_writer: Any) -> tuple[Any, ...]:
        return (getattr(file_writer, "write$default$12")(),)


class Shim43(Shim41):
    """Spark 4.3, and later versions until they differ."""

    first = (4, 3)
    orc_filters = SparkClass(_ORC_FILTERS, ("createFilter/3", "createFilter$default$3/0"), is_required=False)

    def more_filter_arguments(self, orc_filters: Any) -> tuple[Any, ...]:
        return (getattr(orc_filters, "createFilter$default$3")(),)


SHIMS: Final[tuple[Shim40, ...]] = (Shim35(), Shim40(), Shim41(), Shim43())
"""From the oldest version to the newest."""


def shim_of(version: str) -> Shim40:
    """The shim for a version of Spark, such as `4.1.2`. A version newer than all shims gets the newest.

    Raises SPARK_NOT_SUPPORTED.

    >>> shim_of("4.2.0-vendor").first, shim_of("5.0.0").first
    ((4, 0), (4, 3))
    """
    found = re.match(r"(\d+)\.(\d+)", version)
    number = (int(found[1]), int(found[2])) if found else (0, 0)
    fitting = [shim for shim in SHIMS if shim.first <= number]
    if not fitting:
        raise not_supported(version, f"it is older than Spark {'.'.join(map(str, SHIMS[0].first))}")
    return fitting[-1]


def require_names(version: str, missing: Mapping[SparkClass, Sequence[str]]) -> None:
    """Raises SPARK_NOT_SUPPORTED where a class or a member is missing that acidsql cannot do without."""
    names = [name for known, names in missing.items() if known.is_required for name in names]
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        raise not_supported(version, f"it lacks {', '.join(names[:_NAMED])}{more}")


def not_supported(version: str, reason: str) -> AcidSqlError:
    hint = "Install a supported version (pip install 'pyspark>=3.5,<5'), or give acidsql a session of one."
    return AcidSqlError(Condition.SPARK_NOT_SUPPORTED, version=version, reason=reason, supported=SUPPORTED, hint=hint)
