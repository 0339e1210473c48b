"""`connect`, and the default session of `run_sql` and the magics. Heavy imports wait for the first call."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from acidsql.session import Session

_default: Session | None = None
_default_lock = threading.Lock()


def connect(
    warehouse: str | None = None,
    metastore: str | None = None,
    spark: SparkSession | None = None,
    conf: Mapping[str, str] | None = None,
) -> Session:
    """Opens a session, as acidsql.session.connect documents it. Raises METASTORE_UNAVAILABLE."""
    from acidsql.session import connect as open_session

    return open_session(warehouse, metastore, spark, conf)


def default_session(spark: SparkSession | None = None) -> Session:
    """The session of `run_sql`: opened at the first call, on $ACIDSQL_WAREHOUSE and $ACIDSQL_METASTORE."""
    global _default
    with _default_lock:
        if _default is None:
            _default = connect(spark=spark)
        return _default
