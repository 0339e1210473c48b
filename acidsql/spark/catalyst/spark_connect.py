"""Spark Connect, whose sessions have no JVM in this process: acidsql refuses them before anything runs.

docs/operations/clusters.md tells why, and what works beside a session of Spark Connect.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from acidsql.errors import AcidSqlError, Condition

_PACKAGE: Final = "pyspark.sql.connect."
_MODE: Final = "SPARK_CONNECT_MODE_ENABLED"
"""The environment variable that PySpark sets when it makes a session of Spark Connect."""
_HINT: Final = (
    "Unset SPARK_REMOTE and SPARK_API_MODE, start a new Python process, and use a classic Spark session:"
    ' SparkSession.builder.master("local[*]").getOrCreate().'
    " What needs no Spark works beside Spark Connect, without the argument `spark`: read_arrow, streams, and small"
    " INSERT, UPDATE and DELETE statements on local directories."
)


def is_of_connect(value: object) -> bool:
    """Whether an object, such as a session or a frame, is one of Spark Connect. Imports nothing."""
    return any(kind.__module__.startswith(_PACKAGE) for kind in type(value).__mro__)


def require_classic(session: object) -> None:
    """Raises SPARK_CONNECT for a session of Spark Connect."""
    if is_of_connect(session):
        raise _refusal("the Spark session that was given is a session of Spark Connect")


def require_classic_process() -> None:
    """Raises SPARK_CONNECT where PySpark is in the mode of Spark Connect: even the functions of pyspark.sql.functions
    make columns of Spark Connect then."""
    if _MODE in os.environ:
        raise _refusal("PySpark uses Spark Connect in this process already")


def require_classic_mode(conf: Mapping[str, str]) -> None:
    """Raises SPARK_CONNECT where the session that PySpark starts with these settings would be one of Spark Connect."""
    reason = _connect_reason(conf)
    if reason is not None:
        raise _refusal(reason)


def _connect_reason(conf: Mapping[str, str]) -> str | None:
    if "SPARK_REMOTE" in os.environ:
        return f"the environment variable SPARK_REMOTE is {os.environ['SPARK_REMOTE']}"
    if "spark.remote" in conf:
        return f"the setting spark.remote is {conf['spark.remote']}"
    if conf.get("spark.api.mode", "").lower() == "connect":
        return "the setting spark.api.mode is connect"
    if "spark.api.mode" not in conf and os.environ.get("SPARK_API_MODE", "").lower() == "connect":
        return "the environment variable SPARK_API_MODE is connect"
    return None


def _refusal(reason: str) -> AcidSqlError:
    return AcidSqlError(Condition.SPARK_CONNECT, reason=reason, hint=_HINT)
