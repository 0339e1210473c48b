"""What differs between Spark's minor versions: one shim for each set of versions that agree, chosen once for a JVM.

Every other private name is the same on all supported versions and stands in `names.COMMON_CLASSES`. To support a new
minor version, run `make test SPARK=x.y.z`. Where a call has changed, add a shim here that overrides it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from acidsql.errors import AcidSqlError, Condition
from acidsql.spark.catalyst.names import COMMON_CLASSES, SparkClass

SUPPORTED: Final = "4.0 to 4.3"
_SOURCES: Final = "org.apache.spark.sql.execution.datasources"
_ORC_FILTERS: Final = f"{_SOURCES}.orc.OrcFilters"
_FILE_WRITER: Final = f"{_SOURCES}.FileFormatWriter$"
_STREAMING: Final = "org.apache.spark.sql.execution.streaming"
_NAMED: Final = 4
"""How many missing names an error lists."""


class Shim40:
    """Spark 4.0."""

    first = (4, 0)
    """The first version that the shim is for."""
    orc_filters = SparkClass(_ORC_FILTERS, ("createFilter/2",), is_required=False)
    file_writer = SparkClass(_FILE_WRITER, ("write/11",), is_required=False)
    sink_log = SparkClass(f"{_STREAMING}.FileStreamSinkLog", ("new/4",), is_required=False)

    @property
    def classes(self) -> tuple[SparkClass, ...]:
        """The classes that acidsql calls on these versions."""
        return (*COMMON_CLASSES, self.orc_filters, self.file_writer, self.sink_log)

    def more_filter_arguments(self, orc_filters: Any) -> tuple[Any, ...]:
        """What OrcFilters.createFilter takes after the schema and the filters."""
        return ()

    def more_writer_arguments(self, file_writer: Any) -> tuple[Any, ...]:
        """What FileFormatWriter.write takes after the number of static partition columns."""
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


SHIMS: Final[tuple[Shim40, ...]] = (Shim40(), Shim41(), Shim43())
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
    hint = "Install a supported version (pip install 'pyspark>=4.0,<5'), or give acidsql a session of one."
    return AcidSqlError(Condition.SPARK_NOT_SUPPORTED, version=version, reason=reason, supported=SUPPORTED, hint=hint)
