"""SQL for Hive ACID tables on Spark: `run_sql`, `connect`, and `%load_ext acidsql`.

Importing this imports neither pyspark nor the parser: both come with the first call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from acidsql.connection import connect, default_session
from acidsql.errors import AcidSqlError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["AcidSqlError", "__version__", "connect", "default_session", "load_ipython_extension", "run_sql"]

try:
    __version__ = version("acidsql")
except PackageNotFoundError:  # a bare checkout
    __version__ = "0.0.0"


def run_sql(
    sql: str,
    args: Mapping[str, object] | Sequence[object] | None = None,
    *,
    spark: SparkSession | None = None,
    **frames: Any,
) -> DataFrame:
    """Runs one statement in the default session; with `spark`, on that Spark session.

    A query gives its rows, lazily; a DML statement runs at once and gives one row of counts. `args` are the values of
    `:name` or `?` parameters, `frames` the frames that the text names as `{name}`. Raises AcidSqlError.
    """
    session = default_session(spark)
    if spark is not None:
        session.use_spark(spark)
    return session.sql(sql, args, **frames)


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext acidsql`: the %acidsql and %%acidsql magics."""
    from acidsql.frontends.magic import load_ipython_extension as load

    load(ipython)
