"""SQL for Hive ACID tables on Spark: `run_sql`, `connect`, and `%load_ext acidsql`.

Importing this package imports neither pyspark nor the parser. The first call imports both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from acidsql.connection import connect, default_session
from acidsql.errors import AcidSqlError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from acidsql import streaming

__all__ = [
    "AcidSqlError",
    "__version__",
    "connect",
    "default_session",
    "load_ipython_extension",
    "run_sql",
    "streaming",
]

try:
    __version__ = version("acidsql")
except PackageNotFoundError:  # a bare checkout
    __version__ = "0.0.0"


def __getattr__(name: str) -> Any:
    """Imports `acidsql.streaming` when it is first used."""
    if name != "streaming":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    """The public names, for completion in notebooks."""
    return sorted(__all__)


def run_sql(
    sql: str,
    args: Mapping[str, object] | Sequence[object] | None = None,
    *,
    spark: SparkSession | None = None,
    **frames: Any,
) -> DataFrame:
    """Runs one statement in the default session.

    Args:
        sql: The statement.
        args: The values of `:name` parameters (a mapping) or of `?` parameters (a sequence).
        spark: A Spark session to use for this and the following statements of the default session.
        **frames: Spark, pandas, polars or Arrow frames that the statement names as `{name}`.

    Returns:
        The rows of a query, which runs when they are fetched. A DML statement runs at once and returns one row of
        counts.

    Raises:
        AcidSqlError: For every error.

    >>> acidsql.run_sql("SELECT 40 + :n AS answer", {"n": 2}, spark=spark).first().answer
    42
    """
    session = default_session(spark)
    if spark is not None:
        session.use_spark(spark)
    return session.sql(sql, args, **frames)


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext acidsql`: the %acidsql and %%acidsql magics."""
    from acidsql.frontends.magic import load_ipython_extension as load

    load(ipython)
